/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * debug_info - the DWARF of one file through libdwarf: its units, the entries (DIEs) in them, and the files
 * it refers to (dwz's common file, split units' .dwo or .dwp files).
 *
 * libdwarf reads entries, abbreviations and line tables.  What it would do slowly or not at all is done here:
 * the list of units (headers alone), address ranges (ranges.c) and type units by signature.  No elfutils
 * header that declares dwarf_… names may be included beside this one: the two libraries use them for
 * different types. Everything here expects the lock of object.h.
 */
#ifndef MPIQ_DEBUG_INFO_H
#define MPIQ_DEBUG_INFO_H

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/debug_sections.h"

/* A unit, as its header says; offsets are those of its section. */
struct mpiq_debug_unit {
    struct mpiq_debug_info *info;
    struct mpiq_debug_view *view; /* how libdwarf sees it; made when it is first needed */
    uint64_t start, end;          /* header included */
    uint64_t entry;               /* of its first DIE */
    uint64_t signature;           /* of a type unit; of a split or skeleton unit of DWARF 5 its id */
    uint64_t type;                /* entry of a type unit's type */
    uint8_t kind;                 /* DW_UT_…; DW_UT_compile also for older ones that have no kind */
    uint8_t version, address_size, offset_size;
    bool in_types; /* in .debug_types, not .debug_info */
    /* Where its addresses and ranges begin, filled in by mpiq_debug_unit_prepare; of a split unit, its
       skeleton's. */
    bool prepared;
    uint64_t low_pc, address_base, ranges_base, range_lists_base;
    bool has_split;                /* a skeleton: its entries are in another file */
    struct mpiq_debug_info *split; /* that file; NULL: not found, or not looked for yet */
    struct mpiq_debug_unit *split_unit;
    bool split_tried;
    bool indexed; /* private to type_index.c */
    bool listed;  /* private to unit_map.c */
};

/*
 * A part of .debug_info or .debug_types as a section of its own.  libdwarf, asked for an entry, first goes
 * through all units before it; shown one unit alone, it has none to go through.
 */
struct mpiq_debug_view {
    struct mpiq_debug_info *info;
    Dwarf_Debug debug;
    uint64_t start, end; /* of the section; 0 and UINT64_MAX: all of it */
    bool in_types;       /* the part is of .debug_types */
    Dwarf_Obj_Access_Interface access;
};

struct mpiq_debug_info {
    struct mpiq_debug_view *whole; /* all of the file */
    bool walk;                     /* all units will be gone through: they share one view */
    struct mpiq_debug_sections sections;
    struct mpiq_debug_unit *units; /* of .debug_info, ascending, and then those of .debug_types */
    size_t unit_count, info_count;
    struct mpiq_debug_info *alternate; /* dwz's common file, or NULL */
    struct mpiq_debug_info *main;      /* of a .dwo file: where its skeletons are; else NULL */
    struct mpiq_debug_files *files;    /* it refers to; private to debug_files.c, whose the pointer is */
    bool package;                      /* a .dwp file */
};

/* Where an entry is. */
struct mpiq_entry {
    struct mpiq_debug_info *info;
    uint64_t offset;
    bool in_types;
};

/* NULL if elf has no DWARF that can be read, or without memory.  elf stays the caller's and must outlive it.
 */
struct mpiq_debug_info *mpiq_debug_info_create(Elf *elf);
void mpiq_debug_info_destroy(struct mpiq_debug_info *info);

/* The unit that holds the offset, or NULL. */
struct mpiq_debug_unit *mpiq_debug_unit_at(const struct mpiq_debug_info *info, uint64_t offset,
                                           bool in_types);

/* Reads what the unit's first entry says about addresses; its split file is looked for with mpiq_debug_split.
 */
void mpiq_debug_unit_prepare(struct mpiq_debug_unit *unit);

/* An address by its index in the unit's part of .debug_addr. */
bool mpiq_debug_address(const struct mpiq_debug_unit *unit, uint64_t index, uint64_t *ret);

/* A number of size bytes at offset of a section; false if it is not within. */
bool mpiq_debug_number(const struct mpiq_debug_info *info, const struct mpiq_debug_section *section,
                       uint64_t offset, size_t size, uint64_t *ret);

/* Whether a string that an entry has lies in the section: beside the entry. */
bool mpiq_debug_within(const struct mpiq_debug_section *section, const char *string);

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

/* In all that follows unit is the one that die is of. */

/* The first child, the next sibling; NULL if there is none. */
Dwarf_Die mpiq_die_child(const struct mpiq_debug_unit *unit, Dwarf_Die die);
Dwarf_Die mpiq_die_sibling(const struct mpiq_debug_unit *unit, Dwarf_Die die);

struct mpiq_entry mpiq_die_entry(const struct mpiq_debug_unit *unit, Dwarf_Die die);
int mpiq_die_tag(const struct mpiq_debug_unit *unit, Dwarf_Die die); /* 0 if it cannot be read */
bool mpiq_die_has(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half attribute);

/* Each false or NULL if the entry has no such attribute, or one of another class. */
const char *mpiq_die_string(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half attribute);
bool mpiq_die_number(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half attribute, uint64_t *ret);
bool mpiq_die_address(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half attribute, uint64_t *ret);
bool mpiq_die_reference(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half attribute,
                        struct mpiq_entry *ret);
/* The form of the attribute too: an offset or an index of a list of ranges. */
bool mpiq_die_offset_or_index(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half attribute,
                              Dwarf_Half *form, uint64_t *ret);

/* Takes an error of libdwarf's away; true if result is DW_DLV_OK. */
bool mpiq_dwarf_ok(int result, Dwarf_Error error);

#endif
