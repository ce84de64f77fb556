/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators, windows and files made or ended by some of their members only; intercommunicators. */
#include "corpus.h"

#define WORLD MPI_COMM_WORLD

/* Rank 1 waits for a message that nobody sends instead. */
#define SKIPPED(id, call)             \
    CASE(id##_skipped)                \
    {                                 \
        MPI_Comm made;                \
                                      \
        if (rank == 1)                \
            HANG(WAIT_FOR_NOBODY(0)); \
        else                          \
            HANG(call);               \
    }

static const int three = 3, periodic = 1;
static const int index_of[3] = {1, 2, 3}, edges[3] = {1, 2, 0};

static MPI_Group world_group(void)
{
    MPI_Group group;

    MPI_Comm_group(WORLD, &group);
    return group;
}

SKIPPED(comm_dup, MPI_Comm_dup(WORLD, &made))
SKIPPED(comm_split, MPI_Comm_split(WORLD, 0, rank, &made))
SKIPPED(comm_split_type, MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made))
SKIPPED(comm_create, MPI_Comm_create(WORLD, world_group(), &made))
SKIPPED(comm_create_group, MPI_Comm_create_group(WORLD, world_group(), 7, &made))
SKIPPED(cart_create, MPI_Cart_create(WORLD, 1, &three, &periodic, 0, &made))
SKIPPED(graph_create, MPI_Graph_create(WORLD, 3, index_of, edges, 0, &made))

CASE(dist_graph_create_skipped)
{
    MPI_Comm made;
    int left = (rank + 2) % 3, right = (rank + 1) % 3, weight = 1;

    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Dist_graph_create_adjacent(WORLD, 1, &left, &weight, 1, &right, &weight, MPI_INFO_NULL, 0,
                                            &made));
}

CASE(comm_idup_skipped)
{
    MPI_Comm made;
    MPI_Request request;

    if (rank == 1) {
        HANG(WAIT_FOR_NOBODY(0));
        return;
    }
    MPI_Comm_idup(WORLD, &made, &request);
    HANG(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* MPI_Comm_free may be local; MPI_Comm_disconnect waits for all. */
CASE(comm_disconnect_skipped)
{
    MPI_Comm made;

    MPI_Comm_dup(WORLD, &made);
    MPI_Comm_set_name(made, "made");
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Comm_disconnect(&made));
}

/* Rank 1 frees the communicator and goes on; the others still use it. */
CASE(freed_too_early)
{
    MPI_Comm made;

    MPI_Comm_dup(WORLD, &made);
    MPI_Comm_set_name(made, "made");
    MPI_Barrier(made);
    if (rank == 1) {
        MPI_Comm_free(&made);
        HANG(WAIT_FOR_NOBODY(0));
    } else {
        HANG(MPI_Barrier(made));
    }
}

/* One splits where the others duplicate. */
CASE(comm_split_or_dup)
{
    MPI_Comm made;

    if (rank == 1)
        HANG(MPI_Comm_split(WORLD, 0, rank, &made));
    else
        HANG(MPI_Comm_dup(WORLD, &made));
}

/* Two halves, {0, 1} and {2, 3}, and an intercommunicator between them. */
static MPI_Comm half, across;

static void make_across(void)
{
    MPI_Comm_split(WORLD, rank / 2, rank, &half);
    MPI_Intercomm_create(half, 0, WORLD, rank / 2 ? 0 : 2, 7, &across);
    MPI_Comm_set_name(across, "across");
}

CASE(intercomm_create_skipped)
{
    MPI_Comm_split(WORLD, rank / 2, rank, &half);
    if (rank == 3)
        HANG(WAIT_FOR_NOBODY(2));
    else
        HANG(MPI_Intercomm_create(half, 0, WORLD, rank / 2 ? 0 : 2, 7, &across));
}

CASE(intercomm_merge_skipped)
{
    MPI_Comm merged;

    make_across();
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Intercomm_merge(across, rank / 2, &merged));
}

CASE(intercomm_barrier_skipped)
{
    make_across();
    if (rank == 2)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Barrier(across));
}

/* Rank 3 skips what the others take from rank 0, and is in the next barrier with those that were through at
 * once. */
CASE(intercomm_bcast_skipped)
{
    make_across();
    if (rank != 3)
        HANG(MPI_Bcast(large, LARGE, MPI_INT, rank >= 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, across));
    HANG(MPI_Barrier(WORLD));
}

/* The even ranks take rank 3 for the leader of the odd ones, which is rank 1. */
CASE(intercomm_wrong_leader)
{
    MPI_Comm half, inter;

    MPI_Comm_split(WORLD, rank % 2, rank, &half);
    HANG(MPI_Intercomm_create(half, 0, WORLD, rank % 2 ? 0 : 3, 9, &inter));
}

CASE(intercomm_allreduce_skipped)
{
    make_across();
    if (rank == 3)
        HANG(WAIT_FOR_NOBODY(2));
    else
        HANG(MPI_Allreduce(small, small_received, 4, MPI_INT, MPI_SUM, across));
}

/* Local ranks of the other side: rank 0 waits for rank 3, rank 3 for rank 1, rank 1 for rank 2, and that for
 * 0. */
CASE(intercomm_receive_cycle)
{
    static const int remote[4] = {1, 0, 0, 1};

    make_across();
    HANG(MPI_Recv(small, 1, MPI_INT, remote[rank], 3, across, MPI_STATUS_IGNORE));
}

/* A message on the intercommunicator, a receive on the world. */
CASE(intercomm_wrong_communicator)
{
    make_across();
    if (rank == 0) {
        MPI_Send(small, 1, MPI_INT, 0, 3, across);
        HANG(MPI_Recv(small, 1, MPI_INT, 2, 4, WORLD, MPI_STATUS_IGNORE));
    } else if (rank == 2) {
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 3, WORLD, MPI_STATUS_IGNORE));
        MPI_Send(small, 1, MPI_INT, 0, 4, WORLD);
    } else {
        HANG(MPI_Barrier(WORLD));
    }
}

static MPI_Win make_window(void)
{
    MPI_Win window;

    MPI_Win_create(small, sizeof small, sizeof(int), MPI_INFO_NULL, WORLD, &window);
    return window;
}

CASE(win_create_skipped)
{
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(make_window());
}

CASE(win_allocate_skipped)
{
    MPI_Win window;
    int *base;

    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Win_allocate(64, 1, MPI_INFO_NULL, WORLD, &base, &window));
}

CASE(win_fence_skipped)
{
    MPI_Win window = make_window();

    MPI_Win_fence(0, window);
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Win_fence(0, window));
}

CASE(win_free_skipped)
{
    MPI_Win window = make_window();

    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Win_free(&window));
}

/* Rank 1 holds the lock of rank 0's window and waits for rank 0, which wants it too. */
CASE(lock_never_released)
{
    MPI_Win window = make_window();

    if (rank == 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Barrier(WORLD);
    if (rank == 1) {
        MPI_Put(small_received, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        HANG(WAIT_FOR_NOBODY(0));
        return;
    }
    if (rank == 2) {
        HANG(MPI_Barrier(WORLD));
        return;
    }
    ready();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(small_received, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
}

/* Rank 0 opens the epoch and waits for its end; rank 1 starts it and never completes. */
CASE(pscw_half_done)
{
    MPI_Win window = make_window();
    MPI_Group group;
    int other = 1 - rank;

    if (rank < 2)
        MPI_Group_incl(world_group(), 1, &other, &group);
    if (rank == 0) {
        MPI_Win_post(group, 0, window);
        HANG(MPI_Win_wait(window));
    } else if (rank == 1) {
        MPI_Win_start(group, 0, window);
        HANG(WAIT_FOR_NOBODY(0));
    } else {
        HANG(MPI_Barrier(WORLD));
    }
}

/* Rank 0 starts an epoch that rank 1 never posts. */
CASE(pscw_never_posted)
{
    MPI_Win window = make_window();
    MPI_Group group;
    int other = 1;

    MPI_Group_incl(world_group(), 1, &other, &group);
    if (rank == 0) {
        ready();
        MPI_Win_start(group, 0, window);
        MPI_Put(small, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
        MPI_Win_complete(window);
    } else if (rank == 1) {
        HANG(WAIT_FOR_NOBODY(0));
    } else {
        HANG(MPI_Barrier(WORLD));
    }
}

static MPI_File opened;

static int open_file(void)
{
    return MPI_File_open(WORLD, "corpus-file", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &opened);
}

CASE(file_open_skipped)
{
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(open_file());
}

CASE(file_close_skipped)
{
    open_file();
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_File_close(&opened));
}

CASE(file_write_all_skipped)
{
    open_file();
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_File_write_all(opened, small, SMALL, MPI_INT, MPI_STATUS_IGNORE));
}

/* A fence is for those who have the window, but no barrier of the communicator it was made from. */
CASE(fence_or_barrier)
{
    MPI_Win window = make_window();

    if (rank == 1)
        HANG(MPI_Barrier(WORLD));
    HANG(MPI_Win_fence(0, window));
}

/* Of the group, not of all ranks, one does not come. */
CASE(comm_create_group_of_some_skipped)
{
    MPI_Group group;
    MPI_Comm made;

    MPI_Group_excl(world_group(), 1, (int[]){size - 1}, &group);
    if (rank == 1 || rank == size - 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Comm_create_group(WORLD, group, 7, &made));
}

/* Rank 1's access mode is invalid. Errors of files are returned by default, and it ignores this one. */
CASE(file_open_failed)
{
    int mode = rank == 1 ? MPI_MODE_RDONLY | MPI_MODE_RDWR : MPI_MODE_CREATE | MPI_MODE_RDWR;

    HANG(MPI_File_open(WORLD, "corpus-file", mode, MPI_INFO_NULL, &opened));
    MPI_Barrier(WORLD);
}

/* The two members of the group pass different tags; rank 2 is not a member. */
CASE(comm_create_group_tags_differ)
{
    MPI_Group world, group;
    MPI_Comm made;

    MPI_Comm_group(WORLD, &world);
    MPI_Group_incl(world, 2, (int[]){0, 1}, &group);
    if (rank < 2)
        HANG(MPI_Comm_create_group(WORLD, group, rank, &made));
    HANG(MPI_Barrier(WORLD));
}

/* All ranks are in the group; rank 2 passes another tag. */
CASE(comm_create_group_one_tag_differs)
{
    MPI_Comm made;

    HANG(MPI_Comm_create_group(WORLD, world_group(), rank == 2 ? 5 : 4, &made));
}

/* Two groups, each with its own tag, as is allowed. Of each, one rank does not come. */
CASE(comm_create_groups_skipped)
{
    int first = rank / 2 * 2;
    MPI_Group pair;
    MPI_Comm made;

    MPI_Group_incl(world_group(), 2, (int[]){first, first + 1}, &pair);
    if (rank % 2)
        HANG(WAIT_FOR_NOBODY(first));
    else
        HANG(MPI_Comm_create_group(WORLD, pair, first, &made));
}

/* The leaders of the two halves pass different tags. */
CASE(intercomm_create_tags_differ)
{
    MPI_Comm_split(WORLD, rank / 2, rank, &half);
    HANG(MPI_Intercomm_create(half, 0, WORLD, rank / 2 ? 0 : 2, rank / 2 ? 5 : 4, &across));
}

/* Rank 0 is the root, and the other half takes rank 1 for it. */
CASE(intercomm_bcast_wrong_root)
{
    make_across();
    HANG(MPI_Bcast(small, 1, MPI_INT, rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 1, across));
    HANG(MPI_Barrier(WORLD));
}

/* Each half takes rank 0 of the other one for the root. */
CASE(intercomm_gather_without_a_root)
{
    make_across();
    HANG(MPI_Gather(large, LARGE / 4, MPI_INT, large_received, LARGE / 4, MPI_INT, 0, across));
    HANG(MPI_Barrier(WORLD));
}

/* The directory that rank 1 gives does not exist. */
CASE(file_open_without_a_directory)
{
    const char *name = rank == 1 ? "no-such-directory/corpus-file" : "corpus-file";

    HANG(MPI_File_open(WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &opened));
    MPI_Barrier(WORLD);
}
