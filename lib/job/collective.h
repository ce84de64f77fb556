/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collective - which collective call a thread is in, and whom the standard makes it wait for.
 *
 * Two sources: the library's record of calls (communicator, running number, arguments) and, without it, the
 * name on the stack and the communicator of the internal traffic.
 */
#ifndef MPIQ_COLLECTIVE_H
#define MPIQ_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "state/job_state.h"

/* Whom a member that is in the call cannot leave it without, whatever the algorithm. */
enum mpiq_rule {
    MPIQ_RULE_NOBODY, /* not forced, or not known */
    MPIQ_RULE_ALL,
    MPIQ_RULE_ROOT,    /* all but the root: the root */
    MPIQ_RULE_TO_ROOT, /* the root: all */
    MPIQ_RULE_LOWER,   /* the members of lower rank */
    MPIQ_RULE_SOURCES  /* those whose data it needs, where they are known: neighbours */
};

enum mpiq_rule mpiq_collective_rule(int collective);
/* Whether it makes a communicator of an intercommunicator: all of both groups have to agree on it. */
bool mpiq_collective_makes_communicator(int collective);

/* With --strict the recorder lets no member into such a call before all have come (recorder/strict.c). */
bool mpiq_collective_synchronised(int collective);
/* Whether no member leaves that blocking collective before all have entered it, whatever way it takes: each
   needs something of each.  bytes: each one's share, -1 not known.  Of those with a count for each member
   (MPI_Alltoallv), some may be nothing: who has nothing to give need not come. */
bool mpiq_collective_needs_all(int collective, int64_t bytes);

/* Whether such a call, with that many bytes of its own (-1: not known), may be complete at once: a library
   need not wait for members that have no data for it. */
bool mpiq_collective_may_be_empty(int collective, int64_t bytes);

/* Whether each member has a count of its own for it, also one that is not blocking: some may be nothing, and
   who has nothing to give need not come. */
bool mpiq_collective_counts_each(int collective);

/* Whether a group of its own makes the call, and its messages have the user's tag: MPI_Comm_create_group. */
bool mpiq_collective_is_tagged(int collective);
/* Whether those who make the call together must give the same tag: of MPI_Intercomm_create the leaders. */
bool mpiq_collective_has_tag(int collective);

/* Whether an argument must be the same on all members: of root and op where there is one; bytes where one
   scalar decides, never for vectors: the record has the length of one block, with MPI_IN_PLACE and at roots
   that of the other side. */
bool mpiq_collective_has_root(int collective);
bool mpiq_collective_has_op(int collective);
bool mpiq_collective_has_bytes(int collective);
/* Whether it has arguments that may not fit those of others: a root, an operation, or data. */
bool mpiq_collective_moves_data(int collective);

/* The collective call that a thread is in. */
struct mpiq_thread_collective {
    int collective; /* class; -1: none */
    uint32_t comm;  /* the user's communicator; MPIQ_NONE not known */
    int64_t number; /* 0: unordered, or not known */
    uint32_t call;  /* in calls; MPIQ_NONE */
};

void mpiq_thread_collective(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                            const struct mpiq_job_thread *thread, struct mpiq_thread_collective *ret);

/* The outstanding collective behind a request of that rank; *comm is its communicator.  NULL: none. */
const struct mpiq_job_call *mpiq_outstanding_call(const struct mpiq_job_state *job,
                                                  const struct mpiq_job_rank *rank,
                                                  const struct mpiq_job_operation *op, uint32_t *comm);

/* The member's request of the persistent collective that its call of that number created; NULL: there is
   none, or it has been freed. */
const struct mpiq_job_persistent *mpiq_persistent_of(const struct mpiq_job_state *job,
                                                     const struct mpiq_job_member *member, int64_t number);

/* Whether a process has such a request, and has started it less than so often. */
bool mpiq_is_unstarted(const struct mpiq_job_state *job, uint32_t process, uint32_t comm, int64_t number,
                       int64_t starts);

/* Whether --strict has refused the rank's call of that number: it matches no other member's, and never ends.
 */
bool mpiq_is_refused(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank, uint32_t comm,
                     int64_t number);

/* The ring's entry with that running number; NULL: not there, or not there any more. */
const struct mpiq_job_call *mpiq_numbered_call(const struct mpiq_job_state *job,
                                               const struct mpiq_job_member *member, int64_t number);

/* The innermost wait of a thread; NULL: none. */
static inline const struct mpiq_job_wait *mpiq_innermost_wait(const struct mpiq_job_state *job,
                                                              const struct mpiq_job_thread *thread)
{
    return thread->wait_count ? &job->waits[thread->first_wait + thread->wait_count - 1] : NULL;
}

/* Whether a thread waits in its call: by its record, else by what it has called. */
static inline bool mpiq_is_waiting(const struct mpiq_job_thread *thread)
{
    return thread->wait_count > 0 ||
           (!thread->has_wait_record && thread->in_mpi && thread->blocking != MPIQ_BLOCKING_NOT);
}

#endif
