/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread - a patched library's record of a thread: what it waits for, innermost wait last, and which
 * collective it is in.
 */
#ifndef MQS_OMPI_THREAD_H
#define MQS_OMPI_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"
#include "mpi_interface.h"
#include "ompi_mqs.h"
#include "root.h"

/* One thread's record, in our byte order. */
struct thread_record {
    mqs_taddr_t next;
    int tid;
    uint32_t depth;
    uint32_t outer;     /* waits below this level belong to a call that is in a callback of the user's */
    bool in_collective; /* so that collective and comm hold */
    int collective;     /* -1: not known */
    mqs_taddr_t comm;   /* that it was called on; 0: none */
    struct ompi_mqs_wait stack[OMPI_MQS_WAIT_DEPTH];
};

/* ERROR_WAITS if the record is corrupt. */
int thread_read(struct memory *memory, const struct root *root, mqs_taddr_t address,
                struct thread_record *ret);

#endif
