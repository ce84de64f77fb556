/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order - ranks that do not agree on the order of two collectives, which many an MPI library lets pass.
 *
 *     mpicc -g -o order order.c
 *     mpiq run --strict -- mpirun -n 4 ./order
 */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, step = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank % 2 == 0)
        MPI_Bcast(&step, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank % 2 == 1)
        MPI_Bcast(&step, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
