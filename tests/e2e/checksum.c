/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checksum - a job that knows its right result: each round sends messages (eager and rendezvous) around a
 * ring, adds up what came, and compares the sum with what must have come.  It goes on until a file named
 * "stop" is there, and then says how it went.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "ready.h"

enum { SMALL = 16, LARGE = 50000, EVERY = 10, STRIDE = 997, LONGEST_LIFE_S = 600 };

static uint64_t value(int rank, int round, int i)
{
    uint64_t x = ((uint64_t)rank << 48) ^ ((uint64_t)round << 20) ^ (uint64_t)i;

    x = (x ^ (x >> 31)) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ (x >> 29);
}

static int length_of(int round)
{
    return round % EVERY ? SMALL : LARGE;
}

/* Sum of what this rank received in a round. */
static uint64_t exchange(int round, int rank, int left, int right)
{
    static uint64_t sent[LARGE], received[LARGE];
    MPI_Request requests[2];
    int length = length_of(round);
    uint64_t sum = 0;

    for (int i = 0; i < length; i++) {
        sent[i] = i % STRIDE ? 0 : value(rank, round, i);
        received[i] = 0;
    }
    MPI_Irecv(received, length, MPI_UINT64_T, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, length, MPI_UINT64_T, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < length; i++)
        sum += received[i];
    return sum;
}

/* Of all ranks, without a message. */
static uint64_t expected(int round, int size)
{
    uint64_t sum = 0;

    for (int rank = 0; rank < size; rank++)
        for (int i = 0; i < length_of(round); i += STRIDE)
            sum += value(rank, round, i);
    return sum;
}

/* A sleep that a stop would cut short unless it is gone on with, as a careful program does. */
static void doze(void)
{
    struct timespec rest = {.tv_nsec = 500000};

    while (nanosleep(&rest, &rest) != 0)
        ;
}

int main(int argc, char **argv)
{
    int rank, size, round = 0, stop = 0;
    bool right = true;

    alarm(LONGEST_LIFE_S);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    say_ready(rank);
    for (; !stop && right; round++) {
        uint64_t mine = exchange(round, rank, (rank + size - 1) % size, (rank + 1) % size), all = 0;

        MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        right = all == expected(round, size);
        if (rank == 0)
            stop = access("stop", F_OK) == 0;
        MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
        doze();
    }
    if (rank == 0)
        printf("%s after %d rounds\n", right ? "right" : "wrong", round);
    MPI_Finalize();
    return right ? 0 : 1;
}
