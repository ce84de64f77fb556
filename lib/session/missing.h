/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * missing - ranks of which no process was found: whether that says that they have ended.
 */
#ifndef MPIQ_MISSING_H
#define MPIQ_MISSING_H

#include "session/sources.h"

/* That rank among those that are there now; NULL: it is not. */
const struct mpiq_look_source *mpiq_find_rank(const struct mpiq_look_sources *now,
                                              const struct mpiq_look_source *rank);

/* After both looks.  A rank without a process has ended only if MPI is up in another one, nobody got its
   process since the ranks were found, and no process there may be it without saying so.  All others are
   marked as not read. */
void mpiq_doubt_missing(struct mpiq_look_sources *sources);

#endif
