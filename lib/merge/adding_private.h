/* SPDX-License-Identifier: BSD-3-Clause */
/* adding - one rank state on its way into the job's columns. */
#ifndef MPIQ_MERGE_ADDING_PRIVATE_H
#define MPIQ_MERGE_ADDING_PRIVATE_H

#include "merge/builder_private.h"

/* What is built of one rank state: where its rows go. */
struct mpiq_adding {
    struct mpiq_job_state *job;
    const struct mpiq_rank_state *state;
    struct mpiq_job_rank *old; /* as the first look left it; NULL: there is none */
    bool comparable;           /* old and state tell the same of the rank's library: what differs has moved */
    uint32_t row;              /* in ranks */
    uint32_t first_member;     /* of this state's communicators */
    uint32_t first_view;       /* of this state's windows */
};

/* Where `count` rows go: over the first look's where they fit, else at the end. */
static inline uint32_t mpiq_place_rows(uint32_t *total, uint32_t old_first, uint32_t old_count, size_t count)
{
    if (count <= old_count && old_count > 0)
        return old_first;
    uint32_t first = *total;
    *total += (uint32_t)count;
    return first;
}

/* The provisional index of one of the state's communicators; MPIQ_NONE for none. */
static inline uint32_t mpiq_member_index(const struct mpiq_adding *adding, int32_t comm)
{
    return comm < 0 ? MPIQ_NONE : adding->first_member + (uint32_t)comm;
}

/* Operations of a queue, or (waits) of a thread's wait, as rows from `first` on.  False without memory. */
bool mpiq_add_operations(struct mpiq_adding *adding, const struct mpiq_operation *ops, size_t count,
                         bool waits, uint32_t first);

/* The threads of the state, with their waits.  False without memory. */
bool mpiq_add_threads(struct mpiq_adding *adding, struct mpiq_job_rank *rank);
/* The second look saw the same waits and stacks as the first: only times move on. */
void mpiq_same_threads(struct mpiq_adding *adding, const struct mpiq_job_rank *rank);

/* Whether all that the last calls of a rank did was to ask and to read windows (a lock or a flag in one,
   say), as far as its history goes, and whether it was in these calls most of the time, or asleep in between.
 */
bool mpiq_repeats_reads(const struct mpiq_adding *adding);

/* Whether a rank that was seen outside MPI both times still makes its last calls: it has made one in between,
   or has been outside for no longer than it is at times, on a busy machine. */
bool mpiq_goes_on_calling(const struct mpiq_adding *adding);

#endif
