/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads - four threads make a million random calls side by side, count them, and stand still.
 *
 * The process sends messages to itself on one communicator that all threads share, each thread with a tag of
 * its own; each thread calls collectives on a communicator of its own, as the standard requires.  Writes one
 * line to the file in argument 1: pid, and for each thread its messages, their bytes, barriers and
 * allreduces.  Argument 2 is the number of calls per thread.  With argument 3, which needs the stub library,
 * each thread also calls neighbourhood and persistent collectives, makes and frees windows, and keeps one
 * window with 10 + tag fences.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4 };
static long most = 250000; /* calls of each thread */

struct worker {
    pthread_t thread;
    MPI_Comm own;
    uint64_t random;
    long messages, bytes, barriers, allreduces, calls;
    int tag;
};

static MPI_Comm shared;

static unsigned next_random(struct worker *worker, unsigned below)
{
    worker->random = worker->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(worker->random >> 33) % below;
}

static void message(struct worker *worker)
{
    int out[16] = {0}, in[16], flag = 0, count = (int)next_random(worker, 16);
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Irecv(in, 16, MPI_INT, next_random(worker, 2) ? 0 : MPI_ANY_SOURCE, worker->tag, shared,
              &requests[0]);
    MPI_Isend(out, count, MPI_INT, 0, worker->tag, shared, &requests[1]);
    worker->calls += 2;
    worker->messages++;
    worker->bytes += (long)sizeof(int) * count;
    switch (next_random(worker, 3)) {
    case 0:
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        worker->calls++;
        break;
    case 1:
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], &status);
        worker->calls += 2;
        break;
    default:
        while (!flag) {
            MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
            worker->calls++;
        }
    }
}

static bool with_more;

#ifdef STUB_MPI_H /* libraries may not support windows in several threads at once */
static MPI_Win make_window(struct worker *worker, int fences)
{
    static int memory;
    MPI_Win window;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, worker->own, &window);
    for (int i = 0; i < fences; i++)
        MPI_Win_fence(i % 3 ? 0 : MPI_MODE_NOSUCCEED, window);
    worker->calls += fences + 2;
    return window;
}

static void free_window(MPI_Win window)
{
    MPI_Win_free(&window);
}

/* A persistent collective, started twice, and neighbourhood collectives. */
static void collectives(struct worker *worker)
{
    int value = 1, result, around[2];
    MPI_Request requests[2];
    MPI_Allreduce_init(&value, &result, 1, MPI_INT, MPI_SUM, worker->own, MPI_INFO_NULL, &requests[0]);
    MPI_Start(&requests[0]);
    MPI_Ineighbor_allgather(&value, 1, MPI_INT, around, 1, MPI_INT, worker->own, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Neighbor_allgather(&value, 1, MPI_INT, around, 1, MPI_INT, worker->own);
    worker->calls += 8;
}
#else
static int make_window(struct worker *worker, int fences)
{
    (void)worker;
    return fences;
}

static void free_window(int window)
{
    (void)window;
}

static void collectives(struct worker *worker)
{
    (void)worker;
}
#endif

/* All threads begin before one ends, because a later thread would reuse an ended thread's record. */
static pthread_barrier_t all_have_begun;

static void *work(void *argument)
{
    struct worker *worker = argument;
    int flag, value = 1, sum;
    MPI_Iprobe(MPI_ANY_SOURCE, 1000, shared, &flag, MPI_STATUS_IGNORE);
    pthread_barrier_wait(&all_have_begun);
    while (worker->calls < most) {
        if (with_more && next_random(worker, 32) == 0)
            free_window(make_window(worker, (int)next_random(worker, 4)));
        if (with_more && next_random(worker, 16) == 0)
            collectives(worker);
        switch (next_random(worker, 4)) {
        case 0:
            MPI_Barrier(worker->own);
            worker->barriers++;
            worker->calls++;
            break;
        case 1:
            MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, worker->own);
            worker->allreduces++;
            worker->calls++;
            break;
        case 2:
            MPI_Iprobe(MPI_ANY_SOURCE, 1000, shared, &flag, MPI_STATUS_IGNORE);
            worker->calls++;
            break;
        default:
            message(worker);
        }
    }
    if (with_more)
        make_window(worker, 10 + worker->tag);
    return NULL;
}

int main(int argc, char **argv)
{
    struct worker workers[THREADS] = {0};
    int level;
    if (argc > 2)
        most = atol(argv[2]);
    with_more = argc > 3;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE)
        return 77;
    MPI_Comm_dup(MPI_COMM_SELF, &shared);
    MPI_Comm_set_name(shared, "shared");
    for (int i = 0; i < THREADS; i++) {
        char name[16];
        snprintf(name, sizeof name, "own %d", i);
        MPI_Comm_dup(MPI_COMM_SELF, &workers[i].own);
        MPI_Comm_set_name(workers[i].own, name);
        workers[i].tag = i + 1;
        workers[i].random = (uint64_t)i * 977 + 5;
    }
    pthread_barrier_init(&all_have_begun, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    FILE *ready = fopen(argv[1], "a");
    fprintf(ready, "%d", (int)getpid());
    for (int i = 0; i < THREADS; i++)
        fprintf(ready, " %ld %ld %ld %ld", workers[i].messages, workers[i].bytes, workers[i].barriers,
                workers[i].allreduces);
    fprintf(ready, "\n");
    fclose(ready);
    pause();
    return 0;
}
