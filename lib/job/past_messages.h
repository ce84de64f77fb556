/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * past_messages - which past send and which past receive are the two ends of one message.
 *
 * The recorder notes calls, not messages.  Messages from one rank to another on one communicator with one tag
 * are received in the order in which they were sent, and receives take them in the order in which they were
 * posted: so the two histories are counted off against each other, from their beginnings where both are
 * whole, else from their ends, where it is known how many messages nobody has received.  Ends that cannot be
 * counted (persistent requests, MPI_Improbe, the receiving half of MPI_Sendrecv, a receive from any rank that
 * is still open, several threads) are left alone: a pair is right, or is not there.
 */
#ifndef MPIQ_PAST_MESSAGES_H
#define MPIQ_PAST_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "state/job_state.h"

/* *ret has one item for each of the job's past calls: the call at the other end, MPIQ_PAST_UNRECEIVED, or
   MPIQ_NONE.  The caller frees it; NULL where there are no past calls.  False without memory. */
bool mpiq_past_messages(const struct mpiq_job_state *job, uint32_t **ret);

/* Whether a call sends to its peer: MPI_Isend, MPI_Send_c, MPI_Sendrecv.  NULL: no. */
bool mpiq_past_call_sends(const char *call);

#endif
