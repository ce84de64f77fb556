/* SPDX-License-Identifier: BSD-3-Clause */
/* page - the state of one rendering. */
#ifndef MPIQ_REPORT_PAGE_H
#define MPIQ_REPORT_PAGE_H

#include "base/buffer.h"
#include "report/report.h"
#include "words/put.h"

struct mpiq_page {
    const struct mpiq_job_state *job;
    const struct mpiq_diagnosis *diagnosis;
    const struct mpiq_chain *chain;
    const struct mpiq_report_options *options;
    struct mpiq_buffer out;
};

/* Whether the options ask for this process. */
bool mpiq_page_wants(const struct mpiq_page *page, uint32_t process);
/* Adds the ranks that causes suspect to *set, not those of what follows from them; false without memory. */
bool mpiq_page_suspects(const struct mpiq_page *page, struct mpiq_rank_set *set);
/* Whether they ask for this communicator: internal ones only with `all`, or by name. */
bool mpiq_page_wants_communicator(const struct mpiq_page *page, uint32_t comm);

/* Why the DLL has no queues of a rank: "no information: PML ucx". */
void mpiq_put_no_queues(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                        const struct mpiq_job_rank *rank);

/* "Open MPI 4.1.4" for most of the ranks that were read, and where their state came from; NULL and NONE if
   there are none. */
struct mpiq_library {
    const char *name;
    const char *file; /* of one of the ranks that use it; NULL not known */
    enum mpiq_source source;
};
struct mpiq_library mpiq_page_library(const struct mpiq_page *page);

#endif
