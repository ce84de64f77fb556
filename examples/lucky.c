/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lucky - a program with two bugs that ends all the same: nobody receives rank 0's last message, and the
 * ranks do not agree on what they reduce.
 *
 *     mpicc -g -o lucky lucky.c
 *     mpiq run --check -- mpirun -n 3 ./lucky
 */
#include <mpi.h>
#include <stdio.h>

enum { TAG_EDGE = 21, STEPS = 5 };

/* Rank 0 gives its edge to rank 1, once too often. */
static void exchange(int rank, double *edge)
{
    for (int step = 0; step <= STEPS && rank == 0; step++)
        MPI_Send(edge, 1, MPI_DOUBLE, 1, TAG_EDGE, MPI_COMM_WORLD);
    for (int step = 0; step < STEPS && rank == 1; step++)
        MPI_Recv(edge, 1, MPI_DOUBLE, 0, TAG_EDGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 1 looks for something else than the sum. */
static double sum_up(int rank, double part)
{
    double sum = 0;
    MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, rank == 1 ? MPI_MAX : MPI_SUM, 0, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double edge = rank;
    exchange(rank, &edge);
    double sum = sum_up(rank, edge);
    if (rank == 0)
        printf("sum %g\n", sum);
    MPI_Finalize();
    return 0;
}
