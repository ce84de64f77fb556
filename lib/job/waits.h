/* SPDX-License-Identifier: BSD-3-Clause */
/* waits - what a blocked thread waits for, as data: the parts that a report, JSON and the page are made of.
 */
#ifndef MPIQ_WAITS_H
#define MPIQ_WAITS_H

#include "job/find.h"

/* Fills waits_for of all ranks of the diagnosis.  Everything belongs to its arena. */
void mpiq_find_waits(struct mpiq_analysis *analysis);

/* What a thread of the job waits for; NULL: for nothing, or it is not known. */
const struct mpiq_waits_for *mpiq_thread_waits(struct mpiq_analysis *analysis, uint32_t thread);

/* What waiting for that one operation of a process means; NULL without memory. */
const struct mpiq_waits_for *mpiq_operation_waits(struct mpiq_analysis *analysis, uint32_t process,
                                                  uint32_t operation);

/* Fills call and wait of a step: what that thread waits for, of several operations that one (MPIQ_NONE: all).
 */
void mpiq_analysis_wait(struct mpiq_analysis *analysis, struct mpiq_step *step, uint32_t thread,
                        uint32_t operation);

#endif
