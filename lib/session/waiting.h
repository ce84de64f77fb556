/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waiting - which ranks under the recorder have been in one and the same MPI call for some time.
 *
 * It reads a few counters out of each rank, and only says when a look may be worth its while: what a rank
 * claims here proves nothing.
 */
#ifndef MPIQ_SESSION_WAITING_H
#define MPIQ_SESSION_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/job_motion.h"
#include "mpiq.h"

struct mpiq_waiting_rank {
    pid_t pid;
    uint64_t root; /* address of the recorder's root; 0: not known */
    uint64_t mark; /* of the calls of all its threads; 0: none of them is in a call */
    int64_t since; /* CLOCK_MONOTONIC, of that mark */
    bool sought;   /* the root was looked for */
};

struct mpiq_waiting {
    uint64_t offset; /* of the root in the recorder's file; 0: not known */
    bool sought;
    struct mpiq_waiting_rank *ranks;
    size_t count;
    size_t capacity;
};

void mpiq_waiting_deinit(struct mpiq_waiting *waiting);

/* Reads the counters of the ranks of that list. */
struct mpiq_waiting_ranks mpiq_waiting_sample(struct mpiq_waiting *waiting,
                                              const struct mpiq_job_motion *motion, double seconds);

#endif
