/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/check_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"

#define COMPARE(a, b)                  \
    do {                               \
        if ((a) != (b))                \
            return (a) < (b) ? -1 : 1; \
    } while (0)

int mpiq_call_kind_compare(const struct mpiq_call_kind *a, const struct mpiq_call_kind *b)
{
    COMPARE(a->comm, b->comm);
    COMPARE(a->collective, b->collective);
    COMPARE(a->root, b->root);
    COMPARE(a->op, b->op);
    COMPARE(a->bytes, b->bytes);
    COMPARE(a->signature, b->signature);
    return 0;
}

/* ---- the list ------------------------------------------------------------------------------------------ */

/* One fact with its kind, while the list is made. */
struct row {
    struct mpiq_call_kind kind;
    uint32_t process;
    const struct mpiq_job_fact *fact;
};

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left;
    const struct row *b = right;
    int order = mpiq_call_kind_compare(&a->kind, &b->kind);
    if (order)
        return order;
    COMPARE(a->process, b->process);
    COMPARE(a->fact->first, b->fact->first);
    return 0;
}

static struct row row_of(const struct mpiq_job_rank *rank, const struct mpiq_job_fact *fact)
{
    return (struct row){
        .kind = {.comm = fact->comm,
                 .collective = fact->collective,
                 .root = mpiq_collective_has_root(fact->collective) ? fact->peer : -1,
                 .op = mpiq_collective_has_op(fact->collective) ? fact->op : 0,
                 .bytes = fact->bytes,
                 .signature = fact->signature},
        .process = rank->process,
        .fact = fact,
    };
}

/* A length or type that one member does not tell, as with MPI_IN_PLACE, is compared with none. */
static void hide_unknown(struct row *rows, size_t count)
{
    for (size_t i = 0; i < count;) {
        bool bytes = mpiq_collective_has_bytes(rows[i].kind.collective);
        bool signature = true;
        size_t end = i;
        while (end < count && rows[end].kind.comm == rows[i].kind.comm &&
               rows[end].kind.collective == rows[i].kind.collective) {
            bytes = bytes && rows[end].fact->bytes >= 0;
            signature = signature && rows[end].fact->base != MPIQ_FACT_BASE_ANY;
            end++;
        }
        for (; i < end; i++) {
            rows[i].kind.bytes = bytes ? rows[i].kind.bytes : -1;
            rows[i].kind.signature = bytes && signature ? rows[i].kind.signature : 0;
        }
    }
}

/* Calls of one rank that differ by their place alone are of one kind. */
static void join(struct mpiq_call_list *list, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct mpiq_calls *last = list->count > 0 ? &list->list[list->count - 1] : NULL;
        const struct mpiq_job_fact *fact = rows[i].fact;
        list->facts[i] = fact;
        if (!last || last->process != rows[i].process ||
            mpiq_call_kind_compare(&last->kind, &rows[i].kind) != 0) {
            last = &list->list[list->count++];
            *last = (struct mpiq_calls){.kind = rows[i].kind,
                                        .process = rows[i].process,
                                        .sum.first = fact->first,
                                        .first_fact = (uint32_t)i};
        }
        last->sum.count += fact->count;
        last->sum.sum += fact->sum;
        last->fact_count++;
    }
}

bool mpiq_call_list_init(struct mpiq_call_list *list, const struct mpiq_job_state *job)
{
    size_t room = (size_t)job->fact_count + 1;
    struct row *rows _cleanup_free_ = calloc(room, sizeof *rows);
    *list = (struct mpiq_call_list){.facts = calloc(room, sizeof(const struct mpiq_job_fact *)),
                                    .list = calloc(room, sizeof *list->list)};
    if (!rows || !list->facts || !list->list)
        return false;
    size_t count = 0;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        const struct mpiq_job_rank *rank = &job->ranks[i];
        for (uint32_t j = 0; rank->paused_at_end && rank->process != MPIQ_NONE && j < rank->fact_count; j++) {
            const struct mpiq_job_fact *fact = &job->facts[rank->first_fact + j];
            if (fact->kind == MPIQ_FACT_COLLECTIVE && fact->comm != 0 && fact->count > 0 &&
                !(fact->comm_flags & MPIQ_COMM_SELF))
                rows[count++] = row_of(rank, fact);
        }
    }
    if (count == 0)
        return true;
    qsort(rows, count, sizeof *rows, compare_rows);
    hide_unknown(rows, count);
    qsort(rows, count, sizeof *rows, compare_rows);
    join(list, rows, count);
    return true;
}

void mpiq_call_list_deinit(struct mpiq_call_list *list)
{
    free(list->facts);
    free(list->list);
}

/* ---- differences --------------------------------------------------------------------------------------- */

/* The inverse of mpiq_record_mix: murmur's finalizer, backwards. */
static uint64_t unmix(uint64_t value)
{
    value = (value ^ value >> 33) * UINT64_C(0x9cb4b2f8129337db);
    value = (value ^ value >> 33) * UINT64_C(0x4f74430c22a54005);
    return value ^ value >> 33;
}

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 33) * UINT64_C(0xff51afd7ed558ccd);
    value = (value ^ value >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return value ^ value >> 33;
}

/* The lowest number of a call that one made and the other made under another number, if that is all in which
   they differ.  Takes a hundredth of a second. */
static uint64_t moved_call(const struct mpiq_call_sum *a, const struct mpiq_call_sum *b, uint64_t most,
                           bool *in_a)
{
    enum { MOST_TRIED = 1 << 22 };
    uint64_t difference = a->sum - b->sum;
    for (uint64_t number = 1; number <= most && number <= MOST_TRIED; number++) {
        uint64_t others = unmix(mix(number) - difference); /* a's is `number` */
        if (others < 1 || others > most)
            continue;
        *in_a = number < others;
        return number < others ? number : others;
    }
    return MPIQ_CALL_UNKNOWN;
}

uint64_t mpiq_call_difference(const struct mpiq_call_sum *a, const struct mpiq_call_sum *b, uint64_t most,
                              bool *in_a)
{
    if (a->count == b->count && a->sum == b->sum)
        return 0;
    uint64_t first_a = a->count ? a->first : UINT64_MAX;
    uint64_t first_b = b->count ? b->first : UINT64_MAX;
    if (first_a != first_b) {
        *in_a = first_a < first_b;
        return *in_a ? first_a : first_b;
    }
    if (a->count == b->count)
        return moved_call(a, b, most, in_a);
    *in_a = a->count > b->count;
    const struct mpiq_call_sum *more = *in_a ? a : b;
    const struct mpiq_call_sum *less = *in_a ? b : a;
    uint64_t number = more->count - less->count == 1 ? unmix(more->sum - less->sum) : 0;
    return number >= 1 && number <= most ? number : MPIQ_CALL_UNKNOWN;
}
