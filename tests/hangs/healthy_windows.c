/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that do not hang: windows.  See healthy.c. */
#include "corpus.h"

#define WORLD MPI_COMM_WORLD
#define NEXT ((rank + 1) % size)
#define ROUNDS for (ready();; advance())

static MPI_Win make_window(void)
{
    MPI_Win window;

    MPI_Win_create(small, sizeof small, sizeof(int), MPI_INFO_NULL, WORLD, &window);
    return window;
}

CASE(fences)
{
    MPI_Win window = make_window();

    MPI_Win_fence(0, window);
    ROUNDS
    {
        MPI_Put(small_received, 1, MPI_INT, NEXT, 0, 1, MPI_INT, window);
        MPI_Win_fence(0, window);
    }
}

/* All that may be promised of a fence.  Some have no memory in the window, one comes late. */
CASE(fences_with_promises)
{
    MPI_Win window;

    MPI_Win_create(small, rank % 2 ? sizeof small : 0, sizeof(int), MPI_INFO_NULL, WORLD, &window);
    ROUNDS
    {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
        if (rank % 2 == 0 && NEXT % 2)
            MPI_Put(small_received, 1, MPI_INT, NEXT, 0, 1, MPI_INT, window);
        MPI_Win_fence(MPI_MODE_NOPUT, window);
        if (rank == 1)
            compute_us(2000);
        if (rank % 2 == 0 && NEXT % 2)
            MPI_Get(small_received, 1, MPI_INT, NEXT, 0, 1, MPI_INT, window);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, window);
    }
}

/* Rank 1 comes to the second window's fences once rank 0 has left the first one's, and works first. */
CASE(fences_of_two_windows)
{
    MPI_Win first = make_window(), second;

    MPI_Win_create(small_received, sizeof small_received, sizeof(int), MPI_INFO_NULL, WORLD, &second);
    ROUNDS
    {
        MPI_Win_fence(0, first);
        if (rank == 0)
            MPI_Send(small, 1, MPI_INT, 1, 3, WORLD);
        if (rank == 1) {
            MPI_Recv(counts, 1, MPI_INT, 0, 3, WORLD, MPI_STATUS_IGNORE);
            compute_us(1000);
        }
        MPI_Win_fence(0, second);
        MPI_Put(offsets, 1, MPI_INT, NEXT, 0, 1, MPI_INT, second);
    }
}

/* Each rank in turn comes last to MPI_Win_free. */
CASE(windows_come_and_go)
{
    MPI_Info no_locks;
    int turn = 0;

    MPI_Info_create(&no_locks);
    MPI_Info_set(no_locks, "no_locks", "true");
    ROUNDS
    {
        MPI_Win window;
        MPI_Win_create(small, sizeof small, sizeof(int), turn % 2 ? no_locks : MPI_INFO_NULL, WORLD, &window);
        MPI_Win_fence(0, window);
        MPI_Put(small_received, 1, MPI_INT, NEXT, 0, 1, MPI_INT, window);
        MPI_Win_fence(turn % 3 ? MPI_MODE_NOSUCCEED : 0, window);
        if (turn++ / 2 % size == rank)
            compute_us(2000);
        MPI_Win_free(&window);
    }
}

CASE(locks)
{
    MPI_Win window = make_window();

    ROUNDS
    {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(small_received, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_unlock(0, window);
    }
}

CASE(post_start_complete_wait)
{
    MPI_Win window = make_window();
    MPI_Group world, group;
    int other = 1 - rank;

    MPI_Comm_group(WORLD, &world);
    MPI_Group_incl(world, 1, &other, &group);
    ROUNDS
    {
        if (rank == 0) {
            MPI_Win_post(group, 0, window);
            MPI_Win_wait(window);
        } else {
            MPI_Win_start(group, 0, window);
            MPI_Put(small_received, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
            MPI_Win_complete(window);
        }
    }
}

/* Who has completed its access waits for a message of the target, while another origin computes, before its
   access and in it. */
CASE(one_origin_computes)
{
    MPI_Win window = make_window();
    MPI_Group world, group;
    int origins[] = {1, 2}, target = 0;

    MPI_Comm_group(WORLD, &world);
    MPI_Group_incl(world, rank ? 1 : 2, rank ? &target : origins, &group);
    ROUNDS
    {
        if (rank == 0) {
            MPI_Win_post(group, 0, window);
            MPI_Win_wait(window);
            for (int origin = 1; origin < size; origin++)
                MPI_Send(small, 1, MPI_INT, origin, 1, WORLD);
        } else {
            if (rank == 2)
                compute_us(3e6);
            MPI_Win_start(group, 0, window);
            MPI_Put(small_received, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
            if (rank == 2)
                compute_us(3e6);
            MPI_Win_complete(window);
            MPI_Recv(small_received, 1, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* A spin lock in rank 0's memory, which each rank takes in turn and works with. */
CASE(spin_lock)
{
    MPI_Win window = make_window();
    int taken = 1, open = 0, was;

    MPI_Win_lock_all(0, window);
    MPI_Barrier(WORLD);
    ROUNDS
    {
        do {
            MPI_Compare_and_swap(&taken, &open, &was, MPI_INT, 0, 0, window);
            MPI_Win_flush(0, window);
        } while (was);
        compute_us(2000);
        MPI_Accumulate(&open, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, window);
        MPI_Win_flush(0, window);
    }
}

/* All others read rank 0's counter until it has counted. */
CASE(counter_read_until_it_changes)
{
    MPI_Win window = make_window();
    int count = 0, seen, none = 0;

    MPI_Win_lock_all(0, window);
    MPI_Barrier(WORLD);
    ROUNDS
    {
        count++;
        if (rank == 0) {
            compute_us(50000);
            MPI_Accumulate(&count, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, window);
            MPI_Win_flush(0, window);
        }
        for (seen = 0; rank > 0 && seen < count;) {
            MPI_Fetch_and_op(&none, &seen, MPI_INT, 0, 0, MPI_NO_OP, window);
            MPI_Win_flush(0, window);
        }
        MPI_Barrier(WORLD);
    }
}
