/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ranges - the code addresses of an entry: DW_AT_low_pc and high_pc, .debug_ranges, .debug_rnglists.
 *
 * libdwarf 20210528 searches .debug_rnglists from its beginning for every unit, refuses indexed lists of
 * split units and follows a NULL pointer where the section is missing; so the lists are read here.
 */
#ifndef MPIQ_RANGES_H
#define MPIQ_RANGES_H

#include "process/debug_info.h"

/* Called with each range that is not empty; false ends it. */
typedef bool mpiq_range_visitor(void *argument, uint64_t start, uint64_t end);

/* The ranges of die, an entry of unit, in their order; unit must be prepared. */
void mpiq_ranges_visit(const struct mpiq_debug_unit *unit, Dwarf_Die die, mpiq_range_visitor *visit,
                       void *argument);

/* Whether one of them holds address. */
bool mpiq_ranges_hold(const struct mpiq_debug_unit *unit, Dwarf_Die die, uint64_t address);

#endif
