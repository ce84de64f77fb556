/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overhead.c - the calls whose cost bench/overhead looks at, CALLS times each, with 2 ranks.
 *
 *  overhead count CALLS    prints the instructions of each call, the least of CALLS: those of the MPI
 * function itself for collectives, since waiting takes as long as it takes; all there are, down to the
 * bottom, for a send or receive that does not wait (x86-64 alone) overhead time CALLS     natively: prints
 * the median time of each call, and what the records take overhead threads CALLS  with MPI_THREAD_MULTIPLE:
 * the time of a call in 1, 2 and 4 threads at once, each on a communicator of its own
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "ompi_mqs.h"

static int rank, calls;
static double in = 1, out;

/* ---- counting: single steps of one call, each a signal to ourselves */

static volatile unsigned long own_steps, all_steps;
static uintptr_t own_begin, own_end;

static void on_step(int number, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

    (void)number, (void)info;
    all_steps++;
    own_steps += at >= own_begin && at < own_end;
}

static void stepping(int on)
{
    if (on) {
        __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" : : : "memory", "cc");
    } else {
        __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" : : : "memory", "cc");
    }
}

/* Counts in the function of that name from now on. */
static void begin_counting(const char *name)
{
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    void *function = dlsym(RTLD_DEFAULT, name);
    ElfW(Sym) *symbol = NULL;
    Dl_info info;

    sigaction(SIGTRAP, &action, NULL);
    if (NULL != function && dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) && NULL != symbol) {
        own_begin = (uintptr_t)function;
        own_end = own_begin + symbol->st_size;
    }
}

static void count_it(const char *name, void (*call)(void))
{
    unsigned long least = (unsigned long)-1;
    int i;

    begin_counting(name);
    for (i = 0; i < calls; i++) {
        own_steps = 0;
        stepping(0 == rank); /* the other one goes at full speed, so that the wait is short */
        call();
        stepping(0);
        least = own_steps < least ? own_steps : least;
    }
    if (0 == rank) {
        printf("count %s %lu\n", name + 1, least);
    }
}

static void send_one(int tag)
{
    MPI_Send(&in, 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
}

static void receive_one(int tag)
{
    MPI_Recv(&out, 1, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* All messages are sent before any is received: neither side waits. */
static void count_without_waiting(void)
{
    unsigned long least = (unsigned long)-1;
    int i, there = 0;

    if (1 == rank) {
        for (i = 0; i < calls; i++) {
            all_steps = 0;
            stepping(1);
            send_one(i);
            stepping(0);
            least = all_steps < least ? all_steps : least;
        }
        printf("count MPI_Send %lu\n", least);
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank) {
        while (!there) {
            MPI_Iprobe(1, calls - 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        }
        for (i = 0; i < calls; i++) {
            all_steps = 0;
            stepping(1);
            receive_one(i);
            stepping(0);
            least = all_steps < least ? all_steps : least;
        }
        printf("count MPI_Recv %lu\n", least);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- the calls */

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void)
{
    MPI_Bcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void allreduce(void)
{
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void ping_pong(void)
{
    if (0 == rank) {
        MPI_Send(&in, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&out, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&out, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&in, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    }
}

#define MANY 1000

static void iallreduce(void)
{
    MPI_Request request;

    MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Outstanding at once: what it costs to find each of them when it completes. */
static void many_ibcasts(void)
{
    static MPI_Request requests[MANY];
    int i;

    for (i = 0; i < MANY; i++) {
        MPI_Ibcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
}

static MPI_Win window;

static void fence(void)
{
    MPI_Win_fence(0, window);
}

static void flush(void)
{
    MPI_Win_flush(rank, window);
}

static void dup_free(void)
{
    MPI_Comm dup;

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_free(&dup);
}

#if OMPI_MAJOR_VERSION >= 5 /* of MPI 4, which it does not claim to be */
#define PARTITIONS 4

static MPI_Request partitioned_request;

/* One side sends, the other receives: each waits for what it has started. */
static void partitioned(void)
{
    int i;

    MPI_Start(&partitioned_request);
    for (i = 0; 0 == rank && i < PARTITIONS; i++) {
        MPI_Pready(i, partitioned_request);
    }
    MPI_Wait(&partitioned_request, MPI_STATUS_IGNORE);
}
#endif

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void time_some(const char *name, void (*call)(void), int count)
{
    double *times = calloc((size_t)count, sizeof(*times));
    int i;

    for (i = 0; i < count; i++) {
        double begin = MPI_Wtime();

        call();
        times[i] = MPI_Wtime() - begin;
    }
    qsort(times, (size_t)count, sizeof(*times), by_value);
    if (0 == rank) {
        printf("time %s %.0f\n", name, times[count / 2] * 1e9);
    }
    free(times);
}

static void time_it(const char *name, void (*call)(void))
{
    time_some(name, call, calls);
}

static void time_one_sided(void)
{
    void *base;

    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    time_it("fence", fence);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_lock_all(0, window);
    time_it("flush", flush);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

#if OMPI_MAJOR_VERSION >= 5
static void time_partitioned(void)
{
    double parts[PARTITIONS] = {0};

    if (0 == rank) {
        MPI_Psend_init(parts, PARTITIONS, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &partitioned_request);
    } else {
        MPI_Precv_init(parts, PARTITIONS, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &partitioned_request);
    }
    time_it("partitioned", partitioned);
    MPI_Request_free(&partitioned_request);
}
#endif

/* ---- threads: each with both ends of its messages, so that none waits for another rank */

#define THREADS 4

static MPI_Comm own[THREADS];
static pthread_barrier_t together;
static int kind;
static double took[THREADS];

static void *work(void *argument)
{
    int mine = (int)(intptr_t)argument, i;
    double a = 1, b, begin;
    MPI_Request request;

    pthread_barrier_wait(&together);
    begin = MPI_Wtime();
    for (i = 0; i < calls; i++) {
        switch (kind) {
        case 0:
            MPI_Iallreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, own[mine], &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        case 1:
            MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, own[mine]);
            break;
        default:
            MPI_Sendrecv(&a, 1, MPI_DOUBLE, 0, 1, &b, 1, MPI_DOUBLE, 0, 1, own[mine], MPI_STATUS_IGNORE);
            break;
        }
    }
    took[mine] = (MPI_Wtime() - begin) / calls;
    return NULL;
}

static void time_threads(void)
{
    static const char *const kinds[] = {"iallreduce", "allreduce", "sendrecv"};
    pthread_t threads[THREADS];
    int count, i;

    for (i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
    }
    for (kind = 0; kind < 3; kind++) {
        for (count = 1; count <= THREADS; count *= 2) {
            double sum = 0;

            pthread_barrier_init(&together, NULL, (unsigned int)count);
            for (i = 0; i < count; i++) {
                pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
            }
            for (i = 0; i < count; i++) {
                pthread_join(threads[i], NULL);
                sum += took[i];
            }
            pthread_barrier_destroy(&together);
            if (0 == rank) {
                printf("time %s-%d %.0f\n", kinds[kind], count, sum / count * 1e9);
            }
        }
    }
    for (i = 0; i < THREADS; i++) {
        MPI_Comm_free(&own[i]);
    }
}

/* Bytes of the records, as the library itself says. */
static void sizes(void)
{
    const struct ompi_mqs_root *root = dlsym(RTLD_DEFAULT, "ompi_mqs_root");
    const struct ompi_mqs_table *table;
    uint64_t rows = 0;

    if (NULL == root || 0 != rank) {
        return;
    }
    for (table = (void *)(uintptr_t)root->tables; NULL != table; table = (void *)(uintptr_t)table->next) {
        rows += table->row_count * table->row_size;
    }
    printf("bytes communicator %zu\nbytes thread %zu\nbytes process %zu\nbytes layout %lu\n",
           sizeof(struct ompi_mqs_collectives), sizeof(struct ompi_mqs_thread),
           sizeof(struct ompi_mqs_root) + sizeof(struct ompi_mqs_collectives), (unsigned long)rows);
}

int main(int argc, char **argv)
{
    int i, provided;

    if (argc < 3) {
        fprintf(stderr, "usage: overhead count|time|threads CALLS\n");
        return 2;
    }
    calls = atoi(argv[2]);
    MPI_Init_thread(&argc, &argv, strcmp(argv[1], "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (0 == strcmp(argv[1], "count")) {
        count_it("PMPI_Barrier", barrier);
        count_it("PMPI_Bcast", bcast);
        count_it("PMPI_Allreduce", allreduce);
        count_without_waiting();
    } else if (0 == strcmp(argv[1], "threads")) {
        time_threads();
    } else {
        for (i = 0; i < 100; i++) {
            allreduce();
        }
        time_it("MPI_Barrier", barrier);
        time_it("MPI_Bcast", bcast);
        time_it("MPI_Allreduce", allreduce);
        time_it("ping-pong", ping_pong);
        time_it("iallreduce", iallreduce);
        time_some("ibcasts", many_ibcasts, calls / 100 + 1);
        time_one_sided();
        time_some("dup-free", dup_free, calls / 10 + 1);
#if OMPI_MAJOR_VERSION >= 5
        time_partitioned();
#endif
        sizes();
    }
    MPI_Finalize();
    return 0;
}
