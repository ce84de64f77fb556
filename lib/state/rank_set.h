/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_set - a set of ranks, written for people: "0-15,18", every second rank "0-46:2", ranks of other
 * worlds "w1:0-3".
 *
 * A rank is (index of its world, rank in that world's MPI_COMM_WORLD).  Sets are values: a zeroed one is
 * empty, mpiq_rank_set_deinit frees what one holds.
 */
#ifndef MPIQ_RANK_SET_H
#define MPIQ_RANK_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Ranks first to last, both included, of one world. */
struct mpiq_rank_range {
    uint32_t world;
    uint32_t first;
    uint32_t last;
};

struct mpiq_rank_set {
    struct mpiq_rank_range *ranges; /* ascending by (world, rank); neither overlapping nor touching */
    uint32_t count;                 /* of ranges */
    uint32_t capacity;
    uint64_t size; /* of ranks */
};

void mpiq_rank_set_deinit(struct mpiq_rank_set *set);

/* Adds a rank, or first to last; in any order, cheapest in ascending order.  False without memory. */
bool mpiq_rank_set_add(struct mpiq_rank_set *set, uint32_t world, uint32_t rank);
bool mpiq_rank_set_add_range(struct mpiq_rank_set *set, uint32_t world, uint32_t first, uint32_t last);
bool mpiq_rank_set_add_set(struct mpiq_rank_set *set, const struct mpiq_rank_set *other);

bool mpiq_rank_set_contains(const struct mpiq_rank_set *set, uint32_t world, uint32_t rank);
/* Whether all of `part` are in it. */
bool mpiq_rank_set_includes(const struct mpiq_rank_set *set, const struct mpiq_rank_set *part);
/* Whether a rank is in both. */
bool mpiq_rank_set_overlaps(const struct mpiq_rank_set *a, const struct mpiq_rank_set *b);
/* The same of two lists of ranges, each in the order of a set. */
bool mpiq_rank_ranges_overlap(const struct mpiq_rank_range *a, uint32_t a_count,
                              const struct mpiq_rank_range *b, uint32_t b_count);
bool mpiq_rank_set_equal(const struct mpiq_rank_set *a, const struct mpiq_rank_set *b);

/* The text, "" for the empty set; the caller frees it, NULL without memory.  Four or more single ranks at
   equal distances are one item with a stride.  most: how many items are spelled out (0: all); a longer text
   ends in ",… (N in all)". */
char *mpiq_rank_set_text(const struct mpiq_rank_set *set, uint32_t most);

/* Whether the text of at most so many items names all ranks. */
bool mpiq_rank_set_fits(const struct mpiq_rank_set *set, uint32_t most);

/* Ranks that the items with a stride of one text may name in all. */
#define MPIQ_RANK_SET_MAX_STRIDED (UINT32_C(1) << 24)

/* Reads such a text ("" is the empty set) and adds what it names to *set; otherwise MPIQ_ERROR_USAGE with a
   sentence, and *set is unchanged.  A stride may miss the range's end: "0-47:2" is 0-46:2. */
struct mpiq_error *mpiq_rank_set_parse(const char *text, struct mpiq_rank_set *set);

#endif
