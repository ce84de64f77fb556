/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * finding_text - a cause as text: a headline, a line of evidence for each class of ranks, what follows from
 * it, and where to look first.
 */
#ifndef MPIQ_REPORT_FINDING_TEXT_H
#define MPIQ_REPORT_FINDING_TEXT_H

#include "report/page.h"

/* How much of everything a report shows. */
struct mpiq_limits {
    size_t findings;
    size_t lines_first; /* of evidence below the first cause */
    size_t lines_other; /* below another one */
    size_t consequences;
    size_t behaviours;
    size_t notes;
};

/* The finding that is the cause of finding `index`: itself, if it follows from none. */
uint32_t mpiq_finding_cause(const struct mpiq_diagnosis *diagnosis, uint32_t index);

/* Adds cause `index` of the diagnosis to the page, as number `number` (0: without one); at most `lines` lines
   of evidence and `consequences` of what follows. */
void mpiq_put_cause(struct mpiq_page *page, uint32_t index, size_t number, size_t lines, size_t consequences);

/* "rank 0 (ring.c:23 main, for 3 h 12 m) waits for rank 1: MPI_Recv from rank 1, tag 7". */
void mpiq_put_step(const struct mpiq_page *page, struct mpiq_buffer *buffer, const struct mpiq_step *step);

#endif
