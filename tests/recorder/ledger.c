/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ledger - makes calls with known arguments, says "ready" and stands still: test_ledger.py reads the records
 * back and compares.  Two ranks; what rank 0 does is what is compared.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static MPI_Comm row;

static void messages(int rank)
{
    int other = 1 - rank, out[8] = {0}, in[8];
    MPI_Status status;
    MPI_Request requests[2];
    for (int tag = 100; tag < 110; tag++) { /* ten tags; all but 107 and 108 are received */
        MPI_Send(out, 2, MPI_INT, other, tag, MPI_COMM_WORLD);
        if (tag != 107 && tag != 108)
            MPI_Recv(in, 8, MPI_INT, other, tag, MPI_COMM_WORLD, &status);
    }
    MPI_Sendrecv(out, 1, MPI_INT, other, 5, in, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(out, 4, MPI_DOUBLE, other, 6, row, &requests[0]);
    MPI_Irecv(in, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, row, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, NULL, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void collectives(void)
{
    int values[4] = {0}, results[4];
    MPI_Request request;
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(values, 4, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Allreduce(values, results, 2, MPI_INT, MPI_MAX, row);
    MPI_Iallreduce(values, results, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, in;
    MPI_Request pending, persistent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &row);
    MPI_Comm_set_name(row, "row");
    messages(rank);
    collectives();
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 77, row, &pending);
    MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 78, row, &persistent);
    FILE *ready = fopen(argv[1], rank == 0 ? "a" : "a");
    fprintf(ready, "%d %d\n", rank, (int)getpid());
    fclose(ready);
    pause();
    MPI_Finalize();
}
