/* SPDX-License-Identifier: BSD-3-Clause */
/* stacks - what stacks say about waits. */
#ifndef MPIQ_RANK_STACKS_H
#define MPIQ_RANK_STACKS_H

#include "state/rank_state.h"

/*
 * A library without records says that a thread waits, but not which: such waits belong to a thread 0. They
 * are moved to the thread in MPI if there is exactly one, and dropped otherwise; thread 0 is removed
 * afterwards.
 */
void mpiq_rank_place_waits(struct mpiq_rank_state *state);

#endif
