/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader - one look: all sources read side by side, by processes that run as the owners of what they read.
 *
 * A process that crashes, is late or sends what makes no sense is replaced; the rank it was at becomes a rank
 * state that says so, and all others are read.  It leaves to others: what a look says, and whether what a
 * rank says of others is believed (claims.h).
 */
#ifndef MPIQ_READER_H
#define MPIQ_READER_H

#include "look/sources.h"

struct mpiq_reader;

/* Starts the helpers as they are needed; options outlive the reader. */
struct mpiq_error *mpiq_reader_create(const struct mpiq_options *options, struct mpiq_reader **ret);
/* Ends the helpers.  NULL is fine. */
void mpiq_reader_destroy(struct mpiq_reader *reader);

/* Look 1 or 2 at all sources: fills source->looks[look - 1] of each that can still change (of core files
   there is only look 1).  Fails only for a fault of our own. */
struct mpiq_error *mpiq_reader_look(struct mpiq_reader *reader, struct mpiq_look_sources *sources, int look);

#endif
