/* SPDX-License-Identifier: BSD-3-Clause */
/* elf_open - libelf's handle on a mapped file; a failed allocation for it is counted. */
#ifndef MPIQ_ELF_OPEN_H
#define MPIQ_ELF_OPEN_H

#include <errno.h>
#include <libelf.h>

#include "base/memory.h"
#include "process/file_map.h"

/* NULL if it is not an ELF file, or without memory.  The caller ends it before the map. */
static inline Elf *mpiq_elf_open(struct mpiq_file_map *map)
{
    errno = 0;
    Elf *elf = elf_memory(mpiq_file_map_bytes(map), mpiq_file_map_size(map));
    if (!elf && errno == ENOMEM)
        mpiq_memory_miss();
    return elf;
}

#endif
