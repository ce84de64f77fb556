/* SPDX-License-Identifier: BSD-3-Clause */
/* wait_circle - the ranks of a finding that wait for each other in a circle. */
#ifndef MPIQ_REPORT_WAIT_CIRCLE_H
#define MPIQ_REPORT_WAIT_CIRCLE_H

#include "report/page.h"

struct mpiq_wait_circle {
    uint32_t *processes; /* each waits for the next one, the last one for the first */
    size_t count;        /* 0: there is no circle */
};

/* Whom a process waits for, part by part: `ranks` of the part.  Of a collective of which the library does not
   say who is missing, the members that are not in that call, or entered it with another argument; of a
   receive from any source, all other members.  Calls `each` until it returns false; returns that, and false
   on allocation failure. */
typedef bool mpiq_awaited_callback(void *context, const struct mpiq_wait_part *part,
                                   const struct mpiq_ranks *ranks);
bool mpiq_each_awaited(const struct mpiq_page *page, uint32_t process, mpiq_awaited_callback *each,
                       void *context);

/* Of one finding.  False on allocation failure; deinit in any case. */
bool mpiq_wait_circle_collect(const struct mpiq_page *page, const struct mpiq_finding *finding,
                              struct mpiq_wait_circle *ret);
void mpiq_wait_circle_deinit(struct mpiq_wait_circle *circle);

#endif
