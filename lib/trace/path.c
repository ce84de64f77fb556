/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/path.h"

#include <stdlib.h>

#include "base/array.h"

enum { PATHS_MOST = 1 << 20 };

static uint32_t add(struct mpiq_trace_paths *paths, const struct mpiq_trace_path *path)
{
    if (paths->count >= PATHS_MOST ||
        !mpiq_array_reserve(&paths->paths, &paths->room, (size_t)paths->count + 1))
        return MPIQ_TRACE_NONE;
    paths->paths[paths->count] = *path;
    return paths->count++;
}

uint32_t mpiq_trace_path_of(struct mpiq_trace_paths *paths, const struct mpiq_trace_definitions *definitions,
                            uint32_t parent, uint32_t region)
{
    uint64_t hash = mpiq_hash_two(MPIQ_HASH_START, parent, region);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&paths->table, hash, &cursor)) != MPIQ_TRACE_NONE;) {
        if (paths->paths[i].parent == parent && paths->paths[i].region == region)
            return i;
    }
    if (paths->count == 0 &&
        add(paths, &(struct mpiq_trace_path){MPIQ_TRACE_NONE, MPIQ_TRACE_NONE, 0}) == MPIQ_TRACE_NONE)
        return 0;
    bool mpi = region != MPIQ_TRACE_NONE && definitions->regions[region].call != MPIQ_TRACE_OUTSIDE;
    uint32_t added = add(paths, &(struct mpiq_trace_path){parent, region, paths->paths[parent].user});
    if (added == MPIQ_TRACE_NONE)
        return parent;
    if (!mpi)
        paths->paths[added].user = added;
    return mpiq_hash_table_add(&paths->table, hash, added) ? added : parent;
}

void mpiq_trace_paths_deinit(struct mpiq_trace_paths *paths)
{
    free(paths->paths);
    mpiq_hash_table_deinit(&paths->table);
}
