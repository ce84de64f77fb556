/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * debug_sections - the .debug_* sections of an ELF file as bytes, decompressed when they are first asked for.
 *
 * It leaves to others what the bytes mean.  A file may be hostile: sections decompress within a budget of the
 * file, and a section that does not fit is as good as absent.  All files together have a budget, too; a
 * section that does not fit there counts as memory that is missing (base/memory.h).
 */
#ifndef MPIQ_DEBUG_SECTIONS_H
#define MPIQ_DEBUG_SECTIONS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mpiq_debug_section {
    char name[32]; /* ".debug_info", ".debug_info.dwo": also of one called ".zdebug_info" */
    Elf_Scn *elf;
    const unsigned char *data; /* NULL until loaded, and if it could not be */
    uint64_t size;             /* after decompression */
    bool loaded;
};

struct mpiq_debug_sections {
    struct mpiq_debug_section *items;
    size_t count;
    uint64_t budget; /* bytes that may still be decompressed */
    uint64_t used;   /* that have been */
    bool big_endian;
    int word_size; /* 4 or 8 */
};

/* Bytes that sections of one file, and of all files, may have after decompression; for tests.  Others are 2
   and 4 GiB. */
void mpiq_debug_sections_limit(uint64_t file, uint64_t all);

/* Lists the sections; elf stays the caller's and must outlive them.  False if there are none, or without
   memory. */
bool mpiq_debug_sections_init(struct mpiq_debug_sections *ret, Elf *elf);
void mpiq_debug_sections_deinit(struct mpiq_debug_sections *sections);

/* The section's bytes; NULL if they cannot be had. */
const unsigned char *mpiq_debug_section_load(struct mpiq_debug_sections *sections,
                                             struct mpiq_debug_section *section);

/* By its name without ".debug_" ("info"), or with ".dwo" after that if the file has only that; loaded.  NULL
   if there is none. */
const struct mpiq_debug_section *mpiq_debug_sections_find(struct mpiq_debug_sections *sections,
                                                          const char *name);

#endif
