/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * left - calls that do not return: error handlers leave them, rank 0's by a jump, rank 1's by an exception,
 * and at last rank 0's signal handler leaves a receive.  A callback sends inside of a call.  Then rank 0 is
 * outside MPI and rank 1 waits for it. test_left.py reads the records back.  Two ranks.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <mpi.h>
#include <unistd.h>

static int rank;
static MPI_Comm hidden;
static jmp_buf back;
static sigjmp_buf back_from_signal;

static void leave()
{
    if (rank == 0)
        longjmp(back, 1);
    throw 1;
}

static void on_error(MPI_Comm *, int *, ...)
{
    leave();
}

static clock_t asked; /* the processor time after which it is in the receive: it polls there */

static void on_signal(int)
{
    if (clock() > asked)
        siglongjmp(back_from_signal, 1);
    alarm(1);
}

/* Leaves a function of its own, not the call that it is made in. */
static int on_delete(MPI_Comm, int, void *, void *)
{
    static int one;

    MPI_Send(&one, 1, MPI_INT, 1 - rank, 8, hidden);
    if (rank == 0 && setjmp(back) == 0)
        leave();
    try {
        if (rank == 1)
            leave();
    } catch (int) {
    }
    return MPI_SUCCESS;
}

template <typename Call> static void be_left(Call call)
{
    if (rank == 0) {
        if (setjmp(back) == 0)
            call();
    } else {
        try {
            call();
        } catch (int) {
        }
    }
}

int main(int argc, char **argv)
{
    static int four[4], room;
    int key;
    MPI_Errhandler handler;
    MPI_Comm freed, counted;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int other = 1 - rank;
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Send(four, 4, MPI_INT, other, 5, MPI_COMM_WORLD);
    be_left([&] { MPI_Recv(&room, 1, MPI_DATATYPE_NULL, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });

    MPI_Comm_dup(MPI_COMM_WORLD, &hidden);
    MPI_Comm_set_name(hidden, "hidden");
    MPI_Comm_dup(MPI_COMM_WORLD, &counted);
    MPI_Comm_set_name(counted, "counted");
    MPI_Send(four, 1, MPI_INT, other, 8, counted);

    MPI_Comm_dup(MPI_COMM_SELF, &freed);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, nullptr);
    MPI_Comm_set_attr(freed, key, nullptr);
    MPI_Comm_free(&freed);

    MPI_Irecv(&room, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &request);
    be_left([&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });

    FILE *ready = fopen(argv[1], "a");
    if (rank == 0) {
        signal(SIGALRM, on_signal);
        if (sigsetjmp(back_from_signal, 1) == 0) {
            asked = clock() + CLOCKS_PER_SEC / 20;
            alarm(1);
            MPI_Recv(&room, 1, MPI_INT, other, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    fprintf(ready, "%d %d\n", rank, (int)getpid());
    fclose(ready);
    while (rank == 0)
        sleep(1);
    MPI_Recv(&room, 1, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
