/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes - when each rank waited, and when others waited for it: ticks in MPIQ_LATE_BINS parts of the trace.
 *
 * How long a trace is shows only at its end, so a part starts as one tick and doubles whenever the parts do
 * not reach far enough.
 */
#ifndef MPIQ_TRACE_LANES_H
#define MPIQ_TRACE_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "state/late.h"

struct mpiq_trace_lane {
    uint64_t waited[MPIQ_LATE_BINS];
    uint64_t caused[MPIQ_LATE_BINS];
};

struct mpiq_trace_lanes {
    struct mpiq_trace_lane *lanes; /* by rank */
    uint32_t count;
    unsigned shift; /* a part is 1 << shift ticks */
};

/* False without memory. */
bool mpiq_trace_lanes_init(struct mpiq_trace_lanes *lanes, uint32_t ranks);
void mpiq_trace_lanes_deinit(struct mpiq_trace_lanes *lanes);
/* `waiter` waited for `other`; times are in ticks since the trace's start. */
void mpiq_trace_lanes_add(struct mpiq_trace_lanes *lanes, uint32_t waiter, uint32_t other, uint64_t from,
                          uint64_t to);
/* Makes the parts reach up to that time. */
void mpiq_trace_lanes_reach(struct mpiq_trace_lanes *lanes, uint64_t to);
/* Ticks in all parts. */
uint64_t mpiq_trace_lane_sum(const uint64_t *bins);

#endif
