/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collective - what a patched library remembers of the collective calls on a communicator: counts, the
 * ring of the last calls, outstanding non-blocking ones.  On an unpatched one the outstanding requests of
 * libnbc, without their names.
 */
#ifndef MQS_COLLECTIVE_H
#define MQS_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "communicator.h"
#include "list.h"
#include "mpi_interface.h"
#include "ompi_mqs.h"

/* Head of struct ompi_mqs_collectives, in our byte order. */
struct collectives {
    mqs_taddr_t address;
    mqs_taddr_t comm;
    uint32_t classes;
    uint64_t group_hash;
    uint64_t remote_hash;
    uint64_t position;
    mqs_taddr_t outstanding;
};

struct calls {
    bool set_up;
    bool outstanding; /* the list, else the ring */
    bool libnbc;      /* outstanding ones from libnbc's own list */
    struct collectives state;
    mqs_taddr_t comm;
    uint64_t next;                /* ring: how many calls back; libnbc: index */
    uint32_t unfinished;          /* ring: bit n set: the call n back is outstanding */
    uint32_t seen[OMPI_MQS_RING]; /* ring: classes of the calls that were returned */
    mqs_taddr_t next_record;
    uint64_t left;
    struct cycle cycle;
};

/* mqs_no_information if nothing is kept. */
int collective_read(mqs_process_info *info, mqs_taddr_t address, struct collectives *ret);

/* Count of one class and how many are active. */
int collective_count(mqs_process_info *info, const struct collectives *state, int class_, uint32_t *calls,
                     uint32_t *active);

/* Running number of the last ordered call. */
int64_t collective_ordered(const struct collectives *state);

/* Non-blocking calls so far, of all classes; -1 if they cannot be read. */
int64_t collective_nonblocking(mqs_process_info *info, const struct collectives *state);

/* Class of the last call on it that was not non-blocking or persistent; -1 if the ring has none. */
int collective_newest_blocking(mqs_process_info *info, const struct collectives *state);

int calls_set_up(mqs_process_info *info, struct calls *calls, mqs_taddr_t comm, mqs_taddr_t collectives,
                 bool outstanding);
int calls_next(mqs_process_info *info, struct calls *calls, mqs_collective_call *ret);

/* Gives libnbc's requests the class that the library recorded for them. */
void collective_name_requests(mqs_process_info *info);

/* "MPI_Bcast"; NULL past the last. */
const char *collective_name(int class_);

#endif
