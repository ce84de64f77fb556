/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * looker - takes looks in a thread of its own, so that a key is heard while ranks are read.
 *
 * The thread lives as long as the looks' readers: their parent must.
 */
#ifndef MPIQ_CLI_LOOKER_H
#define MPIQ_CLI_LOOKER_H

#include <pthread.h>

#include "looks.h"

struct looker {
    struct looks *looks;
    int told[2];  /* a pipe: a byte when a look has ended */
    int order[2]; /* a pipe: a byte for each look to take */
    pthread_t thread;
    bool busy;                /* it is at a look */
    struct mpiq_job *job;     /* what it has seen: the thread's while busy, then the caller's */
    struct mpiq_error *error; /* or why not: the same */
};

/* False, and errno, without a thread. */
bool looker_start(struct looker *looker, struct looks *looks);
/* Has it take a look. */
void looker_go(struct looker *looker);
/* Whether it has ended one since looker_go. */
bool looker_ended(struct looker *looker);
/* It must not be busy. */
void looker_stop(struct looker *looker);

#endif
