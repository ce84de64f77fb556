/* SPDX-License-Identifier: BSD-3-Clause */
/* hang_mpich [compute]: rank 1 waits for a message that nobody sends, the others wait for it in a barrier;
   with an argument all ranks compute. */
#include <mpi.h>
#include <stdio.h>

/* The user's own, whatever their names: neither is a function of MPI's. */
__attribute__((noinline)) void mpi_exchange(int rank)
{
    int value;
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line of the receive */
    MPI_Barrier(MPI_COMM_WORLD);                                                /* line of the barrier */
    puts("done");
}

__attribute__((noinline)) void mpi_work(void)
{
    for (volatile unsigned long i = 0;; i++) /* line of the work */
        continue;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        mpi_work();
    mpi_exchange(rank);
    MPI_Finalize();
    return 0;
}
