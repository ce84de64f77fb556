/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines - the source places of an address: its function, file and line, and those of the functions into which
 * it was inlined; remembered per address.
 */
#ifndef MPIQ_LINES_H
#define MPIQ_LINES_H

#include "process/object.h"

struct mpiq_scopes;

struct mpiq_source_place {
    const char *function; /* NULL if not known */
    const char *file;     /* NULL if not known */
    int line;             /* 0 if not known */
    bool inlined;         /* into the next one */
};

/* The functions at address (the object's own), innermost first: at least one entry, whose names the object
   owns; NULL without memory.  Locked. */
const struct mpiq_source_place *mpiq_lines_at(struct mpiq_object *object, uint64_t address, size_t *count);

/* The entries of the functions around address (the object's own); false: there is no debug information of it.
   Locked. */
bool mpiq_lines_scopes(struct mpiq_object *object, uint64_t address, struct mpiq_scopes *ret);

#endif
