/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model - a job in a few numbers: who waits for what, and what is under way; made at random, and answered by
 * a slow and obvious reference.
 *
 * The reference knows nothing of lib/job: it asks again and again who may act, until nothing changes.
 */
#ifndef TEST_MODEL_H
#define TEST_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "job_builder.h"

enum { MOST_RANKS = 6, MOST_OPERATIONS = 4, MOST_MESSAGES = 24, COMMS = 2, TAGS = 2 };

enum model_state { BLOCKED, COMPUTING, ASLEEP, STOPPED, POLLING, GONE, UNREAD, STATES };
enum model_kind { RECEIVE, SEND, EAGER_SEND };
/* A second thread of a rank that waits in MPI.  The first ones wait for their own process, or are the MPI
   library's; the others may call MPI at any moment. */
enum model_helper {
    HELPER_NONE,
    HELPER_FUTEX,   /* a private futex without a timeout */
    HELPER_JOIN,    /* pthread_join */
    HELPER_ASSUMED, /* pthread_cond_wait, with nothing known of the system call */
    HELPER_LIBRARY, /* nothing but the MPI library on its stack */
    HELPER_TIMED,   /* a futex with a timeout */
    HELPER_TIMED_JOIN,
    HELPER_TIMER,   /* nothing but the C library on its stack: it may run the function of a timer */
    HELPER_UNKNOWN, /* asleep in it is not known what */
    HELPER_COMPUTES,
    HELPERS
};
enum model_window_wait { WINDOW_NO_WAIT, WINDOW_LOCK, WINDOW_START, WINDOW_WAIT, WINDOW_FENCE, WINDOW_WAITS };

struct model_operation {
    enum model_kind kind;
    int comm;    /* 0: MPI_COMM_WORLD, 1: a copy of it */
    int peer;    /* ANY */
    int tag;     /* ANY */
    bool waited; /* by the rank's wait; otherwise it is only posted */
    bool complete;
    int message; /* of a send: in messages */
};

struct model_message {
    int from, to, comm, tag;
    bool arrived; /* it lies unexpected at its receiver */
    bool eager;   /* it came, or comes, whole */
};

struct model_rank {
    enum model_state state;
    bool all;    /* the wait needs all of its operations; otherwise any */
    int barrier; /* 0, or the number of the barrier it is in, with no traffic to be seen */
    int entered; /* calls made so far on MPI_COMM_WORLD */
    bool fence;  /* the barrier is MPI_Win_fence, which need not wait for all: what is seen of it counts */
    int from;    /* of a fence: whose internal message it waits for; ANY: none is seen */
    enum model_helper helper;
    enum model_window_wait window; /* what it waits for in the window, and in nothing else */
    int lock_target;               /* WINDOW_LOCK: whose lock, and which */
    bool exclusive;
    int holds[MOST_RANKS];    /* locks at each rank: enum mpiq_lock_type */
    unsigned posted, started; /* ranks of its exposure and of its access epoch, one bit each */
    struct model_operation operations[MOST_OPERATIONS];
    int operation_count;
};

struct model {
    int ranks;
    bool windows; /* there is one, of all ranks */
    struct model_rank rank[MOST_RANKS];
    struct model_message messages[MOST_MESSAGES]; /* of each pair in the order of sending */
    int message_count;
};

/* A random one; the same seed gives the same. */
void model_make(struct model *model, uint64_t seed);

/* Which ranks can never continue. */
void model_reference(const struct model *model, bool stuck[MOST_RANKS]);

/* The same as a job state. */
void model_build(const struct model *model, struct job_builder *job);

void model_print(const struct model *model);

uint64_t model_random(uint64_t *seed);

#endif
