/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unseen - rank 0's error handler leaves a receive in a way that the recorder cannot see, then the rank makes
 * calls from further in and further out on its stack than that.  Rank 1 waits for it.  Two ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *back[5];

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    __builtin_longjmp(back, 1);
}

/* Overwrites what is left on the stack, and makes a call from there. */
__attribute__((noinline)) static int call_further_in(int frames)
{
    volatile char room[4096];
    int none = 0;
    memset((char *)room, 0x41, sizeof room);
    if (frames > 0)
        return call_further_in(frames - 1) + room[7];
    MPI_Send(&none, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
    return room[3];
}

__attribute__((noinline)) static void receive_nothing(void)
{
    int none;
    if (__builtin_setjmp(back) == 0)
        MPI_Recv(&none, 1, MPI_DATATYPE_NULL, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, one = 1;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (rank == 0) {
        receive_nothing();
        one = call_further_in(3) != 0;
    }
    FILE *ready = fopen(argv[1], "a");
    fprintf(ready, "%d %d\n", rank, (int)getpid());
    fclose(ready);
    sleep(rank == 0 ? 4 : 0);
    if (rank == 0)
        MPI_Send(&one, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    else
        MPI_Recv(&one, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&one, 1, MPI_INT, 1 - rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
