/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of members that disagree on a collective. */
#include <string.h>

#include "job/check_calls.h"

static const char *value_of(struct mpiq_finder *finder, const struct mpiq_clash_side *side, const char *field)
{
    const char *op = mpiq_job_string(finder->job, side->kind.op);
    if (strcmp(field, "root") == 0)
        return WORDS(finder->arena, "%d", side->kind.root);
    if (strcmp(field, "op") == 0)
        return op && op[0] ? op : "not known";
    if (strcmp(field, "bytes") == 0)
        return WORDS(finder->arena, "%lld", (long long)side->kind.bytes);
    const char *base = side->fact_count ? mpiq_job_string(finder->job, side->facts[0]->base_name) : NULL;
    return base && base[0] ? base : "no elements";
}

/* The argument in which two calls of one class differ; NULL: in none that is known. */
static const char *field_of(const struct mpiq_call_kind *a, const struct mpiq_call_kind *b)
{
    return a->root != b->root             ? "root"
           : a->op != b->op               ? "op"
           : a->bytes != b->bytes         ? "bytes"
           : a->signature != b->signature ? "type"
                                          : NULL;
}

static void add_side(struct mpiq_finder *finder, struct mpiq_finding *finding,
                     const struct mpiq_clash_side *side)
{
    finder->failed |= !mpiq_rank_set_add_set(&finding->ranks, &side->ranks);
    for (uint32_t i = 0; i < side->fact_count; i++)
        mpiq_check_site(finder, finding, side->facts[i]);
    if (finding->kind == MPIQ_FINDING_COLLECTIVE_MISMATCH && finding->number > 0) {
        struct mpiq_finding_call *call = mpiq_finding_add_call(finding);
        finder->failed |= !call || !mpiq_rank_set_add_set(&call->ranks, &side->ranks);
        if (call)
            call->collective = mpiq_collective_name(side->kind.collective);
    } else if (finding->field) {
        struct mpiq_finding_value *value = mpiq_finding_add_value(finding);
        finder->failed |= !value || !mpiq_rank_set_add_set(&value->ranks, &side->ranks);
        if (value)
            value->value = value_of(finder, side, finding->field);
    }
}

/* "MPI_Bcast at solver.c:12": of several places that come into question for a rank the first two. */
static const char *call_words(struct mpiq_finder *finder, const struct mpiq_clash_side *side)
{
    const char *first = side->fact_count ? mpiq_check_at(finder, side->facts[0]) : "";
    const char *text = WORDS(finder->arena, "%s%s", mpiq_collective_name(side->kind.collective), first);
    for (uint32_t i = 1; i < side->fact_count; i++) {
        const char *place = mpiq_words_place(finder->arena, finder->job, side->facts[i]->site);
        if (place[0] && side->facts[i]->rank == side->facts[0]->rank &&
            strcmp(mpiq_check_at(finder, side->facts[i]), first) != 0)
            return WORDS(finder->arena, "%s or %s", text, place);
    }
    return text;
}

/* The number is not known: how the members differ all the same. */
static const char *order_words(struct mpiq_finder *finder, const struct mpiq_clash *clash, const char *comm)
{
    struct mpiq_arena *arena = finder->arena;
    const struct mpiq_clash_side *first = &clash->sides[0];
    const char *who = mpiq_words_ranks(arena, &first->ranks);
    const struct mpiq_clash_side *second = clash->count > 1 ? &clash->sides[1] : NULL;
    if (!second)
        return WORDS(arena, "%s called %s on %s, the other ranks did not", who, call_words(finder, first),
                     comm);
    if (first->calls != second->calls)
        return WORDS(arena, "%s called %s %llu times on %s, %s %llu times", who, call_words(finder, first),
                     (unsigned long long)first->calls, comm, mpiq_words_ranks(arena, &second->ranks),
                     (unsigned long long)second->calls);
    return WORDS(arena, "%s called their collectives on %s in another order than %s: %s among them", who,
                 comm, mpiq_words_ranks(arena, &second->ranks), mpiq_collective_name(first->kind.collective));
}

static const char *number_words(struct mpiq_finder *finder, const struct mpiq_clash *clash, const char *comm,
                                const char *field)
{
    struct mpiq_arena *arena = finder->arena;
    unsigned long long number = clash->number;
    const struct mpiq_clash_side *first = &clash->sides[0];
    const struct mpiq_clash_side *second = &clash->sides[1];
    const char *who = mpiq_words_ranks(arena, &first->ranks);
    const char *name = mpiq_collective_name(first->kind.collective);
    if (clash->count == 1 && clash->missing.size > 0)
        return WORDS(arena, "%s never entered %s, collective %llu on %s, which %s called",
                     mpiq_words_ranks(arena, &clash->missing), call_words(finder, first), number, comm, who);
    if (clash->count == 1)
        return WORDS(arena, "collective %llu on %s: %s called %s, the other ranks did not", number, comm, who,
                     call_words(finder, first));
    if (field)
        return WORDS(arena, "%s called %s with %s %s, %s with %s %s (collective %llu on %s)", who, name,
                     field, value_of(finder, first, field), mpiq_words_ranks(arena, &second->ranks), field,
                     value_of(finder, second, field), number, comm);
    const char *text = WORDS(arena, "collective %llu on %s:", number, comm);
    for (size_t i = 0; i < clash->count; i++)
        text = WORDS(arena, "%s%s %s called %s", text, i ? "," : "",
                     mpiq_words_ranks(arena, &clash->sides[i].ranks), call_words(finder, &clash->sides[i]));
    return text;
}

void mpiq_check_say_clash(struct mpiq_finder *finder, const struct mpiq_clash *clash)
{
    const struct mpiq_clash_side *first = &clash->sides[0];
    const struct mpiq_clash_side *second = clash->count > 1 ? &clash->sides[1] : NULL;
    bool numbered = clash->number != MPIQ_CALL_UNKNOWN;
    const char *field = second ? field_of(&first->kind, &second->kind) : NULL;
    if (second && first->kind.collective != second->kind.collective)
        field = NULL;
    enum mpiq_finding_kind kind = field                            ? strcmp(field, "type") == 0
                                                                         ? MPIQ_FINDING_TYPE_MISMATCH
                                                                         : MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH
                                  : clash->missing.size && !second ? MPIQ_FINDING_COLLECTIVE_INCOMPLETE
                                                                   : MPIQ_FINDING_COLLECTIVE_MISMATCH;
    struct mpiq_finding *finding = mpiq_diagnosis_add_finding(finder->diagnosis, kind);
    if (!finding) {
        finder->failed = true;
        return;
    }
    const struct mpiq_job_fact *fact = first->facts[0];
    finding->comm = mpiq_check_comm_index(finder, fact);
    finding->number = numbered ? (int64_t)clash->number : 0;
    finding->collective =
        kind == MPIQ_FINDING_COLLECTIVE_MISMATCH ? NULL : mpiq_collective_name(first->kind.collective);
    finding->field = field;
    for (size_t i = 0; i < clash->count; i++)
        add_side(finder, finding, &clash->sides[i]);
    if (kind == MPIQ_FINDING_COLLECTIVE_INCOMPLETE)
        finder->failed |= !mpiq_rank_set_add_set(&finding->missing, &clash->missing) ||
                          !mpiq_rank_set_add_set(&finding->suspects, &clash->missing);
    const char *comm = mpiq_check_comm(finder, fact);
    finding->text = numbered ? number_words(finder, clash, comm, field) : order_words(finder, clash, comm);
}
