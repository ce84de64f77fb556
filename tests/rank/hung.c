/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hung - four ranks that wait for ever, each for something that a rank state has to tell.
 *
 * Rank 1 waits for tag 99 from rank 3 while two messages of rank 0 lie unexpected there; the others are in
 * MPI_Bcast with root 1.  Before that everybody has posted two receives and made a communicator.
 */
#include <mpi.h>

#include "ready.h"

static void take_turn(int rank, int *numbers)
{
    if (rank == 1)
        MPI_Recv(numbers, 10, MPI_INT, 3, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* wrong turn */
    else
        MPI_Bcast(numbers, 10, MPI_INT, 1, MPI_COMM_WORLD); /* right turn */
}

int main(int count, char **arguments)
{
    static int numbers[1000];
    double values[2][5];
    MPI_Request requests[2];
    MPI_Comm half;
    int rank = 0;

    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_name(half, rank % 2 ? "odd" : "even");
    for (int i = 0; i < 3; i++)
        MPI_Bcast(numbers, 10, MPI_INT, 0, half);
    MPI_Irecv(values[0], 5, MPI_DOUBLE, (rank + 1) % 4, 77, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(values[1], 5, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, half, &requests[1]);
    if (rank == 0) {
        MPI_Send(numbers, 11, MPI_INT, 1, 101, MPI_COMM_WORLD);
        MPI_Send(numbers, 500, MPI_INT, 1, 102, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    say_ready(rank);
    take_turn(rank, numbers);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
