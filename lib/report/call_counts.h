/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_counts - how often the ranks of a communicator called its collectives, with equal ranks combined.
 *
 * Ranks whose library keeps no counts are in no row; a member that never made a call that others made has a
 * row with 0.
 */
#ifndef MPIQ_REPORT_CALL_COUNTS_H
#define MPIQ_REPORT_CALL_COUNTS_H

#include "report/page.h"

struct mpiq_call_count {
    const char *collective;
    struct mpiq_rank_set ranks;
    int16_t class;
    uint32_t count;
    bool active; /* they are in it, or started it and it has not completed */
    bool behind; /* others called it more often, all must make this call in the same order, and one of these
                    ranks has made fewer such calls than others (where that is known) */
};

/* Ranks whose last ordered call has that running number. */
struct mpiq_call_number {
    struct mpiq_rank_set ranks;
    int64_t number;
};

struct mpiq_call_counts {
    struct mpiq_call_count *rows; /* by class, highest count first */
    size_t row_count;
    struct mpiq_call_number *numbers; /* highest first */
    size_t number_count;
};

/* Of the ranks that the page wants.  False without memory; deinit in any case. */
bool mpiq_call_counts_collect(const struct mpiq_page *page, uint32_t comm, struct mpiq_call_counts *ret);
void mpiq_call_counts_deinit(struct mpiq_call_counts *counts);

#endif
