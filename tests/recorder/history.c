/* SPDX-License-Identifier: BSD-3-Clause */
/* history - a few calls whose history test_history.py knows; then rank 0 hangs in a receive, rank 1 polls. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, data[64] = {0}, flag;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "</title><script>\"&");
    for (int i = 0; i < 300; i++) /* more than the ring holds */
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 31; i++) {
        MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 5, comm);
        MPI_Send(data, 2, MPI_INT, MPI_PROC_NULL, 6, comm);
    }
    if (rank == 1)
        MPI_Send(data, 5, MPI_INT, 0, 41, comm);
    else
        MPI_Recv(data, 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 3, comm);
    MPI_Bcast(data, 2, MPI_DOUBLE, 1, comm);
    FILE *ready = fopen(argv[1], "a");
    fprintf(ready, "%d %d\n", rank, (int)getpid());
    fclose(ready);
    if (rank == 0)
        MPI_Recv(data, 1, MPI_INT, 1, 99, comm, &status);
    MPI_Irecv(data, 1, MPI_INT, 0, 98, comm, &request);
    do
        MPI_Test(&request, &flag, &status);
    while (!flag);
    MPI_Finalize();
}
