/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange - MPI_Isendrecv and MPI_Isendrecv_replace: some complete, some have only one half (MPICH 4.0
 * crashes in these).  Neither half of the last one is matched, and the rank waits for it: rank 0 in MPI_Wait,
 * rank 1 in MPI_Waitall beside a receive.  (Both libraries refuse to free such a request.)
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { LARGE = 1 << 18 };
static int out[LARGE], in[LARGE];
static int rank, other;
static MPI_Comm row, wild;

static MPI_Comm named(const char *name)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, name);
    return comm;
}

static void complete(void)
{
    MPI_Request requests[2];
    MPI_Isendrecv(out, 3, MPI_INT, other, 1, in, 8, MPI_INT, other, 1, row, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace(out, 2, MPI_DOUBLE, other, 2, other, 2, row, &requests[0]);
    MPI_Isendrecv(out, 3, MPI_INT, other, 1, in, 8, MPI_INT, other, 1, row, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

#ifdef OPEN_MPI
static void single(void)
{
    MPI_Request request;
    MPI_Isendrecv(out, 5, MPI_INT, other, 3, NULL, 0, MPI_INT, MPI_PROC_NULL, 3, row, &request);
    MPI_Recv(in, 5, MPI_INT, other, 3, row, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 4, in, 5, MPI_INT, other, 4, row, &request);
    MPI_Send(out, 5, MPI_INT, other, 4, row);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 5, NULL, 0, MPI_INT, MPI_PROC_NULL, 5, row, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
#else
static void single(void)
{
}
#endif

static void any_source(void)
{
    MPI_Request request;
    MPI_Isendrecv(out, 1, MPI_INT, other, 6, in, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, wild, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    row = named("row");
    wild = named("wild");
    complete();
    single();
    any_source();
    MPI_Isendrecv(out, LARGE, MPI_INT, other, 10, in, LARGE, MPI_INT, other, 11, row, &requests[0]);
    MPI_Irecv(in, 1, MPI_INT, other, 12, row, &requests[1]);
    FILE *ready = fopen(argv[1], "a");
    fprintf(ready, "%d %d\n", rank, (int)getpid());
    fclose(ready);
    if (rank == 0)
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    else
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
}
