/* SPDX-License-Identifier: BSD-3-Clause */
/* stacks - what stacks say about waits. */
#ifndef MPIQ_RANK_STACKS_H
#define MPIQ_RANK_STACKS_H

#include "state/rank_state.h"

/*
 * A library without records says that somebody waits, not who: such waits stand with a thread 0.  They go to
 * the thread in MPI, if there is one alone, and are dropped otherwise; thread 0 is gone afterwards.
 */
void mpiq_rank_place_waits(struct mpiq_rank_state *state);

#endif
