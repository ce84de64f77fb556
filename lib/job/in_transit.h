/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * in_transit - whether messages may be in transit that no queue shows: the two ends of a channel disagree, it
 * moved between the looks, or this cannot be known.
 */
#ifndef MPIQ_IN_TRANSIT_H
#define MPIQ_IN_TRANSIT_H

#include <stdbool.h>
#include <stdint.h>

#include "state/job_state.h"

struct mpiq_in_transit {
    const struct mpiq_job_state *job;
    uint8_t *members; /* of each member, made when first asked for: something is under way to it */
};

/* Frees what was made; the job is not owned. */
void mpiq_in_transit_deinit(struct mpiq_in_transit *in_transit);

/* Whether a rank has taken in everything that had arrived by the first look: it polled in the same wait
   between the looks.  Core files are assumed to show a hung job. */
bool mpiq_has_polled(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank);

/* Whether a rank was in the first look what it is now; who had ended by then is not looked at again. */
bool mpiq_was_before(const struct mpiq_job_rank *rank);

/* Whether messages from a process to this member's rank may be under way. */
bool mpiq_channel_in_transit(const struct mpiq_job_state *job, const struct mpiq_job_member *receiver,
                             uint32_t sender);
/* The same for messages from anybody.  Returns true on allocation failure. */
bool mpiq_any_in_transit(struct mpiq_in_transit *in_transit, const struct mpiq_job_member *receiver);

/* Whether the channels and the unexpected messages of a rank are known. */
static inline bool mpiq_queues_known(const struct mpiq_job_rank *rank)
{
    return rank->queues == MPIQ_YES && rank->source != MPIQ_SOURCE_STACKS && rank->source != MPIQ_SOURCE_NONE;
}

#endif
