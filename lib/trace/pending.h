/* SPDX-License-Identifier: BSD-3-Clause */
/* pending - what of a rank is open: sends, receives, the calls that its threads are in; and what it left
   undone at its end. */
#ifndef MPIQ_TRACE_PENDING_H
#define MPIQ_TRACE_PENDING_H

#include "state/rank_state.h"
#include "trace/telling.h"

/* All messages that were not received; false without memory. */
bool mpiq_trace_collect(const struct mpiq_trace_replay *replay, struct mpiq_trace_telling *telling);
void mpiq_trace_collected_deinit(struct mpiq_trace_telling *telling);

/* Each adds to the state of that rank; false without memory.  Operations and channels: */
bool mpiq_trace_add_pending(struct mpiq_trace_telling *telling, struct mpiq_rank_state *state, uint32_t rank);
/* Threads and what they wait for (waiting.c): */
bool mpiq_trace_add_threads(struct mpiq_trace_telling *telling, struct mpiq_rank_state *state, uint32_t rank);
/* Of a rank at its end (facts.c): */
bool mpiq_trace_add_facts(struct mpiq_trace_telling *telling, struct mpiq_rank_state *state, uint32_t rank);

/* What an open operation waits for, as far as the trace tells: from our own attributes, else anything. */
void mpiq_trace_set_envelope(const struct mpiq_trace_telling *telling, uint32_t rank, uint32_t extra,
                             struct mpiq_operation *operation);

#endif
