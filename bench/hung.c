/* SPDX-License-Identifier: BSD-3-Clause */
/* hung - a job whose ranks wait for ever: rank 1 for a message, all others for it in MPI_Allreduce. */
#include <mpi.h>

#include "begin.h"

static void step(int rank)
{
    int one = 1, sum = 0;

    if (rank == 1)
        MPI_Recv(&one, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    step(begin(&argc, &argv));
    MPI_Finalize();
    return 0;
}
