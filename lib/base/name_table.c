/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/name_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void mpiq_name_table_deinit(struct mpiq_name_table *table)
{
    free(table->rows);
    mpiq_hash_table_deinit(&table->by_name);
    *table = (struct mpiq_name_table){0};
}

static uint64_t hash_name(const char *name)
{
    return mpiq_hash_bytes(MPIQ_HASH_START, name, strlen(name));
}

static struct mpiq_name_row *find(const struct mpiq_name_table *table, const char *name, uint64_t hash)
{
    uint64_t cursor = hash;
    uint32_t i;
    while ((i = mpiq_hash_table_next(&table->by_name, hash, &cursor)) != UINT32_MAX) {
        if (strcmp(table->rows[i].name, name) == 0)
            return &table->rows[i];
    }
    return NULL;
}

static bool put(struct mpiq_name_table *table, const char *name, uint64_t value, bool replace)
{
    uint64_t hash = hash_name(name);
    struct mpiq_name_row *row = find(table, name, hash);
    if (row) {
        if (replace)
            row->value = value;
        return true;
    }
    if (!mpiq_array_reserve(&table->rows, &table->capacity, table->count + 1) ||
        !mpiq_hash_table_add(&table->by_name, hash, table->count))
        return false;
    table->rows[table->count++] = (struct mpiq_name_row){.name = name, .value = value};
    return true;
}

bool mpiq_name_table_add(struct mpiq_name_table *table, const char *name, uint64_t value)
{
    return put(table, name, value, false);
}

bool mpiq_name_table_set(struct mpiq_name_table *table, const char *name, uint64_t value)
{
    return put(table, name, value, true);
}

bool mpiq_name_table_get(const struct mpiq_name_table *table, const char *name, uint64_t *ret)
{
    const struct mpiq_name_row *row = find(table, name, hash_name(name));
    if (row && ret)
        *ret = row->value;
    return row != NULL;
}
