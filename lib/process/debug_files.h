/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * debug_files - the files that debug information refers to: dwz's common file, and the .dwo and .dwp files of
 * split units.
 *
 * Only this module finds them, never a library: regular files beneath the object's root, with the requested
 * build-id or unit id, and one level deep (references in such a file are not followed).
 */
#ifndef MPIQ_DEBUG_FILES_H
#define MPIQ_DEBUG_FILES_H

#include <libelf.h>
#include <stdbool.h>

struct mpiq_debug_info;
struct mpiq_debug_unit;
struct mpiq_debug_files;

/* Tells where info's own file is, and finds dwz's common file if it has one.  root as for mpiq_file_open; it
   is copied.  object_path: of the program or library, beside which its .dwp is. */
void mpiq_debug_files_init(struct mpiq_debug_info *info, Elf *elf, int root, const char *path,
                           const char *object_path);

/* The file that holds a skeleton's entries, in unit->split and unit->split_unit.  False: the unit has its
   entries itself, or they cannot be found. */
bool mpiq_debug_split(struct mpiq_debug_info *info, struct mpiq_debug_unit *unit);

void mpiq_debug_files_destroy(struct mpiq_debug_files *files);

#endif
