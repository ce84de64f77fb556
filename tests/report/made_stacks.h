/* SPDX-License-Identifier: BSD-3-Clause */
/* made_stacks - ranks with whole stacks: in a receive, a recursion, Python, and a barrier in which they poll.
 */
#ifndef MPIQ_TESTS_MADE_STACKS_H
#define MPIQ_TESTS_MADE_STACKS_H

#include "made_job.h"
#include "state/stack_tree.h"

/* Ten ranks, of which one has ended and one has no stack; *ret is destroyed by the caller. */
struct made_job made_stacks(bool all_threads, struct mpiq_stack_tree **ret);

#endif
