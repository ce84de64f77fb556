/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * class_object - the objects in which the library gives the name and instance size of each of its classes,
 * and the class that an object claims to have.
 *
 * A class object is exported as NAME_class, and has the same members in every release: it can be read before
 * any layout is trusted.
 */
#ifndef MQS_OMPI_CLASS_OBJECT_H
#define MQS_OMPI_CLASS_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"

/* Address of a structure's class object, e.g. that of ompi_group_t; 0 if the library exports none. */
mqs_taddr_t class_object_find(struct memory *memory, const char *structure);

/* What a class object says: the structure's name ("" if that cannot be read) and how many bytes it has. False
   if the class object cannot be read. */
bool class_object_read(struct memory *memory, mqs_taddr_t class_object, char *name, size_t size,
                       uint64_t *object_size);

/* The class object that an object points to; false if that cannot be read. */
bool object_class(struct memory *memory, mqs_taddr_t object, mqs_taddr_t *ret);

/* Whether an object says that it is such a structure. */
bool object_is_a(struct memory *memory, mqs_taddr_t object, const char *structure);

#endif
