/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote - the ranks of a look that run on other hosts: collectors started through the job's launcher, and
 * what they bring back, host by host, into the job's state.
 *
 * A host's word counts only for the ranks it has announced.  Ranks of a host that did not answer, and ranks
 * claimed by two hosts, become rank states that say so.
 */
#ifndef MPIQ_SESSION_REMOTE_H
#define MPIQ_SESSION_REMOTE_H

#include <stdbool.h>

#include "base/error.h"
#include "hosts/launcher.h"
#include "mpiq.h"
#include "state/snapshot.h"

struct mpiq_remote;

/* Asks the launcher for the hosts.  NOT_FOUND if no launcher is known for the query; options outlive
   it. */
struct mpiq_error *mpiq_remote_create(const struct mpiq_launch_query *query,
                                      const struct mpiq_options *options, struct mpiq_remote **ret);
/* NULL is fine. */
void mpiq_remote_destroy(struct mpiq_remote *remote);

/* Ranks of the first world that are read elsewhere: the collectors leave them out.  Fill this before the
   start. */
struct mpiq_rank_set *mpiq_remote_served(struct mpiq_remote *remote);

/* Hosts that the job has, as its launcher says. */
size_t mpiq_remote_host_count(const struct mpiq_remote *remote);

/* Starts the collectors, which look for the first time at once. */
struct mpiq_error *mpiq_remote_start(struct mpiq_remote *remote);
/* Until look 1 or 2 has ended everywhere. */
struct mpiq_error *mpiq_remote_wait(struct mpiq_remote *remote, int look);
/* Has all look again. */
void mpiq_remote_go(struct mpiq_remote *remote);
/* After look 2: ends the collectors and checks whether any host has ranks; if none, why. */
struct mpiq_error *mpiq_remote_finish(struct mpiq_remote *remote);

/* Every rank state that came, look 1 before look 2 of each rank, host by host; *state may be kept by setting
   it to NULL. */
struct mpiq_error *mpiq_remote_each(struct mpiq_remote *remote, mpiq_snapshot_callback *callback,
                                    void *context);

#endif
