/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer - another mpiq working on the same process.
 *
 * Two people may look at one job at the same time.  A process can have only one tracer.  Each mpiq holds a
 * thread for microseconds, or with --stop for milliseconds, so that is neither a stopped rank nor a reason
 * to refuse.
 */
#ifndef MPIQ_PEER_H
#define MPIQ_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether the thread `tracer`, as TracerPid names one, is of another process that runs our program: the same
   file, or, where its file cannot be seen because it is root's, the same name. */
bool mpiq_peer_is(pid_t tracer);

/* A new look begins: all waiting of a look together takes one second at most. */
void mpiq_peer_begin_look(void);

/* Waits for a peer that traces the thread to let go, at most 200 ms and what is left of the look's second.
   Returns whether to look at the thread again: false if another program, or we, hold it. */
bool mpiq_peer_await(pid_t tid);

#endif
