/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stepped - two ranks to be stepped through, by mode:
 *   poll     rank 0 calls MPI_Test until rank 1's message is there
 *   jump     rank 0's signal handler (SIGUSR1) leaves the call that it is held before by a jump
 *   threads  two threads of each rank exchange messages under MPI_THREAD_MULTIPLE
 *   types    rank 0 sends data of several types
 *   rows     rank 0 sends on a communicator "rows", in which ranks have other numbers
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static int rank;
static sigjmp_buf back;

static void poll_for_it(void)
{
    int number = 0, done = 0;
    MPI_Request request;
    if (rank == 1) {
        number = 41;
        MPI_Send(&number, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        return;
    }
    MPI_Irecv(&number, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    printf("polled for %d\n", number);
}

static void leave(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

static void jump(void)
{
    int number = 0;
    if (rank == 0) {
        signal(SIGUSR1, leave);
        if (sigsetjmp(back, 1) == 0)
            MPI_Ssend(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        number = 42;
        MPI_Send(&number, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&number, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("jumped to %d\n", number);
    }
}

static void *exchange(void *argument)
{
    int *number = argument, tag = *number, other = -1;
    for (int i = 0; i < 3; i++) {
        if (rank == 0)
            MPI_Send(number, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
        else
            MPI_Recv(&other, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    *number = other;
    return NULL;
}

static void threads(void)
{
    int numbers[2] = {20, 23};
    pthread_t other;
    pthread_create(&other, NULL, exchange, &numbers[1]);
    exchange(&numbers[0]);
    pthread_join(other, NULL);
    if (rank == 1)
        printf("threads have %d\n", numbers[0] + numbers[1]);
}

static void types(void)
{
    double halves[12];
    float real[4] = {1.5f, -2, 0.25f, 3};
    char text[] = "hello, \033[31mranks";
    unsigned char bytes[3] = {0, 127, 255};
    long long large = -5000000000;
    struct {
        int a, b;
    } pair = {1, 2};
    MPI_Datatype derived;
    for (int i = 0; i < 12; i++)
        halves[i] = i / 2.0;
    MPI_Type_contiguous(2, MPI_INT, &derived);
    MPI_Type_commit(&derived);
    int to = rank == 0 ? 1 : MPI_PROC_NULL, from = rank == 0 ? MPI_PROC_NULL : 0;
    MPI_Sendrecv_replace(halves, 12, MPI_DOUBLE, to, 1, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(real, 4, MPI_FLOAT, to, 2, from, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(text, (int)strlen(text), MPI_CHAR, to, 3, from, 3, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(bytes, 3, MPI_BYTE, to, 4, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(&large, 1, MPI_LONG_LONG, to, 5, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(&pair, 1, derived, to, 6, from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(real, 4, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &large, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    MPI_Type_free(&derived);
    if (rank == 1)
        printf("types have %lld\n", large);
}

static void rows(void)
{
    int number = 44;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    MPI_Comm_set_name(comm, "rows");
    if (rank == 0)
        MPI_Send(&number, 1, MPI_INT, 0, 9, comm);
    else
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    if (rank == 1)
        printf("rows have %d\n", number);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "poll";
    int level;
    MPI_Init_thread(&argc, &argv, strcmp(mode, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(mode, "poll") == 0)
        poll_for_it();
    else if (strcmp(mode, "jump") == 0)
        jump();
    else if (strcmp(mode, "types") == 0)
        types();
    else if (strcmp(mode, "rows") == 0)
        rows();
    else
        threads();
    MPI_Finalize();
    return 0;
}
