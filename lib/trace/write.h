/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write - a job's last calls, and what they wait for, as an OTF2 archive.
 *
 * What libotf2 has no record for goes into attributes of ours (enum mpiq_trace_attribute): what an operation
 * that has not completed waits for, and how many collectives a member has called.  Read back, the archive
 * gives the same verdict and causes.  Messages that were received are not in it: a history does not reach
 * back far enough to say which send was whose.
 */
#ifndef MPIQ_TRACE_WRITE_H
#define MPIQ_TRACE_WRITE_H

#include "state/job_state.h"

/* Writes DIRECTORY/traces.otf2 and what belongs to it.  job is finished. */
struct mpiq_error *mpiq_trace_write(const struct mpiq_job_state *job, const char *directory);

#endif
