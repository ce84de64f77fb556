/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * still - how long a process stands still while it is looked at, as it sees it itself: rank 0 watches its
 * clock, the others wait for it in MPI.  A thread that computes never gives its processor up by itself (its
 * count of voluntary switches stays), unless somebody stops it.  Ends when a file named "stop" is there, and
 * prints the length of each stop in microseconds.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "begin.h"

enum { STOPS_MAX = 100000, GAP_NS = 2000, LONGEST_LIFE_S = 120 };

static long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long switches(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static void watch(void)
{
    static long long stops[STOPS_MAX];
    int count = 0;
    long known = switches();
    long long begin = now_ns(), last = begin, asked = begin;

    while (count < STOPS_MAX && last - begin < LONGEST_LIFE_S * 1000000000LL) {
        long long now = now_ns();
        if (now - last > GAP_NS) {
            long counted = switches();
            if (counted != known)
                stops[count++] = now - last;
            known = counted;
            now = now_ns();
        }
        if (now - asked > 10000000) {
            if (access("stop", F_OK) == 0)
                break;
            known = switches();
            asked = now = now_ns();
        }
        last = now;
    }
    for (int i = 0; i < count; i++)
        printf("still %lld\n", stops[i] / 1000);
}

int main(int argc, char **argv)
{
    if (begin(&argc, &argv) == 0)
        watch();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
