/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectors - the collectors of a job, started through its launcher, told when to look, and ended.
 *
 *     start;  wait for look 1;  (a pause)  go;  wait for look 2;  take the answers;  destroy
 *
 * Each command runs in its own session, so that ^C ends only mpiq.  Its standard input is a pipe from mpiq,
 * and its collectors end when that is closed: by mpiq_collectors_destroy, or because mpiq has ended.
 * Commands get our environment without the variables of a job, a launcher or the recorder.
 */
#ifndef MPIQ_COLLECTORS_H
#define MPIQ_COLLECTORS_H

#include "base/error.h"
#include "hosts/host_streams.h"
#include "hosts/launcher.h"

struct mpiq_collectors;

struct mpiq_collectors_options {
    const char *version; /* of this mpiq */
    double wait;   /* seconds that a host may take for each step; the first begins when all have started */
    size_t fanout; /* commands that may be on their way to their hosts at a time */
    char *const *collector; /* the collector's command, ended by NULL: launcher.h, commands */
    void (*progress)(void *argument, const char *text); /* may be NULL */
    void *argument;
};

/* Starts all of them.  launch and options outlive the collectors. */
struct mpiq_error *mpiq_collectors_start(const struct mpiq_launch *launch,
                                         const struct mpiq_collectors_options *options,
                                         struct mpiq_collectors **ret);
/* Until every host has finished look 1 or 2 (and sent what it saw), or has failed. */
struct mpiq_error *mpiq_collectors_wait(struct mpiq_collectors *collectors, int look);
/* All hosts may look again. */
void mpiq_collectors_go(struct mpiq_collectors *collectors);
/* What came from a host: complete or failed. */
struct mpiq_host_stream *mpiq_collectors_stream(struct mpiq_collectors *collectors, size_t host);
/* Ends all that is still there.  NULL is fine. */
void mpiq_collectors_destroy(struct mpiq_collectors *collectors);

#endif
