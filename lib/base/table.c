/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

struct mpiq_table_slot {
    const char *key; /* NULL: free */
    uint64_t value;
};

/* FNV-1a. */
static size_t hash(const char *key)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * 0x100000001b3u;
    return (size_t)(h ^ (h >> 32));
}

void mpiq_table_deinit(struct mpiq_table *table)
{
    free(table->slots);
    *table = (struct mpiq_table){0};
}

/* The slot of key, or the free one where it belongs; the table has a free slot. */
static struct mpiq_table_slot *slot_of(const struct mpiq_table *table, const char *key)
{
    size_t i = hash(key) & (table->capacity - 1);
    while (table->slots[i].key && strcmp(table->slots[i].key, key) != 0)
        i = (i + 1) & (table->capacity - 1);
    return &table->slots[i];
}

static bool grow(struct mpiq_table *table)
{
    if ((table->count + 1) * 4 <= table->capacity * 3)
        return true;
    struct mpiq_table larger = {.capacity = table->capacity ? table->capacity * 2 : 64,
                                .count = table->count};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].key)
            *slot_of(&larger, table->slots[i].key) = table->slots[i];
    }
    free(table->slots);
    *table = larger;
    return true;
}

static bool put(struct mpiq_table *table, const char *key, uint64_t value, bool replace)
{
    if (!grow(table))
        return false;
    struct mpiq_table_slot *slot = slot_of(table, key);
    if (!slot->key) {
        slot->key = key;
        slot->value = value;
        table->count++;
    } else if (replace) {
        slot->value = value;
    }
    return true;
}

bool mpiq_table_add(struct mpiq_table *table, const char *key, uint64_t value)
{
    return put(table, key, value, false);
}

bool mpiq_table_set(struct mpiq_table *table, const char *key, uint64_t value)
{
    return put(table, key, value, true);
}

bool mpiq_table_get(const struct mpiq_table *table, const char *key, uint64_t *ret)
{
    if (!table->capacity)
        return false;
    const struct mpiq_table_slot *slot = slot_of(table, key);
    if (slot->key && ret)
        *ret = slot->value;
    return slot->key != NULL;
}
