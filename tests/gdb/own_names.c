/* SPDX-License-Identifier: BSD-3-Clause */
/* own_names - both ranks wait for a message that nobody sends, in functions of the user's whose names look
   like MPI's.  Says "ready RANK PID" as tests/support/job.py expects it. */
#include <mpi.h>

#include "ready.h"

static int mpi_exchange(int rank)
{
    int value = rank;
    MPI_Recv(&value, 1, MPI_INT, 1 - rank, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}

static int MPI_Work(int rank)
{
    say_ready(rank);
    return mpi_exchange(rank) + 1;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int value = MPI_Work(rank);
    MPI_Finalize();
    return value < 0;
}
