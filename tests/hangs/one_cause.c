/* SPDX-License-Identifier: BSD-3-Clause */
/* One bug each, of the kinds that spread: the answer has exactly one cause, however many ranks have it. */
#include "corpus.h"

#include <pthread.h>

#define WORLD MPI_COMM_WORLD

static int left(void)
{
    return (rank + size - 1) % size;
}

static int right(void)
{
    return (rank + 1) % size;
}

/* Each rank sends tag 200 to the right, and receives tag 100 from the left. */
CASE(ring_with_swapped_tags)
{
    MPI_Send(small, 1, MPI_INT, right(), 200, WORLD);
    HANG(MPI_Recv(small_received, 1, MPI_INT, left(), 100, WORLD, MPI_STATUS_IGNORE));
}

/* Pairs: the even rank sends on the row's communicator, the odd one receives on the world's. */
CASE(pairs_on_two_communicators)
{
    MPI_Comm row;

    MPI_Comm_split(WORLD, rank / 2, rank, &row);
    MPI_Comm_set_name(row, "row");
    if (rank % 2 == 0) {
        MPI_Send(small, 1, MPI_INT, 1, 5, row);
        HANG(MPI_Recv(small_received, 1, MPI_INT, rank + 1, 6, WORLD, MPI_STATUS_IGNORE));
    } else {
        HANG(MPI_Recv(small_received, 1, MPI_INT, rank - 1, 5, WORLD, MPI_STATUS_IGNORE));
        MPI_Send(small, 1, MPI_INT, rank - 1, 6, WORLD);
    }
}

/* Three ranks wait for themselves. */
CASE(three_wait_for_themselves)
{
    if (rank < 3)
        HANG(MPI_Recv(small_received, 1, MPI_INT, rank, 3, WORLD, MPI_STATUS_IGNORE));
    else
        HANG(MPI_Recv(small_received, 1, MPI_INT, 0, 4, WORLD, MPI_STATUS_IGNORE));
}

/* Each rank of a line sends tag 100 to both neighbours, and receives tag 200 from them. */
CASE(line_with_a_wrong_tag)
{
    int before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int behind = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    MPI_Request requests[4];

    MPI_Irecv(&small_received[0], 1, MPI_INT, before, 200, WORLD, &requests[0]);
    MPI_Irecv(&small_received[1], 1, MPI_INT, behind, 200, WORLD, &requests[1]);
    MPI_Isend(small, 1, MPI_INT, before, 100, WORLD, &requests[2]);
    MPI_Isend(small, 1, MPI_INT, behind, 100, WORLD, &requests[3]);
    HANG(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
}

/* Each rank of a line sends tag 1 to the left and 2 to the right, and takes what comes from the left to
 * have 1. */
CASE(line_with_swapped_tags)
{
    int before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int behind = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    MPI_Request requests[4];

    MPI_Irecv(&small_received[0], 1, MPI_INT, before, 1, WORLD, &requests[0]);
    MPI_Irecv(&small_received[1], 1, MPI_INT, behind, 2, WORLD, &requests[1]);
    MPI_Isend(small, 1, MPI_INT, before, 1, WORLD, &requests[2]);
    MPI_Isend(small, 1, MPI_INT, behind, 2, WORLD, &requests[3]);
    HANG(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
}

/* The same with blocking receives: the first rank's is another one than the others'. */
CASE(line_of_receives_with_a_wrong_tag)
{
    ready();
    if (rank > 0)
        MPI_Send(small, 1, MPI_INT, rank - 1, 100, WORLD);
    if (rank + 1 < size)
        MPI_Send(small, 1, MPI_INT, rank + 1, 100, WORLD);
    if (rank > 0)
        MPI_Recv(small_received, 1, MPI_INT, rank - 1, 200, WORLD, MPI_STATUS_IGNORE);
    if (rank + 1 < size)
        MPI_Recv(small_received, 1, MPI_INT, rank + 1, 200, WORLD, MPI_STATUS_IGNORE);
}

/* A shift along a line with a wrong tag: the first rank has nothing to receive, and is in the barrier. */
CASE(shift_with_a_wrong_tag)
{
    int before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int behind = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;

    ready();
    MPI_Sendrecv(small, 1, MPI_INT, behind, 100, small_received, 1, MPI_INT, before, 200, WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(WORLD);
}

/* The ends of a line work on its communicator, all others on the world's. */
CASE(line_on_two_communicators)
{
    MPI_Comm line;
    int before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int behind = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    MPI_Request requests[4];

    MPI_Comm_dup(WORLD, &line);
    MPI_Comm_set_name(line, "line");
    MPI_Irecv(&small_received[0], 1, MPI_INT, before, 1, WORLD, &requests[0]);
    MPI_Irecv(&small_received[1], 1, MPI_INT, behind, 1, WORLD, &requests[1]);
    MPI_Isend(small, 1, MPI_INT, before, 1, line, &requests[2]);
    MPI_Isend(small, 1, MPI_INT, behind, 1, line, &requests[3]);
    HANG(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
}

/* Two barriers, entered in opposite order. */
/* Two duplicates made by one line: which of them a rank is in tells them apart. */
CASE(duplicates_of_one_line_in_opposite_order)
{
    MPI_Comm both[2];

    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(WORLD, &both[i]);
    HANG(MPI_Barrier(both[rank == 0]));
}

CASE(barriers_in_opposite_order)
{
    MPI_Comm alpha;
    MPI_Comm beta;

    MPI_Comm_dup(WORLD, &alpha);
    MPI_Comm_dup(WORLD, &beta);
    MPI_Comm_set_name(alpha, "alpha");
    MPI_Comm_set_name(beta, "beta");
    if (rank % 2 == 0)
        HANG(MPI_Barrier(beta));
    else
        HANG(MPI_Barrier(alpha));
}

/* The last rank forgets one of the messages that rank 0 waits for, and goes on into the barrier. */
CASE(one_message_forgotten)
{
    MPI_Request requests[3];

    if (rank == 0) {
        for (int tag = 40; tag < 43; tag++)
            MPI_Irecv(&small_received[tag - 40], 1, MPI_INT, size - 1, tag, WORLD, &requests[tag - 40]);
        HANG(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    } else if (rank == size - 1) {
        MPI_Send(small, 1, MPI_INT, 0, 40, WORLD);
        MPI_Send(small, 1, MPI_INT, 0, 41, WORLD);
    }
    if (rank > 0)
        HANG(MPI_Barrier(WORLD));
    else
        MPI_Barrier(WORLD);
}

/* A persistent send that was made and never started. */
CASE(persistent_send_not_started)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Send_init(small, 1, MPI_INT, 1, 5, WORLD, &request);
        HANG(MPI_Recv(small_received, 1, MPI_INT, 1, 6, WORLD, MPI_STATUS_IGNORE));
    } else {
        HANG(MPI_Recv(small_received, 1, MPI_INT, 0, 5, WORLD, MPI_STATUS_IGNORE));
        MPI_Send(small, 1, MPI_INT, 0, 6, WORLD);
    }
}

/* Each tests for a message that the other one sends after its own has come. */
CASE(both_poll)
{
    MPI_Request request;
    int done = 0;

    MPI_Irecv(small_received, 1, MPI_INT, 1 - rank, 9, WORLD, &request);
    ready();
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;

static void *idle(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&mutex);
    for (;;)
        pthread_cond_wait(&work, &mutex);
}

/* A pool of idle threads beside the main one, which waits for what nobody sends. */
CASE_THREADS(ring_beside_an_idle_pool)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++) {
        if (pthread_create(&thread, NULL, idle, NULL) != 0)
            abort();
    }
    HANG(MPI_Recv(small_received, 1, MPI_INT, left(), 1, WORLD, MPI_STATUS_IGNORE));
}

/* A function of the user's that begins like one of MPI's. */
static void mpi_exchange(void)
{
    MPI_Recv(small_received, 1, MPI_INT, left(), 1, WORLD, MPI_STATUS_IGNORE);
}

CASE(user_function_named_mpi)
{
    HANG(mpi_exchange());
}
