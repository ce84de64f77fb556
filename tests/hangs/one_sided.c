/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows: epochs and locks that nobody ends. */
#include "corpus.h"

#define WORLD MPI_COMM_WORLD

static MPI_Win make_window(void)
{
    MPI_Win window;

    MPI_Win_create(small, sizeof small, sizeof *small, MPI_INFO_NULL, WORLD, &window);
    MPI_Win_set_name(window, "field");
    MPI_Barrier(WORLD);
    return window;
}

static MPI_Group only(int member)
{
    MPI_Group world;
    MPI_Group group;

    MPI_Comm_group(WORLD, &world);
    MPI_Group_incl(world, 1, &member, &group);
    return group;
}

/* Rank 1 keeps its lock and goes on into a barrier, which all others reach only once they have had it. */
CASE(lock_kept_over_a_barrier)
{
    MPI_Win window = make_window();

    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(small_received, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        MPI_Send(NULL, 0, MPI_INT, (rank + 1) % size, 2, WORLD);
        HANG(MPI_Barrier(WORLD));
        return;
    }
    MPI_Recv(NULL, 0, MPI_INT, (rank + size - 1) % size, 2, WORLD, MPI_STATUS_IGNORE);
    if ((rank + 1) % size != 1)
        MPI_Send(NULL, 0, MPI_INT, (rank + 1) % size, 2, WORLD);
    ready();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(small_received, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    MPI_Barrier(WORLD);
}

/* Rank 0 starts an access epoch at all others; the last one never posts, and waits in a barrier. */
CASE(started_and_not_posted)
{
    MPI_Win window = make_window();

    if (rank == 0) {
        MPI_Group group = only(size - 1);
        ready();
        MPI_Win_start(group, 0, window);
        MPI_Put(small, 1, MPI_INT, size - 1, 0, 1, MPI_INT, window);
        MPI_Win_complete(window);
        MPI_Barrier(WORLD);
    } else {
        HANG(MPI_Barrier(WORLD));
    }
}

/* Rank 0 waits for the end of an access that the last rank has started and never completes. */
CASE(started_and_not_completed)
{
    MPI_Win window = make_window();

    if (rank == 0) {
        MPI_Win_post(only(size - 1), 0, window);
        HANG(MPI_Win_wait(window));
    } else if (rank == size - 1) {
        MPI_Win_start(only(0), 0, window);
    }
    if (rank > 0)
        HANG(MPI_Barrier(WORLD));
    else
        MPI_Barrier(WORLD);
}

static MPI_Group all_but(int member)
{
    MPI_Group world;
    MPI_Group group;

    MPI_Comm_group(WORLD, &world);
    MPI_Group_excl(world, 1, &member, &group);
    return group;
}

/* Rank 0 waits for the access of all others: all but `late` have completed theirs and are in the barrier. */
static void exposed_to_all(int late, bool started)
{
    MPI_Win window = make_window();
    MPI_Group group = rank == 0 ? all_but(0) : only(0);

    if (rank == 0) {
        MPI_Win_post(group, 0, window);
        HANG(MPI_Win_wait(window));
        MPI_Barrier(WORLD);
        return;
    }
    if (rank != late) {
        MPI_Win_start(group, 0, window);
        MPI_Put(small, 1, MPI_INT, 0, rank, 1, MPI_INT, window);
        MPI_Win_complete(window);
    } else if (started) {
        MPI_Win_start(group, 0, window);
    }
    HANG(MPI_Barrier(WORLD));
}

CASE(one_origin_never_starts)
{
    exposed_to_all(2, false);
}

CASE(one_origin_never_completes)
{
    exposed_to_all(2, true);
}

/* The one that has not completed is in a call of its own. */
CASE(one_origin_went_elsewhere)
{
    MPI_Win window = make_window();
    MPI_Group group = rank == 0 ? all_but(0) : only(0);

    if (rank == 0) {
        MPI_Win_post(group, 0, window);
        HANG(MPI_Win_wait(window));
    } else if (rank == 2) {
        HANG(WAIT_FOR_NOBODY(0));
    } else {
        MPI_Win_start(group, 0, window);
        MPI_Put(small, 1, MPI_INT, 0, rank, 1, MPI_INT, window);
        MPI_Win_complete(window);
    }
    HANG(MPI_Barrier(WORLD));
}

/* Rank 0 starts an access to all others, of which one has not posted its window. */
CASE(one_of_three_targets_not_posted)
{
    MPI_Win window = make_window();
    MPI_Group group = rank == 0 ? all_but(0) : only(0);

    if (rank == 0) {
        ready();
        MPI_Win_start(group, 0, window);
        MPI_Put(small, 1, MPI_INT, 2, 0, 1, MPI_INT, window);
        MPI_Win_complete(window);
        MPI_Barrier(WORLD);
        return;
    }
    if (rank != 2)
        MPI_Win_post(group, 0, window);
    HANG(MPI_Barrier(WORLD));
}

/* Each rank starts an access epoch at the next one, and none has posted. */
CASE(ring_of_starts)
{
    MPI_Win window = make_window();

    ready();
    MPI_Win_start(only((rank + 1) % size), 0, window);
    MPI_Put(small, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
}

/* Nobody has a reason to wait in the first fence but for those who have not come. */
CASE(first_fence_skipped)
{
    MPI_Win window = make_window();

    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Win_fence(0, window));
}

/* The same in the fence that opens the next epoch. */
CASE(fence_of_the_next_epoch_skipped)
{
    MPI_Win window = make_window();

    MPI_Win_fence(0, window);
    MPI_Put(small_received, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Win_fence(MPI_MODE_NOPRECEDE, window));
}

CASE(fences_of_different_windows)
{
    MPI_Win window = make_window(), other;

    MPI_Win_create(small_received, sizeof small_received, sizeof(int), MPI_INFO_NULL, WORLD, &other);
    MPI_Win_set_name(other, "halo");
    MPI_Win_fence(0, window);
    MPI_Win_fence(0, other);
    HANG(MPI_Win_fence(0, rank == 1 ? other : window));
}

/* A library may do without a barrier here; those that we know do not. */
CASE(free_without_locks_skipped)
{
    MPI_Win window;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_create(small, sizeof small, sizeof *small, info, WORLD, &window);
    MPI_Win_set_name(window, "field");
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Win_free(&window));
}

/* Nobody has locked anything but rank 1: rank 0 is in MPI_Finalize, where MPICH grants no lock. */
CASE(locks_a_window_left_to_finalize)
{
    MPI_Win win = make_window();

    if (rank == 1) {
        compute_us(300000);
        HANG(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        MPI_Put(small, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        HANG(MPI_Win_unlock(0, win));
    }
    HANG(MPI_Finalize());
}

/* Rank 1 took the spin lock in rank 0's memory, and keeps it. */
CASE(spin_lock_kept)
{
    MPI_Win window = make_window();
    int taken = 1, open = 0, was = 1;

    MPI_Win_lock_all(0, window);
    if (rank == 1) {
        MPI_Compare_and_swap(&taken, &open, &was, MPI_INT, 0, 0, window);
        MPI_Win_flush(0, window);
    }
    MPI_Barrier(WORLD);
    ready();
    while (rank != 1 && was) {
        MPI_Compare_and_swap(&taken, &open, &was, MPI_INT, 0, 0, window);
        MPI_Win_flush(0, window);
    }
    MPI_Barrier(WORLD);
}

/* Nobody sets the flag in rank 0's memory that the others read under a lock. */
CASE(reads_under_locks_for_nobody)
{
    MPI_Win window = make_window();
    int flag = 0;

    ready();
    while (rank > 0 && !flag) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Get(&flag, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(WORLD);
}

/* The same with naps. */
CASE(swaps_and_naps_for_nobody)
{
    MPI_Win window = make_window();
    int one = 1, two = 2, was = 0;

    MPI_Win_lock_all(0, window);
    ready();
    while (rank == 1 && was != two) {
        MPI_Compare_and_swap(&one, &two, &was, MPI_INT, 0, 0, window);
        MPI_Win_flush(0, window);
        usleep(1000);
    }
    MPI_Barrier(WORLD);
}

/* Rank 0 computes; some libraries grant its locks only while it is in MPI. */
CASE(lock_at_a_rank_that_computes)
{
    MPI_Win window = make_window();

    ready();
    if (rank == 0)
        compute_for_ever();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(small_received, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    MPI_Barrier(WORLD);
}
