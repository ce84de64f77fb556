/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * causes - which findings are causes and which follow from them: one bug, one cause.
 *
 * Findings whose ranks are led to the same end of the wait-for graph are of one family; the one that is
 * nearest to the bug is its cause, the others carry consequence_of, and those that name no further rank are
 * dropped.  Causes that say the same of other communicators or circles are one.
 */
#ifndef MPIQ_CAUSES_H
#define MPIQ_CAUSES_H

#include "job/find.h"

/* Links, merges and orders the findings: causes first, what is certain before what is not. */
void mpiq_find_causes(struct mpiq_finder *finder);

/* The ranks of a finding that its cause does not name. */
void mpiq_ranks_beyond(struct mpiq_finder *finder, const struct mpiq_finding *cause,
                       const struct mpiq_finding *finding, struct mpiq_rank_set *ret);

#endif
