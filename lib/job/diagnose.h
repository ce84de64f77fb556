/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diagnose - from a finished job state to its diagnosis: the one entry of lib/job.
 *
 * It never reads a process or a file, and never prints.
 */
#ifndef MPIQ_DIAGNOSE_H
#define MPIQ_DIAGNOSE_H

#include "base/error.h"
#include "job/diagnose_options.h"
#include "state/finding.h"
#include "state/job_state.h"

/* Diagnoses a finished job.  options may be NULL: the defaults.  The caller destroys *ret; job must outlive
   it.  Fails only on allocation failure, or for a job state that is not finished; a job of which nothing was
   read is the verdict `unknown`. */
struct mpiq_error *mpiq_diagnose(const struct mpiq_job_state *job,
                                 const struct mpiq_diagnose_options *options, struct mpiq_diagnosis **ret);

/* Whether all living ranks are paused at their end (mpiq run --check): then the findings are about what they
 * did. */
bool mpiq_is_at_end(const struct mpiq_job_state *job);

/* The chain from a process to the cause, at most a hundred steps long.  The caller destroys *ret. */
struct mpiq_error *mpiq_why(const struct mpiq_job_state *job, const struct mpiq_diagnosis *diagnosis,
                            uint32_t process, struct mpiq_chain **ret);

#endif
