/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages whose two ends are known: even rounds send and receive at other lines than odd ones.  Then one
 * that nobody receives, and a receive that nothing is sent for.
 *
 * messages READY [ROUNDS]: with few rounds, the history reaches back to MPI_Init.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void round_of(int number, int other)
{
    int sent = number, got;
    MPI_Request requests[2];
    if (number % 2 == 0) {
        MPI_Irecv(&got, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &requests[0]);  /* even receive */
        MPI_Isend(&sent, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &requests[1]); /* even send */
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (number % 4 == 1) {
        MPI_Message message;
        MPI_Send(&sent, 1, MPI_INT, other, 3, MPI_COMM_WORLD);                      /* odd send */
        MPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE); /* odd receive */
        MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    } else {
        MPI_Isend(&sent, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &requests[0]);             /* odd send */
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* odd receive */
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    if (got != number)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    int rank, got, rounds = argc > 2 ? atoi(argv[2]) : 201;
    FILE *ready;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < rounds; i++)
        round_of(i, 1 - rank);
    if (rank == 0)
        MPI_Send(&rank, 1, MPI_INT, 1, 41, MPI_COMM_WORLD); /* lost */
    ready = fopen(argv[1], "a");
    fprintf(ready, "%d %d\n", rank, (int)getpid());
    fclose(ready);
    if (rank == 1)
        MPI_Recv(&got, 1, MPI_INT, 0, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* hang */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
