/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overhead.c - the calls whose cost bench/overhead looks at, CALLS times each, with 2 ranks.
 *
 *  overhead count CALLS    under callgrind: every call once around, receives that find their message there
 *  overhead time CALLS     natively: prints the median time of each call, and what the records take
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi_mqs.h"

static int rank, calls;
static double in = 1, out;

/* N messages are sent before any is received: neither side waits. */
static void without_waiting(void)
{
    int i, there = 0;

    if (1 == rank) {
        for (i = 0; i < calls; i++) {
            MPI_Send(&in, 1, MPI_DOUBLE, 0, i, MPI_COMM_WORLD);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank) {
        while (!there) {
            MPI_Iprobe(1, calls - 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        }
        for (i = 0; i < calls; i++) {
            MPI_Recv(&out, 1, MPI_DOUBLE, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

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

static int by_value(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static void time_it(const char *name, void (*call)(void))
{
    double *times = calloc((size_t) calls, sizeof(*times));
    int i;

    for (i = 0; i < calls; i++) {
        double begin = MPI_Wtime();

        call();
        times[i] = MPI_Wtime() - begin;
    }
    qsort(times, (size_t) calls, sizeof(*times), by_value);
    if (0 == rank) {
        printf("time %s %.0f\n", name, times[calls / 2] * 1e9);
    }
    free(times);
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
    for (table = (void *) (uintptr_t) root->tables; NULL != table; table = (void *) (uintptr_t) table->next) {
        rows += table->row_count * table->row_size;
    }
    printf("bytes communicator %zu\nbytes thread %zu\nbytes process %zu\nbytes layout %lu\n",
           sizeof(struct ompi_mqs_collectives), sizeof(struct ompi_mqs_thread),
           sizeof(struct ompi_mqs_root) + sizeof(struct ompi_mqs_collectives), (unsigned long) rows);
}

int main(int argc, char **argv)
{
    int i;

    if (argc < 3) {
        fprintf(stderr, "usage: overhead count|time CALLS\n");
        return 2;
    }
    calls = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (0 == strcmp(argv[1], "count")) {
        for (i = 0; i < calls; i++) {
            barrier();
            bcast();
            allreduce();
        }
        without_waiting();
    } else {
        for (i = 0; i < 1000; i++) {
            allreduce();
        }
        time_it("MPI_Barrier", barrier);
        time_it("MPI_Bcast", bcast);
        time_it("MPI_Allreduce", allreduce);
        time_it("ping-pong", ping_pong);
        sizes();
    }
    MPI_Finalize();
    return 0;
}
