/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/rank_set.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

void mpiq_rank_set_deinit(struct mpiq_rank_set *set)
{
    free(set->ranges);
    *set = (struct mpiq_rank_set){0};
}

static uint64_t key(uint32_t world, uint32_t rank)
{
    return (uint64_t)world << 32 | rank;
}

/* Index of the first range that ends at or after (world, rank); count if there is none. */
static uint32_t search(const struct mpiq_rank_set *set, uint64_t wanted)
{
    uint32_t low = 0;
    uint32_t high = set->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (key(set->ranges[middle].world, set->ranges[middle].last) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool reserve(struct mpiq_rank_set *set)
{
    if (set->count < set->capacity)
        return true;
    uint32_t capacity = set->capacity ? 2 * set->capacity : 4;
    struct mpiq_rank_range *ranges = realloc(set->ranges, capacity * sizeof *ranges);
    if (!ranges)
        return false;
    set->ranges = ranges;
    set->capacity = capacity;
    return true;
}

bool mpiq_rank_set_add_range(struct mpiq_rank_set *set, uint32_t world, uint32_t first, uint32_t last)
{
    if (first > last)
        return true;
    /* All ranges from `from` up to (not including) `to` overlap the new one or touch it. */
    uint32_t from = search(set, key(world, first > 0 ? first - 1 : 0));
    struct mpiq_rank_range merged = {.world = world, .first = first, .last = last};
    uint32_t to = from;
    uint64_t removed = 0;
    for (; to < set->count; to++) {
        const struct mpiq_rank_range *range = &set->ranges[to];
        if (range->world != world || (range->first > last && range->first - last > 1))
            break;
        merged.first = range->first < merged.first ? range->first : merged.first;
        merged.last = range->last > merged.last ? range->last : merged.last;
        removed += (uint64_t)range->last - range->first + 1;
    }
    if (to == from) {
        if (!reserve(set))
            return false;
        memmove(&set->ranges[from + 1], &set->ranges[from], (set->count - from) * sizeof *set->ranges);
        set->count++;
    } else if (to - from > 1) {
        memmove(&set->ranges[from + 1], &set->ranges[to], (set->count - to) * sizeof *set->ranges);
        set->count -= to - from - 1;
    }
    set->ranges[from] = merged;
    set->size += (uint64_t)merged.last - merged.first + 1 - removed;
    return true;
}

bool mpiq_rank_set_add(struct mpiq_rank_set *set, uint32_t world, uint32_t rank)
{
    struct mpiq_rank_range *last = set->count ? &set->ranges[set->count - 1] : NULL;
    if (last && last->world == world && last->last + 1 == rank) {
        last->last = rank;
        set->size++;
        return true;
    }
    return mpiq_rank_set_add_range(set, world, rank, rank);
}

bool mpiq_rank_set_add_set(struct mpiq_rank_set *set, const struct mpiq_rank_set *other)
{
    for (uint32_t i = 0; i < other->count; i++) {
        const struct mpiq_rank_range *range = &other->ranges[i];
        if (!mpiq_rank_set_add_range(set, range->world, range->first, range->last))
            return false;
    }
    return true;
}

bool mpiq_rank_set_contains(const struct mpiq_rank_set *set, uint32_t world, uint32_t rank)
{
    uint32_t at = search(set, key(world, rank));
    return at < set->count && set->ranges[at].world == world && set->ranges[at].first <= rank;
}

bool mpiq_rank_set_includes(const struct mpiq_rank_set *set, const struct mpiq_rank_set *part)
{
    for (uint32_t i = 0; i < part->count; i++) {
        const struct mpiq_rank_range *range = &part->ranges[i];
        uint32_t at = search(set, key(range->world, range->first));
        /* Ranges do not touch: one of them has the whole of it or none has. */
        if (at == set->count || set->ranges[at].world != range->world ||
            set->ranges[at].first > range->first || set->ranges[at].last < range->last)
            return false;
    }
    return true;
}

bool mpiq_rank_set_equal(const struct mpiq_rank_set *a, const struct mpiq_rank_set *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->ranges, b->ranges, a->count * sizeof *a->ranges) == 0);
}

char *mpiq_rank_set_text(const struct mpiq_rank_set *set, uint32_t most)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return NULL;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct mpiq_rank_range *range = &set->ranges[i];
        if (most > 0 && i == most) {
            fprintf(stream, ",… (%" PRIu64 " in all)", set->size);
            break;
        }
        if (i > 0)
            fputc(',', stream);
        if (range->world > 0)
            fprintf(stream, "w%" PRIu32 ":", range->world);
        fprintf(stream, range->first == range->last ? "%" PRIu32 : "%" PRIu32 "-%" PRIu32, range->first,
                range->last);
    }
    if (fclose(stream) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static bool number(const char **at, uint32_t *ret)
{
    if (!isdigit((unsigned char)**at))
        return false;
    char *end;
    errno = 0;
    unsigned long value = strtoul(*at, &end, 10);
    if (errno || value > INT32_MAX)
        return false;
    *at = end;
    *ret = (uint32_t)value;
    return true;
}

static struct mpiq_error *parse(const char *text, struct mpiq_rank_set *set)
{
    const char *at = text;
    while (*at) {
        struct mpiq_rank_range range = {0};
        bool good = true;
        if (*at == 'w') {
            at++;
            good = number(&at, &range.world) && *at++ == ':';
        }
        good = good && number(&at, &range.first);
        range.last = range.first;
        if (good && *at == '-') {
            at++;
            good = number(&at, &range.last) && range.last >= range.first;
        }
        if (!good || (*at && *at != ',') || (*at == ',' && !at[1]))
            return mpiq_error_create(
                MPIQ_ERROR_USAGE,
                "\"%s\" is no list of ranks: it reads like 0-15,18 or, of another world, w1:0-3", text);
        if (!mpiq_rank_set_add_range(set, range.world, range.first, range.last))
            return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory");
        at += *at == ',';
    }
    return NULL;
}

struct mpiq_error *mpiq_rank_set_parse(const char *text, struct mpiq_rank_set *set)
{
    struct mpiq_rank_set read _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_error *error = parse(text, &read);
    if (!error && !mpiq_rank_set_add_set(set, &read))
        error = mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory");
    return error;
}
