/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collective - a patched library's record of the collective calls on a communicator: counts, the ring of the
 * last calls, outstanding non-blocking ones.
 */
#ifndef MQS_OMPI_COLLECTIVE_H
#define MQS_OMPI_COLLECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "mpi_interface.h"
#include "root.h"

/* Head of struct ompi_mqs_collectives, in our byte order. */
struct collectives {
    mqs_taddr_t address;
    mqs_taddr_t comm;
    uint32_t size;
    uint32_t classes;
    uint64_t group_hash;
    uint64_t remote_hash;
    uint64_t position;
    mqs_taddr_t outstanding;
    mqs_taddr_t ring; /* 0: no call yet */
    mqs_taddr_t more_counts;
};

/* mqs_no_information where the library keeps no such state. */
int collective_read(struct memory *memory, const struct root *root, mqs_taddr_t address,
                    struct collectives *ret);

/* Number of calls of one class, and how many of them are active. */
int collective_count(struct memory *memory, const struct collectives *state, int class_, uint32_t *calls,
                     uint32_t *active);

/* The cycle counter when the last blocking call ended; 0: none has.  mqs_no_information where the record does
   not say. */
int collective_end_cycles(struct memory *memory, const struct collectives *state, uint64_t *ret);

/* Running number of the last ordered call: as many calls are in the ring, or have been. */
uint64_t collective_ordered(const struct collectives *state);

/* Non-blocking calls so far, of all classes; -1 if they cannot be read. */
int64_t collective_nonblocking(struct memory *memory, const struct collectives *state);

/* Copies of the calls in the ring, newest first, without those that later calls have overwritten. */
struct ring {
    unsigned char bytes[OMPI_MQS_RING][sizeof(struct ompi_mqs_call)]; /* by how many calls each is back */
    uint32_t count;
};

/* Of the calls that the state counts: a library that runs makes more of them while it is read. */
int collective_fetch_ring(struct memory *memory, const struct collectives *state, struct ring *ret);

/* Class of the last call on it that was not non-blocking or persistent; -1 if the ring has none. */
int collective_newest_blocking(struct memory *memory, const struct collectives *state);

/* What is done with an outstanding call: its request, class and running number.  mqs_end_of_list ends the
   walk as a success, any other code but mqs_ok ends it and is its result. */
typedef int (*outstanding_visit)(void *argument, mqs_taddr_t request, int class_, uint64_t number);

/* Visits up to `limit` outstanding calls; ERROR_COLLECTIVES if their list has a cycle. */
int collective_visit_outstanding(struct memory *memory, const struct collectives *state, size_t limit,
                                 outstanding_visit visit, void *argument);

/* "MPI_Bcast"; NULL past the last. */
const char *collective_name(int class_);

#endif
