/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image - an ELF file reconstructed from a process's memory when the file itself cannot be read: a deleted
 * library of another user's process, or a file in a container that we may not enter.
 *
 * Only the loaded parts are available: dynamic symbols and call frame information, but no types and no lines
 * (those may still be found in a separate debug file by build-id).
 */
#ifndef MPIQ_IMAGE_H
#define MPIQ_IMAGE_H

#include "process/link_map.h"
#include "process/target.h"

/* The file that begins at start in the target, with section headers for its dynamic symbols; *ret is
   malloc'ed. Errors: CORRUPT, NO_MEMORY, those of reading. */
struct mpiq_error *mpiq_image_read(struct mpiq_target *target, const struct mpiq_words *words, uint64_t start,
                                   void **ret, size_t *size);

#endif
