/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/hash_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/memory.h"

uint64_t mpiq_hash_secret = MPIQ_HASH_FIXED;

/* The kernel gives every program 16 random bytes. */
static void __attribute__((constructor)) choose_secret(void)
{
    const void *bytes = (const void *)getauxval(AT_RANDOM); /* NOLINT: an address */
    uint64_t random = 0;
    if (bytes)
        memcpy(&random, bytes, sizeof random);
    mpiq_hash_secret ^= random;
}

void mpiq_hash_table_deinit(struct mpiq_hash_table *table)
{
    free(table->slots);
    *table = (struct mpiq_hash_table){0};
}

void mpiq_hash_table_clear(struct mpiq_hash_table *table)
{
    if (table->count > 0)
        memset(table->slots, 0, table->capacity * sizeof *table->slots);
    table->count = 0;
}

static void put(struct mpiq_hash_table *table, struct mpiq_hash_slot slot)
{
    size_t at = slot.hash & (table->capacity - 1);
    while (table->slots[at].index)
        at = (at + 1) & (table->capacity - 1);
    table->slots[at] = slot;
}

bool mpiq_hash_table_add(struct mpiq_hash_table *table, uint64_t hash, uint32_t index)
{
    if (2 * (table->count + 1) > table->capacity) {
        struct mpiq_hash_table larger = {.capacity = table->capacity ? 2 * table->capacity : 16};
        larger.slots = mpiq_memory_checked(calloc(larger.capacity, sizeof *larger.slots));
        if (!larger.slots)
            return false;
        for (size_t i = 0; i < table->capacity; i++) {
            if (table->slots[i].index)
                put(&larger, table->slots[i]);
        }
        free(table->slots);
        table->slots = larger.slots;
        table->capacity = larger.capacity;
    }
    put(table, (struct mpiq_hash_slot){.hash = hash, .index = index + 1});
    table->count++;
    return true;
}

static uint64_t word(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* As mpiq_hash_two, but the same in every process that starts with the same hash. */
static uint64_t mix(uint64_t hash, uint64_t first, uint64_t second)
{
    unsigned __int128 product = (unsigned __int128)(first ^ hash) * (second ^ hash ^ MPIQ_HASH_FIXED);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t mpiq_hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    size_t rest = length;
    for (; rest > 16; rest -= 16, at += 16)
        hash = mix(hash, word(at), word(at + 8));
    uint64_t first = 0, second = 0;
    if (rest >= 8) { /* the two may overlap: the length tells how far */
        first = word(at);
        second = word(at + rest - 8);
    } else {
        for (; rest > 0; rest--)
            first = first << 8 | *at++;
    }
    return mpiq_hash(mix(hash, first, second), length);
}
