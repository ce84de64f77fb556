/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's library whose file and functions are called like MPI's. */
#include <mpi.h>
#include <time.h>

void solver_mpi_init(double seconds);
int solver_mpi_finalize(int peer, int tag);
int mpi_test(int peer, int tag);

/* Computes. */
void solver_mpi_init(double seconds)
{
    struct timespec begin, now;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (volatile int i = 0; i < 20000; i++) {
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < seconds);
}

int solver_mpi_finalize(int peer, int tag)
{
    int value = 0;

    MPI_Recv(&value, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}

/* Not what its name says in Fortran's spelling. */
int mpi_test(int peer, int tag)
{
    int value = 0;

    MPI_Recv(&value, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}
