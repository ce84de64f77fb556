/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on which members disagreed although the job ended: the first such call of each communicator. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "job/check_calls.h"
#include "job/collective.h"

/* The calls on one communicator. */
struct view {
    struct mpiq_analysis *analysis;
    const struct mpiq_call_list *list;
    const struct mpiq_calls *calls;
    size_t count;
    uint32_t comm;    /* in communicators; MPIQ_NONE: freed */
    uint32_t members; /* how many ranks */
    uint64_t most;    /* the highest running number of a member */
};

/* Those of one kind, and what the others are compared with: the first of them or, if some members made no
   such call, none. */
struct kind {
    const struct mpiq_calls *calls;
    size_t count;
    struct mpiq_call_sum reference;
};

static struct kind kind_at(const struct view *view, size_t at)
{
    size_t end = at + 1;
    while (end < view->count && mpiq_call_kind_compare(&view->calls[at].kind, &view->calls[end].kind) == 0)
        end++;
    struct kind kind = {.calls = &view->calls[at], .count = end - at};
    if (kind.count == view->members)
        kind.reference = kind.calls->sum;
    return kind;
}

/* The lowest number known to be a call of that kind by some members and not by others; 0: all agree. */
static uint64_t differing(const struct view *view, const struct kind *kind)
{
    uint64_t lowest = 0;
    for (size_t i = 0; i < kind->count; i++) {
        bool own;
        const struct mpiq_call_sum *sum = &kind->calls[i].sum;
        bool repeated =
            i > 0 && sum->count == kind->calls[i - 1].sum.count && sum->sum == kind->calls[i - 1].sum.sum;
        uint64_t number = repeated ? 0 : mpiq_call_difference(sum, &kind->reference, view->most, &own);
        lowest = number > 0 && (lowest == 0 || number < lowest) ? number : lowest;
    }
    return lowest;
}

/* ---- the rings: the last calls of each member ---------------------------------------------------------- */

static const struct mpiq_job_call *ring_call(const struct view *view, uint32_t process, uint64_t number)
{
    const struct mpiq_job_state *job = view->analysis->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    const struct mpiq_job_member *member =
        view->comm == MPIQ_NONE || !rank ? NULL
                                         : mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), view->comm);
    return member ? mpiq_numbered_call(job, member, (int64_t)number) : NULL;
}

static bool is_of_kind(const struct mpiq_call_shape *shape, const struct mpiq_call_kind *kind)
{
    return shape->collective == kind->collective && (kind->root < 0 || shape->root == kind->root) &&
           (!kind->op || shape->op == kind->op) && (kind->bytes < 0 || shape->bytes == kind->bytes);
}

/* The lowest number in the rings under which two members made calls that do not match; else unknown. */
static uint64_t ring_number(const struct view *view)
{
    enum { RING = 16 };
    const struct mpiq_job_state *job = view->analysis->job;
    if (view->comm == MPIQ_NONE)
        return MPIQ_CALL_UNKNOWN;
    const struct mpiq_job_communicator *comm = &job->communicators[view->comm];
    for (uint64_t number = view->most > RING ? view->most - RING + 1 : 1; number <= view->most; number++) {
        const struct mpiq_call_shape *first = NULL;
        for (uint32_t i = 0; i < comm->member_count; i++) {
            const struct mpiq_job_call *call =
                mpiq_numbered_call(job, &job->members[comm->first_member + i], (int64_t)number);
            const struct mpiq_call_shape *shape = call ? &job->shapes[call->shape] : NULL;
            first = first ? first : shape;
            if (shape && (shape->collective != first->collective ||
                          (mpiq_collective_has_root(shape->collective) && comm->remote == MPIQ_NONE &&
                           shape->root != first->root)))
                return number;
        }
    }
    return MPIQ_CALL_UNKNOWN;
}

/* ---- who made the call of a number, and where ---------------------------------------------------------- */

static bool has_number(const struct view *view, const struct kind *kind, const struct mpiq_calls *calls,
                       uint64_t number)
{
    const struct mpiq_job_call *call = ring_call(view, calls->process, number);
    if (call)
        return is_of_kind(&view->analysis->job->shapes[call->shape], &calls->kind);
    bool own = false;
    if (calls->sum.first == number ||
        (mpiq_call_difference(&calls->sum, &kind->reference, view->most, &own) == number && own))
        return true;
    /* As the reference it may have what another one lacks. */
    bool same = calls->sum.count == kind->reference.count && calls->sum.sum == kind->reference.sum;
    for (size_t i = 0; same && i < kind->count; i++) {
        if (mpiq_call_difference(&kind->calls[i].sum, &calls->sum, view->most, &own) == number && !own)
            return true;
    }
    return false;
}

static void add_fact(struct mpiq_analysis *analysis, struct mpiq_clash_side *side,
                     const struct mpiq_job_fact *fact)
{
    if (!mpiq_array_reserve(&side->facts, &side->fact_capacity, side->fact_count + 1)) {
        analysis->failed = true;
        return;
    }
    side->facts[side->fact_count++] = fact;
}

/* Adds a rank's calls to a side: the place of the call of that number, or all that come into question. */
static void add_rank(const struct view *view, struct mpiq_clash_side *side, const struct mpiq_calls *calls,
                     uint64_t number)
{
    const struct mpiq_job_call *call =
        number == MPIQ_CALL_UNKNOWN ? NULL : ring_call(view, calls->process, number);
    const struct mpiq_job_fact *const *facts = &view->list->facts[calls->first_fact];
    const struct mpiq_job_fact *known = NULL;
    side->kind = calls->kind;
    side->calls = calls->sum.count;
    mpiq_analysis_add(view->analysis, &side->ranks, calls->process);
    for (uint32_t i = 0; i < calls->fact_count && !known; i++) {
        if (facts[i]->first == number || (call && call->started == facts[i]->site))
            known = facts[i];
    }
    /* The first one has the lowest numbers. */
    add_fact(view->analysis, side, known ? known : facts[0]);
    for (uint32_t i = 1; i < calls->fact_count && !known; i++) {
        if (facts[i]->first < number)
            add_fact(view->analysis, side, facts[i]);
    }
}

static void find_missing(const struct view *view, struct mpiq_clash *clash)
{
    const struct mpiq_job_state *job = view->analysis->job;
    for (uint32_t i = 0; i < job->fact_count; i++) {
        const struct mpiq_job_fact *fact = &job->facts[i];
        const struct mpiq_job_rank *rank = &job->ranks[fact->rank];
        bool own = i >= rank->first_fact && i - rank->first_fact < rank->fact_count;
        if (own && rank->paused_at_end && fact->kind == MPIQ_FACT_COMMUNICATOR &&
            fact->comm == view->calls->kind.comm && fact->sum < clash->number)
            mpiq_analysis_add(view->analysis, &clash->missing, rank->process);
    }
}

static void find_sides(const struct view *view, struct mpiq_clash *clash)
{
    for (size_t at = 0; at < view->count && clash->count < MPIQ_MOST_SIDES;) {
        struct kind kind = kind_at(view, at);
        at += kind.count;
        if (differing(view, &kind) == 0)
            continue;
        struct mpiq_clash_side *side = &clash->sides[clash->count];
        for (size_t i = 0; i < kind.count; i++) {
            if (has_number(view, &kind, &kind.calls[i], clash->number))
                add_rank(view, side, &kind.calls[i], clash->number);
        }
        clash->count += side->ranks.size > 0;
    }
    find_missing(view, clash);
}

/* Without a number: of the first kind in which members differ, those that agree with each other are a side.
 */
static void find_order(const struct view *view, struct mpiq_clash *clash)
{
    for (size_t at = 0; at < view->count && clash->count == 0;) {
        struct kind kind = kind_at(view, at);
        at += kind.count;
        if (differing(view, &kind) == 0)
            continue;
        const struct mpiq_call_sum *sums[MPIQ_MOST_SIDES] = {0};
        for (size_t i = 0; i < kind.count; i++) {
            const struct mpiq_call_sum *sum = &kind.calls[i].sum;
            size_t side = 0;
            while (side < clash->count && (sums[side]->count != sum->count || sums[side]->sum != sum->sum))
                side++;
            if (side == MPIQ_MOST_SIDES)
                continue;
            sums[side] = sum;
            clash->count += side == clash->count;
            add_rank(view, &clash->sides[side], &kind.calls[i], MPIQ_CALL_UNKNOWN);
        }
    }
}

static int compare_sides(const void *left, const void *right)
{
    const struct mpiq_clash_side *a = left;
    const struct mpiq_clash_side *b = right;
    if (a->ranks.size != b->ranks.size) /* the few are named first */
        return a->ranks.size < b->ranks.size ? -1 : 1;
    uint32_t first = a->ranks.count ? a->ranks.ranges[0].first : 0;
    uint32_t second = b->ranks.count ? b->ranks.ranges[0].first : 0;
    return first < second ? -1 : first > second;
}

/* ---- one communicator ---------------------------------------------------------------------------------- */

static void check_communicator(const struct view *view)
{
    struct mpiq_clash clash = {0};
    for (size_t at = 0; at < view->count;) {
        struct kind kind = kind_at(view, at);
        uint64_t number = differing(view, &kind);
        clash.number = number > 0 && (clash.number == 0 || number < clash.number) ? number : clash.number;
        at += kind.count;
    }
    if (clash.number == 0)
        return;
    if (clash.number == MPIQ_CALL_UNKNOWN)
        clash.number = ring_number(view);
    if (clash.number == MPIQ_CALL_UNKNOWN)
        find_order(view, &clash);
    else
        find_sides(view, &clash);
    if (clash.count > 0) {
        qsort(clash.sides, clash.count, sizeof *clash.sides, compare_sides);
        mpiq_check_add_clash(view->analysis, &clash);
    }
    for (size_t i = 0; i < clash.count; i++) {
        mpiq_rank_set_deinit(&clash.sides[i].ranks);
        free(clash.sides[i].facts);
    }
    mpiq_rank_set_deinit(&clash.missing);
}

/* Finds out how many ranks have the communicator and how many calls one made at most; false: not all of its
   members were read in full. */
static bool find_members(const struct mpiq_job_state *job, uint64_t comm, struct view *view)
{
    uint32_t size = 0;
    view->members = 0;
    view->most = 0;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        const struct mpiq_job_rank *rank = &job->ranks[i];
        for (uint32_t j = 0; rank->paused_at_end && rank->process != MPIQ_NONE && j < rank->fact_count; j++) {
            const struct mpiq_job_fact *fact = &job->facts[rank->first_fact + j];
            if (fact->kind != MPIQ_FACT_COMMUNICATOR || fact->comm != comm)
                continue;
            if (rank->lost_facts > 0)
                return false;
            view->members++;
            view->most = fact->sum > view->most ? fact->sum : view->most;
            size = (uint32_t)fact->comm_size;
        }
    }
    return view->members == size;
}

void mpiq_check_collectives(struct mpiq_analysis *analysis)
{
    struct mpiq_call_list list;
    analysis->failed |= !mpiq_call_list_init(&list, analysis->job);
    for (size_t i = 0; i < list.count && !analysis->failed;) {
        size_t end = i + 1;
        while (end < list.count && list.list[end].kind.comm == list.list[i].kind.comm)
            end++;
        struct view view = {.analysis = analysis, .list = &list, .calls = &list.list[i], .count = end - i};
        view.comm = mpiq_check_comm_index(analysis, list.facts[list.list[i].first_fact]);
        if (find_members(analysis->job, view.calls->kind.comm, &view) && view.members > 1)
            check_communicator(&view);
        i = end;
    }
    mpiq_call_list_deinit(&list);
}
