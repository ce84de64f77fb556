/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_bench RANKS [report] | waitall REQUESTS - one made-up hang of that many ranks, ten operations each:
 * time and memory of making the job state, of matching and diagnosis, and of the report.  One line of the
 * table that bench/job prints; and, if asked for, the report.
 *
 * All ranks but one are in MPI_Allreduce #7, each waiting for internal traffic of its tree's parent; one
 * waits for a tag that nobody sends.  Beside that each rank has three receives posted to its right, three
 * large sends under way to its left, and three messages that lie unexpected and announce such sends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/cleanup.h"
#include "job/diagnose.h"
#include "report/report.h"

enum { NEIGHBOURS = 3, TAG_SENT = 5, TAG_WANTED = 6, TAG_NOBODY = 99, TAG_INTERNAL = -12 };

static double seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double now(void)
{
    return seconds(CLOCK_MONOTONIC);
}

static void check(struct mpiq_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "job_bench: %s\n", error->message);
    exit(1);
}

static void operation(struct mpiq_rank_state *state, size_t at, enum mpiq_operation_kind kind, int peer,
                      int tag)
{
    struct mpiq_operation *op = &state->operations[at];
    *op = (struct mpiq_operation){
        .request = kind == MPIQ_OPERATION_MESSAGE ? 0 : 0x1000 + at,
        .sequence = at,
        .bytes = 100000,
        .actual_bytes = -1,
        .peer_local = peer,
        .peer = {.rank = -1},
        .tag = tag,
        .actual_local = -1,
        .actual = {.rank = -1},
        .collective = -1,
        .kind = (uint8_t)kind,
        .queue = kind == MPIQ_OPERATION_MESSAGE ? MPIQ_QUEUE_UNEXPECTED
                 : kind == MPIQ_OPERATION_SEND  ? MPIQ_QUEUE_SENDS
                                                : MPIQ_QUEUE_RECEIVES,
        .internal = tag < 0,
        .datatype = mpiq_rank_state_intern(state, "MPI_DOUBLE"),
    };
}

/* One record that is filled anew for each rank: what is measured is not how rank states are made. */
static struct mpiq_rank_state *make(int ranks)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    if (!state)
        exit(1);
    state->world_size = ranks;
    snprintf(state->host, sizeof state->host, "n1");
    snprintf(state->library, sizeof state->library, "Open MPI 4.1.4");
    snprintf(state->nspace, sizeof state->nspace, "1");
    state->phase = MPIQ_PHASE_RUNNING;
    state->source = MPIQ_SOURCE_PATCHED;
    state->thread_level = 0;
    state->queues = state->recording = MPIQ_YES;
    state->process_state = 'R';
    struct mpiq_communicator *world = mpiq_rank_state_add_communicator(state);
    snprintf(world->name, sizeof world->name, "MPI_COMM_WORLD");
    world->handle = 0x100;
    world->flags = MPIQ_COMM_WORLD;
    world->local.hash = 42;
    world->local.count = (uint32_t)ranks;
    world->local.members = calloc((size_t)ranks, sizeof *world->local.members);
    for (int i = 0; i < ranks; i++)
        world->local.members[i] = (struct mpiq_name){.job = 1, .rank = i};
    for (int i = 0; i < 2 * NEIGHBOURS; i++)
        mpiq_communicator_add_channel(world);
    mpiq_communicator_add_count(world);
    mpiq_communicator_add_call(world);
    for (int i = 0; i < 3 * NEIGHBOURS + 1; i++)
        mpiq_rank_state_add_operation(state);
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    thread->record = true;
    thread->state = 'R';
    mpiq_thread_add_frame(thread);
    mpiq_thread_add_frame(thread);
    thread->mpi_frame = 0;
    thread->user_frame = 1;
    mpiq_wait_add_operation(mpiq_thread_add_wait(thread));
    return state;
}

static void fill(struct mpiq_rank_state *state, int rank, int ranks, int look)
{
    bool lost = rank == ranks / 3;
    state->name = (struct mpiq_name){.job = 1, .rank = rank};
    state->pid = 1000 + rank;
    state->taken_ns = INT64_C(2000000000) + look;
    state->cpu_ns = 1000 * (uint64_t)look;
    struct mpiq_communicator *world = &state->communicators[0];
    world->local_rank = rank;
    world->ordered = lost ? 6 : 7;
    int16_t allreduce = (int16_t)mpiq_collective_class("MPI_Allreduce");
    world->counts[0] =
        (struct mpiq_coll_count){.collective = allreduce, .active = !lost, .count = lost ? 6 : 7};
    world->calls[0] = (struct mpiq_call){.number = lost ? 6 : 7,
                                         .count = 1,
                                         .bytes = 8,
                                         .root = -1,
                                         .collective = allreduce,
                                         .done = lost,
                                         .begin_ns = 1000000000,
                                         .op = mpiq_rank_state_intern(state, "MPI_SUM")};
    for (int i = 0; i < NEIGHBOURS; i++) {
        int right = (rank + 1 + i) % ranks;
        int left = (rank + ranks - 1 - i) % ranks;
        operation(state, (size_t)i, MPIQ_OPERATION_RECEIVE, right, TAG_WANTED);
        operation(state, (size_t)(NEIGHBOURS + i), MPIQ_OPERATION_SEND, left, TAG_SENT);
        operation(state, (size_t)(2 * NEIGHBOURS + i), MPIQ_OPERATION_MESSAGE, right, TAG_SENT);
        world->channels[i] = (struct mpiq_channel){.peer_local = right, .sent = 1, .expected = 2};
        world->channels[NEIGHBOURS + i] = (struct mpiq_channel){.peer_local = left, .sent = 2, .expected = 1};
    }
    int parent = rank == 0 ? ranks / 3 : (rank - 1) / 2;
    operation(state, 3 * NEIGHBOURS, MPIQ_OPERATION_RECEIVE, lost ? 0 : parent,
              lost ? TAG_NOBODY : TAG_INTERNAL);
    struct mpiq_thread *thread = &state->threads[0];
    thread->tid = state->pid;
    snprintf(thread->mpi_call, sizeof thread->mpi_call, lost ? "MPI_Recv" : "MPI_Allreduce");
    thread->frames[0] =
        (struct mpiq_frame){.pc = 1, .function = mpiq_rank_state_intern(state, thread->mpi_call)};
    thread->frames[1] =
        (struct mpiq_frame){.pc = lost ? 3 : 2,
                            .function = mpiq_rank_state_intern(state, lost ? "refine" : "norm"),
                            .file = mpiq_rank_state_intern(state, "solver.c"),
                            .line = lost ? 71 : 88};
    struct mpiq_wait *wait = &thread->waits[0];
    wait->kind = lost ? MPIQ_WAIT_RECEIVE : MPIQ_WAIT_REQUEST;
    wait->episode = 12;
    wait->need = 1;
    wait->begin_ns = 1000000000;
    wait->comm = -1;
    wait->collective = lost ? -1 : allreduce;
    wait->collective_comm = lost ? -1 : 0;
    snprintf(wait->call, sizeof wait->call, "%s", thread->mpi_call);
    wait->operations[0] = state->operations[3 * NEIGHBOURS];
    wait->operations[0].queue = MPIQ_QUEUE_WAIT;
}

/* Two ranks, each in one MPI_Waitall for that many receives that the other never sends. */
static int waitall(int requests)
{
    struct mpiq_rank_state *state = make(2);
    struct mpiq_job_state *job = mpiq_job_state_create();
    struct mpiq_name *members = state->communicators[0].local.members;
    struct mpiq_thread *thread = &state->threads[0];
    struct mpiq_wait *wait = &thread->waits[0];
    state->communicators[0].channel_count = 0;
    state->communicators[0].count_count = state->communicators[0].call_count = 0;
    while (state->operation_count < (size_t)requests)
        mpiq_rank_state_add_operation(state);
    while (wait->operation_count < (size_t)requests)
        mpiq_wait_add_operation(wait);
    double spent = 0;
    for (int look = 1; look <= 2; look++) {
        for (int rank = 0; rank < 2; rank++) {
            state->name = (struct mpiq_name){.job = 1, .rank = rank};
            state->pid = thread->tid = 1000 + rank;
            state->communicators[0].local_rank = rank;
            for (int i = 0; i < requests; i++) {
                operation(state, (size_t)i, MPIQ_OPERATION_RECEIVE, 1 - rank, i);
                wait->operations[i] = state->operations[i];
                wait->operations[i].queue = MPIQ_QUEUE_WAIT;
            }
            wait->kind = MPIQ_WAIT_ALL;
            wait->need = requests;
            wait->episode = 7;
            wait->comm = wait->collective_comm = -1;
            wait->collective = -1;
            snprintf(wait->call, sizeof wait->call, "MPI_Waitall");
            snprintf(thread->mpi_call, sizeof thread->mpi_call, "MPI_Waitall");
            double start = now();
            check(mpiq_job_state_add(job, look, state));
            spent += now() - start;
            state->communicators[0].local.members = NULL;
        }
    }
    double start = now();
    check(mpiq_job_state_finish(job));
    spent += now() - start;
    struct mpiq_diagnosis *diagnosis = NULL;
    start = now();
    check(mpiq_diagnose(job, NULL, &diagnosis));
    double diagnosed = now() - start;
    printf("%9d requests in one MPI_Waitall on each of 2 ranks: state %.2f s, diagnosis %.2f s, %zu "
           "findings, %s\n",
           requests, spent, diagnosed, diagnosis->finding_count, mpiq_verdict_word(diagnosis->verdict));
    free(members);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(job);
    mpiq_rank_state_destroy(state);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "waitall") == 0)
        return waitall(atoi(argv[2]));
    int ranks = argc > 1 ? atoi(argv[1]) : 1000;
    if (ranks < 8) {
        fprintf(stderr, "usage: job_bench RANKS (8 or more) [report] | waitall REQUESTS\n");
        return 2;
    }
    struct mpiq_rank_state *state = make(ranks);
    struct mpiq_job_state *job = mpiq_job_state_create();
    double start = now();
    double start_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    struct mpiq_name *members = state->communicators[0].local.members;
    for (int look = 1; look <= 2; look++) {
        for (int rank = 0; rank < ranks; rank++) {
            fill(state, rank, ranks, look);
            check(mpiq_job_state_add(job, look, state));
            state->communicators[0].local.members = NULL; /* sent once */
        }
    }
    check(mpiq_job_state_finish(job));
    double made = now();
    double made_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    struct mpiq_diagnosis *diagnosis = NULL;
    check(mpiq_diagnose(job, NULL, &diagnosis));
    double diagnosed = now();
    struct mpiq_report_options options = {0};
    char *report _cleanup_free_ = NULL;
    check(mpiq_report_render(job, diagnosis, MPIQ_VIEW_REPORT, NULL, &options, &report));
    double rendered = now();
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - made_cpu;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    unsigned lines = 0;
    for (const char *at = report; *at; at++)
        lines += *at == '\n';
    printf("%9d | %8.2f %8.2f | %8.2f %8.2f %8.2f %8.2f | %8.2f %8.2f | %6ld %6u  %s\n", ranks, made - start,
           made_cpu - start_cpu, diagnosed - made, rendered - diagnosed, rendered - made, cpu,
           rendered - start, cpu + made_cpu - start_cpu, usage.ru_maxrss / 1024, lines,
           mpiq_verdict_word(diagnosis->verdict));
    if (argc > 2)
        fputs(report, stdout);
    free(members);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(job);
    mpiq_rank_state_destroy(state);
    return 0;
}
