/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call - iterators over collective calls: the last ones and the outstanding ones of a communicator, as a
 * patched library keeps them.  For an unpatched library: the outstanding requests of libnbc, without their
 * names.
 */
#ifndef MQS_OMPI_CALL_H
#define MQS_OMPI_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "collective.h"
#include "library.h"
#include "list.h"
#include "mqs_extensions.h"
#include "ompi_mqs.h"

struct calls {
    bool set_up;
    bool outstanding; /* the list, else the ring */
    bool libnbc;      /* outstanding ones from libnbc's own list */
    struct collectives state;
    mqs_taddr_t comm;
    uint64_t next; /* ring: how many calls back; libnbc: index */
    struct ring ring;
    uint32_t unfinished;          /* ring: bit n set: the call n back is outstanding */
    uint32_t seen[OMPI_MQS_RING]; /* ring: classes of the calls that were returned */
    mqs_taddr_t next_record;
    uint64_t left;
    struct cycle cycle;
};

/* Calls on the communicator `comm`, whose state is at `collectives`; comm 0: the state of calls without a
   communicator. */
int calls_set_up(struct library *library, struct calls *calls, mqs_taddr_t comm, mqs_taddr_t collectives,
                 bool outstanding);
int calls_next(struct library *library, struct calls *calls, mqs_collective_call *ret);

#endif
