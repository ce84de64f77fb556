/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * types - an object's C types by name, out of its DWARF, reading only the units that are needed.
 *
 * A name is looked up in .debug_str first (a type that is not named there does not exist in the object, which
 * costs next to nothing), then the offset of the name is searched for in .debug_info, and the unit around
 * each hit is indexed, until a complete definition is found.  Where names can hide elsewhere (DWARF 5's
 * string offsets, type units, dwz's common file, split DWARF) all units are indexed.  No accelerator table is
 * needed, and none is used: gcc and distributions write none.
 */
#ifndef MPIQ_TYPES_H
#define MPIQ_TYPES_H

#include "process/object.h"

/* A type that was found.  Owned by its object, the same for all who ask. */
struct mpiq_type;

/* The complete type of that C name ("struct foo" and "foo"), or NULL: the object has none.  Failures are
   remembered. */
const struct mpiq_type *mpiq_types_find(struct mpiq_object *object, const char *name);

/* Bytes; false if the type has no size. */
bool mpiq_type_size(const struct mpiq_type *type, uint64_t *ret);

/* Byte offset of a member, through anonymous members, and "a.b" through named ones; false if there is none.
 */
bool mpiq_type_member(const struct mpiq_type *type, const char *member, uint64_t *ret);

/* As it was asked for. */
const char *mpiq_type_name(const struct mpiq_type *type);

#endif
