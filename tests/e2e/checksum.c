/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checksum - a job that ends, and whose result tells whether anything disturbed it: each round mixes what the
 * neighbours sent (eager and rendezvous), what a collective gave and what came out of a pipe of its own.
 *
 *   checksum ROUNDS      prints "checksum N" at rank 0
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 16, LARGE = 50000 };

static uint64_t mix(uint64_t sum, uint64_t value)
{
    sum ^= value + UINT64_C(0x9e3779b97f4a7c15) + (sum << 6) + (sum >> 2);
    return sum * UINT64_C(0x100000001b3);
}

static uint64_t exchange(uint64_t sum, int count, int left, int right)
{
    static uint64_t sent[LARGE], received[LARGE];
    MPI_Request requests[2];

    for (int i = 0; i < count; i++)
        sent[i] = sum + (uint64_t)i;
    MPI_Irecv(received, count, MPI_UINT64_T, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, count, MPI_UINT64_T, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i += 97)
        sum = mix(sum, received[i]);
    return sum;
}

/* A sleep that a signal or a stop would cut short unless it is gone on with, as a careful program does. */
static void doze(void)
{
    struct timespec rest = {.tv_nsec = 500000};

    while (nanosleep(&rest, &rest) != 0)
        ;
}

static uint64_t through_a_pipe(uint64_t sum)
{
    int ends[2];
    uint64_t back = 0;

    if (pipe(ends) != 0 || write(ends[1], &sum, sizeof sum) != sizeof sum ||
        read(ends[0], &back, sizeof back) != sizeof back) {
        perror("checksum: pipe");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    close(ends[0]);
    close(ends[1]);
    return back;
}

static void say_ready(int rank)
{
    const char *path = getenv("MPIQ_CORPUS_READY");
    int file = path ? open(path, O_WRONLY | O_APPEND) : -1;

    if (file >= 0) {
        dprintf(file, "ready %d %d\n", rank, (int)getpid());
        close(file);
    }
}

int main(int argc, char **argv)
{
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 100;
    uint64_t sum = 1, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    say_ready(rank);
    for (int round = 0; round < rounds; round++) {
        sum = exchange(mix(sum, (uint64_t)rank), round % 20 ? SMALL : LARGE, (rank + size - 1) % size,
                       (rank + 1) % size);
        MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        sum = through_a_pipe(mix(sum, all));
        doze();
    }
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("checksum %llu\n", (unsigned long long)all);
    MPI_Finalize();
    return 0;
}
