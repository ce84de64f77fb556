/* SPDX-License-Identifier: BSD-3-Clause */
/* path - call paths as a tree: which region was called from where. */
#ifndef MPIQ_TRACE_PATH_H
#define MPIQ_TRACE_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "trace/definitions.h"

struct mpiq_trace_path {
    uint32_t parent; /* MPIQ_TRACE_NONE: none */
    uint32_t region; /* MPIQ_TRACE_NONE: not defined */
    uint32_t user;   /* the nearest path up from here, itself included, that is no MPI function's */
};

struct mpiq_trace_paths {
    struct mpiq_trace_path *paths; /* the first one stands for no region */
    uint32_t count, room;
    struct mpiq_hash_table table;
};

/* The path of a region called from `parent`; 0: from nowhere.  Beyond a million paths, or without memory, it
   is the parent. */
uint32_t mpiq_trace_path_of(struct mpiq_trace_paths *paths, const struct mpiq_trace_definitions *definitions,
                            uint32_t parent, uint32_t region);
void mpiq_trace_paths_deinit(struct mpiq_trace_paths *paths);

#endif
