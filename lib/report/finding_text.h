/* SPDX-License-Identifier: BSD-3-Clause */
/* finding_text - a finding as a paragraph of text and the lines that belong to it. */
#ifndef MPIQ_REPORT_FINDING_TEXT_H
#define MPIQ_REPORT_FINDING_TEXT_H

#include "report/page.h"

/* How much of everything a report shows. */
struct mpiq_limits {
    size_t findings;
    size_t lines_first; /* below the first finding, of each sort of line */
    size_t lines_other; /* below another one */
    size_t behaviours;
    size_t notes;
};

/* Adds finding `number` to the page; at most `most` lines of each sort below its sentence. */
void mpiq_put_finding(struct mpiq_page *page, const struct mpiq_finding *finding, size_t number, size_t most);

/* "rank 0 (ring.c:23 main, for 3 h 12 m) waits for rank 1: MPI_Recv from rank 1, tag 7". */
void mpiq_put_step(const struct mpiq_page *page, struct mpiq_buffer *buffer, const struct mpiq_step *step);

#endif
