/* SPDX-License-Identifier: BSD-3-Clause */
/* state_budget - the memory of all states that were read, kept within one budget. */
#ifndef MPIQ_SESSION_STATE_BUDGET_H
#define MPIQ_SESSION_STATE_BUDGET_H

#include "session/sources.h"

/*
 * Takes from the sources' budget what the state read for source `index` in that look (1 or 2) needs.  While
 * there is not enough, the source with the largest state loses it and gets a problem that says so; not the
 * last one, which may be innocent.  Fails only without memory.
 */
struct mpiq_error *mpiq_take_state_budget(struct mpiq_look_sources *sources, size_t index, int look);

#endif
