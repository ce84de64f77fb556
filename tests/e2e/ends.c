/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ends HOW: a job that ends badly (well: one that does not; status: with a status of each rank's own; alike:
 * all with 5).  Rank 1 ends it after a barrier, by HOW, while rank 2 waits for a message of its and the
 * others for both.
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *how, const char *word)
{
    return strcmp(how, word) == 0;
}

static void end(const char *how)
{
    int data[4] = {0};
    if (is(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 7); /* abort */
    if (is(how, "exit"))
        exit(3); /* exit */
    if (is(how, "_exit"))
        _exit(4); /* _exit */
    if (is(how, "segv"))
        *(volatile int *)8 = 1; /* segv */
    if (is(how, "assert"))
        abort(); /* assert */
    if (is(how, "kill"))
        kill(getpid(), SIGKILL);
    if (is(how, "truncate"))
        MPI_Recv(data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* truncate */
    if (is(how, "rank"))
        MPI_Send(data, 1, MPI_INT, 77, 5, MPI_COMM_WORLD); /* rank */
}

/* Collectives that do not fit together, for which Open MPI ends the job. */
static void mismatch(int swapped, int rank)
{
    int data[8] = {0}, sum[8] = {0};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    if (!swapped) {
        MPI_Bcast(data, rank == 0 ? 8 : 1, MPI_INT, 0, MPI_COMM_WORLD); /* lengths */
        return;
    }
    if (rank == 1)
        MPI_Ireduce(data, sum, 8, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &requests[0]); /* ireduce */
    MPI_Ibcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[rank == 1]);            /* ibcast */
    if (rank != 1)
        MPI_Ireduce(data, sum, 8, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
}

/* An error that is returned and a signal that is survived are no end. */
static void survived(int number)
{
    (void)number;
}

int main(int argc, char **argv)
{
    int rank, data[4] = {0};
    const char *how = argv[1];
    int well = is(how, "well") || is(how, "status") || is(how, "alike");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (is(how, "returned")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Send(data, 1, MPI_INT, 77, 5, MPI_COMM_WORLD);
        signal(SIGFPE, survived);
        raise(SIGFPE);
        how = "exit";
    }
    MPI_Barrier(MPI_COMM_WORLD); /* barrier */
    if (is(how, "swapped") || is(how, "lengths"))
        mismatch(is(how, "swapped"), rank);
    if (is(how, "truncate") && rank == 0)
        MPI_Send(data, 4, MPI_INT, 1, 5, MPI_COMM_WORLD); /* send */
    if (rank == 1 && !well)
        end(how);
    if (rank == 2 && !well)
        MPI_Recv(data, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* receive */
    MPI_Bcast(data, 1, MPI_INT, 2, MPI_COMM_WORLD);                           /* bcast */
    MPI_Finalize();
    return is(how, "status") ? rank : is(how, "alike") ? 5 : 0;
}
