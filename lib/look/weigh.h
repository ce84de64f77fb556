/* SPDX-License-Identifier: BSD-3-Clause */
/* weigh - the memory of all states that were read, kept within one budget. */
#ifndef MPIQ_LOOK_WEIGH_H
#define MPIQ_LOOK_WEIGH_H

#include "look/sources.h"

/*
 * Takes from the sources' budget what the state needs that source `index` was given in that look (1 or 2). If
 * there is not enough, the source whose state takes most loses it, and has a problem that says so, until
 * there is: not who comes last, which may be one that means well.  Fails only for want of memory.
 */
struct mpiq_error *mpiq_weigh(struct mpiq_look_sources *sources, size_t index, int look);

#endif
