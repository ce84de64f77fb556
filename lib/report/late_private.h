/* SPDX-License-Identifier: BSD-3-Clause */
/* late_private - what view_late and json_late share. */
#ifndef MPIQ_REPORT_LATE_PRIVATE_H
#define MPIQ_REPORT_LATE_PRIVATE_H

#include "report/late.h"
#include "report/print.h"

/* Ranks that waited in the same way at the same place. */
struct mpiq_late_row {
    const struct mpiq_late_waiting *first;
    double seconds, longest;
    uint64_t count;
    struct mpiq_rank_set ranks;
};

void mpiq_show_late(struct mpiq_page *page, const struct mpiq_late_report *report);
void mpiq_html_late(struct mpiq_page *page, struct mpiq_late_report *report);

#endif
