/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait - what each thread waits for inside the library.
 *
 * A patched library keeps one record per thread.  An unpatched library leaves only this in memory: requests
 * that hold the address of a thread's wait object, and how many of them must still complete.  An ordinary
 * wait of a single-threaded process leaves nothing, and nothing is invented for it.
 */
#ifndef MQS_OMPI_WAIT_H
#define MQS_OMPI_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "library.h"
#include "list.h"
#include "mqs_extensions.h"
#include "ompi_mqs.h"
#include "thread.h"
#include "vector.h"

struct waits {
    bool set_up;
    bool patched;
    struct thread_record thread;
    uint32_t level; /* next of the thread's stack */
    size_t left;    /* threads that may still come */
    struct cycle cycle;
    struct vector syncs; /* unpatched: of struct sync, in the order of addresses */
    size_t next_sync;

    /* Operations of the wait that was returned last. */
    bool in_wait;
    struct ompi_mqs_wait wait;
    int collective;
    mqs_taddr_t collective_comm;
    uint64_t next_operation;
    uint64_t operations;
    struct vector halves; /* of mqs_taddr_t: its requests, where an exchange's stands for two; else empty */
    mqs_taddr_t sync;
};

int waits_set_up(struct library *library, struct waits *waits);
int waits_next(struct library *library, struct waits *waits, mqs_wait *ret);
/* The operations of the wait that was returned last. */
int waits_next_operation(struct library *library, struct waits *waits, mqs_pending_operation *ret,
                         mqs_operation_details *details);
void waits_clear(struct waits *waits);

#endif
