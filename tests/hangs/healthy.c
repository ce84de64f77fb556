/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that do not hang: messages.  Each goes on until it is ended; a look at any moment may find every
 * rank in a blocking call, and must not cry wolf.
 */
#include "corpus.h"

#include <time.h>

#define WORLD MPI_COMM_WORLD
#define NEXT ((rank + 1) % size)
#define PREVIOUS ((rank + size - 1) % size)
#define IGNORE MPI_STATUS_IGNORE

/* Says ready, then does the block for ever. */
#define ROUNDS for (ready();; advance())

static void send(int count, int peer, int tag)
{
    MPI_Send(count > SMALL ? large : small, count, MPI_INT, peer, tag, WORLD);
}

static void receive(int count, int peer, int tag)
{
    MPI_Recv(count > SMALL ? large_received : small_received, count, MPI_INT, peer, tag, WORLD, IGNORE);
}

static void doze(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

static void ping_pong_of(int count)
{
    ROUNDS
    {
        if (rank == 0)
            send(count, 1, 1);
        receive(count, 1 - rank, 1);
        if (rank == 1)
            send(count, 0, 1);
    }
}

CASE(ping_pong)
{
    ping_pong_of(1);
}

CASE(ping_pong_large)
{
    ping_pong_of(LARGE);
}

/* One of the two computes before each answer. */
CASE(ping_pong_with_work)
{
    ROUNDS
    {
        if (rank == 0)
            send(1, 1, 1);
        receive(1, 1 - rank, 1);
        compute_us(2000);
        if (rank == 1)
            send(1, 0, 1);
    }
}

CASE(ping_pong_synchronous)
{
    ROUNDS
    {
        if (rank == 0)
            MPI_Ssend(small, 1, MPI_INT, 1, 1, WORLD);
        receive(1, 1 - rank, 1);
        if (rank == 1)
            MPI_Ssend(small, 1, MPI_INT, 0, 1, WORLD);
    }
}

CASE(token_around_a_ring)
{
    if (rank == 0)
        send(1, NEXT, 1);
    ROUNDS
    {
        receive(1, PREVIOUS, 1);
        send(1, NEXT, 1);
    }
}

CASE(halo_sendrecv)
{
    ROUNDS
    {
        MPI_Sendrecv(small, 8, MPI_INT, NEXT, 1, small_received, 8, MPI_INT, PREVIOUS, 1, WORLD, IGNORE);
        MPI_Sendrecv(small, 8, MPI_INT, PREVIOUS, 2, small_received, 8, MPI_INT, NEXT, 2, WORLD, IGNORE);
    }
}

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
/* Short and long messages, waited for together, alone, and by testing. */
CASE(halo_isendrecv)
{
    MPI_Request requests[2];
    int done;

    ROUNDS
    {
        MPI_Isendrecv(small, 8, MPI_INT, NEXT, 1, small_received, 8, MPI_INT, PREVIOUS, 1, WORLD,
                      &requests[0]);
        MPI_Isendrecv(small, 8, MPI_INT, PREVIOUS, 2, small_received + 8, 8, MPI_INT, NEXT, 2, WORLD,
                      &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Isendrecv_replace(large, LARGE / 4, MPI_INT, NEXT, 3, PREVIOUS, 3, WORLD, &requests[0]);
        MPI_Wait(&requests[0], IGNORE);
        MPI_Isendrecv(small, 8, MPI_INT, NEXT, 1, small_received, 8, MPI_INT, MPI_ANY_SOURCE, 1, WORLD,
                      &requests[0]);
        do {
            MPI_Test(&requests[0], &done, IGNORE);
        } while (!done);
    }
}
#endif

static void halo_of(int count, int left, int right)
{
    MPI_Request requests[4];

    ROUNDS
    {
        MPI_Irecv(large_received, count, MPI_INT, left, 1, WORLD, &requests[0]);
        MPI_Irecv(large_received + count, count, MPI_INT, right, 2, WORLD, &requests[1]);
        MPI_Isend(large, count, MPI_INT, right, 1, WORLD, &requests[2]);
        MPI_Isend(large, count, MPI_INT, left, 2, WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
}

CASE(halo_nonblocking)
{
    halo_of(64, PREVIOUS, NEXT);
}

CASE(halo_large)
{
    halo_of(LARGE / 4, PREVIOUS, NEXT);
}

CASE(halo_with_open_ends)
{
    halo_of(64, rank ? rank - 1 : MPI_PROC_NULL, rank + 1 < size ? rank + 1 : MPI_PROC_NULL);
}

CASE(halo_persistent)
{
    MPI_Request requests[4];

    MPI_Recv_init(small_received, 8, MPI_INT, PREVIOUS, 1, WORLD, &requests[0]);
    MPI_Recv_init(small_received + 8, 8, MPI_INT, NEXT, 2, WORLD, &requests[1]);
    MPI_Send_init(small, 8, MPI_INT, NEXT, 1, WORLD, &requests[2]);
    MPI_Send_init(small, 8, MPI_INT, PREVIOUS, 2, WORLD, &requests[3]);
    ROUNDS
    {
        MPI_Startall(4, requests);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
}

CASE(shift_replace)
{
    ROUNDS
    MPI_Sendrecv_replace(small, 8, MPI_INT, NEXT, 1, PREVIOUS, 1, WORLD, IGNORE);
}

/* Even ranks send first, odd ones receive first: right, also over the eager limit. */
CASE(even_odd_large)
{
    int partner = rank ^ 1;

    ROUNDS
    {
        if (rank % 2 == 0)
            send(LARGE / 4, partner, 1);
        receive(LARGE / 4, partner, 1);
        if (rank % 2 == 1)
            send(LARGE / 4, partner, 1);
    }
}

/* Each stage takes from the one before it, works and gives to the next one. */
CASE(pipeline)
{
    ROUNDS
    {
        if (rank > 0)
            receive(16, rank - 1, 1);
        compute_us(500 - 20 * rank);
        if (rank < size - 1)
            send(16, rank + 1, 1);
    }
}

CASE(pipeline_large)
{
    ROUNDS
    {
        if (rank > 0)
            receive(LARGE / 4, rank - 1, 1);
        if (rank < size - 1)
            send(LARGE / 4, rank + 1, 1);
    }
}

/* Eager messages faster than the receiver takes them: the sender finds no room again and again. */
CASE(flood)
{
    ROUNDS
    {
        if (rank == 0) {
            send(32, 1, 1);
        } else {
            receive(32, 0, 1);
            compute_us(20);
        }
    }
}

CASE(flood_of_a_computing_receiver)
{
    ROUNDS
    {
        for (int i = 0; i < 10000; i++) {
            if (rank == 0)
                send(32, 1, 1);
            else
                receive(32, 0, 1);
        }
        if (rank == 1)
            compute_us(300000);
    }
}

CASE(master_and_workers)
{
    MPI_Status from;

    ROUNDS
    {
        if (rank == 0) {
            MPI_Recv(small, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, &from);
            send(1, from.MPI_SOURCE, 2);
        } else {
            send(1, 0, 1);
            receive(1, 0, 2);
            compute_us(1000 * rank);
        }
    }
}

CASE(master_takes_any_tag)
{
    MPI_Status from;

    ROUNDS
    {
        if (rank == 0) {
            MPI_Recv(small, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &from);
            send(1, from.MPI_SOURCE, 100);
        } else {
            send(1, 0, rank);
            receive(1, 0, 100);
        }
    }
}

CASE(master_waits_for_any)
{
    MPI_Request requests[16];
    int done;

    if (rank == 0)
        for (int i = 1; i < size; i++)
            MPI_Irecv(small_received + i, 1, MPI_INT, i, 1, WORLD, &requests[i - 1]);
    ROUNDS
    {
        if (rank == 0) {
            MPI_Waitany(size - 1, requests, &done, IGNORE);
            send(1, done + 1, 2);
            MPI_Irecv(small_received + done + 1, 1, MPI_INT, done + 1, 1, WORLD, &requests[done]);
        } else {
            compute_us(200 * rank);
            send(1, 0, 1);
            receive(1, 0, 2);
        }
    }
}

CASE(master_waits_for_some)
{
    MPI_Request requests[16];
    int count, done[16];

    if (rank == 0)
        for (int i = 1; i < size; i++)
            MPI_Irecv(small_received + i, 1, MPI_INT, i, 1, WORLD, &requests[i - 1]);
    ROUNDS
    {
        if (rank == 0) {
            MPI_Waitsome(size - 1, requests, &count, done, MPI_STATUSES_IGNORE);
            for (int i = 0; i < count; i++) {
                send(1, done[i] + 1, 2);
                MPI_Irecv(small_received + done[i] + 1, 1, MPI_INT, done[i] + 1, 1, WORLD,
                          &requests[done[i]]);
            }
        } else {
            send(1, 0, 1);
            receive(1, 0, 2);
        }
    }
}

CASE(probed_lengths)
{
    MPI_Status status;
    int count;

    ROUNDS
    {
        if (rank == 0) {
            MPI_Probe(MPI_ANY_SOURCE, 1, WORLD, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            receive(count, status.MPI_SOURCE, 1);
            send(1, status.MPI_SOURCE, 2);
        } else {
            send(rank * 4, 0, 1);
            receive(1, 0, 2);
        }
    }
}

CASE(matched_probes)
{
    MPI_Message message;
    MPI_Status status;

    ROUNDS
    {
        send(4, NEXT, 1);
        MPI_Mprobe(PREVIOUS, 1, WORLD, &message, &status);
        MPI_Mrecv(small_received, 4, MPI_INT, &message, &status);
    }
}

/* Busy polling. */

CASE(polls_with_test)
{
    MPI_Request request;
    int done;

    ROUNDS
    {
        MPI_Irecv(small_received, 1, MPI_INT, PREVIOUS, 1, WORLD, &request);
        send(1, NEXT, 1);
        do
            MPI_Test(&request, &done, IGNORE);
        while (!done);
    }
}

CASE(polls_with_testall_and_work)
{
    MPI_Request requests[2];
    int done;

    ROUNDS
    {
        MPI_Irecv(small_received, 1, MPI_INT, PREVIOUS, 1, WORLD, &requests[0]);
        MPI_Isend(small, 1, MPI_INT, NEXT, 1, WORLD, &requests[1]);
        do {
            compute_us(100);
            MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
        } while (!done);
    }
}

CASE(polls_with_iprobe)
{
    int found;

    ROUNDS
    {
        send(1, NEXT, 1);
        do
            MPI_Iprobe(MPI_ANY_SOURCE, 1, WORLD, &found, IGNORE);
        while (!found);
        receive(1, MPI_ANY_SOURCE, 1);
    }
}

/* Polls, and sleeps between two polls; the other rank waits for it in a blocking receive. */
CASE(polls_and_dozes)
{
    int found;

    ROUNDS
    {
        if (rank == 0) {
            send(1, 1, 1);
            receive(1, 1, 1);
        } else {
            for (found = 0; !found; doze(500))
                MPI_Iprobe(0, 1, WORLD, &found, IGNORE);
            receive(1, 0, 1);
            send(1, 0, 1);
        }
    }
}

/* Requests that stay. */

/* Ten rounds of receives are posted ahead. */
CASE(receives_posted_ahead)
{
    MPI_Request requests[10];

    for (int i = 0; i < 10; i++)
        MPI_Irecv(small_received + i, 1, MPI_INT, PREVIOUS, i, WORLD, &requests[i]);
    ready();
    for (int i = 0;; i = (i + 1) % 10) {
        send(1, NEXT, i);
        MPI_Wait(&requests[i], IGNORE);
        MPI_Irecv(small_received + i, 1, MPI_INT, PREVIOUS, i, WORLD, &requests[i]);
        advance();
    }
}

/* Sends that have completed long ago and are waited for only a hundred rounds later. */
CASE(sends_waited_for_late)
{
    MPI_Request requests[100];

    ROUNDS
    {
        for (int i = 0; i < 100; i++) {
            MPI_Isend(small, 1, MPI_INT, NEXT, 1, WORLD, &requests[i]);
            receive(1, PREVIOUS, 1);
            advance();
        }
        MPI_Waitall(100, requests, MPI_STATUSES_IGNORE);
    }
}

/* A receive that no message will ever match, cancelled in the end; the job goes on around it. */
CASE(receive_that_is_cancelled)
{
    MPI_Request request;

    ROUNDS
    {
        MPI_Irecv(small_received, 1, MPI_INT, MPI_ANY_SOURCE, NOBODY, WORLD, &request);
        for (int i = 0; i < 100; i++)
            MPI_Sendrecv(small, 1, MPI_INT, NEXT, 1, small_received + 1, 1, MPI_INT, PREVIOUS, 1, WORLD,
                         IGNORE);
        MPI_Cancel(&request);
        MPI_Wait(&request, IGNORE);
    }
}

/* A listener for a message that comes at the very end stays posted. */
CASE(listener_never_served)
{
    MPI_Request request;

    MPI_Irecv(small_received, 1, MPI_INT, MPI_ANY_SOURCE, NOBODY, WORLD, &request);
    ROUNDS
    MPI_Sendrecv(small, 1, MPI_INT, NEXT, 1, small_received + 1, 1, MPI_INT, PREVIOUS, 1, WORLD, IGNORE);
}

/* Messages that lie unexpected for a long time and are taken in reverse order. */
CASE(unexpected_in_reverse)
{
    ROUNDS
    {
        for (int i = 0; i < 20; i++)
            send(1, NEXT, i);
        for (int i = 19; i >= 0; i--)
            receive(1, PREVIOUS, i);
    }
}

CASE(messages_to_oneself)
{
    MPI_Request request;

    ROUNDS
    {
        MPI_Irecv(small_received, 4, MPI_INT, rank, 1, WORLD, &request);
        send(4, rank, 1);
        MPI_Wait(&request, IGNORE);
        MPI_Sendrecv(small, 1, MPI_INT, NEXT, 1, small_received, 1, MPI_INT, PREVIOUS, 1, WORLD, IGNORE);
    }
}

static char buffer[1 << 20];

CASE(buffered_sends)
{
    MPI_Buffer_attach(buffer, sizeof buffer);
    ROUNDS
    {
        MPI_Bsend(small, 8, MPI_INT, NEXT, 1, WORLD);
        receive(8, PREVIOUS, 1);
    }
}

CASE(buffer_detached_each_round)
{
    void *back;
    int length;

    ROUNDS
    {
        MPI_Buffer_attach(buffer, sizeof buffer);
        MPI_Bsend(large, 4096, MPI_INT, NEXT, 1, WORLD);
        receive(4096, PREVIOUS, 1);
        MPI_Buffer_detach(&back, &length);
    }
}

/* Slow, uneven. */

CASE(one_slow_rank)
{
    ROUNDS
    {
        if (rank == 1)
            compute_us(50000);
        MPI_Sendrecv(small, 1, MPI_INT, NEXT, 1, small_received, 1, MPI_INT, PREVIOUS, 1, WORLD, IGNORE);
    }
}

/* Rank 0 works for much longer than a look takes, and all others wait for it. */
CASE(one_very_slow_rank)
{
    ROUNDS
    {
        if (rank == 0) {
            compute_us(3e6);
            for (int i = 1; i < size; i++)
                send(1, i, 1);
        } else {
            receive(1, 0, 1);
        }
    }
}

/* A rank that sleeps a little each round, as one that waits for a device does. */
CASE(one_rank_dozes)
{
    ROUNDS
    {
        if (rank == 1)
            doze(2000);
        MPI_Sendrecv(small, 1, MPI_INT, NEXT, 1, small_received, 1, MPI_INT, PREVIOUS, 1, WORLD, IGNORE);
    }
}

CASE(uneven_work)
{
    unsigned seed = (unsigned)rank + 1;

    ROUNDS
    {
        compute_us(rand_r(&seed) % 3000);
        MPI_Sendrecv(small, 1, MPI_INT, NEXT, 1, small_received, 1, MPI_INT, PREVIOUS, 1, WORLD, IGNORE);
    }
}

CASE(nothing_but_computing)
{
    ROUNDS
    compute_us(1000);
}

CASE_THREADS(ping_pong_under_thread_multiple)
{
    ping_pong_of(1);
}

/* Each round a send is refused and a file is not opened, on one rank or on all; the program knows, and goes
 * on. */
CASE(errors_looked_at)
{
    MPI_File file;

    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    ROUNDS
    {
        if (rank == 1 && MPI_Send(small, -1, MPI_INT, NEXT, 1, WORLD) == MPI_SUCCESS)
            MPI_Abort(WORLD, 1);
        if (MPI_File_open(MPI_COMM_SELF, "no-such-folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) ==
            MPI_SUCCESS)
            MPI_Abort(WORLD, 1);
        MPI_Sendrecv(small, 1, MPI_INT, NEXT, 1, small_received, 1, MPI_INT, PREVIOUS, 1, WORLD, IGNORE);
        if (rank == 0)
            doze(500);
        MPI_Barrier(WORLD);
    }
}
