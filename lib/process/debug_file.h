/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * debug_file - finds the separate debug file of an object: by build-id, by .gnu_debuglink, from debuginfod.
 */
#ifndef MPIQ_DEBUG_FILE_H
#define MPIQ_DEBUG_FILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

#include "process/build_id.h"

/* The object whose debug file is wanted. */
struct mpiq_debug_file_search {
    Elf *elf;
    const struct mpiq_build_id *build_id;
    int root; /* what paths begin at (file_map.h) */
    const char *path;
    bool ask_servers; /* those of DEBUGINFOD_URLS, where neither build-id nor link leads to a file */
};

/* A descriptor of the debug file, which the caller closes, and its path, which the caller frees; -1 if there
   is none. */
int mpiq_debug_file_find(const struct mpiq_debug_file_search *search, char **path);

/* Whether the file has that build-id; one without any has not. */
bool mpiq_elf_has_build_id(Elf *elf, const struct mpiq_build_id *wanted);

/* Where distributions file what belongs to a build-id: suffix ".debug" for debug information, "" for the
   object itself.  False if there is no such place. */
bool mpiq_debug_file_path(const struct mpiq_build_id *build_id, const char *suffix, char *path, size_t size);

#endif
