/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collectives: skipped by one rank, swapped with another, with arguments that do not fit. */
#include "corpus.h"

#define WORLD MPI_COMM_WORLD

/* All make the call once; the second time rank 1 waits for a message that nobody sends instead. */
#define SKIPPED(id, call)             \
    CASE(id##_skipped)                \
    {                                 \
        (call);                       \
        if (rank == 1)                \
            HANG(WAIT_FOR_NOBODY(0)); \
        else                          \
            HANG(call);               \
    }

static int *whole(void)
{
    return small_received;
}

SKIPPED(barrier, MPI_Barrier(WORLD))
SKIPPED(bcast, MPI_Bcast(small, 4, MPI_INT, 1, WORLD))
SKIPPED(reduce, MPI_Reduce(small, whole(), 4, MPI_INT, MPI_SUM, 0, WORLD))
SKIPPED(allreduce, MPI_Allreduce(small, whole(), 4, MPI_INT, MPI_SUM, WORLD))
SKIPPED(gather, MPI_Gather(small, 1, MPI_INT, whole(), 1, MPI_INT, 0, WORLD))
SKIPPED(gatherv, MPI_Gatherv(small, 1, MPI_INT, whole(), counts, offsets, MPI_INT, 0, WORLD))
SKIPPED(scatter, MPI_Scatter(small, 1, MPI_INT, whole(), 1, MPI_INT, 1, WORLD))
SKIPPED(scatterv, MPI_Scatterv(small, counts, offsets, MPI_INT, whole(), 1, MPI_INT, 1, WORLD))
SKIPPED(allgather, MPI_Allgather(small, 1, MPI_INT, whole(), 1, MPI_INT, WORLD))
SKIPPED(allgatherv, MPI_Allgatherv(small, 1, MPI_INT, whole(), counts, offsets, MPI_INT, WORLD))
SKIPPED(alltoall, MPI_Alltoall(small, 1, MPI_INT, whole(), 1, MPI_INT, WORLD))
SKIPPED(alltoallv, MPI_Alltoallv(small, counts, offsets, MPI_INT, whole(), counts, offsets, MPI_INT, WORLD))
SKIPPED(reduce_scatter, MPI_Reduce_scatter(small, whole(), counts, MPI_INT, MPI_SUM, WORLD))
SKIPPED(reduce_scatter_block, MPI_Reduce_scatter_block(small, whole(), 1, MPI_INT, MPI_SUM, WORLD))
SKIPPED(scan, MPI_Scan(small, whole(), 4, MPI_INT, MPI_SUM, WORLD))
SKIPPED(exscan, MPI_Exscan(small, whole(), 4, MPI_INT, MPI_SUM, WORLD))

CASE(alltoallw_skipped)
{
    MPI_Datatype types[16];
    int places[16];

    for (int i = 0; i < 16; i++) {
        types[i] = MPI_INT;
        places[i] = i * (int)sizeof(int);
    }
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Alltoallw(small, counts, places, types, whole(), counts, places, types, WORLD));
}

/* The rank that did not come was not the second: the last of five, and four wait. */
CASE(last_of_five_skips_allreduce)
{
    for (int i = 0; i < 20; i++)
        MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD);
    if (rank == 4)
        HANG(WAIT_FOR_NOBODY(2));
    else
        HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD));
}

/* Two ranks miss the same call. */
CASE(two_skip_barrier)
{
    MPI_Barrier(WORLD);
    if (rank == 1 || rank == 3)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Barrier(WORLD));
}

/* Rank 1 makes them in the other order. */
#define SWAPPED(id, first, second) \
    CASE(id##_swapped)             \
    {                              \
        if (rank == 1) {           \
            HANG(second);          \
            (first);               \
        } else {                   \
            HANG(first);           \
            (second);              \
        }                          \
    }

SWAPPED(barrier_allreduce, MPI_Barrier(WORLD),
        MPI_Allreduce(small, small_received, 4, MPI_INT, MPI_SUM, WORLD))
SWAPPED(allgather_alltoall, MPI_Allgather(small, 1, MPI_INT, small_received, 1, MPI_INT, WORLD),
        MPI_Alltoall(small, 1, MPI_INT, small_received, 1, MPI_INT, WORLD))
SWAPPED(allreduce_allgather, MPI_Allreduce(small, small_received, 4, MPI_INT, MPI_SUM, WORLD),
        MPI_Allgather(small, 1, MPI_INT, small_received, 1, MPI_INT, WORLD))
SWAPPED(reduce_scatter_barrier, MPI_Reduce_scatter_block(small, small_received, 1, MPI_INT, MPI_SUM, WORLD),
        MPI_Barrier(WORLD))
SWAPPED(large_bcast_reduce, MPI_Bcast(large, LARGE, MPI_INT, 0, WORLD),
        MPI_Reduce(large, large_received, LARGE, MPI_INT, MPI_SUM, 0, WORLD))
SWAPPED(large_gather_scatter,
        MPI_Gather(large, LARGE / 4, MPI_INT, large_received, LARGE / 4, MPI_INT, 0, WORLD),
        MPI_Scatter(large, LARGE / 4, MPI_INT, large_received, LARGE / 4, MPI_INT, 0, WORLD))

/* Each rank another one. */
CASE(three_different_collectives)
{
    MPI_Barrier(WORLD);
    if (rank == 0)
        HANG(MPI_Barrier(WORLD));
    else if (rank == 1)
        HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD));
    else
        HANG(MPI_Allgather(small, 1, MPI_INT, small_received, 1, MPI_INT, WORLD));
}

/* One call too many: rank 1 makes a barrier that the others do not, and all that follows is off by one. */
CASE(one_barrier_too_many)
{
    MPI_Barrier(WORLD);
    if (rank == 1)
        HANG(MPI_Barrier(WORLD));
    else
        HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD));
    MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD);
}

/* Rank 1 takes itself for the root. */
#define ROOT (rank == 1 ? 1 : 0)

CASE(bcast_wrong_root)
{
    HANG(MPI_Bcast(large, LARGE, MPI_INT, ROOT, WORLD));
    MPI_Barrier(WORLD);
}

CASE(reduce_wrong_root)
{
    HANG(MPI_Reduce(large, large_received, LARGE, MPI_INT, MPI_SUM, ROOT, WORLD));
    MPI_Barrier(WORLD);
}

CASE(gather_wrong_root)
{
    HANG(MPI_Gather(large, LARGE / 4, MPI_INT, large_received, LARGE / 4, MPI_INT, ROOT, WORLD));
    MPI_Barrier(WORLD);
}

CASE(scatter_wrong_root)
{
    HANG(MPI_Scatter(large, LARGE / 4, MPI_INT, large_received, LARGE / 4, MPI_INT, ROOT, WORLD));
    MPI_Barrier(WORLD);
}

/* Small, so that the broadcast itself ends everywhere, and the harm shows a step later. */
CASE(small_reduce_wrong_root)
{
    HANG(MPI_Reduce(small, small_received, 4, MPI_INT, MPI_SUM, ROOT, WORLD));
    MPI_Barrier(WORLD);
}

/* Rank 1 has another count than the others, and the error that this gives is looked at by nobody. */
CASE(allreduce_wrong_count)
{
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    HANG(MPI_Allreduce(large, large_received, rank == 1 ? LARGE : 4, MPI_INT, MPI_SUM, WORLD));
    MPI_Barrier(WORLD);
}

CASE(allgather_wrong_count)
{
    int count = rank == 1 ? LARGE / 4 : 1;

    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    HANG(MPI_Allgather(large, count, MPI_INT, large_received, count, MPI_INT, WORLD));
    MPI_Barrier(WORLD);
}

CASE(gather_wrong_count)
{
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    HANG(MPI_Gather(large, rank == 1 ? LARGE / 4 : 1, MPI_INT, large_received, 1, MPI_INT, 0, WORLD));
    MPI_Barrier(WORLD);
}

static void multiply(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] *= ((int *)in)[i];
}

/* An operation that does not commute takes another algorithm. */
CASE(reduce_wrong_op)
{
    MPI_Op op = MPI_SUM;

    if (rank == 1)
        MPI_Op_create(multiply, 0, &op);
    HANG(MPI_Reduce(large, large_received, LARGE, MPI_INT, op, 0, WORLD));
    MPI_Barrier(WORLD);
}

CASE(reduce_scatter_wrong_op)
{
    MPI_Op op = MPI_SUM;

    if (rank == 1)
        MPI_Op_create(multiply, 0, &op);
    HANG(MPI_Reduce_scatter(small, small_received, counts, MPI_INT, op, WORLD));
    MPI_Barrier(WORLD);
}
/* The residual that rank 1 sees is another one, so it leaves the loop while the others go on. */
CASE(loop_left_early)
{
    for (int step = 0; step < 1000; step++) {
        int mine = 10 - step, residual;

        MPI_Allreduce(&mine, &residual, 1, MPI_INT, rank == 1 ? MPI_MIN : MPI_SUM, WORLD);
        if (residual <= 5)
            break;
        if (step >= 4)
            ready();
    }
    HANG(MPI_Barrier(WORLD));
}

/* A deadlocked half, a half that goes on: MPI_COMM_WORLD split, both halves with one context id. */
CASE(half_skips_barrier)
{
    MPI_Comm half;

    MPI_Comm_split(WORLD, rank / 2, rank, &half);
    MPI_Comm_set_name(half, rank / 2 ? "upper half" : "lower half");
    MPI_Barrier(half);
    ready();
    if (rank == 0)
        MPI_Barrier(half);
    else if (rank == 1)
        WAIT_FOR_NOBODY(0);
    else
        for (;;) {
            MPI_Barrier(half);
            advance();
        }
}

/* Both halves hang, each in its own way, on one context id. */
CASE(both_halves_hang)
{
    MPI_Comm half;

    MPI_Comm_split(WORLD, rank / 2, rank, &half);
    MPI_Comm_set_name(half, "half");
    if (rank == 1 || rank == 3)
        HANG(WAIT_FOR_NOBODY(rank - 1));
    else if (rank == 0)
        HANG(MPI_Barrier(half));
    else
        HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, half));
}

/* Two communicators of the same members, in opposite order. */
CASE(nested_opposite_order)
{
    MPI_Comm first, second;

    MPI_Comm_dup(WORLD, &first);
    MPI_Comm_dup(WORLD, &second);
    MPI_Comm_set_name(first, "first");
    MPI_Comm_set_name(second, "second");
    HANG(MPI_Barrier(rank == 0 ? first : second));
    MPI_Barrier(rank == 0 ? second : first);
}

/* Rows and columns of a 2x2 grid, each rank another one first: a ring of four. */
CASE(rows_and_columns)
{
    MPI_Comm row, column;
    bool row_first = rank == 0 || rank == 3;

    MPI_Comm_split(WORLD, rank / 2, rank, &row);
    MPI_Comm_split(WORLD, rank % 2, rank, &column);
    MPI_Comm_set_name(row, "row");
    MPI_Comm_set_name(column, "column");
    HANG(MPI_Barrier(row_first ? row : column));
    MPI_Barrier(row_first ? column : row);
}

/* A communicator over a part of the world and the world itself, in opposite order. */
CASE(part_and_world)
{
    MPI_Comm part;

    MPI_Comm_split(WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &part);
    if (rank == 0)
        HANG(MPI_Barrier(part));
    HANG(MPI_Barrier(WORLD));
    if (rank == 1)
        MPI_Barrier(part);
}

/* One rank skips a collective of a library's own communicator, and waits in the world's barrier. */
static MPI_Comm library(void)
{
    MPI_Comm duplicate;

    MPI_Comm_dup(WORLD, &duplicate);
    return duplicate;
}

CASE(library_allreduce_skipped)
{
    MPI_Comm duplicate = library();

    if (rank != 1)
        HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, duplicate));
    HANG(MPI_Barrier(WORLD));
}

/* The same, after a round that all have made. */
CASE(second_library_allreduce_skipped)
{
    MPI_Comm duplicate = library();

    for (int i = 0; i < 2; i++) {
        if (i == 0 || rank != size - 1)
            HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, duplicate));
        HANG(MPI_Barrier(WORLD));
    }
}

/* The last of three collectives on as many communicators is where the one rank is. */
CASE(two_libraries_skipped)
{
    MPI_Comm first = library(), second = library();

    if (rank != 1) {
        HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, first));
        HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, second));
    }
    HANG(MPI_Barrier(WORLD));
}

/* All but one rank skip a collective of a library's: the one that has not is whom to look at. */
CASE(library_allreduce_of_one)
{
    MPI_Comm duplicate = library();

    if (rank == 1)
        HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, duplicate));
    HANG(MPI_Barrier(WORLD));
}

/* One rank makes the two calls in the other order. */
CASE(one_in_the_other_order)
{
    MPI_Comm duplicate = library();

    if (rank == 1) {
        HANG(MPI_Barrier(WORLD));
        MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, duplicate);
    } else {
        HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, duplicate));
        MPI_Barrier(WORLD);
    }
}

/* The collective on another communicator than the others'. */
CASE(collective_on_a_duplicate)
{
    MPI_Comm duplicate;

    MPI_Comm_dup(WORLD, &duplicate);
    MPI_Comm_set_name(duplicate, "duplicate");
    HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, rank == 1 ? duplicate : WORLD));
}

/* Only the lower ranks can hold up a rank in MPI_Scan: that rank 2 never comes is nothing to rank 1. */
CASE(scan_waits_for_the_lower_rank)
{
    if (rank == 0)
        HANG(compute_for_ever());
    else if (rank == 1)
        HANG(MPI_Scan(small, small_received, 1, MPI_INT, MPI_SUM, WORLD));
    else
        HANG(WAIT_FOR_NOBODY(2));
}

/* What the root gives beside MPI_IN_PLACE is ignored, so it is another count for no reason. */
CASE(gather_in_place_skipped)
{
    int in_place = rank == 0;

    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Gather(in_place ? MPI_IN_PLACE : large, in_place ? 0 : LARGE / 4, MPI_INT, large_received,
                        in_place ? LARGE / 4 : 0, MPI_INT, 0, WORLD));
}

/* As many integers as the others have pairs of them: the same data by other counts. */
CASE(bcast_of_pairs_skipped)
{
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else if (rank == 2)
        HANG(MPI_Bcast(large, LARGE / 2, MPI_2INT, 0, WORLD));
    else
        HANG(MPI_Bcast(large, LARGE, MPI_INT, 0, WORLD));
}

/* Two bugs: nobody receives rank 0's message, and rank 1 reduces by another operation. The message hangs. */
CASE(send_before_a_wrong_op)
{
    if (rank == 0)
        HANG(MPI_Ssend(small, 1, MPI_INT, 1, 21, WORLD));
    HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, rank == 1 ? MPI_MAX : MPI_SUM, WORLD));
}

/* Rank 1 passes MPI_OP_NULL and ignores the error. */
CASE(allreduce_failed)
{
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, rank == 1 ? MPI_OP_NULL : MPI_SUM, WORLD));
    if (rank == 1)
        WAIT_FOR_NOBODY(0);
}
