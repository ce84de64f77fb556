/* SPDX-License-Identifier: BSD-3-Clause */
/* names - two ranks receive from each other, on two communicators with long names: rank 0's has accents from
   its first byte on, so that Open MPI cuts the last one in half; rank 1's is Latin-1, not UTF-8. */
#include <mpi.h>
#include <string.h>

#include "ready.h"

enum { LENGTH = 126 }; /* two bytes less than MPICH has */

int main(int argc, char **argv)
{
    MPI_Comm comms[2];
    char accents[LENGTH + 1] = "", latin[LENGTH + 1] = "";
    int rank, number;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < LENGTH; i += 2)
        memcpy(accents + i, "\xc3\xa9", 2);
    memset(latin, '\xe9', LENGTH);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        MPI_Comm_set_name(comms[i], i == 0 ? accents : latin);
    }
    say_ready(rank);
    MPI_Recv(&number, 1, MPI_INT, 1 - rank, 7, comms[rank], MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
