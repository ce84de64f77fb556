/* SPDX-License-Identifier: BSD-3-Clause */
/* link_map - the dynamic linker's list of loaded objects, read out of a process's memory. */
#ifndef MPIQ_LINK_MAP_H
#define MPIQ_LINK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/target.h"

struct mpiq_link {
    uint64_t address; /* of the entry itself */
    uint64_t bias;    /* l_addr */
    uint64_t dynamic; /* l_ld: an address inside the object */
};

/* How words look in that process. */
struct mpiq_words {
    int size; /* 4 or 8 */
    bool big_endian;
};

uint64_t mpiq_word(const struct mpiq_words *words, const void *bytes);
uint64_t mpiq_word_sized(const struct mpiq_words *words, const void *bytes, int size);

/* The value of an entry of the auxiliary vector (size raw bytes); false if it is not there. */
bool mpiq_auxv_find(const struct mpiq_words *words, const void *auxv, size_t size, uint64_t type,
                    uint64_t *ret);

/*
 * The list, executable first, found through the program headers at phdr (phnum of them, AT_PHDR and AT_PHNUM)
 * and DT_DEBUG.  The caller frees *ret.  Errors: NOT_FOUND (statically linked, or not started yet), CORRUPT
 * (a list without end), those of reading.
 */
struct mpiq_error *mpiq_link_map_read(struct mpiq_target *target, const struct mpiq_words *words,
                                      uint64_t phdr, uint64_t phnum, struct mpiq_link **ret, size_t *count);

/* Whether last is still the end of its list: the linker appends what it loads.  (What was unloaded in between
   goes unnoticed: nothing of it is asked for any more.) */
bool mpiq_link_is_last(struct mpiq_target *target, const struct mpiq_words *words,
                       const struct mpiq_link *last);

#endif
