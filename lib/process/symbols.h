/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols - an object's symbols by name, and the function at an address. */
#ifndef MPIQ_SYMBOLS_H
#define MPIQ_SYMBOLS_H

#include "process/object.h"

enum mpiq_symbol_scope {
    MPIQ_SYMBOL_GLOBAL, /* global or weak, of .dynsym or .symtab */
    MPIQ_SYMBOL_LOCAL,  /* static ones of .symtab */
    MPIQ_SYMBOL_DEBUG,  /* any of the separate debug file's */
};

/* Whether the object defines a data or function symbol of that name in that scope; its address (the object's
   own) goes to *ret.  Of several versions the default one counts. */
bool mpiq_symbols_find(struct mpiq_object *object, enum mpiq_symbol_scope scope, const char *name,
                       uint64_t *ret);

/* Name of the function that holds address, or NULL; the object owns it.  Locked. */
const char *mpiq_symbols_function(struct mpiq_object *object, uint64_t address);

/* Where that function begins and ends (the object's own addresses); false if no symbol says it.  Locked. */
bool mpiq_symbols_bounds(struct mpiq_object *object, uint64_t address, uint64_t *start, uint64_t *end);

#endif
