/* SPDX-License-Identifier: BSD-3-Clause */
/* waits - what a blocked thread waits for, as data: the parts that a report, JSON and the page are made of.
 */
#ifndef MPIQ_WAITS_H
#define MPIQ_WAITS_H

#include "job/find.h"

/* Fills what and waits_for of all ranks of the diagnosis.  Everything belongs to its arena. */
void mpiq_find_waits(struct mpiq_finder *finder);

/* What a thread of the job waits for; NULL: for nothing, or it is not known. */
const struct mpiq_waits_for *mpiq_thread_waits(struct mpiq_finder *finder, uint32_t thread);

#endif
