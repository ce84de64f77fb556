/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader_pool - one look: all sources read in parallel by reader processes, one per owner of what is read.
 *
 * A process that crashes, is late or sends malformed data is replaced; the rank it was reading becomes a
 * rank state that says so, and all others are read.  It leaves to others: what a look means, and whether a
 * rank's claims about others are believed (plausibility.h).
 */
#ifndef MPIQ_SESSION_READER_POOL_H
#define MPIQ_SESSION_READER_POOL_H

#include "session/sources.h"

struct mpiq_reader_pool;

/* Starts the helpers as they are needed; options outlive the pool. */
struct mpiq_error *mpiq_reader_pool_create(const struct mpiq_options *options, struct mpiq_reader_pool **ret);
/* Ends the helpers.  NULL is fine. */
void mpiq_reader_pool_destroy(struct mpiq_reader_pool *pool);

/* Look 1 or 2 at all sources: fills source->looks[look - 1] of each that can still change (of core files
   there is only look 1).  Fails only for a fault of our own. */
struct mpiq_error *mpiq_reader_pool_look(struct mpiq_reader_pool *pool, struct mpiq_look_sources *sources,
                                         int look);

#endif
