/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/telling.h"

int64_t mpiq_trace_ns(const struct mpiq_trace_replay *replay, uint64_t ticks)
{
    if (ticks <= replay->start)
        return MPIQ_TRACE_BEGIN_NS;
    double seconds = (double)(ticks - replay->start) / (double)replay->definitions->resolution;
    return seconds >= 9e9 ? INT64_MAX / 2 : MPIQ_TRACE_BEGIN_NS + (int64_t)(seconds * 1e9);
}

const struct mpiq_trace_region *mpiq_trace_region_of(const struct mpiq_trace_replay *replay, uint32_t path)
{
    uint32_t region = path < replay->paths.count ? replay->paths.paths[path].region : MPIQ_TRACE_NONE;
    return region == MPIQ_TRACE_NONE ? NULL : &replay->definitions->regions[region];
}

const char *mpiq_trace_call_name(const struct mpiq_trace_replay *replay, uint32_t path)
{
    const struct mpiq_trace_region *region = mpiq_trace_region_of(replay, path);
    return region && region->call != MPIQ_TRACE_OUTSIDE ? region->name : NULL;
}

void mpiq_trace_place(const struct mpiq_trace_replay *replay, struct mpiq_rank_state *state, uint32_t path,
                      struct mpiq_place *ret)
{
    uint32_t user = path < replay->paths.count ? replay->paths.paths[path].user : 0;
    const struct mpiq_trace_region *region = mpiq_trace_region_of(replay, user);
    *ret = (struct mpiq_place){0};
    if (!region)
        return;
    ret->function = mpiq_rank_state_intern(state, region->name);
    ret->file = region->file && region->file[0] ? mpiq_rank_state_intern(state, region->file) : NULL;
    ret->line = ret->file ? region->line : 0;
}
