/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table - numbers by name: an open-addressed hash table whose keys stay the caller's.
 *
 * Made for symbol and type names, which lie in mapped string sections that outlive the table.
 */
#ifndef MPIQ_TABLE_H
#define MPIQ_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mpiq_table {
    struct mpiq_table_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

/* All zeros is an empty table.  Frees the slots, not the keys. */
void mpiq_table_deinit(struct mpiq_table *table);

/* Adds key unless it is there: the first one stays.  False without memory. */
bool mpiq_table_add(struct mpiq_table *table, const char *key, uint64_t value);

/* Adds key or replaces its value.  False without memory. */
bool mpiq_table_set(struct mpiq_table *table, const char *key, uint64_t value);

/* Whether key is there; its value goes to *ret, which may be NULL. */
bool mpiq_table_get(const struct mpiq_table *table, const char *key, uint64_t *ret);

#endif
