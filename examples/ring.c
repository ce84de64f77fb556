/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring - a number goes round in a ring: each rank hands its own to the next one, and takes that of the one
 * before it.  To be stepped through:
 *
 *     mpicc -g -o ring ring.c
 *     mpiq run --step -- mpirun -n 4 ./ring
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, turns = argc > 1 ? atoi(argv[1]) : 3, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size, mine = rank;
    for (int turn = 0; turn < turns; turn++) {
        int other;
        MPI_Request request;
        MPI_Issend(&mine, 1, MPI_INT, next, 7, MPI_COMM_WORLD, &request);
        MPI_Recv(&other, 1, MPI_INT, turn == 0 ? MPI_ANY_SOURCE : before, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        mine = other;
    }
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("rank 0 has %d, all have %d\n", mine, sum);
    MPI_Finalize();
    return 0;
}
