/* SPDX-License-Identifier: BSD-3-Clause */
/* build_id - the linker's identifier for the contents of an object. */
#ifndef MPIQ_BUILD_ID_H
#define MPIQ_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define MPIQ_BUILD_ID_MAX 64

struct mpiq_build_id {
    unsigned char bytes[MPIQ_BUILD_ID_MAX];
    size_t size; /* 0: none */
};

/* Reads size bytes at address, all or an error. */
typedef struct mpiq_error *mpiq_build_id_reader(void *argument, uint64_t address, size_t size, void *buffer);

/* The build-id of the object whose file begins at start in some memory; false if it has none or cannot be
   read. */
bool mpiq_build_id_read(mpiq_build_id_reader *read, void *argument, uint64_t start,
                        struct mpiq_build_id *ret);

/* The build-id among size bytes of notes in that byte order; false if there is none. */
bool mpiq_build_id_in_notes(const void *notes, size_t size, bool big_endian, struct mpiq_build_id *ret);

bool mpiq_build_id_equal(const struct mpiq_build_id *a, const struct mpiq_build_id *b);

/* As hexadecimal digits: text has room for 2 * MPIQ_BUILD_ID_MAX + 1. */
void mpiq_build_id_text(const struct mpiq_build_id *build_id, char *text);

#endif
