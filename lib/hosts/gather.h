/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather - all collectors of a job: which host each one reports for, how far all are, and what they sent.
 *
 * It processes the output of the commands that start collectors.  Processes and time are left to
 * collection.h. It gives the signal to look again once every host has finished its first look or has failed.
 * Anything a host sends after it has failed is ignored.
 *
 * No host can speak for another.  With one command per host, everything the command prints counts as that
 * host's.  If one command serves several hosts, a line belongs to the collector whose token it carries,
 * which no other host knows, and two collectors that claim the same host both fail.  A rank claimed by two
 * hosts is accepted from neither (mpiq_gather_finish).
 */
#ifndef MPIQ_HOSTS_GATHER_H
#define MPIQ_HOSTS_GATHER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "hosts/launcher.h"
#include "hosts/stream.h"

struct mpiq_gather;

/* launch, commands and version (of this mpiq) stay the caller's, and live longer. */
struct mpiq_error *mpiq_gather_create(const struct mpiq_launch *launch,
                                      const struct mpiq_launch_command *commands, size_t command_count,
                                      const char *version, struct mpiq_gather **ret);
/* NULL is fine. */
void mpiq_gather_destroy(struct mpiq_gather *gather);

/* What a command has printed; lines may be cut anywhere. */
void mpiq_gather_take(struct mpiq_gather *gather, size_t command, const char *bytes, size_t length);

/* A command has ended, and with it all its collectors; how says it as a sentence. */
void mpiq_gather_ended(struct mpiq_gather *gather, size_t command, const char *how);

/* Hosts that have said nothing yet, or are not at `phase` or beyond it: they have failed, after so many
   seconds. */
void mpiq_gather_late(struct mpiq_gather *gather, enum mpiq_stream_phase phase, double seconds);

/* How many hosts are at that phase or beyond it, or have failed. */
size_t mpiq_gather_count(const struct mpiq_gather *gather, enum mpiq_stream_phase phase);

/* A host's stream: complete or failed in the end. */
struct mpiq_stream *mpiq_gather_stream(struct mpiq_gather *gather, size_t host);

#endif
