/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many_threads.c - MPI_THREAD_MULTIPLE: four threads, a communicator each, CALLS collectives a thread, of all
 * four kinds of recording (blocking, non-blocking, made and freed communicators, the process's); counts are
 * exact and nothing is active at the end; threads that have ended leave free records.
 *
 * Run with any number of ranks: many_threads CALLS.  With one rank, communication costs next to nothing, and
 * what is left is the recording.
 */
#include "records.h"

#include <pthread.h>

#define THREADS 4

static long calls;
static MPI_Comm comms[THREADS];
static MPI_Win windows[THREADS];

static void *work(void *argument)
{
    int mine = (int)(intptr_t)argument;
    MPI_Comm comm = comms[mine], dup;
    MPI_Request request;
    int in = 1, out = 0;
    long i;

    for (i = 0; i < calls; i++) {
        switch (i % 4) {
        case 0:
            MPI_Barrier(comm);
            break;
        case 1:
            MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
            break;
        case 2:
            MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        default:
            MPI_Bcast(&in, 1, MPI_INT, 0, comm);
            break;
        }
        if (0 == i % 1000) {
            MPI_Comm_dup(comm, &dup);
            MPI_Comm_free(&dup);
            MPI_Win_fence(0, windows[mine]);
        }
    }
    CHECK(0 == inside_of(thread_of(my_tid())), "thread %d is inside a call", mine);
    return NULL;
}

int main(int argc, char **argv)
{
    static const int classes[] = {OMPI_MQS_barrier, OMPI_MQS_allreduce, OMPI_MQS_iallreduce, OMPI_MQS_bcast};
    const struct ompi_mqs_thread *at;
    pthread_t threads[THREADS];
    int provided, i, k, live = 0;
    uint32_t fences = 0;
    void *base;

    calls = argc > 1 ? atol(argv[1]) : 1000;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(MPI_THREAD_MULTIPLE == provided, "provided %d", provided);
    for (i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        MPI_Win_allocate(8, 1, MPI_INFO_NULL, comms[i], &base, &windows[i]);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (i = 0; i < THREADS; i++) {
        const struct ompi_mqs_collectives *record = record_of(comms[i]);
        uint32_t made = (uint32_t)((calls + 999) / 1000);

        for (k = 0; k < 4; k++) {
            uint32_t due = (uint32_t)(calls / 4 + (k < calls % 4));

            CHECK(counts_of(record, classes[k]).calls == due, "%s: %u, not %u", class_names[classes[k]],
                  counts_of(record, classes[k]).calls, due);
            CHECK(0 == ompi_mqs_active(counts_of(record, classes[k])), "%s is active",
                  class_names[classes[k]]);
        }
        CHECK(counts_of(record, OMPI_MQS_comm_dup).calls == made, "dups");
        /* One more: the window was allocated on it. */
        CHECK(calls_so_far(record) == (uint64_t)calls + made + 1, "ordered: %lu",
              (unsigned long)calls_so_far(record));
        CHECK(0 == record->outstanding, "outstanding");
        fences += made;
    }
    CHECK(counts_of(process_record(), OMPI_MQS_win_fence).calls == fences, "fences");
    CHECK(0 == ompi_mqs_active(counts_of(process_record(), OMPI_MQS_win_fence)), "a fence is active");
    for (at = (void *)(uintptr_t)root()->threads; NULL != at; at = (void *)(uintptr_t)at->next) {
        live += 0 != at->tid;
    }
    CHECK(1 == live, "%d threads have records", live);
    for (i = 0; i < THREADS; i++) {
        MPI_Win_free(&windows[i]);
    }
    return finish("many_threads");
}
