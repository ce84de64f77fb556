/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairs - every collective beside every other: `pairs FIRST SECOND KIND [swapped]`.
 *
 * All ranks make both calls, blocking, non-blocking or persistent; with `swapped` the odd ranks make them in
 * the other order.  `pairs all KIND` makes all pairs in the right order.  `pairs names KIND` lists the names.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step_back.h"

enum { MOST = 64 }; /* ranks, and elements of each buffer */

static int size;
static MPI_Comm comm; /* a ring */
static double out[MOST], taken[2][MOST];
static double *in; /* one of them: calls under way at once do not share it */
static int counts[MOST], places[MOST], byte_places[MOST];
static MPI_Datatype types[MOST];
#define TYPE MPI_DOUBLE

#define DATA out, 1, TYPE, in, 1, TYPE
#define VECTOR out, counts, places, TYPE, in, counts, places, TYPE
#define TYPES out, counts, byte_places, types, in, counts, byte_places, types
#define SUM out, in, 1, TYPE, MPI_SUM

/* Neighbourhood collectives with displacements in bytes. */
static MPI_Aint far[MOST];
#define FAR out, counts, far, types, in, counts, far, types

/* X(name, what follows MPI_, the arguments before the communicator) */
#define COLLECTIVES(X)                                                                                  \
    X(barrier, Barrier, Ibarrier, )                                                                     \
    X(bcast, Bcast, Ibcast, in, 1, TYPE, 0, )                                                           \
    X(allgather, Allgather, Iallgather, DATA, )                                                         \
    X(allgatherv, Allgatherv, Iallgatherv, out, 1, TYPE, in, counts, places, TYPE, )                    \
    X(allreduce, Allreduce, Iallreduce, SUM, )                                                          \
    X(alltoall, Alltoall, Ialltoall, DATA, )                                                            \
    X(alltoallv, Alltoallv, Ialltoallv, VECTOR, )                                                       \
    X(alltoallw, Alltoallw, Ialltoallw, TYPES, )                                                        \
    X(reduce_scatter, Reduce_scatter, Ireduce_scatter, out, in, counts, TYPE, MPI_SUM, )                \
    X(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block, SUM, )                         \
    X(reduce, Reduce, Ireduce, SUM, 0, )                                                                \
    X(gather, Gather, Igather, DATA, 0, )                                                               \
    X(gatherv, Gatherv, Igatherv, out, 1, TYPE, in, counts, places, TYPE, 0, )                          \
    X(scan, Scan, Iscan, SUM, )                                                                         \
    X(exscan, Exscan, Iexscan, SUM, )                                                                   \
    X(scatter, Scatter, Iscatter, DATA, 0, )                                                            \
    X(scatterv, Scatterv, Iscatterv, out, counts, places, TYPE, in, 1, TYPE, 0, )                       \
    X(neighbor_allgather, Neighbor_allgather, Ineighbor_allgather, DATA, )                              \
    X(neighbor_allgatherv, Neighbor_allgatherv, Ineighbor_allgatherv, out, 1, TYPE, in, counts, places, \
      TYPE, )                                                                                           \
    X(neighbor_alltoall, Neighbor_alltoall, Ineighbor_alltoall, DATA, )                                 \
    X(neighbor_alltoallv, Neighbor_alltoallv, Ineighbor_alltoallv, VECTOR, )                            \
    X(neighbor_alltoallw, Neighbor_alltoallw, Ineighbor_alltoallw, FAR, )

#define START(name, blocking, nonblocking, ...)       \
    static void blocking_##name(void)                 \
    {                                                 \
        MPI_##blocking(__VA_ARGS__ comm);             \
    }                                                 \
    static void start_##name(MPI_Request *request)    \
    {                                                 \
        MPI_##nonblocking(__VA_ARGS__ comm, request); \
    }
COLLECTIVES(START)

#if MPI_VERSION >= 4
#define INIT(name, blocking, nonblocking, ...)                           \
    static void init_##name(MPI_Request *request)                        \
    {                                                                    \
        MPI_##blocking##_init(__VA_ARGS__ comm, MPI_INFO_NULL, request); \
        MPI_Start(request);                                              \
    }
COLLECTIVES(INIT)
#define INIT_OF(name) init_##name
#else
#define INIT_OF(name) NULL
#endif

static MPI_Comm made[2];

static void make(int which)
{
    MPI_Comm_dup(comm, &made[which]);
}

static void dup_it(void)
{
    make(0);
    MPI_Comm_free(&made[0]);
}

static void split_it(void)
{
    MPI_Comm_split(comm, 0, 0, &made[1]);
    MPI_Comm_free(&made[1]);
}

static void idup_it(MPI_Request *request)
{
    MPI_Comm_idup(comm, &made[0], request);
}

static const struct collective {
    const char *name;
    void (*blocking)(void);
    void (*nonblocking)(MPI_Request *);
    void (*persistent)(MPI_Request *);
} collectives[] = {
#define ROW(name, ...) {#name, blocking_##name, start_##name, INIT_OF(name)},
    COLLECTIVES(ROW){"comm_dup", dup_it, idup_it, NULL},
    {"comm_split", split_it, NULL, NULL},
};
enum { COUNT = sizeof collectives / sizeof *collectives };

static int has(const struct collective *collective, const char *kind)
{
    return strcmp(kind, "blocking") == 0      ? collective->blocking != NULL
           : strcmp(kind, "nonblocking") == 0 ? collective->nonblocking != NULL
                                              : collective->persistent != NULL;
}

static void both(const struct collective *first, const struct collective *second, const char *kind)
{
    MPI_Request requests[2];
    made[0] = MPI_COMM_NULL;
    in = taken[0];
    if (strcmp(kind, "blocking") == 0) {
        first->blocking();
        second->blocking();
        return;
    }
    int persistent = strcmp(kind, "persistent") == 0;
    (persistent ? first->persistent : first->nonblocking)(&requests[0]);
    in = taken[1];
    (persistent ? second->persistent : second->nonblocking)(&requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; persistent && i < 2; i++)
        MPI_Request_free(&requests[i]);
    if (made[0] != MPI_COMM_NULL)
        MPI_Comm_free(&made[0]);
}

static const struct collective *named(const char *name)
{
    for (int i = 0; i < COUNT; i++) {
        if (strcmp(collectives[i].name, name) == 0)
            return &collectives[i];
    }
    fprintf(stderr, "pairs: there is no %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    int rank, periodic = 1;
    if (argc == 3 && strcmp(argv[1], "names") == 0) {
        for (int i = 0; i < COUNT; i++) {
            if (has(&collectives[i], argv[2]))
                puts(collectives[i].name);
        }
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
    MPI_Comm_set_name(comm, "ring");
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < size && i < MOST; i++) {
        counts[i] = 1;
        places[i] = i;
        byte_places[i] = i * (int)sizeof *out;
        far[i] = byte_places[i];
        types[i] = TYPE;
    }
    if (argc == 3 && strcmp(argv[1], "all") == 0) {
        for (int i = 0; i < COUNT; i++) {
            for (int j = 0; j < COUNT; j++) {
                if (has(&collectives[i], argv[2]) && has(&collectives[j], argv[2]) &&
                    !(i == j && strncmp(collectives[i].name, "comm_", 5) == 0))
                    both(&collectives[i], &collectives[j], argv[2]);
            }
        }
    } else if (argc >= 4) {
        int swapped = argc > 4 && rank % 2 == 1;
        if (argc > 4)
            step_back();
        both(named(argv[1 + swapped]), named(argv[2 - swapped]), argv[3]);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
