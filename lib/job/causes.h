/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * causes - which findings are causes and which follow from them: one bug, one cause.
 *
 * Findings whose ranks lead to the same end of the wait-for graph form a family.  The one nearest to the bug
 * is its cause, the others carry consequence_of, and those that name no further rank are dropped.  Causes
 * that say the same about other communicators or circles are merged.
 */
#ifndef MPIQ_CAUSES_H
#define MPIQ_CAUSES_H

#include "job/find.h"

/* Links, merges and orders the findings: causes first, and proven findings before others. */
void mpiq_find_causes(struct mpiq_analysis *analysis);

/* The ranks of a finding that its cause does not name. */
void mpiq_ranks_beyond(struct mpiq_analysis *analysis, const struct mpiq_finding *cause,
                       const struct mpiq_finding *finding, struct mpiq_rank_set *ret);

/* Once the evidence is finished: whom a consequence names beyond its cause, and whom to look at of those who
   left a circle early. */
void mpiq_finish_findings(struct mpiq_analysis *analysis);

/* The rest is private to causes*.c. */

/* How near to the bug a finding is, of those of one family: 0 is the cause itself.  MPIQ_WEIGHT_HELD_UP: of
   arguments that do not fit in a call that a message holds up; both are causes. */
enum { MPIQ_WEIGHT_HELD_UP = 9 };
uint8_t mpiq_finding_weight(const struct mpiq_analysis *analysis, const struct mpiq_finding *finding);
/* Whether a finding tells of a wait, and so may follow from another one. */
bool mpiq_is_of_waits(const struct mpiq_finding *finding);

/* Whether it is about a receive or a send that nobody answers. */
bool mpiq_is_of_message(const struct mpiq_finding *finding);

/* Of each two collectives that wait for each other, on different communicators or one of them among
   neighbours: sets the suspects of both, and `parted` of the one that its missing members skipped
   (causes_order.c). */
void mpiq_settle_orders(struct mpiq_analysis *analysis);
/* Of each collective whose missing members wait for a message from a member that is in it (causes_pile.c):
   sets `piled` where the message may have been forgotten, and names both where the collective may as well
   have been left out.  Once families are known. */
void mpiq_settle_piles(struct mpiq_analysis *analysis);
/* Each marks in `dropped`, of each finding, what another one says from now on.  Causes that are the same bug
   on several communicators are merged. */
void mpiq_merge_causes(struct mpiq_analysis *analysis, bool *dropped);
/* A circle through several collectives: all who are in them are in the circle's place, not only those by whom
   it was found. */
void mpiq_widen_circles(struct mpiq_analysis *analysis, bool *dropped);
/* Consequences that name no rank that their cause does not name. */
void mpiq_drop_said(struct mpiq_analysis *analysis, bool *dropped);

#endif
