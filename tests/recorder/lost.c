/* SPDX-License-Identifier: BSD-3-Clause */
/* lost - rank 0 posts more receives than the recorder has room for; then both ranks idle. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { ROOM = 1024 * 128 };
static MPI_Request requests[ROOM + 1];
static int in[ROOM + 1];

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; rank == 0 && i < ROOM + 1; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &requests[i]);
    FILE *ready = fopen(argv[1], "a");
    fprintf(ready, "%d %d\n", rank, (int)getpid());
    fclose(ready);
    pause();
    MPI_Finalize();
}
