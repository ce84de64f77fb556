/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unit_map - which unit the code at an address belongs to: from .debug_aranges, and if that has no answer
 * (clang writes none) from the ranges in the first entries of the units not listed there.  Locked
 * (object.h).
 */
#ifndef MPIQ_UNIT_MAP_H
#define MPIQ_UNIT_MAP_H

#include "process/debug_info.h"

struct mpiq_code_range {
    uint64_t start, end;
    struct mpiq_debug_unit *unit;
};

/* All zeros is one that has read nothing. */
struct mpiq_unit_map {
    struct mpiq_code_range *listed, *own; /* by .debug_aranges; by the units.  Ascending. */
    size_t listed_count, listed_capacity, own_count, own_capacity;
    bool listed_read, own_read;
};

/* NULL: no unit says that the address is its own. */
struct mpiq_debug_unit *mpiq_unit_map_find(struct mpiq_unit_map *map, struct mpiq_debug_info *info,
                                           uint64_t address);
void mpiq_unit_map_deinit(struct mpiq_unit_map *map);

#endif
