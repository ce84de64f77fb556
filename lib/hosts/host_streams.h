/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_streams - all collectors of a job: which host each one reports for, how far all are, and what they
 * sent.
 *
 * It processes the output of the commands that start collectors.  Processes and time are left to
 * collectors.h. It gives the signal to look again once every host has finished its first look or has failed.
 * Anything a host sends after it has failed is ignored.
 *
 * No host can speak for another.  With one command per host, everything the command prints counts as that
 * host's.  If one command serves several hosts, a line belongs to the collector whose token it carries,
 * which no other host knows, and two collectors that claim the same host both fail.  A rank claimed by two
 * hosts is accepted from neither (mpiq_host_streams_finish).
 */
#ifndef MPIQ_HOST_STREAMS_H
#define MPIQ_HOST_STREAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "hosts/launcher.h"
#include "hosts/host_stream.h"

struct mpiq_host_streams;

/* launch, commands and version (of this mpiq) stay the caller's, and live longer. */
struct mpiq_error *mpiq_host_streams_create(const struct mpiq_launch *launch,
                                            const struct mpiq_launch_command *commands, size_t command_count,
                                            const char *version, struct mpiq_host_streams **ret);
/* NULL is fine. */
void mpiq_host_streams_destroy(struct mpiq_host_streams *streams);

/* What a command has printed; lines may be cut anywhere. */
void mpiq_host_streams_take(struct mpiq_host_streams *streams, size_t command, const char *bytes,
                            size_t length);

/* A command has ended, and with it all its collectors; how says it as a sentence. */
void mpiq_host_streams_ended(struct mpiq_host_streams *streams, size_t command, const char *how);

/* Hosts that have said nothing yet, or are not at `phase` or beyond it: they have failed, after so many
   seconds. */
void mpiq_host_streams_late(struct mpiq_host_streams *streams, enum mpiq_host_stream_phase phase,
                            double seconds);

/* How many hosts are at that phase or beyond it, or have failed. */
size_t mpiq_host_streams_count(const struct mpiq_host_streams *streams, enum mpiq_host_stream_phase phase);

/* A host's stream: complete or failed in the end. */
struct mpiq_host_stream *mpiq_host_streams_stream(struct mpiq_host_streams *streams, size_t host);

#endif
