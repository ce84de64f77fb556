/* SPDX-License-Identifier: BSD-3-Clause */
/* answer - what mpiq says about a recorded case, for people who review it and for tests. */
#ifndef ANSWER_H
#define ANSWER_H

#include "base/buffer.h"
#include "report/report.h"
#include "state/job_state.h"

/* Appends the answer for people: the report, why of the first rank to look at, queues, and each finding's
   fields as JSON.  The library's name and file, and addresses, are left out: libraries of one kind have the
   same answer. */
void answer_add(const struct mpiq_job_state *job, struct mpiq_buffer *ret);

/* The JSON report in one line; the caller frees it. */
char *answer_json(const struct mpiq_job_state *job);

/* The report in that format; the caller frees it. */
char *answer_in(const struct mpiq_job_state *job, enum mpiq_view view, enum mpiq_format format);

/* "Open MPI 4.1.4"; "". */
const char *answer_library(const struct mpiq_job_state *job);

#endif
