/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_table - a launcher's hosts and their ranks, as JSON from the process that queried it:
 *
 *     {"size":8,"nspace":"…","hosts":[{"host":"n1","ranks":"0-1"},…]}
 *
 * The text ultimately comes from the launcher, and may be anything.
 */
#ifndef MPIQ_HOSTS_RANK_TABLE_H
#define MPIQ_HOSTS_RANK_TABLE_H

#include "hosts/launcher.h"

/* Adds the hosts, sets world_size, and counts as ranks only those of "nspace" if there is one.  CORRUPT or
   USAGE: it is no such text; NOT_FOUND: it names no host. */
struct mpiq_error *mpiq_rank_table_read(const char *text, struct mpiq_launch *launch);

#endif
