/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocked - opens epochs, takes locks, says "ready" and blocks for ever: test_blocked.py reads the records
 * back and compares.  Two ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int memory[4];

static MPI_Win make_window(const char *name)
{
    MPI_Win window;
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_name(window, name);
    return window;
}

static void one_sided(int rank)
{
    MPI_Win locked = make_window("locked");
    MPI_Win asked = make_window("asked");
    MPI_Win posted = make_window("posted");
    MPI_Win closed = make_window("closed");
    MPI_Group world, other;
    int peer = 1 - rank, value = 1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &peer, &other);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, locked);
        MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, locked);
        MPI_Win_flush(0, locked);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, asked);
        MPI_Win_flush(0, asked); /* nothing to flush: proves no granted lock */
    }
    if (rank == 0)
        MPI_Win_post(other, 0, posted);
    for (int i = 0; i < 2; i++) { /* each rank once */
        if (rank == i) {
            MPI_Win_post(other, 0, closed);
            MPI_Win_wait(closed);
        } else {
            MPI_Win_start(other, 0, closed);
            MPI_Win_complete(closed);
        }
    }
}

int main(int argc, char **argv)
{
    int rank, in[2], index;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    one_sided(rank);
    MPI_Irecv(&in[0], 1, MPI_INT, 1 - rank, 71, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 72, MPI_COMM_WORLD, &requests[1]);
    FILE *ready = fopen(argv[1], "a");
    fprintf(ready, "%d %d\n", rank, (int)getpid());
    fclose(ready);
    if (rank == 0)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    else
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}
