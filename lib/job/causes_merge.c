/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings that say the same about other ranks (one bug, seen on many communicators), or that say no more
   than their cause. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_table.h"
#include "job/causes.h"
#include "job/evidence.h"

static bool same_evidence(const struct mpiq_finding *a, const struct mpiq_finding *b)
{
    if (a->evidence_count != b->evidence_count)
        return false;
    for (size_t i = 0; i < a->evidence_count; i++) {
        if (a->evidence[i].site != b->evidence[i].site ||
            !mpiq_same_string(a->evidence[i].call, b->evidence[i].call))
            return false;
    }
    return true;
}

/* Whether the user tells two communicators apart no more: they have one name, or one line made them. */
static bool are_alike(const struct mpiq_job_state *job, uint32_t a, uint32_t b)
{
    const struct mpiq_job_communicator *x = &job->communicators[a];
    const struct mpiq_job_communicator *y = &job->communicators[b];
    return mpiq_same_communicator(job, a, b) ||
           (x->named_by != MPIQ_NAMED_BY_USER && y->named_by != MPIQ_NAMED_BY_USER && x->made != MPIQ_NONE &&
            x->made == y->made && x->made_by == y->made_by);
}

static bool is_same_bug(const struct mpiq_job_state *job, const struct mpiq_finding *a,
                        const struct mpiq_finding *b)
{
    if (a->kind != b->kind || a->proven != b->proven || a->comm == MPIQ_NONE || b->comm == MPIQ_NONE ||
        a->comm == b->comm || !are_alike(job, a->comm, b->comm))
        return false;
    switch (a->kind) {
    case MPIQ_FINDING_COLLECTIVE_INCOMPLETE:
        return mpiq_same_string(a->collective, b->collective) && same_evidence(a, b);
    case MPIQ_FINDING_COLLECTIVE_MISMATCH:
    case MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH:
        return a->number == b->number && mpiq_same_string(a->field, b->field) &&
               mpiq_same_string(a->collective, b->collective) && a->call_count == b->call_count &&
               a->value_count == b->value_count && same_evidence(a, b);
    default:
        return false;
    }
}

static void add_set(struct mpiq_analysis *analysis, struct mpiq_rank_set *set,
                    const struct mpiq_rank_set *more)
{
    if (!mpiq_rank_set_add_set(set, more))
        analysis->failed = true;
}

static void merge(struct mpiq_analysis *analysis, struct mpiq_finding *into, const struct mpiq_finding *from)
{
    add_set(analysis, &into->ranks, &from->ranks);
    add_set(analysis, &into->missing, &from->missing);
    add_set(analysis, &into->others, &from->others);
    add_set(analysis, &into->suspects, &from->suspects);
    into->since = from->since > into->since ? from->since : into->since;
    for (size_t i = 0; i < into->evidence_count && i < from->evidence_count; i++) {
        add_set(analysis, &into->evidence[i].ranks, &from->evidence[i].ranks);
        mpiq_relation_merge(&into->evidence[i].relation, &from->evidence[i].relation);
    }
    for (size_t i = 0; i < into->site_count && i < from->site_count; i++)
        add_set(analysis, &into->sites[i].ranks, &from->sites[i].ranks);
    for (size_t i = 0; i < into->call_count && i < from->call_count; i++)
        add_set(analysis, &into->calls[i].ranks, &from->calls[i].ranks);
    for (size_t i = 0; i < into->value_count && i < from->value_count; i++)
        add_set(analysis, &into->values[i].ranks, &from->values[i].ranks);
    into->communicators++;
}

/* Causes to compare with; of more kinds of bugs at once the rest is left as it is. */
enum { MOST_KINDS = 64 };

void mpiq_merge_causes(struct mpiq_analysis *analysis, bool *dropped)
{
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    uint32_t kinds[MOST_KINDS];
    uint32_t count = 0;
    uint32_t *moved _cleanup_free_ = malloc((diagnosis->finding_count + 1) * sizeof *moved);
    if (!moved) {
        analysis->failed = true;
        return;
    }
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        moved[i] = (uint32_t)i;
    /* Causes first.  Then what is taken for a consequence because a third finding is about ranks of both. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < diagnosis->finding_count; i++) {
            struct mpiq_finding *finding = &diagnosis->findings[i];
            uint32_t at = 0;
            if ((finding->consequence_of == MPIQ_NONE) != (pass == 0))
                continue;
            while (at < count &&
                   ((pass == 1 && (moved[finding->consequence_of] != kinds[at] ||
                                   diagnosis->findings[kinds[at]].own_root == finding->own_root)) ||
                    !is_same_bug(analysis->job, &diagnosis->findings[kinds[at]], finding)))
                at++;
            if (at < count) {
                merge(analysis, &diagnosis->findings[kinds[at]], finding);
                dropped[i] = true;
                moved[i] = kinds[at];
            } else if (count < MOST_KINDS && pass == 0) {
                kinds[count++] = (uint32_t)i;
            }
        }
    }
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        if (diagnosis->findings[i].consequence_of != MPIQ_NONE)
            diagnosis->findings[i].consequence_of = moved[diagnosis->findings[i].consequence_of];
    }
}

static bool is_named(const struct mpiq_finding *cause, uint32_t world, uint32_t rank)
{
    return mpiq_rank_set_contains(&cause->ranks, world, rank) ||
           mpiq_rank_set_contains(&cause->missing, world, rank) ||
           mpiq_rank_set_contains(&cause->others, world, rank) ||
           mpiq_rank_set_contains(&cause->suspects, world, rank);
}

void mpiq_ranks_beyond(struct mpiq_analysis *analysis, const struct mpiq_finding *cause,
                       const struct mpiq_finding *finding, struct mpiq_rank_set *ret)
{
    for (uint32_t i = 0; i < finding->ranks.count; i++) {
        const struct mpiq_rank_range *range = &finding->ranks.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++) {
            if (!is_named(cause, range->world, rank) && !mpiq_rank_set_add(ret, range->world, rank))
                analysis->failed = true;
        }
    }
}

static bool is_same_consequence(const struct mpiq_job_state *job, const struct mpiq_finding *a,
                                const struct mpiq_finding *b)
{
    return a->consequence_of == b->consequence_of && a->kind == b->kind &&
           mpiq_same_string(a->collective, b->collective) && mpiq_same_communicator(job, a->comm, b->comm) &&
           a->evidence_count > 0 && b->evidence_count > 0 && a->evidence[0].site == b->evidence[0].site;
}

/* Whether two kinds of messages have each other's tag: what is sent with one is received with the other. */
static bool is_swapped(const struct mpiq_job_state *job, const struct mpiq_finding *a,
                       const struct mpiq_finding *b)
{
    if (a->kind != b->kind ||
        (a->kind != MPIQ_FINDING_RECEIVE_UNMATCHED && a->kind != MPIQ_FINDING_SEND_UNMATCHED) ||
        !mpiq_same_communicator(job, a->comm, b->comm) || a->near_miss_count == 0 || b->near_miss_count == 0)
        return false;
    const struct mpiq_job_operation *wanted[] = {&job->operations[a->operation],
                                                 &job->operations[b->operation]};
    const struct mpiq_near_miss *misses[] = {&a->near_misses[0], &b->near_misses[0]};
    for (int i = 0; i < 2; i++) {
        const struct mpiq_job_operation *there = &job->operations[misses[i]->operation];
        if (misses[i]->differs != MPIQ_MISS_TAG || wanted[i]->tag_any || there->tag_any ||
            there->tag != wanted[1 - i]->tag)
            return false;
    }
    return a->alike_misses >= a->ranks.size && b->alike_misses >= b->ranks.size;
}

/* Of two receivers whose tags the same rank has mixed up, each got what the other one waits for: it is that
   rank that is not like the others. */
static void suspect_sender(struct mpiq_analysis *analysis, struct mpiq_finding *cause,
                           const struct mpiq_finding *swapped)
{
    const struct mpiq_near_miss *a = &cause->near_misses[0], *b = &swapped->near_misses[0];
    if (cause->kind == MPIQ_FINDING_RECEIVE_UNMATCHED && a->process == b->process &&
        cause->near_miss_count == 1 && swapped->near_miss_count == 1 && cause->ranks.size == 2)
        mpiq_analysis_add(analysis, &cause->suspects, a->process);
}

void mpiq_drop_said(struct mpiq_analysis *analysis, bool *dropped)
{
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    uint32_t kept[MOST_KINDS];
    uint32_t count = 0;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        if (dropped[i] || finding->consequence_of == MPIQ_NONE)
            continue;
        struct mpiq_finding *cause = &diagnosis->findings[finding->consequence_of];
        if (is_swapped(analysis->job, cause, finding)) {
            mpiq_add_evidence_of(analysis, cause, &finding->ranks);
            add_set(analysis, &cause->ranks, &finding->ranks);
            add_set(analysis, &cause->others, &finding->others);
            cause->since = finding->since > cause->since ? finding->since : cause->since;
            cause->swapped = dropped[i] = true;
            suspect_sender(analysis, cause, finding);
            continue;
        }
        struct mpiq_rank_set beyond _cleanup_(mpiq_rank_set_deinit) = {0};
        mpiq_ranks_beyond(analysis, cause, finding, &beyond);
        dropped[i] = beyond.size == 0 || finding->kind == MPIQ_FINDING_WAIT_CYCLE;
        for (uint32_t j = 0; !dropped[i] && j < count; j++) {
            struct mpiq_finding *known = &diagnosis->findings[kept[j]];
            if (!is_same_consequence(analysis->job, known, finding))
                continue;
            merge(analysis, known, finding);
            dropped[i] = true;
        }
        if (!dropped[i] && count < MOST_KINDS)
            kept[count++] = (uint32_t)i;
        else
            dropped[i] = true;
    }
}

void mpiq_widen_circles(struct mpiq_analysis *analysis, bool *dropped)
{
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &diagnosis->findings[i];
        struct mpiq_finding *circle =
            finding->consequence_of == MPIQ_NONE ? NULL : &diagnosis->findings[finding->consequence_of];
        if (dropped[i] || !circle || circle->kind != MPIQ_FINDING_WAIT_CYCLE || circle->through != 2 ||
            finding->kind != MPIQ_FINDING_COLLECTIVE_INCOMPLETE ||
            !mpiq_rank_set_overlaps(&finding->ranks, &circle->ranks))
            continue;
        mpiq_add_evidence_of(analysis, circle, &finding->ranks);
        for (size_t j = 0; j < finding->site_count && circle->site_count > 0; j++) {
            for (size_t k = 0; k < circle->site_count; k++) {
                if (circle->sites[k].line == finding->sites[j].line &&
                    mpiq_same_string(circle->sites[k].call, finding->sites[j].call) &&
                    mpiq_same_string(circle->sites[k].file, finding->sites[j].file))
                    add_set(analysis, &circle->sites[k].ranks, &finding->sites[j].ranks);
            }
        }
        add_set(analysis, &circle->ranks, &finding->ranks);
        dropped[i] = true;
    }
}
