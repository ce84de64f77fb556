/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking, persistent and neighbourhood collectives. */
#include "corpus.h"

#define WORLD MPI_COMM_WORLD

/* Rank 1 never starts it and waits for a message that nobody sends. */
#define SKIPPED(id, ...)                                 \
    CASE(id##_skipped)                                   \
    {                                                    \
        MPI_Request request;                             \
                                                         \
        if (rank == 1) {                                 \
            HANG(WAIT_FOR_NOBODY(0));                    \
        } else {                                         \
            __VA_ARGS__;                                 \
            HANG(MPI_Wait(&request, MPI_STATUS_IGNORE)); \
        }                                                \
    }

SKIPPED(ibarrier, MPI_Ibarrier(WORLD, &request))
SKIPPED(ibcast, MPI_Ibcast(small, 4, MPI_INT, 1, WORLD, &request))
SKIPPED(ireduce, MPI_Ireduce(small, small_received, 4, MPI_INT, MPI_SUM, 0, WORLD, &request))
SKIPPED(iallreduce, MPI_Iallreduce(small, small_received, 4, MPI_INT, MPI_SUM, WORLD, &request))
SKIPPED(igather, MPI_Igather(small, 1, MPI_INT, small_received, 1, MPI_INT, 0, WORLD, &request))
SKIPPED(iscatter, MPI_Iscatter(small, 1, MPI_INT, small_received, 1, MPI_INT, 1, WORLD, &request))
SKIPPED(iallgather, MPI_Iallgather(small, 1, MPI_INT, small_received, 1, MPI_INT, WORLD, &request))
SKIPPED(ialltoall, MPI_Ialltoall(small, 1, MPI_INT, small_received, 1, MPI_INT, WORLD, &request))
SKIPPED(iscan, MPI_Iscan(small, small_received, 4, MPI_INT, MPI_SUM, WORLD, &request))

/* Started by all; rank 1 waits for something else first that comes after it on rank 0. */
CASE(ibarrier_then_barrier)
{
    MPI_Request request;

    if (rank == 1) {
        HANG(WAIT_FOR_NOBODY(0));
        return;
    }
    MPI_Ibarrier(WORLD, &request);
    HANG(MPI_Barrier(WORLD));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Two non-blocking collectives started in different order. */
CASE(ibcast_ireduce_swapped)
{
    MPI_Request requests[2];

    if (rank == 1)
        MPI_Ireduce(small, small_received + 8, 1, MPI_INT, MPI_SUM, 0, WORLD, &requests[1]);
    MPI_Ibcast(small, 1, MPI_INT, 0, WORLD, &requests[0]);
    if (rank != 1)
        MPI_Ireduce(small, small_received + 8, 1, MPI_INT, MPI_SUM, 0, WORLD, &requests[1]);
    HANG(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MPI_Barrier(WORLD);
}

/* A blocking and a non-blocking one do not match. */
CASE(barrier_and_ibarrier)
{
    MPI_Request request;

    MPI_Barrier(WORLD);
    if (rank == 1) {
        MPI_Ibarrier(WORLD, &request);
        HANG(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        HANG(MPI_Barrier(WORLD));
    }
}

/* Five of them in flight, the third was left out by rank 2. */
CASE(third_of_five_iallreduces_skipped)
{
    MPI_Request requests[5];
    int count = 0;

    for (int i = 0; i < 5; i++) {
        if (rank == 2 && i == 2)
            continue;
        MPI_Iallreduce(small, small_received + i, 1, MPI_INT, MPI_SUM, WORLD, &requests[count++]);
    }
    HANG(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    if (rank == 2)
        WAIT_FOR_NOBODY(0);
}

static MPI_Comm ring(void)
{
    MPI_Comm cart;
    int periodic = 1;

    MPI_Cart_create(WORLD, 1, &size, &periodic, 0, &cart);
    MPI_Comm_set_name(cart, "ring");
    return cart;
}

CASE(neighbor_allgather_skipped)
{
    MPI_Comm cart = ring();

    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Neighbor_allgather(small, 1, MPI_INT, small_received, 1, MPI_INT, cart));
}

CASE(neighbor_alltoall_skipped)
{
    MPI_Comm cart = ring();

    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Neighbor_alltoall(small, 1, MPI_INT, small_received, 1, MPI_INT, cart));
}

CASE(ineighbor_alltoall_skipped)
{
    MPI_Comm cart = ring();
    MPI_Request request;

    if (rank == 1) {
        HANG(WAIT_FOR_NOBODY(0));
        return;
    }
    MPI_Ineighbor_alltoall(small, 1, MPI_INT, small_received, 1, MPI_INT, cart, &request);
    HANG(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* One rank skips the exchange with its neighbours: those are in it, all others behind it in the barrier. */
static void skip_before_barrier(int skips, bool neighbours)
{
    MPI_Comm cart = ring();

    if (rank == skips) {
        HANG(MPI_Barrier(WORLD));
        return;
    }
    ready();
    if (neighbours)
        MPI_Neighbor_allgather(small, 1, MPI_INT, small_received, 1, MPI_INT, cart);
    else
        MPI_Allgather(small, 1, MPI_INT, small_received, 1, MPI_INT, cart);
    MPI_Barrier(WORLD);
}

CASE(neighbor_allgather_skipped_before_barrier)
{
    skip_before_barrier(1, true);
}

CASE(allgather_skipped_before_barrier)
{
    skip_before_barrier(1, false);
}

/* The same, with the same call for all behind it: only the exchange's place is another one. */
CASE(neighbor_allgather_skipped_before_one_barrier)
{
    MPI_Comm cart = ring();

    ready();
    if (rank != 1)
        MPI_Neighbor_allgather(small, 1, MPI_INT, small_received, 1, MPI_INT, cart);
    MPI_Barrier(WORLD);
}

/* Each rank receives from the one before it.  Rank 0 needs nobody, rank 3 has what it needs from 2. */
CASE(neighbor_alltoallv_in_a_chain)
{
    MPI_Comm chain;
    int before = rank - 1, after = rank + 1, one = 1, zero = 0;

    MPI_Dist_graph_create_adjacent(WORLD, rank > 0, &before, MPI_UNWEIGHTED, after < size, &after,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &chain);
    MPI_Comm_set_name(chain, "chain");
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(
            MPI_Neighbor_alltoallv(small, &one, &zero, MPI_INT, small_received, &one, &zero, MPI_INT, chain));
}

/* Persistent collectives: MPI 4's, and MPIX_ in Open MPI 4.1. */
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define BARRIER_INIT MPI_Barrier_init
#define ALLREDUCE_INIT MPI_Allreduce_init
#define NEIGHBOR_INIT MPI_Neighbor_alltoall_init
#define SCAN_INIT MPI_Scan_init
#define ALLTOALLV_INIT MPI_Alltoallv_init
#elif OMPI_MAJOR_VERSION
#include <mpi-ext.h>
#define BARRIER_INIT MPIX_Barrier_init
#define ALLREDUCE_INIT MPIX_Allreduce_init
#define NEIGHBOR_INIT MPIX_Neighbor_alltoall_init
#define SCAN_INIT MPIX_Scan_init
#define ALLTOALLV_INIT MPIX_Alltoallv_init
#endif

#ifdef BARRIER_INIT

/* Made by all, started twice by all but rank 1, which starts it once. */
CASE(persistent_barrier_not_started)
{
    MPI_Request request;

    BARRIER_INIT(WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) {
        HANG(WAIT_FOR_NOBODY(0));
        return;
    }
    MPI_Start(&request);
    HANG(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

CASE(persistent_allreduce_not_started)
{
    MPI_Request request;

    ALLREDUCE_INIT(small, small_received, 4, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    if (rank == 1) {
        HANG(WAIT_FOR_NOBODY(0));
        return;
    }
    MPI_Start(&request);
    HANG(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Rank 0 needs nobody for its part of a scan. */
CASE(persistent_scan_not_started)
{
    MPI_Request request;

    SCAN_INIT(small, small_received, 4, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    if (rank == 1) {
        HANG(WAIT_FOR_NOBODY(2));
        return;
    }
    MPI_Start(&request);
    HANG(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

CASE(persistent_alltoallv_not_started)
{
    int counts[] = {1, 1, 1}, places[] = {0, 1, 2};
    MPI_Request request;

    ALLTOALLV_INIT(small, counts, places, MPI_INT, small_received, counts, places, MPI_INT, WORLD,
                   MPI_INFO_NULL, &request);
    if (rank == 1) {
        HANG(WAIT_FOR_NOBODY(0));
        return;
    }
    MPI_Start(&request);
    HANG(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

CASE(persistent_neighbor_alltoall_not_started)
{
    MPI_Comm cart = ring();
    MPI_Request request;

    NEIGHBOR_INIT(small, 1, MPI_INT, small_received, 1, MPI_INT, cart, MPI_INFO_NULL, &request);
    if (rank == 1) {
        HANG(WAIT_FOR_NOBODY(0));
        return;
    }
    MPI_Start(&request);
    HANG(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
#endif

/* Rank 0 calls a blocking collective where the others have started another one. */
CASE(allreduce_against_iscan)
{
    MPI_Request request;

    if (rank == 0) {
        HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD));
        return;
    }
    MPI_Iscan(small, small_received, 1, MPI_INT, MPI_SUM, WORLD, &request);
    HANG(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

CASE(allreduce_against_iexscan)
{
    MPI_Request request;

    if (rank == 0) {
        HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD));
        return;
    }
    MPI_Iexscan(small, small_received, 1, MPI_INT, MPI_SUM, WORLD, &request);
    HANG(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* The last rank never starts a large broadcast, and all but the root are in a barrier on a copy. */
CASE(root_of_a_large_ibcast_left_alone)
{
    MPI_Request request;
    MPI_Comm copy;

    MPI_Comm_dup(WORLD, &copy);
    MPI_Comm_set_name(copy, "copy");
    if (rank != size - 1)
        MPI_Ibcast(large, LARGE, MPI_INT, 0, WORLD, &request);
    if (rank == 0)
        HANG(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
    else if (rank < size - 1)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank > 0)
        HANG(MPI_Barrier(copy));
}

/* Rank 1 does not name rank 0 among those whom it sends to, and rank 0 awaits it. */
CASE(neighbours_disagree)
{
    MPI_Comm graph;
    int sides[] = {(rank + size - 1) % size, (rank + 1) % size};

    MPI_Dist_graph_create_adjacent(WORLD, 2, sides, MPI_UNWEIGHTED, rank == 1 ? 1 : 2,
                                   rank == 1 ? &sides[1] : sides, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Comm_set_name(graph, "graph");
    HANG(MPI_Neighbor_allgather(small, 1, MPI_INT, small_received, 1, MPI_INT, graph));
    HANG(MPI_Barrier(WORLD));
}

/* Rank 2 sends rank 1 nothing, which expects something.  Libraries that send empty messages go on. */
CASE(alltoallv_counts_disagree)
{
    int sent[8], received[8], places[8] = {0};

    for (int i = 0; i < size; i++)
        sent[i] = received[i] = 1;
    if (rank == 2)
        sent[1] = 0;
    HANG(MPI_Alltoallv(small, sent, places, MPI_INT, small_received, received, places, MPI_INT, WORLD));
    HANG(MPI_Barrier(WORLD));
}

/* The first of rank 1's receives is too short.  MPI_Waitall says so, and rank 1 goes elsewhere. */
CASE(waitall_failed)
{
    MPI_Request requests[2];

    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Send(small, SMALL, MPI_INT, 1, 3, WORLD);
        MPI_Send(small, 1, MPI_INT, 1, 4, WORLD);
    }
    if (rank == 1) {
        MPI_Irecv(&small_received[SMALL / 2], 1, MPI_INT, 0, 4, WORLD, &requests[0]);
        MPI_Irecv(small_received, SMALL / 2, MPI_INT, 0, 3, WORLD, &requests[1]);
        if (MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
            HANG(WAIT_FOR_NOBODY(2));
    }
    HANG(MPI_Barrier(WORLD));
}

/* The same of MPI_Recv. */
CASE(receive_too_short)
{
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    if (rank == 0)
        MPI_Send(small, SMALL, MPI_INT, 1, 3, WORLD);
    if (rank == 1 &&
        MPI_Recv(small_received, SMALL / 2, MPI_INT, 0, 3, WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        HANG(WAIT_FOR_NOBODY(0));
    HANG(MPI_Barrier(WORLD));
}
