/* SPDX-License-Identifier: BSD-3-Clause */
/* other_hosts - where the ranks of the requested job are: here, or on other hosts, and how these are reached.
 */
#ifndef MPIQ_SESSION_OTHER_HOSTS_H
#define MPIQ_SESSION_OTHER_HOSTS_H

#include "session/remote.h"
#include "session/sources.h"

/*
 * Where the ranks of the requested job are: on the hosts that the options name (--hosts, --via, "slurm:12"),
 * on this machine, or on those that its launcher names.  Of a job that has ranks elsewhere, and whose
 * launcher is known, all ranks are read by collectors (*remote, which the caller destroys; else it stays
 * NULL), and those sources alone stay that a debugger serves.  A launcher that has started no ranks yet is
 * waited for, for some seconds; STARTING after that.  all_here (mpiq_session_all_here): if no rank is found
 * here, its launcher is not asked.  On failure *sources may hold something: the caller cleans it up.
 */
struct mpiq_error *mpiq_find_job(const struct mpiq_options *options, bool all_here,
                                 struct mpiq_look_sources *sources, struct mpiq_remote **remote);

#endif
