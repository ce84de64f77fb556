/* SPDX-License-Identifier: BSD-3-Clause */
/* state - what a replay has come to, as rank states: as if the recorder had been read at that moment. */
#ifndef MPIQ_TRACE_STATE_H
#define MPIQ_TRACE_STATE_H

#include "state/snapshot.h"
#include "trace/replay.h"

/* Gives each rank's state (as look 1) to the callback, in the order of ranks. */
struct mpiq_error *mpiq_trace_states(const struct mpiq_trace_replay *replay, mpiq_snapshot_callback *callback,
                                     void *context);

#endif
