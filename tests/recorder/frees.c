/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frees - says "ready" and blocks for ever in MPI_Win_free, each rank on another window: rank 0's may need no
 * barrier, rank 1's runs callbacks of its own.  test_frees.py reads the records back.  Two ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static MPI_Win make_window(const char *name, const char *hint)
{
    void *memory;
    MPI_Info info;
    MPI_Win window;
    MPI_Info_create(&info);
    if (hint)
        MPI_Info_set(info, "no_locks", hint);
    MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_set_name(window, name);
    MPI_Info_free(&info);
    return window;
}

int main(int argc, char **argv)
{
    int rank, key;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win freed = make_window("freed", NULL);
    MPI_Win no_locks = make_window("no locks", "true");
    MPI_Win attributes = make_window("attributes", "false");
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    MPI_Win_set_attr(attributes, key, NULL);
    MPI_Win_free(&freed);
    FILE *ready = fopen(argv[1], "a");
    fprintf(ready, "%d %d\n", rank, (int)getpid());
    fclose(ready);
    MPI_Win_free(rank == 0 ? &no_locks : &attributes);
}
