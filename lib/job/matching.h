/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matching - which message goes to which receive: per (sender, receiver, communicator, tag) first in, first
 * out, wildcards in the order of posting.
 *
 * Sends are joined with the unexpected messages that announce them at the receiver; arrived messages and
 * those in transit are joined with posted receives.  It also says what it cannot know: a channel whose two
 * ends disagree has something in transit.
 */
#ifndef MPIQ_MATCHING_H
#define MPIQ_MATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "job/in_transit.h"
#include "state/job_state.h"

/* What becomes of a pending operation. */
enum mpiq_fate {
    MPIQ_FATE_NONE,       /* not pending, or not an operation that matches */
    MPIQ_FATE_OPEN,       /* a receive that no message there is for */
    MPIQ_FATE_MEETS,      /* a receive with a message, a send whose message was or will be taken */
    MPIQ_FATE_UNEXPECTED, /* a send that lies unexpected at its receiver: it waits for a receive */
    MPIQ_FATE_IN_TRANSIT  /* a send whose message has not arrived, or nobody could tell */
};

/* A pending send on its way to a process. */
struct mpiq_incoming {
    uint32_t operation;
    uint32_t sender; /* process */
};

struct mpiq_matching {
    const struct mpiq_job_state *job;
    uint8_t *fates;    /* of each operation: enum mpiq_fate */
    uint32_t *partner; /* see mpiq_diagnosis; not owned */
    struct mpiq_incoming *incoming;
    uint32_t *first_incoming; /* of each process, and one more */
    struct mpiq_in_transit in_transit;
};

/* False without memory.  partner: one entry for each operation, all MPIQ_NONE. */
bool mpiq_matching_init(struct mpiq_matching *matching, const struct mpiq_job_state *job, uint32_t *partner);
void mpiq_matching_deinit(struct mpiq_matching *matching);

/* Whether a message fits a receive (or a probe) of its receiver: communicator, source and tag. */
bool mpiq_fits(const struct mpiq_job_operation *receive, uint32_t comm, uint32_t sender, int32_t tag);

/* Of the library's own messages those of collectives have negative tags; the others are of partitions. */
static inline bool mpiq_is_of_collective(const struct mpiq_job_operation *op)
{
    return op->internal && op->tag < 0;
}

#endif
