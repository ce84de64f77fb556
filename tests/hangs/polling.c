/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that ask again and again, and what they ask for. */
#include "corpus.h"

#include <time.h>

#define WORLD MPI_COMM_WORLD

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static void receive(int peer, int tag)
{
    MPI_Recv(small_received, 1, MPI_INT, peer, tag, WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 tests, all others wait for what it sends after that. */
CASE(tests_for_nobody)
{
    MPI_Request requests[2];
    int done = 0;

    if (rank > 0) {
        HANG(receive(0, 4));
        return;
    }
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&small_received[i], 1, MPI_INT, 1, 9 + i, WORLD, &requests[i]);
    ready();
    while (!done)
        MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
}

CASE(tests_and_naps_for_nobody)
{
    MPI_Request request;
    int done = 0;

    if (rank > 0) {
        HANG(receive(0, 4));
        return;
    }
    MPI_Irecv(small_received, 1, MPI_INT, 1, 9, WORLD, &request);
    ready();
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        nap();
    }
}

CASE(probes_for_nobody)
{
    int there = 0;

    if (rank > 0) {
        HANG(receive(0, 4));
        return;
    }
    ready();
    while (!there)
        MPI_Iprobe(1, 9, WORLD, &there, MPI_STATUS_IGNORE);
}

/* Each probes for what the other one would send after that. */
CASE(both_probe)
{
    int there = 0;

    if (rank > 1) {
        HANG(receive(0, 4));
        return;
    }
    ready();
    while (!there)
        MPI_Iprobe(MPI_ANY_SOURCE, 9, WORLD, &there, MPI_STATUS_IGNORE);
}

CASE(probes_and_naps_for_nobody)
{
    MPI_Message message;
    int there = 0;

    if (rank > 0) {
        HANG(receive(0, 4));
        return;
    }
    ready();
    while (!there) {
        MPI_Improbe(MPI_ANY_SOURCE, 9, WORLD, &there, &message, MPI_STATUS_IGNORE);
        nap();
    }
}

/* Rank 0 never enters the barrier that all others test. */
CASE(tests_a_barrier_in_vain)
{
    MPI_Request request;
    int done = 0;

    if (rank == 0) {
        HANG(receive(1, NOBODY));
        return;
    }
    MPI_Ibarrier(WORLD, &request);
    ready();
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}
