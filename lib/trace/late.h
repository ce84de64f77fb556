/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late - where the time was lost waiting in a trace, and who was late.
 *
 * Wait states have the names and formulas of Scalasca's (docs/TRACES.md).  A delay is the time that a rank
 * needed more than the one that waits for it, since both last synchronised; a wait costs the delays behind it
 * in proportion.  What the late one itself lost waiting passes its part of the cost on to those that it
 * waited for: the long-term cost.
 */
#ifndef MPIQ_TRACE_LATE_H
#define MPIQ_TRACE_LATE_H

#include "trace/stream.h"
#include "trace/tell.h"

/* Goes through the whole trace and gives what it finds. */
struct mpiq_error *mpiq_trace_late(struct mpiq_trace_stream *stream, mpiq_late_callback *callback,
                                   void *context);

#endif
