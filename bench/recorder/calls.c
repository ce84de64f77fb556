/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls - nanoseconds a call, of calls that one process can make alone: run it with and without the recorder
 * in turns and take the difference.  Prints the best of several rounds of each.
 */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 400, CALLS = 2000 };

static int small[64];

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_SELF);
}

static void allreduce(void)
{
    int sum;
    MPI_Allreduce(small, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void iprobe(void)
{
    int flag;
    MPI_Iprobe(0, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void isend_recv(void)
{
    MPI_Request request;
    MPI_Isend(small, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    MPI_Recv(small + 1, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void irecv_send_waitall(void)
{
    MPI_Request requests[2];
    MPI_Irecv(small + 1, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(small, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static const struct {
    const char *name;
    void (*run)(void);
    int calls;
} cases[] = {
    {"Barrier", barrier, 1},
    {"Allreduce", allreduce, 1},
    {"Iprobe", iprobe, 1},
    {"Isend, Recv, Wait", isend_recv, 3},
    {"Irecv, Isend, Waitall", irecv_send_waitall, 3},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        double best = 1e9;
        for (int round = 0; round < ROUNDS; round++) {
            double begin = MPI_Wtime();
            for (int call = 0; call < CALLS; call++)
                cases[i].run();
            double ns = (MPI_Wtime() - begin) / CALLS * 1e9;
            best = ns < best ? ns : best;
        }
        printf("%-24s %8.1f ns\n", cases[i].name, best);
    }
    MPI_Finalize();
}
