/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schema_shape - what two structures of one schema have in common beside their numbers.
 *
 * The shape of a structure is everything except its numbers: which strings and words it holds, and how many
 * elements each list has.  Structures of the same shape have their numbers in the same places and in the
 * same order, that of the schema's table.  Ranks that do the same thing have the same shape, so a class of
 * them is one structure plus one row of numbers per rank (state_lines.h).
 */
#ifndef MPIQ_STATE_SCHEMA_SHAPE_H
#define MPIQ_STATE_SCHEMA_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/schema.h"

/* One number of a structure, and what it may be. */
struct mpiq_number {
    void *at;     /* 1, 2, 4 or 8 bytes */
    uint8_t size; /* of them */
    bool is_signed;
    int64_t low;   /* signed: the least that it may be */
    uint64_t high; /* the most */
};

/* A number of that many bytes, of all values that fit. */
struct mpiq_number mpiq_number_at(void *at, uint8_t size, bool is_signed);
/* A signed one is extended to 64 bits. */
uint64_t mpiq_number_load(const struct mpiq_number *number);
/* False, and nothing is stored, if the number may not be that. */
bool mpiq_number_store(const struct mpiq_number *number, uint64_t value);

struct mpiq_numbers {
    struct mpiq_number *items;
    size_t count;
    size_t capacity;
};

/* Appends the numbers of a structure, which stay where they are until one of its lists changes.  False
   without memory. */
bool mpiq_schema_numbers(const struct mpiq_schema *schema, void *structure, struct mpiq_numbers *ret);
void mpiq_numbers_deinit(struct mpiq_numbers *numbers);

/* Equal for structures of one shape. */
uint64_t mpiq_schema_shape_hash(const struct mpiq_schema *schema, const void *structure);
/* Exact.  A group that names its members has the shape of no other. */
bool mpiq_schema_same_shape(const struct mpiq_schema *schema, const void *a, const void *b);

#endif
