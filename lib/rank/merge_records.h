/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * merge_records - one state of what the recorder and the MPI library itself say of a process.
 *
 * The recorder knows calls, counts, waits and places; where mpiq can read the library's own queues too, they
 * say what the recorder has to conclude from counts: which requests are complete, which messages have
 * arrived, and what goes on inside a collective.
 */
#ifndef MPIQ_RANK_MERGE_RECORDS_H
#define MPIQ_RANK_MERGE_RECORDS_H

#include <stdbool.h>

#include "state/rank_state.h"

/*
 * Puts the queues and channels of `own`, read through the library's own DLL before `state` was read through
 * the recorder's, in place of those in `state`: with the waits of `state` seen in two looks, the queues of
 * the second were read during those waits.  Communicators that only the library knows (those inside of
 * collectives) are added.  Takes from `own` what it needs; the caller still destroys both.
 *
 * False, and `state` as it was: the two do not show the same process at rest (another rank, another phase, a
 * communicator in use that the library lacks), or the queues of `own` were not read completely.
 */
bool mpiq_rank_merge_records(struct mpiq_rank_state *state, struct mpiq_rank_state *own);

/* Whether no later reading of that process can be joined either: another PML than ob1 keeps the queues. */
bool mpiq_rank_never_merges(const struct mpiq_rank_state *own);

#endif
