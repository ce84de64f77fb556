/* SPDX-License-Identifier: BSD-3-Clause */
/* other_hosts - whether the requested job has ranks on other hosts, and how they can be reached. */
#ifndef MPIQ_LOOK_OTHER_HOSTS_H
#define MPIQ_LOOK_OTHER_HOSTS_H

#include "session/remote.h"
#include "session/sources.h"

/* The job whose hosts the options name (--hosts, --via, "slurm:12"); *ret stays NULL if they name none. */
struct mpiq_error *mpiq_other_hosts_named(const struct mpiq_options *options, struct mpiq_remote **ret);

/*
 * After the processes of this machine were looked for: of a job that has ranks elsewhere, and whose launcher
 * is known, all ranks are read by collectors, and those sources alone stay that a debugger serves.  failed is
 * why no rank was found here, or NULL; it is returned, or destroyed if the launcher is known.
 */
struct mpiq_error *mpiq_other_hosts_find(const struct mpiq_options *options, struct mpiq_error *failed,
                                         struct mpiq_look_sources *sources, struct mpiq_remote **ret);

#endif
