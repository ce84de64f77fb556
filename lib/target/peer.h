/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer - another mpiq at work on the same process.
 *
 * Two people may ask about one job at the same time.  A process has room for one tracer, and each of ours
 * holds a thread for microseconds, with --stop for milliseconds: that is no stopped rank and no reason to
 * refuse.
 */
#ifndef MPIQ_PEER_H
#define MPIQ_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether the thread `tracer`, as TracerPid names one, is of a program of our own name, and not of ours. */
bool mpiq_peer_is(pid_t tracer);

/* Waits, at most 200 ms, for a peer that traces the thread to let go.  Whether there is reason to look at the
   thread again: false if somebody else, or we, hold it. */
bool mpiq_peer_await(pid_t tid);

#endif
