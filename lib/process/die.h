/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * die - the entries (DIEs) of a unit and their attributes.  die_walk.h goes from one entry to the next.
 *
 * Where a function takes a unit and a DIE, the DIE is one of that unit's.  Everything here expects the
 * lock of object.h.
 */
#ifndef MPIQ_DIE_H
#define MPIQ_DIE_H

#include "process/debug_info.h"

/* Where an entry is. */
struct mpiq_entry {
    struct mpiq_debug_info *info;
    uint64_t offset;
    bool in_types;
};

/* The unit's first entry; the entry at a place, and its unit.  The caller frees it with mpiq_die_free; NULL:
   there is none. */
Dwarf_Die mpiq_die_first(struct mpiq_debug_unit *unit);
Dwarf_Die mpiq_die_at(const struct mpiq_entry *entry, struct mpiq_debug_unit **unit);
void mpiq_die_free(Dwarf_Die die);
#define _cleanup_die_ __attribute__((cleanup(mpiq_die_cleanup)))
static inline void mpiq_die_cleanup(const Dwarf_Die *die)
{
    mpiq_die_free(*die);
}

struct mpiq_entry mpiq_die_entry(const struct mpiq_debug_unit *unit, Dwarf_Die die);
int mpiq_die_tag(Dwarf_Die die); /* 0 if it cannot be read */
bool mpiq_die_has(Dwarf_Die die, Dwarf_Half attribute);

/* Each returns false or NULL if the entry has no such attribute, or one of another class. */
const char *mpiq_die_string(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half attribute);
bool mpiq_die_number(Dwarf_Die die, Dwarf_Half attribute, uint64_t *ret);
bool mpiq_die_address(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half attribute, uint64_t *ret);
bool mpiq_die_reference(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half attribute,
                        struct mpiq_entry *ret);
/* The bytes of an expression; they are the file's. */
bool mpiq_die_expression(Dwarf_Die die, Dwarf_Half attribute, const unsigned char **bytes, size_t *size);
/* Gives the form of the attribute too: an offset or an index of a list of ranges. */
bool mpiq_die_offset_or_index(Dwarf_Die die, Dwarf_Half attribute, Dwarf_Half *form, uint64_t *ret);

/* Reads what the unit's first entry says about addresses; its split file is looked for with mpiq_debug_split.
 */
void mpiq_debug_unit_prepare(struct mpiq_debug_unit *unit);

#endif
