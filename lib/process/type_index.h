/* SPDX-License-Identifier: BSD-3-Clause */
/* type_index - where the debug information defines a type.  All functions: locked (object.h). */
#ifndef MPIQ_TYPE_INDEX_H
#define MPIQ_TYPE_INDEX_H

#include <stdbool.h>

#include "process/die.h"

struct mpiq_type_index;

enum mpiq_type_space {
    MPIQ_TYPE_TAGGED, /* struct, union, enum, class: complete ones only */
    MPIQ_TYPE_NAMED,  /* typedef, base type */
};

/* NULL without memory.  info stays the caller's. */
struct mpiq_type_index *mpiq_type_index_create(struct mpiq_debug_info *info);

bool mpiq_type_index_find(struct mpiq_type_index *index, const char *name, enum mpiq_type_space space,
                          struct mpiq_entry *ret);

void mpiq_type_index_destroy(struct mpiq_type_index *index);

#endif
