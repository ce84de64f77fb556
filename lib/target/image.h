/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image - an ELF file put together again from a process's memory, when the file itself is out of reach: a
 * deleted library of another's process, a file in a container that we may not enter.
 *
 * What is loaded is all there is: dynamic symbols and call frame information, no types and no lines (those
 * may still be found in a separate debug file by build-id).
 */
#ifndef MPIQ_IMAGE_H
#define MPIQ_IMAGE_H

#include "target/link_map.h"
#include "target/target.h"

/* The file that begins at start in the target, with section headers for its dynamic symbols; *ret is
   malloc'ed. Errors: CORRUPT, NO_MEMORY, those of reading. */
struct mpiq_error *mpiq_image_read(struct mpiq_target *target, const struct mpiq_words *words, uint64_t start,
                                   void **ret, size_t *size);

#endif
