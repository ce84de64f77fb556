/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matching - which message goes to which receive: per (sender, receiver, communicator, tag) first in, first
 * out, wildcards in the order of posting.
 *
 * Sends are joined with the unexpected messages that announce them at their receiver, and what has arrived
 * or is under way with the receives that are posted.  It says too what it cannot know: a channel whose two
 * ends disagree has something under way.
 */
#ifndef MPIQ_MATCHING_H
#define MPIQ_MATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "state/job_state.h"

/* Processor time of a thread between the looks that is more than what they cost it: it went round in MPI. */
enum { MPIQ_POLLED_NS = 1000000 };

/* What becomes of a pending operation. */
enum mpiq_fate {
    MPIQ_FATE_NONE,       /* not pending, or not an operation that matches */
    MPIQ_FATE_OPEN,       /* a receive that no message there is for */
    MPIQ_FATE_MEETS,      /* a receive with a message, a send whose message was or will be taken */
    MPIQ_FATE_UNEXPECTED, /* a send that lies unexpected at its receiver: it waits for a receive */
    MPIQ_FATE_UNDERWAY    /* a send whose message has not arrived, or nobody could tell */
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
    uint8_t *underway;        /* of each member, made when first asked for: something is under way to it */
};

/* False without memory.  partner: one entry for each operation, all MPIQ_NONE. */
bool mpiq_matching_init(struct mpiq_matching *matching, const struct mpiq_job_state *job, uint32_t *partner);
void mpiq_matching_deinit(struct mpiq_matching *matching);

/* Whether a rank has taken in all that had come by the first look: it turned round in one and the same wait
   between the two.  Core files are taken as a job that hangs. */
bool mpiq_has_polled(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank);

/* Whether messages from a process to this member's rank may be under way: the channel's ends disagree, it
   moved between the looks, or nobody can tell. */
bool mpiq_channel_underway(const struct mpiq_job_state *job, const struct mpiq_job_member *receiver,
                           uint32_t sender);
/* The same for messages from anybody; false also without memory is never returned: then it is true. */
bool mpiq_any_underway(struct mpiq_matching *matching, const struct mpiq_job_member *receiver);

/* Whether a message fits a receive (or a probe) of its receiver: communicator, source and tag. */
bool mpiq_fits(const struct mpiq_job_operation *receive, uint32_t comm, uint32_t sender, int32_t tag);

/* Whether the channels and the unexpected messages of a rank are known. */
static inline bool mpiq_queues_known(const struct mpiq_job_rank *rank)
{
    return rank->queues == MPIQ_YES && rank->source != MPIQ_SOURCE_STACKS && rank->source != MPIQ_SOURCE_NONE;
}

static inline bool mpiq_is_send(const struct mpiq_job_operation *op)
{
    return op->kind <= MPIQ_OPERATION_RSEND;
}

static inline bool mpiq_is_receive(const struct mpiq_job_operation *op)
{
    return op->kind == MPIQ_OPERATION_RECEIVE || op->kind == MPIQ_OPERATION_PROBE;
}

#endif
