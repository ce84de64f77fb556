/* SPDX-License-Identifier: BSD-3-Clause */
/* A call that one rank leaves out in the middle of others: it is not where the others stand that tells who
   went wrong, but who is behind. */
#include "corpus.h"

#define WORLD MPI_COMM_WORLD

/* Each rank passes something to the right, but for the one that is silent (-1: none is). */
static void exchange(int silent)
{
    if (rank != silent)
        MPI_Send(small, 4, MPI_INT, (rank + 1) % size, 3, WORLD);
    MPI_Recv(small_received, 4, MPI_INT, (rank + size - 1) % size, 3, WORLD, MPI_STATUS_IGNORE);
}

static void norm(void)
{
    MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD);
}

/* Rank 2 forgets to send; the others are in the next call, which stands in another function. */
CASE(send_forgotten_before_a_collective)
{
    for (int step = 0; step < 3; step++) {
        if (step == 2)
            ready();
        exchange(step == 2 ? 2 : -1);
        norm();
    }
}

/* Rank 2 leaves out the second sum, and waits in the next exchange. */
CASE(collective_skipped_between_exchanges)
{
    for (int step = 0; step < 3; step++) {
        if (step == 1)
            ready();
        exchange(-1);
        if (step != 1 || rank != 2)
            norm();
    }
}

static void take_turn(void)
{
    if (rank > 0)
        MPI_Recv(small_received, 1, MPI_INT, rank - 1, 11, WORLD, MPI_STATUS_IGNORE);
    if (rank != 2 && rank < size - 1)
        MPI_Send(small, 1, MPI_INT, rank + 1, 11, WORLD);
}

/* Ranks take turns; rank 2 does not pass it on. */
CASE(turn_not_passed_on)
{
    ready();
    take_turn();
    MPI_Barrier(WORLD);
}

/* Two models of half the ranks each: the second one gets its input from the first, and makes a step more. */
CASE(one_model_makes_a_step_more)
{
    bool second = rank >= size / 2;
    int steps = second ? 4 : 3;
    MPI_Comm model;

    MPI_Comm_split(WORLD, second, rank, &model);
    MPI_Comm_set_name(model, second ? "ocean" : "atmosphere");
    for (int step = 0; step < steps; step++) {
        if (step == 2)
            ready();
        if (second)
            MPI_Recv(small_received, 1, MPI_INT, rank - size / 2, 5, WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(small, 1, MPI_INT, rank + size / 2, 5, WORLD);
        MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, model);
    }
    MPI_Barrier(WORLD);
}

/* Rank 3 leaves the exchanges with its neighbours one round early. */
CASE(neighbor_rounds_one_fewer)
{
    int periodic = 1;
    MPI_Comm ring;

    MPI_Cart_create(WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Comm_set_name(ring, "ring");
    MPI_Neighbor_alltoall(small, 1, MPI_INT, small_received, 1, MPI_INT, ring);
    ready();
    if (rank != 3)
        MPI_Neighbor_alltoall(small, 1, MPI_INT, small_received, 1, MPI_INT, ring);
    MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, ring);
}

/* What comes after the one of four that rank 2 leaves out. */
static void go_on(void)
{
    MPI_Allgather(small, 1, MPI_INT, small_received, 1, MPI_INT, WORLD);
    MPI_Barrier(WORLD);
}

#define ONE_OF_FOUR(name, call)                                           \
    CASE(name##_skipped_among_others)                                     \
    {                                                                     \
        MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD); \
        ready();                                                          \
        if (rank != 2)                                                    \
            call;                                                         \
        go_on();                                                          \
    }

ONE_OF_FOUR(bcast, MPI_Bcast(small, 4, MPI_INT, 0, WORLD))
ONE_OF_FOUR(scatter, MPI_Scatter(small, 1, MPI_INT, small_received, 1, MPI_INT, 0, WORLD))
ONE_OF_FOUR(reduce, MPI_Reduce(small, small_received, 4, MPI_INT, MPI_SUM, 0, WORLD))
