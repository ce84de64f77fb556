/* SPDX-License-Identifier: BSD-3-Clause */
/* one_job - whether all that was read is of one job. */
#ifndef MPIQ_SESSION_ONE_JOB_H
#define MPIQ_SESSION_ONE_JOB_H

#include "base/error.h"
#include "session/sources.h"
#include "state/job_state.h"

/*
 * USAGE, naming two of them, if ranks of several jobs were read.  Worlds are of one job if they were found as
 * one (below one launcher, in one snapshot), if one was spawned by the other (by their namespaces), or if a
 * communicator has members of both.  job is finished.
 */
struct mpiq_error *mpiq_check_one_job(const struct mpiq_look_sources *sources,
                                      const struct mpiq_job_state *job);

#endif
