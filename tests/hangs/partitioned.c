/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned sends and receives: programs that hang, and programs whose receivers wait for partitions that
 * are still to come.  The library sets a request up in the background once all ranks of MPI_COMM_WORLD have
 * made one, and only then sends what has been marked ready.
 */
#include "corpus.h"

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5

#include <pthread.h>
#include <time.h>

#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE
#define NEXT ((rank + 1) % size)
#define PREVIOUS ((rank + size - 1) % size)

#define PARTS 4
#define ROUNDS for (ready();; advance())

static void make_send(int parts, int count, int peer, int tag, MPI_Request *request)
{
    MPI_Psend_init(count * parts > SMALL ? large : small, parts, count, MPI_INT, peer, tag, WORLD,
                   MPI_INFO_NULL, request);
}

static void make_receive(int parts, int count, int peer, int tag, MPI_Request *request)
{
    MPI_Precv_init(count * parts > SMALL ? large_received : small_received, parts, count, MPI_INT, peer, tag,
                   WORLD, MPI_INFO_NULL, request);
}

static void finish(MPI_Request *request)
{
    MPI_Wait(request, IGNORE);
}

static void doze(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

/* Rank 0 forgets one of its partitions, in its fourth round. */
CASE(partition_forgotten_later)
{
    MPI_Request request;

    if (rank == 0)
        make_send(PARTS, 1, 1, 1, &request);
    else
        make_receive(PARTS, 1, 0, 1, &request);
    for (int round = 0; round < 4; round++) {
        MPI_Start(&request);
        if (rank == 0) {
            for (int i = 0; i < PARTS; i++) {
                if (round < 3 || i != 2)
                    MPI_Pready(i, request);
            }
        }
        if (round < 3)
            finish(&request);
    }
    if (rank == 0)
        HANG(MPI_Recv(small_received, 1, MPI_INT, 1, NOBODY, WORLD, IGNORE));
    else
        HANG(finish(&request));
}

/* The sender waits for its own send, of which it has not marked two partitions ready. */
CASE(partitions_of_its_own_not_ready)
{
    MPI_Request request;

    if (rank == 0) {
        make_send(PARTS, 1, 1, 1, &request);
        MPI_Start(&request);
        MPI_Pready(1, request);
        MPI_Pready(3, request);
    } else {
        make_receive(PARTS, 1, 0, 1, &request);
        MPI_Start(&request);
    }
    HANG(finish(&request));
}

#define MANY 100

/* All but the last: more than a word has bits. */
CASE(one_of_many_partitions_forgotten)
{
    MPI_Request request;

    if (rank == 0) {
        int others[MANY - 2];

        for (int i = 0; i < MANY - 2; i++)
            others[i] = MANY - 2 - i;
        make_send(MANY, 1, 1, 1, &request);
        MPI_Start(&request);
        MPI_Pready_list(MANY - 2, others, request);
        MPI_Pready(0, request);
    } else {
        make_receive(MANY, 1, 0, 1, &request);
        MPI_Start(&request);
    }
    HANG(finish(&request));
}

/* Each waits for the other's last partition before it marks its own ready. */
CASE(partitions_in_a_ring)
{
    MPI_Request send, receive;

    make_send(PARTS, LARGE / PARTS, NEXT, 1, &send);
    make_receive(PARTS, LARGE / PARTS, PREVIOUS, 1, &receive);
    MPI_Start(&send);
    MPI_Start(&receive);
    MPI_Pready_range(0, PARTS - 2, send);
    HANG(finish(&receive));
    MPI_Pready(PARTS - 1, send);
    finish(&send);
}

/* One made a receive for which the other never made a send. */
CASE(partitioned_send_never_made)
{
    MPI_Request request;

    if (rank == 0) {
        make_send(PARTS, 1, 1, 2, &request);
        HANG(MPI_Recv(small_received, 1, MPI_INT, 1, NOBODY, WORLD, IGNORE));
    } else {
        make_receive(PARTS, 1, 0, 1, &request);
        MPI_Start(&request);
        HANG(finish(&request));
    }
}

/* Nobody knows of what the library itself waits for then. */
CASE(partitioned_receive_never_made)
{
    MPI_Request request;

    if (rank == 0) {
        make_send(PARTS, 1, 1, 1, &request);
        MPI_Start(&request);
        MPI_Pready_range(0, PARTS - 1, request);
        HANG(finish(&request));
    } else {
        HANG(MPI_Recv(small_received, 1, MPI_INT, 0, NOBODY, WORLD, IGNORE));
    }
}

static void exchange(int count, long pause)
{
    MPI_Request send, receive;

    make_send(PARTS, count, NEXT, 1, &send);
    make_receive(PARTS, count, PREVIOUS, 1, &receive);
    ROUNDS
    {
        MPI_Start(&receive);
        MPI_Start(&send);
        for (int i = 0; i < PARTS; i++) {
            if (pause > 0)
                doze(pause);
            MPI_Pready(PARTS - 1 - i, send);
        }
        finish(&receive);
        finish(&send);
    }
}

CASE(partitioned_exchange)
{
    exchange(1, 0);
}

CASE(partitioned_exchange_large)
{
    exchange(LARGE / PARTS, 0);
}

CASE(partitioned_exchange_with_pauses)
{
    exchange(1, 2000);
}

/* New requests in each round: the library sets them up while their receivers wait already. */
CASE(partitioned_requests_made_anew)
{
    ROUNDS
    {
        MPI_Request send, receive;

        make_send(PARTS, 1, NEXT, 1, &send);
        make_receive(PARTS, 1, PREVIOUS, 1, &receive);
        MPI_Start(&receive);
        MPI_Start(&send);
        MPI_Pready_range(0, PARTS - 1, send);
        finish(&receive);
        finish(&send);
        MPI_Request_free(&send);
        MPI_Request_free(&receive);
        MPI_Barrier(WORLD); /* the library confuses requests of one tag of different rounds */
    }
}

/* The sender of the last partition is in MPI itself, and waits for a rank that computes.  (Started a second
   time, 5.0.7 may never complete such a send.) */
CASE(partition_behind_a_message)
{
    ROUNDS
    {
        MPI_Request request, other;

        if (rank == 0) {
            make_send(PARTS, 1, 1, 1, &request);
            make_send(PARTS, 1, 2, 2, &other);
        } else {
            make_receive(PARTS, 1, 0, rank, &request);
        }
        MPI_Start(&request);
        if (rank == 0) {
            MPI_Start(&other);
            MPI_Pready_range(0, PARTS - 1, other);
            MPI_Pready_range(0, PARTS - 2, request);
            MPI_Recv(small_received, 1, MPI_INT, 2, 1, WORLD, IGNORE);
            MPI_Pready(PARTS - 1, request);
            finish(&other);
            MPI_Request_free(&other);
        } else if (rank == 2) {
            compute_us(3000);
            MPI_Send(small, 1, MPI_INT, 0, 1, WORLD);
        }
        finish(&request);
        MPI_Request_free(&request);
        MPI_Barrier(WORLD);
    }
}

static MPI_Request of_both_threads;
static volatile int started;

/* The last partition of each round. */
static void *mark_ready(void *argument)
{
    (void)argument;
    for (int seen = 0;; seen++) {
        while (started == seen)
            doze(100);
        doze(2000);
        MPI_Pready(PARTS - 1, of_both_threads);
    }
}

/* The thread that waits for the send is not the one that marks its last partition. */
CASE_THREADS(partition_of_another_thread)
{
    pthread_t thread;

    if (rank == 0) {
        make_send(PARTS, 1, 1, 1, &of_both_threads);
        pthread_create(&thread, NULL, mark_ready, NULL);
    } else {
        make_receive(PARTS, 1, 0, 1, &of_both_threads);
    }
    ROUNDS
    {
        MPI_Request request = of_both_threads;

        MPI_Start(&request);
        if (rank == 0) {
            MPI_Pready_range(0, PARTS - 2, request);
            started++;
        }
        finish(&request);
    }
}

#endif
