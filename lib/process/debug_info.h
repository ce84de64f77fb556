/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * debug_info - the DWARF of one file through libdwarf: its units, and the files it refers to (dwz's common
 * file, split units' .dwo or .dwp files).  die.h reads the entries (DIEs) of a unit.
 *
 * libdwarf reads entries, abbreviations and line tables.  What it would do slowly or not at all is done here:
 * the list of units (headers alone), address ranges (ranges.c) and type units by signature.  No elfutils
 * header that declares dwarf_… names may be included beside this one: the two libraries use them for
 * different types. Everything here expects the lock of object.h.
 */
#ifndef MPIQ_DEBUG_INFO_H
#define MPIQ_DEBUG_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/debug_sections.h"
#include "process/libdwarf_names.h"

/* A unit, as its header says; offsets are those of its section. */
struct mpiq_debug_unit {
    struct mpiq_debug_info *info;
    struct mpiq_debug_view *view; /* how libdwarf sees it; made when it is first needed */
    uint64_t start, end;          /* header included */
    uint64_t entry;               /* of its first DIE */
    uint64_t abbreviations;       /* in .debug_abbrev; in a package, in the unit's part of it */
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
    bool indexed;                  /* private to type_index.c */
    bool listed;                   /* private to unit_map.c */
    bool walk_known, walk_forward; /* private to die_walk.c */
};

/*
 * A part of .debug_info or .debug_types, presented as a separate section.  Asked for an entry, libdwarf
 * first goes through all units before it; if it sees only one unit, there are none.
 */
struct mpiq_debug_view {
    struct mpiq_debug_info *info;
    Dwarf_Debug debug;
    uint64_t start, end; /* of the section; 0 and UINT64_MAX: all of it */
    bool in_types;       /* the part is of .debug_types */
    libdwarf_access access;
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
    /* Private to die_walk.c: the table of abbreviations that it read last, and the bytes it has read of all.
     */
    uint64_t walk_table, walk_bytes;
    bool walk_known, walk_forward;
};

/* NULL if elf has no DWARF that can be read, or without memory.  elf stays the caller's and must outlive it.
 */
struct mpiq_debug_info *mpiq_debug_info_create(Elf *elf);
void mpiq_debug_info_destroy(struct mpiq_debug_info *info);

/* The unit that holds the offset, or NULL. */
struct mpiq_debug_unit *mpiq_debug_unit_at(const struct mpiq_debug_info *info, uint64_t offset,
                                           bool in_types);

/* How libdwarf sees the unit; NULL: it cannot read it. */
struct mpiq_debug_view *mpiq_debug_unit_view(struct mpiq_debug_unit *unit);

/* An address by its index in the unit's part of .debug_addr. */
bool mpiq_debug_address(const struct mpiq_debug_unit *unit, uint64_t index, uint64_t *ret);

/* A number of size bytes at offset of a section; false if it is not within. */
bool mpiq_debug_number(const struct mpiq_debug_info *info, const struct mpiq_debug_section *section,
                       uint64_t offset, size_t size, uint64_t *ret);

/* The initial length of a unit, line program or set at *at, which moves behind it: where that ends, within
   the section, and the bytes of its offsets (4, or 8 in the 64-bit format).  False if there is none. */
bool mpiq_debug_length(const struct mpiq_debug_info *info, const struct mpiq_debug_section *section,
                       uint64_t *at, uint64_t *end, uint8_t *offset_size);

/* Whether a string that an entry has lies in the section: beside the entry. */
bool mpiq_debug_within(const struct mpiq_debug_section *section, const char *string);

/* Takes an error of libdwarf's away; true if result is DW_DLV_OK. */
bool mpiq_dwarf_ok(int result, Dwarf_Error error);

#endif
