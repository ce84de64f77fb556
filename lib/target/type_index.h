/* SPDX-License-Identifier: BSD-3-Clause */
/* type_index - where in a Dwarf the definition of a type name is.  All functions: locked (object.h). */
#ifndef MPIQ_TYPE_INDEX_H
#define MPIQ_TYPE_INDEX_H

#include <elfutils/libdw.h>
#include <stdbool.h>

struct mpiq_type_index;

enum mpiq_type_space {
    MPIQ_TYPE_TAGGED, /* struct, union, enum, class: complete ones only */
    MPIQ_TYPE_NAMED,  /* typedef, base type */
};

/* NULL without memory.  The Dwarf stays the caller's. */
struct mpiq_type_index *mpiq_type_index_create(Dwarf *dwarf);

bool mpiq_type_index_find(struct mpiq_type_index *index, const char *name, enum mpiq_type_space space,
                          Dwarf_Die *ret);

void mpiq_type_index_destroy(struct mpiq_type_index *index);

#endif
