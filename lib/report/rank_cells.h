/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_cells - what each rank does, in one character: the live screen's.
 *
 * The words are those of `mpiq ranks`; of a rank that is blocked its cell says in what.
 */
#ifndef MPIQ_REPORT_RANK_CELLS_H
#define MPIQ_REPORT_RANK_CELLS_H

#include "report/print.h"

struct mpiq_rank_cell {
    char letter;
    enum mpiq_style style;
    const char *word; /* "computing", "receiving", "MPI_Bcast" */
    uint64_t count;   /* ranks with that cell */
    bool stuck;       /* one of them is, for ever */
};

/* One of a job's kinds of cells for each rank. */
struct mpiq_rank_cells {
    struct mpiq_rank_cell *kinds; /* those with most ranks first */
    size_t kind_count;
    uint32_t *kind_of; /* in kinds, by process; MPIQ_NONE: not asked for */
};

/* Of the ranks that the page wants.  False without memory; deinit in any case. */
bool mpiq_rank_cells_collect(const struct mpiq_page *page, struct mpiq_rank_cells *ret);
void mpiq_rank_cells_deinit(struct mpiq_rank_cells *cells);

#endif
