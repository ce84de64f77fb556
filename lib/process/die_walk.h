/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * die_walk - from an entry (DIE) to its first child, and from one child to the next.
 *
 * A DW_AT_sibling may point back.  libdwarf 20210528 follows it while it skips the children of an entry, and
 * then loops for ever.  So every step is checked here, unless the unit's abbreviations show that none of its
 * entries can have that attribute (clang writes none).  Everything here expects the lock of object.h.
 */
#ifndef MPIQ_DIE_WALK_H
#define MPIQ_DIE_WALK_H

#include "process/debug_info.h"

/* The caller frees each with mpiq_die_free.  NULL: there is none; for a sibling also if the next step leads
   back, or libdwarf cannot read what lies between. */
Dwarf_Die mpiq_die_child(const struct mpiq_debug_unit *unit, Dwarf_Die die);
Dwarf_Die mpiq_die_sibling(struct mpiq_debug_unit *unit, Dwarf_Die die);

#endif
