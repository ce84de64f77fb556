/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/lanes.h"

#include <stdlib.h>

bool mpiq_trace_lanes_init(struct mpiq_trace_lanes *lanes, uint32_t ranks)
{
    lanes->lanes = calloc((size_t)ranks + 1, sizeof *lanes->lanes);
    lanes->count = ranks;
    return lanes->lanes != NULL;
}

void mpiq_trace_lanes_deinit(struct mpiq_trace_lanes *lanes)
{
    free(lanes->lanes);
    *lanes = (struct mpiq_trace_lanes){0};
}

static void halve(uint64_t *bins)
{
    for (unsigned i = 0; i < MPIQ_LATE_BINS / 2; i++)
        bins[i] = bins[2 * i] + bins[2 * i + 1];
    for (unsigned i = MPIQ_LATE_BINS / 2; i < MPIQ_LATE_BINS; i++)
        bins[i] = 0;
}

static void add(uint64_t *bins, unsigned shift, uint64_t from, uint64_t to)
{
    for (uint64_t bin = from >> shift; from < to; bin++) {
        uint64_t end = (bin + 1) << shift;
        uint64_t until = to < end ? to : end;
        bins[bin] += until - from;
        from = until;
    }
}

void mpiq_trace_lanes_reach(struct mpiq_trace_lanes *lanes, uint64_t to)
{
    for (; to > 0 && (to - 1) >> lanes->shift >= MPIQ_LATE_BINS; lanes->shift++) {
        for (uint32_t i = 0; i < lanes->count; i++) {
            halve(lanes->lanes[i].waited);
            halve(lanes->lanes[i].caused);
        }
    }
}

void mpiq_trace_lanes_add(struct mpiq_trace_lanes *lanes, uint32_t waiter, uint32_t other, uint64_t from,
                          uint64_t to)
{
    if (waiter >= lanes->count || other >= lanes->count || from >= to || to >= UINT64_MAX / 2)
        return;
    mpiq_trace_lanes_reach(lanes, to);
    add(lanes->lanes[waiter].waited, lanes->shift, from, to);
    if (waiter != other)
        add(lanes->lanes[other].caused, lanes->shift, from, to);
}

uint64_t mpiq_trace_lane_sum(const uint64_t *bins)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < MPIQ_LATE_BINS; i++)
        sum += bins[i];
    return sum;
}
