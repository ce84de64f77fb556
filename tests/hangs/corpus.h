/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * corpus - what every program of the corpus shares: cases chosen by name, and a word to the runner.
 *
 * A family is one C file with many cases; `mpirun -n 3 family case` runs one.  What mpiq has to say about a
 * case stands in the family's .toml file, beside it.
 *
 * The runner hears of each rank by lines in the file that MPIQ_CORPUS_READY names (a fifo):
 *   ready RANK PID    the rank's next call is the one that hangs (or its loop begins)
 *   through RANK      the rank came out of its case, which it does not do if it hangs
 * and sees it advance by a counter of its own in the file that MPIQ_CORPUS_PROGRESS names.
 */
#ifndef CORPUS_H
#define CORPUS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In MPI_COMM_WORLD; valid within a case, but for those of CASE_BEFORE_INIT. */
extern int rank, size;
/* As the launcher says it, before MPI_Init. */
int rank_by_environment(void);

/* 4 MiB: far over every eager limit. */
#define LARGE (1 << 20)
extern int large[LARGE], large_received[LARGE];

/* Up to 16 ranks' worth of small data. */
#define SMALL 64
extern int small[SMALL], small_received[SMALL];
extern int counts[16], offsets[16]; /* of v-variants: 1 each, one after the other */

/* A tag that no program of the corpus sends. */
#define NOBODY 99

/* Has gone elsewhere in the program, and waits there for a message that nobody sends. */
void wait_for_nobody(int peer);
#define WAIT_FOR_NOBODY(peer) wait_for_nobody(peer)

/* The rank's next call is the one that hangs. */
void ready(void);
#define HANG(call) (ready(), (call))

/* The rank advanced: one round of a program that does not hang. */
void advance(void);

/* The same for a program that comes to its end by itself: counts what it did, in any thread. */
void count_progress(void);
/* Waits, without MPI, until the rank has counted. */
void wait_for_count_of(int other);
/* Called by all ranks: whether there is time for another round.  After the last one main returns a status of
   its own. */
bool goes_on(void);
/* For how long a rank of such a program works while the others wait for it. */
double work_seconds(void);

/* Computes for about that long, without MPI. */
void compute_us(double microseconds);
/* Never comes back: computes, asleep until a signal. */
_Noreturn void compute_for_ever(void);
_Noreturn void sleep_for_ever(void);

enum corpus_when { CORPUS_INIT, CORPUS_THREADS, CORPUS_NO_INIT };

struct corpus_case {
    const char *name;
    void (*run)(void);
    enum corpus_when when;
    struct corpus_case *next;
};

void corpus_register(struct corpus_case *added);

#define CORPUS_CASE(id, when)                                    \
    static void id(void);                                        \
    __attribute__((constructor)) static void id##_register(void) \
    {                                                            \
        static struct corpus_case added = {#id, id, when, NULL}; \
        corpus_register(&added);                                 \
    }                                                            \
    static void id(void)

/* A case: MPI is up before it, and MPI_Finalize follows. */
#define CASE(id) CORPUS_CASE(id, CORPUS_INIT)
/* The same with MPI_THREAD_MULTIPLE. */
#define CASE_THREADS(id) CORPUS_CASE(id, CORPUS_THREADS)
/* A case that calls MPI_Init and MPI_Finalize itself. */
#define CASE_BEFORE_INIT(id) CORPUS_CASE(id, CORPUS_NO_INIT)

#endif
