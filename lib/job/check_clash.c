/* SPDX-License-Identifier: BSD-3-Clause */
/* The finding about members that disagree on a collective. */
#include <string.h>

#include "job/check_calls.h"

/* What that side gave for an argument: its name, or *number. */
static const char *value_of(struct mpiq_analysis *analysis, const struct mpiq_clash_side *side,
                            const char *field, int64_t *number)
{
    const char *op = mpiq_job_string(analysis->job, side->kind.op);
    *number = strcmp(field, "root") == 0 ? side->kind.root : side->kind.bytes;
    if (strcmp(field, "root") == 0 || strcmp(field, "bytes") == 0)
        return NULL;
    if (strcmp(field, "op") == 0)
        return op && op[0] ? op : "not known";
    const char *base = side->fact_count ? mpiq_job_string(analysis->job, side->facts[0]->base_name) : NULL;
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

static void add_side(struct mpiq_analysis *analysis, struct mpiq_finding *finding,
                     const struct mpiq_clash_side *side)
{
    analysis->failed |= !mpiq_rank_set_add_set(&finding->ranks, &side->ranks);
    for (uint32_t i = 0; i < side->fact_count; i++)
        mpiq_check_site(analysis, finding, side->facts[i]);
    if (finding->kind == MPIQ_FINDING_COLLECTIVE_MISMATCH && finding->number > 0) {
        struct mpiq_finding_call *call = mpiq_finding_add_call(finding);
        analysis->failed |= !call || !mpiq_rank_set_add_set(&call->ranks, &side->ranks);
        if (call)
            call->collective = mpiq_collective_name(side->kind.collective);
    } else if (finding->field) {
        struct mpiq_finding_value *value = mpiq_finding_add_value(finding);
        analysis->failed |= !value || !mpiq_rank_set_add_set(&value->ranks, &side->ranks);
        if (value)
            value->name = value_of(analysis, side, finding->field, &value->number);
    }
}

static bool same_place(const struct mpiq_job_state *job, uint32_t a, uint32_t b)
{
    const struct mpiq_site *x = &job->sites[a];
    const struct mpiq_site *y = &job->sites[b];
    return a == b || (x->file == y->file && x->line == y->line && x->function == y->function &&
                      x->called_at == y->called_at);
}

/* Of several places that come into question for a rank the first two. */
static struct mpiq_finding_side side_of(struct mpiq_analysis *analysis, const struct mpiq_clash_side *side,
                                        const char *field)
{
    struct mpiq_finding_side ret = {.ranks = mpiq_arena_ranks(analysis, &side->ranks),
                                    .collective = mpiq_collective_name(side->kind.collective),
                                    .times = side->calls,
                                    .site = side->fact_count > 0 ? side->facts[0]->site : MPIQ_NONE,
                                    .or_site = MPIQ_NONE};
    for (uint32_t i = 1; i < side->fact_count && ret.or_site == MPIQ_NONE; i++) {
        const struct mpiq_job_fact *fact = side->facts[i];
        if (fact->site != MPIQ_NONE && fact->rank == side->facts[0]->rank &&
            (ret.site == MPIQ_NONE || !same_place(analysis->job, fact->site, ret.site)))
            ret.or_site = fact->site;
    }
    if (field)
        ret.name = value_of(analysis, side, field, &ret.number);
    return ret;
}

void mpiq_check_add_clash(struct mpiq_analysis *analysis, const struct mpiq_clash *clash)
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
    struct mpiq_finding *finding = mpiq_diagnosis_add_finding(analysis->diagnosis, kind);
    if (!finding) {
        analysis->failed = true;
        return;
    }
    const struct mpiq_job_fact *fact = first->facts[0];
    finding->comm = mpiq_check_comm_index(analysis, fact);
    finding->number = numbered ? (int64_t)clash->number : 0;
    finding->collective =
        kind == MPIQ_FINDING_COLLECTIVE_MISMATCH ? NULL : mpiq_collective_name(first->kind.collective);
    finding->field = field;
    for (size_t i = 0; i < clash->count; i++)
        add_side(analysis, finding, &clash->sides[i]);
    if (kind == MPIQ_FINDING_COLLECTIVE_INCOMPLETE)
        analysis->failed |= !mpiq_rank_set_add_set(&finding->missing, &clash->missing) ||
                            !mpiq_rank_set_add_set(&finding->suspects, &clash->missing);
    struct mpiq_finding_side *sides = mpiq_arena_alloc(analysis->arena, clash->count * sizeof *sides);
    analysis->failed = analysis->failed || !sides;
    for (size_t i = 0; sides && i < clash->count; i++)
        sides[i] = side_of(analysis, &clash->sides[i], field);
    finding->sides = sides;
    finding->side_count = sides ? clash->count : 0;
    finding->fact = (uint32_t)(fact - analysis->job->facts);
}
