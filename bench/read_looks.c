/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read-looks - the time of looks at processes through lib/target/ alone: symbols, types, fields, status,
 * threads and stacks of each, as a message-queue DLL and a report need them.
 *
 *   read-looks [-l LOOKS] [-w WORKERS] [-n] PID…      (-n: no stacks)
 *
 * One line of JSON a look: the first is cold (nothing is known of any file), the others are warm.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "target/target.h"

static const char *const symbols[] = {"MPIR_dll_name",
                                      "ompi_mpi_comm_world",
                                      "ompi_mpi_communicators",
                                      "mca_pml_base_send_requests",
                                      "mca_pml_base_recv_requests",
                                      "mca_pml",
                                      "ompi_mqs_root"};
static const struct {
    const char *type;
    const char *members[6];
} types[] = {
    {"ompi_communicator_t",
     {"c_name", "c_contextid", "c_local_group", "c_remote_group", "c_my_rank", "c_pml_comm"}},
    {"ompi_group_t", {"grp_proc_count", "grp_my_rank", "grp_proc_pointers", "grp_flags", NULL}},
    {"ompi_request_t", {"req_type", "req_status", "req_complete", "req_state", "req_f_to_c_index", NULL}},
    {"ompi_status_public_t", {"MPI_SOURCE", "MPI_TAG", "MPI_ERROR", "_ucount", "_cancelled", NULL}},
    {"mca_pml_base_request_t", {"req_addr", "req_count", "req_peer", "req_tag", "req_comm", "req_proc"}},
    {"mca_pml_base_send_request_t", {"req_addr", "req_bytes_packed", "req_send_mode", NULL}},
    {"mca_pml_base_recv_request_t", {"req_bytes_packed", NULL}},
    {"mca_pml_ob1_comm_t", {"procs", "wild_receives", "num_procs", NULL}},
    {"mca_pml_ob1_comm_proc_t", {"specific_receives", "unexpected_frags", "expected_sequence", NULL}},
    {"mca_pml_ob1_recv_frag_t", {"hdr", "segments", "num_segments", NULL}},
    {"opal_pointer_array_t", {"lowest_free", "number_free", "size", "addr", NULL}},
    {"opal_free_list_t", {"fl_num_allocated", "fl_num_per_alloc", "fl_allocations", NULL}},
    {"opal_list_t", {"opal_list_sentinel", "opal_list_length", NULL}},
    {"opal_list_item_t", {"opal_list_next", "opal_list_prev", NULL}},
    {"opal_object_t", {"obj_class", NULL}},
    {"ompi_datatype_t", {"super", "name", NULL}},
    {"opal_datatype_t", {"size", NULL}},
    {"ompi_proc_t", {"super", NULL}},
    {"opal_proc_t", {"proc_name", NULL}},

};

static pid_t *pids;
static int pid_count;
static struct mpiq_target **targets;
static bool stacks = true;
static atomic_int next, failures, frames, threads_seen;

static void look_at(struct mpiq_target *target)
{
    struct mpiq_target_status status;
    struct mpiq_error *error = mpiq_target_status(target, &status);
    failures += error != NULL;
    mpiq_error_destroy(error);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        uint64_t address;
        mpiq_error_destroy(mpiq_target_find_symbol(target, symbols[i], &address));
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const struct mpiq_target_type *type;
        uint64_t number;
        error = mpiq_target_find_type(target, types[i].type, &type);
        for (size_t j = 0; !error && j < 6 && types[i].members[j]; j++)
            mpiq_error_destroy(mpiq_target_field_offset(target, type, types[i].members[j], &number));
        mpiq_error_destroy(error);
    }
    struct mpiq_target_thread *threads;
    size_t count;
    if ((error = mpiq_target_threads(target, &threads, &count))) {
        failures++;
        mpiq_error_destroy(error);
        return;
    }
    for (size_t i = 0; i < count && stacks; i++) {
        struct mpiq_target_stack stack;
        error = mpiq_target_stack(target, threads[i].tid, &stack);
        threads_seen++;
        failures += error != NULL;
        if (!error) {
            frames += (int)stack.count;
            mpiq_target_stack_deinit(&stack);
        }
        mpiq_error_destroy(error);
    }
    free(threads);
}

static void *work(void *argument)
{
    (void)argument;
    for (int i; (i = next++) < pid_count;) {
        struct mpiq_error *error = NULL;
        if (!targets[i])
            error = mpiq_target_live_create(pids[i], false, &targets[i]);
        else
            mpiq_target_forget(targets[i]);
        if (!error)
            look_at(targets[i]);
        failures += error != NULL;
        mpiq_error_destroy(error);
    }
    return NULL;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    int option, looks = 2, workers = (int)sysconf(_SC_NPROCESSORS_ONLN);
    while ((option = getopt(argc, argv, "l:w:n")) != -1) {
        if (option == 'l')
            looks = atoi(optarg);
        else if (option == 'w')
            workers = atoi(optarg);
        else if (option == 'n')
            stacks = false;
        else
            return 2;
    }
    pid_count = argc - optind;
    pids = calloc((size_t)pid_count + 1, sizeof *pids);
    targets = calloc((size_t)pid_count + 1, sizeof *targets);
    pthread_t *worker = calloc((size_t)workers + 1, sizeof *worker);
    if (!pids || !targets || !worker)
        return 1;
    for (int i = 0; i < pid_count; i++)
        pids[i] = (pid_t)atoi(argv[optind + i]);
    for (int look = 0; look < looks; look++) {
        next = failures = frames = threads_seen = 0;
        double start = now();
        for (int i = 0; i < workers; i++)
            pthread_create(&worker[i], NULL, work, NULL);
        for (int i = 0; i < workers; i++)
            pthread_join(worker[i], NULL);
        double end = now();
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        printf("{\"look\":%d,\"ranks\":%d,\"workers\":%d,\"ms\":%.1f,\"threads\":%d,\"frames\":%d,"
               "\"failures\":%d,"
               "\"user_ms\":%ld,\"system_ms\":%ld,\"peak_kib\":%ld}\n",
               look + 1, pid_count, workers, end - start, (int)threads_seen, (int)frames, (int)failures,
               usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000,
               usage.ru_stime.tv_sec * 1000 + usage.ru_stime.tv_usec / 1000, usage.ru_maxrss);
    }
    for (int i = 0; i < pid_count; i++)
        mpiq_target_destroy(targets[i]);
    free(worker);
    free(targets);
    free(pids);
    return 0;
}
