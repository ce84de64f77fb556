/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/schema_shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_table.h"

/* ---- numbers ------------------------------------------------------------------------------------------- */

struct mpiq_number mpiq_number_at(void *at, uint8_t size, bool is_signed)
{
    unsigned spare = 64 - 8u * size;
    return (struct mpiq_number){.at = at,
                                .size = size,
                                .is_signed = is_signed,
                                .low = is_signed ? INT64_MIN >> spare : 0,
                                .high = is_signed ? (uint64_t)INT64_MAX >> spare : UINT64_MAX >> spare};
}

uint64_t mpiq_number_load(const struct mpiq_number *number)
{
    return mpiq_load_number(number->at, number->size, number->is_signed);
}

bool mpiq_number_store(const struct mpiq_number *number, uint64_t value)
{
    bool fits = number->is_signed ? (int64_t)value >= number->low && (int64_t)value <= (int64_t)number->high
                                  : value <= number->high;
    if (fits)
        mpiq_store_number(number->at, number->size, value);
    return fits;
}

void mpiq_numbers_deinit(struct mpiq_numbers *numbers)
{
    free(numbers->items);
    *numbers = (struct mpiq_numbers){0};
}

/* ---- walking ------------------------------------------------------------------------------------------- */

static bool is_number(const struct mpiq_field *field)
{
    return field->type == MPIQ_FIELD_SIGNED || field->type == MPIQ_FIELD_UNSIGNED ||
           field->type == MPIQ_FIELD_HEX;
}

/* The numbers of a value with functions of its own; 0: it is no number to us. */
static size_t custom_numbers(const struct mpiq_field *field, void *member,
                             struct mpiq_number ret[MPIQ_CUSTOM_NUMBERS_MOST])
{
    return field->numbers ? field->numbers(member, ret) : 0;
}

/* The structures inside a member: a list's elements, or the one. */
static size_t inner_count(const struct mpiq_field *field, const void *structure)
{
    if (field->type == MPIQ_FIELD_LIST)
        return *(const size_t *)((const char *)structure + field->count_offset);
    return field->type == MPIQ_FIELD_STRUCTURE;
}

static char *inner_at(const struct mpiq_field *field, const void *structure, size_t index)
{
    char *member = (char *)(uintptr_t)structure + field->offset; /* NOLINT */
    char *first = field->type == MPIQ_FIELD_LIST ? *(char **)member : member;
    return first + index * field->schema->size;
}

static bool append(struct mpiq_numbers *numbers, const struct mpiq_number *more, size_t count)
{
    if (!mpiq_array_reserve(&numbers->items, &numbers->capacity, numbers->count + count + 1))
        return false;
    for (size_t i = 0; i < count; i++)
        numbers->items[numbers->count++] = more[i];
    return true;
}

bool mpiq_schema_numbers(const struct mpiq_schema *schema, void *structure, struct mpiq_numbers *ret)
{
    struct mpiq_number found[MPIQ_CUSTOM_NUMBERS_MOST];
    bool good = true;
    for (size_t i = 0; i < schema->field_count && good; i++) {
        const struct mpiq_field *field = &schema->fields[i];
        char *member = (char *)structure + field->offset;
        size_t inner = inner_count(field, structure);
        for (size_t k = 0; k < inner && good; k++)
            good = mpiq_schema_numbers(field->schema, inner_at(field, structure, k), ret);
        size_t count = 0;
        if (is_number(field)) {
            found[0] = mpiq_number_at(member, (uint8_t)field->size, field->type == MPIQ_FIELD_SIGNED);
            count = 1;
        } else if (field->type == MPIQ_FIELD_CUSTOM) {
            count = custom_numbers(field, member, found);
        }
        good = good && append(ret, found, count);
    }
    return good;
}

static uint64_t hash_text(uint64_t hash, const char *text, size_t length)
{
    return text ? mpiq_hash_bytes(hash, text, length) : mpiq_hash(hash, 0);
}

static uint64_t hash_shape(uint64_t hash, const struct mpiq_schema *schema, const void *structure)
{
    struct mpiq_number found[MPIQ_CUSTOM_NUMBERS_MOST];
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct mpiq_field *field = &schema->fields[i];
        char *member = (char *)(uintptr_t)structure + field->offset; /* NOLINT */
        size_t inner = inner_count(field, structure);
        hash = mpiq_hash(hash, inner);
        for (size_t k = 0; k < inner; k++)
            hash = hash_shape(hash, field->schema, inner_at(field, structure, k));
        if (field->type == MPIQ_FIELD_ARRAY) {
            hash = hash_text(hash, member, strnlen(member, field->size));
        } else if (field->type == MPIQ_FIELD_STRING) {
            const char *string = *(const char *const *)member;
            hash = hash_text(hash, string, string ? strlen(string) : 0);
        } else if (field->type == MPIQ_FIELD_CUSTOM && custom_numbers(field, member, found) > 0) {
            hash = mpiq_hash(hash, 1);
        } else if (!is_number(field) && !field->schema) {
            hash = mpiq_hash_bytes(hash, member, field->size);
        }
    }
    return hash;
}

uint64_t mpiq_schema_shape_hash(const struct mpiq_schema *schema, const void *structure)
{
    return hash_shape(MPIQ_HASH_START, schema, structure);
}

/* A member that is neither a number nor made of structures. */
static bool same_member(const struct mpiq_field *field, char *a, char *b)
{
    struct mpiq_number found[MPIQ_CUSTOM_NUMBERS_MOST];
    if (field->type == MPIQ_FIELD_ARRAY)
        return strncmp(a, b, field->size) == 0;
    if (field->type == MPIQ_FIELD_STRING)
        return mpiq_same_string(*(const char *const *)a, *(const char *const *)b);
    if (field->type != MPIQ_FIELD_CUSTOM)
        return memcmp(a, b, field->size) == 0;
    size_t count = custom_numbers(field, a, found);
    if (count != custom_numbers(field, b, found))
        return false;
    return count > 0 || memcmp(a, b, field->size) == 0;
}

bool mpiq_schema_same_shape(const struct mpiq_schema *schema, const void *a, const void *b)
{
    bool same = true;
    for (size_t i = 0; i < schema->field_count && same; i++) {
        const struct mpiq_field *field = &schema->fields[i];
        size_t inner = inner_count(field, a);
        same = inner == inner_count(field, b);
        for (size_t k = 0; k < inner && same; k++)
            same = mpiq_schema_same_shape(field->schema, inner_at(field, a, k), inner_at(field, b, k));
        if (same && !is_number(field) && !field->schema)
            same = same_member(field, (char *)(uintptr_t)a + field->offset, /* NOLINT */
                               (char *)(uintptr_t)b + field->offset);       /* NOLINT */
    }
    return same;
}
