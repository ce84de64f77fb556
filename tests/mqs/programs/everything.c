/* SPDX-License-Identifier: BSD-3-Clause */
/* everything - for the transcripts: one job with something of each kind at rank 0, in a broadcast. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static int numbers[300000];
    MPI_Comm half, bridge;
    MPI_Request request[16];
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, 7, &bridge);
    MPI_Comm_set_name(bridge, "bridge");
    if (rank == 1) {
        MPI_Send(numbers, 5, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Isend(numbers, 300000, MPI_INT, 0, 2, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(numbers, 2, MPI_INT, 0, 9, MPI_COMM_WORLD, &request[1]);
    }
    if (rank == 0) {
        MPI_Irecv(numbers, 2, MPI_INT, 1, 9, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(numbers, 10, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &request[1]);
        MPI_Irecv(numbers, 10, MPI_DOUBLE, MPI_ANY_SOURCE, 8, half, &request[2]);
        MPI_Irecv(numbers, 10, MPI_DOUBLE, 0, 8, bridge, &request[3]);
        MPI_Isend(numbers, 300000, MPI_INT, 1, 3, MPI_COMM_WORLD, &request[4]);
        MPI_Issend(numbers, 3, MPI_INT, 1, 4, MPI_COMM_WORLD, &request[5]);
        MPI_Recv_init(numbers, 5, MPI_INT, 1, 5, MPI_COMM_WORLD, &request[6]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 1) {
        MPI_Ibcast(numbers, 10, MPI_INT, 1, MPI_COMM_WORLD, &request[7]);
    }
    printf("ready %d %ld\n", rank, (long)getpid());
    fflush(stdout);
    if (rank != 1) {
        MPI_Bcast(numbers, 10, MPI_INT, 1, MPI_COMM_WORLD);
    }
    for (;;) {
        pause();
    }
}
