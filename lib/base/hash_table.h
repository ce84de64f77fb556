/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hash_table - finds an element of an array by a hash: the elements stay the caller's, here are their
 * hashes and indexes.
 *
 *     uint64_t cursor = hash;
 *     for (uint32_t i; (i = mpiq_hash_table_next(table, hash, &cursor)) != UINT32_MAX;)
 *         if (elements[i] is the one) …
 */
#ifndef MPIQ_HASH_TABLE_H
#define MPIQ_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct mpiq_hash_slot {
    uint64_t hash;
    uint32_t index; /* plus one; 0: free */
};

struct mpiq_hash_table {
    struct mpiq_hash_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

/* All zeros is an empty table. */
void mpiq_hash_table_deinit(struct mpiq_hash_table *table);
/* Empties it, keeps its memory. */
void mpiq_hash_table_clear(struct mpiq_hash_table *table);
/* False without memory.  Does not look whether the index is there already. */
bool mpiq_hash_table_add(struct mpiq_hash_table *table, uint64_t hash, uint32_t index);
/* The next index with that hash; UINT32_MAX: no more.  *cursor starts as hash. */
static inline uint32_t mpiq_hash_table_next(const struct mpiq_hash_table *table, uint64_t hash,
                                            uint64_t *cursor)
{
    if (!table->capacity)
        return UINT32_MAX;
    for (;;) {
        const struct mpiq_hash_slot *slot = &table->slots[*cursor & (table->capacity - 1)];
        if (!slot->index)
            return UINT32_MAX;
        (*cursor)++;
        if (slot->hash == hash)
            return slot->index - 1;
    }
}

/* Mixes a value into a hash.  Start with MPIQ_HASH_START: it differs from process to process, so that nobody
   can choose names and numbers whose hashes are equal.  What another process computes too starts with
   MPIQ_HASH_FIXED. */
extern uint64_t mpiq_hash_secret;
#define MPIQ_HASH_START mpiq_hash_secret
#define MPIQ_HASH_FIXED UINT64_C(0x9e3779b97f4a7c15)
static inline uint64_t mpiq_hash(uint64_t hash, uint64_t value)
{
    hash ^= value;
    hash *= UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 29;
}
/* Mixes two values into a hash, four times as fast as one by one (as wyhash does it).  A hash
   and a value of 0 make no factor 0, which would lose the other value. */
static inline uint64_t mpiq_hash_two(uint64_t hash, uint64_t first, uint64_t second)
{
    unsigned __int128 factor = first ^ mpiq_hash_secret;
    unsigned __int128 product = factor * (second ^ hash ^ MPIQ_HASH_FIXED);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}
uint64_t mpiq_hash_bytes(uint64_t hash, const void *bytes, size_t length);
/* Of a string that may be NULL, which is none that has bytes. */
static inline uint64_t mpiq_hash_string(uint64_t hash, const char *string)
{
    return string ? mpiq_hash_bytes(hash, string, strlen(string)) : mpiq_hash(hash, 0);
}
/* Whether two such strings are equal. */
static inline bool mpiq_same_string(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

#endif
