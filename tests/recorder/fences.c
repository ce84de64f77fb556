/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fences - makes fences of all kinds, says "ready" and blocks for ever: rank 0 in MPI_Win_free, rank 1 in a
 * fence that rank 0 never enters.  test_fences.py reads the records back.  Two ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int rank;

static MPI_Win make_window(const char *name, int bytes)
{
    void *memory;
    MPI_Win window;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_set_name(window, name);
    return window;
}

/* Two fences with these assertions on a window of that name. */
static void two_fences(const char *name, int first, int second, int bytes)
{
    MPI_Win window = make_window(name, bytes);
    MPI_Win_fence(first, window);
    MPI_Win_fence(second, window);
}

static void other_epochs(const char *name, int kind)
{
    MPI_Win window = make_window(name, 64);
    MPI_Group world, other;
    int peer = 1 - rank;
    MPI_Win_fence(0, window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &peer, &other);
    if (kind == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
        MPI_Win_unlock(rank, window);
    } else if (kind == 1) {
        MPI_Win_lock_all(0, window);
        MPI_Win_unlock_all(window);
    } else if (rank == 0) {
        MPI_Win_post(other, 0, window);
        MPI_Win_wait(window);
    } else {
        MPI_Win_start(other, 0, window);
        MPI_Win_complete(window);
    }
    MPI_Win_fence(0, window);
}

/* A fence inside a lock is an error and is not counted. */
static void failed(void)
{
    MPI_Win window = make_window("failed", 64);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    if (MPI_Win_fence(0, window) == MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Win_unlock(rank, window);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win none = make_window("none", 64);
    MPI_Win first = make_window("first", 64);
    MPI_Win_fence(0, first);
    two_fences("both", 0, 0, 64);
    two_fences("no precede", 0, MPI_MODE_NOPRECEDE, 64);
    two_fences("no succeed", MPI_MODE_NOSUCCEED, 0, 64);
    two_fences("no put", MPI_MODE_NOPUT, 0, 64);
    two_fences("other promises", MPI_MODE_NOSTORE, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED,
               64);
    two_fences("memory at rank 1", 0, 0, 64 * rank);
    other_epochs("lock", 0);
    other_epochs("lock all", 1);
    other_epochs("post and start", 2);
    failed();
    MPI_Win dynamic, last = make_window("last", 64);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_set_name(dynamic, "dynamic");
    MPI_Win_fence(0, dynamic);
    MPI_Win_fence(0, dynamic);
    MPI_Win_fence(0, last);
    FILE *ready = fopen(argv[1], "a");
    fprintf(ready, "%d %d\n", rank, (int)getpid());
    fclose(ready);
    if (rank == 0)
        MPI_Win_free(&none);
    else
        MPI_Win_fence(0, last);
}
