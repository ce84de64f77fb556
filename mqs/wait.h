/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait - what each thread waits for inside the library.
 *
 * A patched library keeps a record a thread.  An unpatched one leaves only this in memory: requests that
 * hold the address of what a thread waits on, and how many of them must still complete.  A plain wait of a
 * single-threaded process leaves nothing, and nothing is made up for it.
 */
#ifndef MQS_WAIT_H
#define MQS_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "list.h"
#include "mpi_interface.h"
#include "ompi_mqs.h"
#include "vector.h"

/* One thread's record, in our byte order. */
struct thread_record {
    mqs_taddr_t next;
    int tid;
    uint32_t depth;
    bool in_collective; /* so that collective and comm hold */
    int collective;     /* -1: not known */
    mqs_taddr_t comm;   /* that it was called on; 0: none */
    struct ompi_mqs_wait stack[OMPI_MQS_WAIT_DEPTH];
};

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
    mqs_taddr_t sync;
};

int waits_set_up(mqs_process_info *info);
int waits_next(mqs_process_info *info, mqs_wait *ret);
int waits_next_operation(mqs_process_info *info, mqs_pending_operation *ret);
void waits_clear(struct waits *waits);

/* Class of the collective that some thread is in on this communicator, or on the one that it serves; -1 if
   none is, or different ones are. */
int waits_collective_on(mqs_process_info *info, mqs_taddr_t comm);

#endif
