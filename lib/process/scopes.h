/* SPDX-License-Identifier: BSD-3-Clause */
/* scopes - the entries of the functions around an address: a subprogram and what was inlined into it.  Locked
   (object.h). */
#ifndef MPIQ_SCOPES_H
#define MPIQ_SCOPES_H

#include "process/die.h"

/* Functions inlined into each other. */
#define MPIQ_SCOPES_MOST 64

struct mpiq_scopes {
    struct mpiq_debug_unit *unit; /* that has the entries: of a skeleton its split unit */
    uint64_t address;
    struct mpiq_entry functions[MPIQ_SCOPES_MOST]; /* outermost first */
    int count;
};

/* In a prepared unit of info that holds the address. */
void mpiq_scopes_find(struct mpiq_debug_info *info, struct mpiq_debug_unit *unit, uint64_t address,
                      struct mpiq_scopes *ret);

/* Whether entries of that tag are functions or blocks in them. */
bool mpiq_scopes_is(int tag);

#endif
