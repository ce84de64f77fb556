/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_calls - the collectives that each rank of an ended job counted, and how two ranks' counts differ;
 * private to lib/job/check_*.c.
 *
 * A rank counts its calls of one kind (class and arguments) with the lowest of their running numbers and a
 * sum over all of them.  The numbers themselves are not kept; they follow from the difference of two ranks'
 * sums as long as the ranks differ by one or two calls.
 */
#ifndef MPIQ_CHECK_CALLS_H
#define MPIQ_CHECK_CALLS_H

#include "job/find.h"

/* What must be the same on all members; what need not, or is not known of all, is left out. */
struct mpiq_call_kind {
    uint64_t comm;
    int collective;
    int32_t root;
    mpiq_string_id op;
    int64_t bytes;
    uint64_t signature;
};

/* How often, and under which running numbers.  A count of 0: never. */
struct mpiq_call_sum {
    uint64_t count;
    uint64_t sum; /* of mpiq_record_mix(number) */
    uint64_t first;
};

/* The calls of one kind by one rank. */
struct mpiq_calls {
    struct mpiq_call_kind kind;
    struct mpiq_call_sum sum;
    uint32_t process;
    uint32_t first_fact; /* in facts: one for each place in the program */
    uint32_t fact_count;
};

struct mpiq_call_list {
    const struct mpiq_job_fact **facts;
    struct mpiq_calls *list; /* by communicator, kind, rank */
    size_t count;
};

/* The calls of all ranks that are paused at their end.  False: out of memory.  The caller frees in any case.
 */
bool mpiq_call_list_init(struct mpiq_call_list *list, const struct mpiq_job_state *job);
void mpiq_call_list_deinit(struct mpiq_call_list *list);
int mpiq_call_kind_compare(const struct mpiq_call_kind *a, const struct mpiq_call_kind *b);

/* 0: the same calls.  MPIQ_CALL_UNKNOWN: not the same, and no number is known.  Else the lowest number known
   to be one rank's and not the other's; *in_a: it is a's.  most: numbers are not higher. */
#define MPIQ_CALL_UNKNOWN UINT64_MAX
uint64_t mpiq_call_difference(const struct mpiq_call_sum *a, const struct mpiq_call_sum *b, uint64_t most,
                              bool *in_a);

/* Ranks that made the same call, and where: facts, as many as places come into question. */
struct mpiq_clash_side {
    struct mpiq_call_kind kind;
    struct mpiq_rank_set ranks;
    const struct mpiq_job_fact **facts; /* of each rank those of the places that come into question */
    uint32_t fact_count;
    uint32_t fact_capacity;
    uint64_t calls; /* how many; where no number is known */
};

enum { MPIQ_MOST_SIDES = 8 };

/* A disagreement of a communicator's members. */
struct mpiq_clash {
    uint64_t number; /* of the call; MPIQ_CALL_UNKNOWN */
    struct mpiq_clash_side sides[MPIQ_MOST_SIDES];
    size_t count;
    struct mpiq_rank_set missing; /* have made fewer calls */
};

/* check_clash.c: makes the finding. */
void mpiq_check_add_clash(struct mpiq_analysis *analysis, const struct mpiq_clash *clash);

#endif
