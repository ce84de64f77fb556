/* SPDX-License-Identifier: BSD-3-Clause */
/* agree [shrink|iagree]: rank 1 waits for a message that nobody sends, the others for it in an operation of
   fault tolerance. */
#include <mpi.h>
#include <mpi-ext.h>
#include <stddef.h>
#include <string.h>

#include "ready.h"

/* The user's own, whatever its name. */
__attribute__((noinline)) static void mpix_decide(const char *how)
{
    MPI_Request request;
    MPI_Comm smaller;
    int flag = 1;
    if (strcmp(how, "shrink") == 0)
        MPIX_Comm_shrink(MPI_COMM_WORLD, &smaller); /* line of the shrink */
    else if (strcmp(how, "iagree") == 0) {
        MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* line of the iagree */
    } else
        MPIX_Comm_agree(MPI_COMM_WORLD, &flag); /* line of the agree */
}

int main(int argc, char **argv)
{
    int rank, value;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    say_ready(rank);
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line of the receive */
    mpix_decide(argc > 1 ? argv[1] : "agree");
    MPI_Finalize();
    return 0;
}
