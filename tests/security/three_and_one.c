/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks 0 to 2 wait for each other in a circle; rank 3 sleeps outside MPI, in a library of its own if
   MPIQ_LIBRARY names one. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "ready.h"

int main(int count, char **words)
{
    int rank = 0;
    int number = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *path = getenv("MPIQ_LIBRARY");
    void *library = rank == 3 && path ? dlopen(path, RTLD_NOW) : NULL;
    if (rank == 3 && path && !library)
        return EXIT_FAILURE;
    say_ready(rank);
    if (rank == 3)
        pause();
    MPI_Recv(&number, 1, MPI_INT, (rank + 1) % 3, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
