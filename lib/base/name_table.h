/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * name_table - numbers by name, for symbols and types.
 *
 * Names stay the caller's: they lie in mapped string sections that outlive the table.
 */
#ifndef MPIQ_NAME_TABLE_H
#define MPIQ_NAME_TABLE_H

#include "base/hash_table.h"

struct mpiq_name_row {
    const char *name;
    uint64_t value;
};

struct mpiq_name_table {
    struct mpiq_name_row *rows; /* in the order in which they came */
    uint32_t count;
    uint32_t capacity;
    struct mpiq_hash_table by_name;
};

/* All zeros is an empty table.  Frees the rows, not the names. */
void mpiq_name_table_deinit(struct mpiq_name_table *table);

/* Adds a name unless it is there: the first value stays.  False on allocation failure. */
bool mpiq_name_table_add(struct mpiq_name_table *table, const char *name, uint64_t value);

/* Adds a name or replaces its value.  False on allocation failure. */
bool mpiq_name_table_set(struct mpiq_name_table *table, const char *name, uint64_t value);

/* Whether the name is there; its value goes to *ret, which may be NULL. */
bool mpiq_name_table_get(const struct mpiq_name_table *table, const char *name, uint64_t *ret);

#endif
