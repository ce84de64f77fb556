/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * merge - rank states become one job state: identities, counts, threads, windows.  It decides nothing.
 *
 * A job state is created, added to and finished here, and destroyed here too.
 */
#ifndef MPIQ_MERGE_H
#define MPIQ_MERGE_H

#include "base/error.h"
#include "state/job_state.h"

/* An empty one.  NULL without memory. */
struct mpiq_job_state *mpiq_job_state_create(void);
/* NULL is fine. */
void mpiq_job_state_destroy(struct mpiq_job_state *job);

/* Whether what a state refers to is there: it may come from a file.  MPIQ_ERROR_CORRUPT, or NULL. */
struct mpiq_error *mpiq_job_check_state(const struct mpiq_rank_state *state);

/* Adds what look 1 or 2 saw of a rank; copies what it needs, so state stays the caller's.  All of a rank's
   looks in order; ranks in any order.  A second state of the same rank and look is refused
   (MPIQ_ERROR_CORRUPT: it is there twice, or two processes say that they are that rank), as is one with
   indexes out of range. */
struct mpiq_error *mpiq_job_state_add(struct mpiq_job_state *job, int look,
                                      const struct mpiq_rank_state *state);

/* Ends the building: worlds, processes, communicators and operations get their final indexes. */
struct mpiq_error *mpiq_job_state_finish(struct mpiq_job_state *job);

/* Adds what the snapshot at path holds (mpiq_snapshot_each; its errors, and those of mpiq_job_state_add). */
struct mpiq_error *mpiq_merge_snapshot(struct mpiq_job_state *job, const char *path);

#endif
