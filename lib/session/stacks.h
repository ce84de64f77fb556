/* SPDX-License-Identifier: BSD-3-Clause */
/* stacks - the tree of all stacks of a job, from what its last look read.  The job state has none, as nothing
   but this view wants more of them than where each thread is. */
#ifndef MPIQ_SESSION_STACKS_H
#define MPIQ_SESSION_STACKS_H

#include "session/job.h"
#include "state/stack_tree.h"

/* only: of these ranks; NULL: all.  The caller destroys *ret. */
struct mpiq_error *mpiq_job_stacks(const struct mpiq_job *job, const struct mpiq_rank_set *only,
                                   bool all_threads, struct mpiq_stack_tree **ret);

#endif
