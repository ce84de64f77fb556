/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * given - what a thread waits for by the arguments of its MPI call, where nothing but its stack and its
 * caller's code could be read.  It is shown and never used as a proof: the graph does not know it.
 */
#ifndef MPIQ_GIVEN_H
#define MPIQ_GIVEN_H

#include "job/find.h"

enum { MPIQ_GIVEN_PARTS = 8 };

/* What a thread waits for: a message, the two of a call that sends and receives, a collective, or what its
   requests are for, if that is known of all of them. */
struct mpiq_given_parts {
    struct mpiq_wait_part parts[MPIQ_GIVEN_PARTS];
    uint32_t count; /* 0: it is not known */
    uint32_t more;  /* requests that are not among the parts */
    bool any;       /* one of the requests suffices */
    bool some;      /* of the requests, one or more: the others may be complete */
};

/* Parts live in the arena. */
void mpiq_given_parts(struct mpiq_analysis *analysis, uint32_t thread, struct mpiq_given_parts *ret);

/* The process that is the root of the collective that a thread is in; MPIQ_NONE: it has none, or it is not
   known. */
uint32_t mpiq_given_root(const struct mpiq_analysis *analysis, uint32_t thread);

/* The tag that the call of a thread was given; -1: it has none, or it is not known. */
int64_t mpiq_given_tag(const struct mpiq_job_state *job, uint32_t thread);

/* An argument of a collective that all members must give alike, as the caller's code tells it. */
struct mpiq_given_value {
    int64_t value;       /* a root, a count */
    mpiq_string_id name; /* of an operation, of a count's datatype; 0: one of the user's */
};

/* MPIQ_GIVEN_ROOT, _OP, or _COUNT: of the data that the member sends or receives.  False: not known. */
bool mpiq_given_argument(const struct mpiq_job_state *job, uint32_t thread, int collective,
                         int32_t local_rank, enum mpiq_given_kind kind, struct mpiq_given_value *ret);

/* Whether two threads in the same call wait for the same, but for who the peer is. */
bool mpiq_given_alike(const struct mpiq_job_state *job, uint32_t left, uint32_t right);

#endif
