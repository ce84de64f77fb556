/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/rank_set.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
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
        if (!mpiq_array_reserve(&set->ranges, &set->capacity, set->count + 1))
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

/* Adds the ranges of both in ascending order, so that each goes to the end of *ret. */
static bool merge(const struct mpiq_rank_set *a, const struct mpiq_rank_set *b, struct mpiq_rank_set *ret)
{
    for (uint32_t i = 0, k = 0; i < a->count || k < b->count;) {
        bool first = k == b->count || (i < a->count && key(a->ranges[i].world, a->ranges[i].first) <
                                                           key(b->ranges[k].world, b->ranges[k].first));
        const struct mpiq_rank_range *range = first ? &a->ranges[i++] : &b->ranges[k++];
        if (!mpiq_rank_set_add_range(ret, range->world, range->first, range->last))
            return false;
    }
    return true;
}

bool mpiq_rank_set_add_set(struct mpiq_rank_set *set, const struct mpiq_rank_set *other)
{
    enum { FEW = 4 }; /* inserting so many one by one is cheaper */
    if (set->count > 0 && other->count > FEW) {
        struct mpiq_rank_set merged = {0};
        if (!merge(set, other, &merged)) {
            mpiq_rank_set_deinit(&merged);
            return false;
        }
        mpiq_rank_set_deinit(set);
        *set = merged;
        return true;
    }
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

bool mpiq_rank_ranges_overlap(const struct mpiq_rank_range *a, uint32_t a_count,
                              const struct mpiq_rank_range *b, uint32_t b_count)
{
    for (uint32_t i = 0, j = 0; i < a_count && j < b_count;) {
        const struct mpiq_rank_range *x = &a[i];
        const struct mpiq_rank_range *y = &b[j];
        if (x->world == y->world && x->first <= y->last && y->first <= x->last)
            return true;
        if (x->world < y->world || (x->world == y->world && x->last < y->last))
            i++;
        else
            j++;
    }
    return false;
}

bool mpiq_rank_set_overlaps(const struct mpiq_rank_set *a, const struct mpiq_rank_set *b)
{
    return mpiq_rank_ranges_overlap(a->ranges, a->count, b->ranges, b->count);
}

bool mpiq_rank_set_equal(const struct mpiq_rank_set *a, const struct mpiq_rank_set *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->ranges, b->ranges, a->count * sizeof *a->ranges) == 0);
}

static bool is_single(const struct mpiq_rank_range *range)
{
    return range->first == range->last;
}

/* How many ranges from `at` on are single ranks at equal distances. */
static uint32_t strided(const struct mpiq_rank_set *set, uint32_t at)
{
    const struct mpiq_rank_range *begin = &set->ranges[at];
    uint32_t left = set->count - at;
    if (left < 2 || !is_single(begin) || begin[1].world != begin->world)
        return 1;
    uint32_t stride = begin[1].first - begin->first;
    uint32_t length = 1;
    while (length < left && is_single(&begin[length]) && begin[length].world == begin->world &&
           begin[length].first - begin[length - 1].first == stride)
        length++;
    return length;
}

/* Writes the ranges from `at` on that make one item of the text; returns how many they are. */
static uint32_t put_item(struct mpiq_buffer *text, const struct mpiq_rank_set *set, uint32_t at)
{
    enum { WORTH_A_STRIDE = 4 }; /* "1,3,5" reads better than "1-5:2" */
    const struct mpiq_rank_range *range = &set->ranges[at];
    uint32_t length = strided(set, at);
    if (range->world > 0) {
        mpiq_buffer_char(text, 'w');
        mpiq_buffer_unsigned(text, range->world);
        mpiq_buffer_char(text, ':');
    }
    bool is_strided = length >= WORTH_A_STRIDE;
    uint32_t last = is_strided ? range[length - 1].last : range->last;
    mpiq_buffer_unsigned(text, range->first);
    if (last != range->first) {
        mpiq_buffer_char(text, '-');
        mpiq_buffer_unsigned(text, last);
    }
    if (!is_strided)
        return 1;
    mpiq_buffer_char(text, ':');
    mpiq_buffer_unsigned(text, range[1].first - range->first);
    return length;
}

char *mpiq_rank_set_text(const struct mpiq_rank_set *set, uint32_t most)
{
    struct mpiq_buffer buffer = {0};
    uint32_t items = 0;
    for (uint32_t i = 0; i < set->count; items++) {
        if (most > 0 && items == most) {
            mpiq_buffer_string(&buffer, ",… (");
            mpiq_buffer_unsigned(&buffer, set->size);
            mpiq_buffer_string(&buffer, " in all)");
            break;
        }
        if (items > 0)
            mpiq_buffer_char(&buffer, ',');
        i += put_item(&buffer, set, i);
    }
    size_t size = buffer.length + 1;
    char *text = NULL;
    mpiq_error_destroy(mpiq_buffer_end(&buffer, &text));
    char *fitting = text ? realloc(text, size) : NULL;
    return fitting ? fitting : text;
}

bool mpiq_rank_set_fits(const struct mpiq_rank_set *set, uint32_t most)
{
    struct mpiq_buffer buffer _cleanup_(mpiq_buffer_deinit) = {0};
    uint32_t at = 0;
    for (uint32_t items = 0; at < set->count && items < most; items++)
        at += put_item(&buffer, set, at);
    return at == set->count;
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

/* One item of a list, "3", "0-15", "0-46:2", "w1:0-3"; false if it is none.  *ret's last is a rank of it. */
static bool parse_item(const char **at, struct mpiq_rank_range *ret, uint32_t *stride)
{
    *ret = (struct mpiq_rank_range){0};
    *stride = 1;
    if (**at == 'w') {
        ++*at;
        if (!number(at, &ret->world) || *(*at)++ != ':')
            return false;
    }
    if (!number(at, &ret->first))
        return false;
    ret->last = ret->first;
    if (**at != '-')
        return true;
    ++*at;
    if (!number(at, &ret->last) || ret->last < ret->first)
        return false;
    if (**at != ':')
        return true;
    ++*at;
    if (!number(at, stride) || *stride == 0)
        return false;
    ret->last -= (ret->last - ret->first) % *stride;
    return true;
}

/* Adds the ranks of an item; `budget` bounds how many separate ones a short text may stand for. */
static struct mpiq_error *add_item(struct mpiq_rank_set *set, struct mpiq_rank_range item, uint32_t stride,
                                   uint32_t *budget)
{
    struct mpiq_rank_set ranks _cleanup_(mpiq_rank_set_deinit) = {0};
    bool good = true;
    if (stride == 1) {
        good = mpiq_rank_set_add_range(&ranks, item.world, item.first, item.last);
    } else {
        uint32_t count = (item.last - item.first) / stride + 1;
        if (count > *budget)
            return mpiq_error_create(MPIQ_ERROR_USAGE,
                                     "a list of ranks may not name more than %" PRIu32 " ranks with strides",
                                     MPIQ_RANK_SET_MAX_STRIDED);
        *budget -= count;
        for (uint32_t i = 0; i < count && good; i++)
            good = mpiq_rank_set_add(&ranks, item.world, item.first + i * stride);
    }
    good = good && mpiq_rank_set_add_set(set, &ranks);
    return good ? NULL : mpiq_error_no_memory();
}

static struct mpiq_error *parse(const char *text, struct mpiq_rank_set *set)
{
    uint32_t budget = MPIQ_RANK_SET_MAX_STRIDED;
    struct mpiq_error *error = NULL;
    const char *at = text;
    while (*at && !error) {
        struct mpiq_rank_range item;
        uint32_t stride;
        if (!parse_item(&at, &item, &stride) || (*at && *at != ',') || (*at == ',' && !at[1]))
            return mpiq_error_create(
                MPIQ_ERROR_USAGE,
                "\"%s\" is not a list of ranks: write 0-15,18 or, with a stride, 0-46:2; "
                "ranks of another world as w1:0-3",
                text);
        error = add_item(set, item, stride, &budget);
        at += *at == ',';
    }
    return error;
}

struct mpiq_error *mpiq_rank_set_parse(const char *text, struct mpiq_rank_set *set)
{
    struct mpiq_rank_set read _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_error *error = parse(text, &read);
    if (!error && !mpiq_rank_set_add_set(set, &read))
        error = mpiq_error_no_memory();
    return error;
}
