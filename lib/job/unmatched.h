/* SPDX-License-Identifier: BSD-3-Clause */
/* unmatched - receives and sends that no rank will answer, by their findings; private to lib/job. */
#ifndef MPIQ_UNMATCHED_H
#define MPIQ_UNMATCHED_H

#include "job/find.h"

/* Alike operations of several ranks are one finding: at one place, or with the same near miss. */
struct mpiq_alike {
    uint32_t operation;
    uint32_t thread;
    uint32_t site;
    uint32_t process; /* the last one added */
};

struct mpiq_unmatched {
    struct mpiq_analysis *analysis;
    struct mpiq_alike first[MPIQ_MOST_FINDINGS]; /* of each finding */
    uint32_t findings[MPIQ_MOST_FINDINGS];
    uint32_t count;
};

/* find_partner.c.  Suspects the rank that took the wrong one for its partner. */
void mpiq_suspect_partners(const struct mpiq_unmatched *unmatched);

#endif
