/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that do not hang: collectives.  See healthy.c. */
#include "corpus.h"

#define WORLD MPI_COMM_WORLD
#define NEXT ((rank + 1) % size)
#define PREVIOUS ((rank + size - 1) % size)
#define IGNORE MPI_STATUS_IGNORE
#define ROUNDS for (ready();; advance())

static void allreduce_on(MPI_Comm communicator)
{
    MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, communicator);
}

CASE(barriers)
{
    ROUNDS
    MPI_Barrier(WORLD);
}

CASE(allreduces_large)
{
    ROUNDS
    MPI_Allreduce(large, large_received, LARGE, MPI_INT, MPI_SUM, WORLD);
}

/* Roots run ahead of the leaves, and leaves ahead of roots. */
CASE(broadcasts_run_ahead)
{
    ROUNDS
    {
        MPI_Bcast(small, 4, MPI_INT, 0, WORLD);
        if (rank)
            compute_us(30);
    }
}

CASE(reduces_run_ahead)
{
    ROUNDS
    {
        MPI_Reduce(small, small_received, 4, MPI_INT, MPI_SUM, 0, WORLD);
        if (rank == 0)
            compute_us(30);
    }
}

CASE(every_collective_in_turn)
{
    ROUNDS
    {
        MPI_Barrier(WORLD);
        MPI_Bcast(small, 4, MPI_INT, 1, WORLD);
        MPI_Reduce(small, small_received, 4, MPI_INT, MPI_MAX, 0, WORLD);
        MPI_Gather(small, 1, MPI_INT, small_received, 1, MPI_INT, 0, WORLD);
        MPI_Scatter(small, 1, MPI_INT, small_received, 1, MPI_INT, 1, WORLD);
        MPI_Allgather(small, 1, MPI_INT, small_received, 1, MPI_INT, WORLD);
        MPI_Alltoall(small, 1, MPI_INT, small_received, 1, MPI_INT, WORLD);
        MPI_Scan(small, small_received, 1, MPI_INT, MPI_SUM, WORLD);
        MPI_Exscan(small, small_received, 1, MPI_INT, MPI_SUM, WORLD);
        MPI_Reduce_scatter_block(small, small_received, 1, MPI_INT, MPI_SUM, WORLD);
        allreduce_on(WORLD);
    }
}

/* Differences of arguments that are legal. */

/* Each rank gives another count. */
CASE(gatherv_different_counts)
{
    int received[16], displacements[16];

    for (int i = 0; i < size; i++) {
        received[i] = i;
        displacements[i] = 4 * i;
    }
    ROUNDS
    {
        MPI_Gatherv(small, rank, MPI_INT, small_received, received, displacements, MPI_INT, 0, WORLD);
        MPI_Allgatherv(small, rank, MPI_INT, small_received, received, displacements, MPI_INT, WORLD);
        MPI_Scatterv(small, received, displacements, MPI_INT, small_received, rank, MPI_INT, 0, WORLD);
    }
}

CASE(alltoallv_mostly_empty)
{
    int sent[16] = {0}, received[16] = {0};

    sent[NEXT] = rank + 1;
    received[PREVIOUS] = PREVIOUS + 1;
    ROUNDS
    MPI_Alltoallv(small, sent, offsets, MPI_INT, small_received, received, offsets, MPI_INT, WORLD);
}

CASE(in_place)
{
    ROUNDS
    {
        MPI_Reduce(rank == 0 ? MPI_IN_PLACE : small, small_received, 4, MPI_INT, MPI_SUM, 0, WORLD);
        MPI_Allreduce(MPI_IN_PLACE, small_received, 4, MPI_INT, MPI_SUM, WORLD);
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, small_received, 1, MPI_INT, WORLD);
        MPI_Gather(rank == 0 ? MPI_IN_PLACE : small, 1, MPI_INT, small_received, 1, MPI_INT, 0, WORLD);
        MPI_Scatter(small, 1, MPI_INT, rank == 0 ? MPI_IN_PLACE : small_received, 1, MPI_INT, 0, WORLD);
    }
}

/* Root-only arguments are not significant elsewhere. */
CASE(only_the_root_knows)
{
    ROUNDS
    {
        MPI_Barrier(WORLD);
        if (rank == 0)
            MPI_Gather(small, 1, MPI_INT, small_received, 1, MPI_INT, 0, WORLD);
        else
            MPI_Gather(small, 1, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 0, WORLD);
    }
}

/* Four integers, said in three ways. */
CASE(equal_signatures)
{
    MPI_Datatype four, spread;
    int count = rank == 0 ? 4 : 1;

    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_vector(4, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&four);
    MPI_Type_commit(&spread);
    ROUNDS
    {
        MPI_Bcast(small, count, rank == 0 ? MPI_INT : rank == 1 ? four : spread, 0, WORLD);
        MPI_Allgather(small, count, rank == 0 ? MPI_INT : four, small_received, 4, MPI_INT, WORLD);
    }
}

/* Counts of zero: some of these calls communicate nothing. */
CASE(nothing_to_say)
{
    ROUNDS
    {
        MPI_Bcast(small, 0, MPI_INT, 0, WORLD);
        MPI_Allreduce(small, small_received, 0, MPI_INT, MPI_SUM, WORLD);
        allreduce_on(WORLD);
    }
}

/* Non-blocking. */

CASE(iallreduce_overlapped)
{
    MPI_Request request;

    ROUNDS
    {
        MPI_Iallreduce(small, small_received, 4, MPI_INT, MPI_SUM, WORLD, &request);
        compute_us(100 * (rank + 1));
        MPI_Wait(&request, IGNORE);
    }
}

CASE(five_in_flight)
{
    MPI_Request requests[5];

    ROUNDS
    {
        for (int i = 0; i < 5; i++)
            MPI_Iallreduce(small, small_received + i, 1, MPI_INT, MPI_SUM, WORLD, &requests[i]);
        MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    }
}

/* Started by all, waited for in different orders: legal. */
CASE(waited_for_in_any_order)
{
    MPI_Request requests[2];

    ROUNDS
    {
        MPI_Ibcast(small, 4, MPI_INT, 0, WORLD, &requests[0]);
        MPI_Iallreduce(small, small_received, 4, MPI_INT, MPI_SUM, WORLD, &requests[1]);
        MPI_Wait(&requests[rank % 2], IGNORE);
        MPI_Wait(&requests[1 - rank % 2], IGNORE);
    }
}

/* An Ibarrier tells when all messages have arrived; meanwhile the ranks probe. */
CASE(consensus_by_ibarrier)
{
    MPI_Request barrier;
    int found, done;

    ROUNDS
    {
        MPI_Send(small, 1, MPI_INT, NEXT, 1, WORLD);
        MPI_Recv(small_received, 1, MPI_INT, PREVIOUS, 1, WORLD, IGNORE);
        MPI_Ibarrier(WORLD, &barrier);
        do {
            MPI_Iprobe(MPI_ANY_SOURCE, 2, WORLD, &found, IGNORE);
            MPI_Test(&barrier, &done, IGNORE);
        } while (!done);
    }
}

/* Many communicators. */

CASE(halves_apart)
{
    MPI_Comm half;

    MPI_Comm_split(WORLD, rank % 2, rank, &half);
    ROUNDS
    {
        if (rank % 2)
            MPI_Barrier(half);
        else
            allreduce_on(half);
    }
}

CASE(rows_and_columns_in_order)
{
    MPI_Comm row, column;

    MPI_Comm_split(WORLD, rank / 2, rank, &row);
    MPI_Comm_split(WORLD, rank % 2, rank, &column);
    ROUNDS
    {
        allreduce_on(row);
        allreduce_on(column);
    }
}

CASE(communicators_come_and_go)
{
    MPI_Comm made;

    ROUNDS
    {
        MPI_Comm_dup(WORLD, &made);
        allreduce_on(made);
        MPI_Comm_free(&made);
        MPI_Comm_split(WORLD, rank % 2, rank, &made);
        allreduce_on(made);
        MPI_Comm_free(&made);
    }
}

/* Rank 0 has no part in what the others do, and computes. */
CASE(only_a_part_works)
{
    MPI_Comm others;

    MPI_Comm_split(WORLD, rank ? 0 : MPI_UNDEFINED, rank, &others);
    ROUNDS
    {
        if (rank)
            allreduce_on(others);
        else
            compute_us(100);
    }
}

CASE(intercommunicator)
{
    MPI_Comm half, across;

    MPI_Comm_split(WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 1, &across);
    ROUNDS
    {
        allreduce_on(across);
        MPI_Barrier(across);
    }
}

CASE(neighbourhood)
{
    MPI_Comm cart;
    int periodic = 1;

    MPI_Cart_create(WORLD, 1, &size, &periodic, 0, &cart);
    ROUNDS
    MPI_Neighbor_alltoall(small, 1, MPI_INT, small_received, 1, MPI_INT, cart);
}

/* In a ring each sends to the next rank and has nothing for the one before.  One is late. */
CASE(neighbours_to_one_side)
{
    MPI_Comm ring;
    int periodic = 1, to[2] = {0, 1}, from[2] = {1, 0}, places[2] = {0, 0};

    MPI_Cart_create(WORLD, 1, &size, &periodic, 0, &ring);
    ROUNDS
    {
        if (rank == 0)
            compute_us(30);
        MPI_Neighbor_alltoallv(small, to, places, MPI_INT, small_received, from, places, MPI_INT, ring);
    }
}

/* Persistent collectives: MPI 4's, and MPIX_ in Open MPI 4.1. */
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define BARRIER_INIT MPI_Barrier_init
#define REDUCE_INIT MPI_Reduce_init
#define SCAN_INIT MPI_Scan_init
#define ALLTOALLV_INIT MPI_Alltoallv_init
#elif OMPI_MAJOR_VERSION
#include <mpi-ext.h>
#define BARRIER_INIT MPIX_Barrier_init
#define REDUCE_INIT MPIX_Reduce_init
#define SCAN_INIT MPIX_Scan_init
#define ALLTOALLV_INIT MPIX_Alltoallv_init
#endif

#ifdef BARRIER_INIT
/* Two of them at a time.  The root is late. */
CASE(persistent_collectives)
{
    MPI_Request requests[2];

    BARRIER_INIT(WORLD, MPI_INFO_NULL, &requests[0]);
    REDUCE_INIT(small, small_received, 4, MPI_INT, MPI_SUM, 0, WORLD, MPI_INFO_NULL, &requests[1]);
    ROUNDS
    {
        if (rank == 0)
            compute_us(30);
        MPI_Start(&requests[0]);
        MPI_Start(&requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

/* Each waits for some of the others alone, who come late in turns: in a scan for lower ranks, in the other
   one for the next rank. */
CASE(persistent_scan_and_alltoallv)
{
    int to[64] = {0}, from[64] = {0}, places[64] = {0};
    MPI_Request scan, exchange;
    int late = 0;

    to[(rank + size - 1) % size] = 1;
    from[(rank + 1) % size] = 1;
    SCAN_INIT(small, small_received, 4, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &scan);
    ALLTOALLV_INIT(small, to, places, MPI_INT, small_received, from, places, MPI_INT, WORLD, MPI_INFO_NULL,
                   &exchange);
    ROUNDS
    {
        if (rank == late++ % size)
            compute_us(500);
        MPI_Start(&scan);
        MPI_Wait(&scan, MPI_STATUS_IGNORE);
        MPI_Start(&exchange);
        MPI_Wait(&exchange, MPI_STATUS_IGNORE);
    }
}
#endif

/* Intercommunicators are made and freed; members of one half come late in turns. */
CASE(intercommunicators_made)
{
    MPI_Comm half, across;
    int late = 0;

    MPI_Comm_split(WORLD, rank % 2, rank, &half);
    ROUNDS
    {
        if (rank == late++ % size)
            compute_us(2000);
        MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 7, &across);
        MPI_Comm_free(&across);
    }
}

/* Calls of one kind on two files: one of all ranks, one of each half, to which one of the half comes late. */
CASE(files_of_all_and_of_halves)
{
    MPI_Comm half;
    MPI_File all, own;
    char name[32];

    MPI_Comm_split(WORLD, rank % 2, rank, &half);
    snprintf(name, sizeof name, "corpus-half-%d", rank % 2);
    MPI_File_open(WORLD, "corpus-all", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &all);
    MPI_File_open(half, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &own);
    ROUNDS
    {
        MPI_File_write_at_all(all, 64 * rank, small, 1, MPI_INT, MPI_STATUS_IGNORE);
        if (rank == 1)
            compute_us(2000);
        for (int i = 0; i <= rank % 2; i++)
            MPI_File_write_at_all(own, 64 * rank, small, 1, MPI_INT, MPI_STATUS_IGNORE);
    }
}

/* Without data a collective waits for nobody: rank 0's is complete while it waits for rank 2, which is late;
   rank 1 comes to it afterwards. */
CASE(collective_without_data_beside_a_receive)
{
    int none[2] = {0};
    MPI_Comm pair;
    MPI_Request requests[2];

    MPI_Comm_split(WORLD, rank < 2, rank, &pair);
    ROUNDS
    {
        if (rank == 2) {
            compute_us(1500000);
            MPI_Send(small, 1, MPI_INT, 0, 2, WORLD);
            continue;
        }
        if (rank == 1)
            MPI_Recv(small_received, 1, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE);
        MPI_Ialltoallv(small, none, none, MPI_INT, small_received, none, none, MPI_INT, pair, &requests[0]);
        if (rank == 0)
            MPI_Irecv(small_received, 1, MPI_INT, 2, 2, WORLD, &requests[1]);
        MPI_Waitall(rank == 0 ? 2 : 1, requests, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Send(small, 1, MPI_INT, 1, 1, WORLD);
    }
}

/* Two pairs make their communicators, each round with other tags; members come late in turns. */
CASE(pairs_made_with_tags_of_their_own)
{
    MPI_Group world, pair;
    MPI_Comm made;
    int first = rank / 2 * 2, late = 0;

    MPI_Comm_group(WORLD, &world);
    MPI_Group_incl(world, 2, (int[]){first, first + 1}, &pair);
    ROUNDS
    {
        if (rank == late++ % size)
            compute_us(2000);
        MPI_Comm_create_group(WORLD, pair, first + late % 2, &made);
        MPI_Comm_free(&made);
    }
}

/* Roots on both sides of an intercommunicator in turns; the root comes late. */
CASE(roots_of_an_intercommunicator)
{
    MPI_Comm half, across;
    int root = 0;

    MPI_Comm_split(WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 7, &across);
    ROUNDS
    {
        int given = rank == root ? MPI_ROOT : rank % 2 == root % 2 ? MPI_PROC_NULL : root / 2;

        if (rank == root)
            compute_us(2000);
        MPI_Bcast(small, 4, MPI_INT, given, across);
        MPI_Gather(small, 4, MPI_INT, small_received, 4, MPI_INT, given, across);
        root = (root + 1) % size;
    }
}
