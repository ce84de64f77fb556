/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/causes.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* ---- families: findings that end at the same place -------------------------------------------------- */

/* Ends of the graph, those that one bug has in common joined. */
struct ends {
    uint32_t *parent;
    uint32_t count;
};

static uint32_t end_of(struct ends *ends, uint32_t end)
{
    while (end != MPIQ_NONE && ends->parent[end] != end)
        end = ends->parent[end] = ends->parent[ends->parent[end]];
    return end;
}

static void join_ends(struct ends *ends, uint32_t a, uint32_t b)
{
    a = end_of(ends, a);
    b = end_of(ends, b);
    if (a != MPIQ_NONE && b != MPIQ_NONE && a != b)
        ends->parent[a > b ? a : b] = a > b ? b : a;
}

/* Whether all ranks of a finding have one and the same bug, wherever they are led to. */
static bool is_one_bug(const struct mpiq_finding *finding)
{
    return finding->kind != MPIQ_FINDING_COLLECTIVE_INCOMPLETE && finding->kind != MPIQ_FINDING_WINDOW_WAIT;
}

static uint32_t process_end(const struct mpiq_analysis *analysis, uint32_t process, struct ends *ends,
                            uint32_t before, bool join)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    const uint32_t *root_of = analysis->explanation->root_of;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(analysis->job, process);
    uint32_t end = before;
    if (analysis->diagnosis->ranks[process].activity == MPIQ_ACTIVITY_GONE)
        end = root_of[mpiq_rank_node(process)];
    for (uint32_t i = 0; rank && i < rank->thread_count; i++) {
        uint32_t thread = rank->first_thread + i;
        if (!mpiq_is_stuck(graph, thread))
            continue;
        uint32_t root = root_of[graph->thread_nodes[thread]];
        if (join)
            join_ends(ends, end, root);
        end = end == MPIQ_NONE ? root : end;
    }
    return end;
}

static uint32_t finding_end(const struct mpiq_analysis *analysis, const struct mpiq_finding *finding,
                            struct ends *ends)
{
    uint32_t end = MPIQ_NONE;
    bool join = is_one_bug(finding);
    for (uint32_t i = 0; i < finding->ranks.count; i++) {
        const struct mpiq_rank_range *range = &finding->ranks.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last && (join || end == MPIQ_NONE); rank++)
            end = process_end(analysis, mpiq_job_process(analysis->job, range->world, rank), ends, end, join);
    }
    return end;
}

static void link_proven(struct mpiq_analysis *analysis, struct ends *ends)
{
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    uint32_t *best _cleanup_free_ = malloc(((size_t)ends->count + 1) * sizeof *best);
    if (!best) {
        analysis->failed = true;
        return;
    }
    memset(best, 0xff, ((size_t)ends->count + 1) * sizeof *best);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        finding->root =
            finding->proven && mpiq_is_of_waits(finding) ? finding_end(analysis, finding, ends) : MPIQ_NONE;
    }
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        diagnosis->findings[i].own_root = diagnosis->findings[i].root;
        diagnosis->findings[i].root = end_of(ends, diagnosis->findings[i].root);
    }
    mpiq_settle_piles(analysis);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        finding->weight = mpiq_finding_weight(analysis, finding);
        uint32_t *first = finding->root == MPIQ_NONE ? NULL : &best[finding->root];
        if (first && (*first == MPIQ_NONE || finding->weight < diagnosis->findings[*first].weight))
            *first = (uint32_t)i;
    }
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        bool own = finding->kind == MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH &&
                   finding->weight == MPIQ_WEIGHT_HELD_UP;
        if (finding->root != MPIQ_NONE && best[finding->root] != i && !own)
            finding->consequence_of = best[finding->root];
    }
}

/* ---- what is not proven ----------------------------------------------------------------------------- */

static bool is_elsewhere(const struct mpiq_finding *finding)
{
    return finding->kind == MPIQ_FINDING_RANK_GONE || finding->kind == MPIQ_FINDING_RANK_STOPPED ||
           finding->kind == MPIQ_FINDING_RANK_ELSEWHERE || finding->kind == MPIQ_FINDING_POLLING_UNMATCHED ||
           finding->kind == MPIQ_FINDING_WINDOW_WAIT || finding->kind == MPIQ_FINDING_FILE_LOCK;
}

/* For calls that not all members have entered: the cause is what the missing members do, as far as the chain
   goes. */
static void link_unproven(struct mpiq_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        bool lock = finding->kind == MPIQ_FINDING_FILE_LOCK;
        if (finding->proven || finding->failed != MPIQ_NONE ||
            (finding->kind != MPIQ_FINDING_COLLECTIVE_INCOMPLETE && !lock))
            continue;
        uint32_t cause = MPIQ_NONE;
        for (size_t j = 0; j < diagnosis->finding_count; j++) {
            const struct mpiq_finding *other = &diagnosis->findings[j];
            bool overlapping = other->kind == MPIQ_FINDING_COLLECTIVE_OVERLAP &&
                               other->comm == finding->comm &&
                               mpiq_rank_set_overlaps(&finding->ranks, &other->ranks);
            if (overlapping) {
                cause = (uint32_t)j;
                break;
            }
            if (i == j || !mpiq_rank_set_overlaps(&finding->missing, &other->ranks))
                continue;
            if (other->failed != MPIQ_NONE) {
                cause = (uint32_t)j;
                break;
            }
            if (is_elsewhere(other) && !(lock && mpiq_rank_set_overlaps(&other->missing, &finding->ranks))) {
                cause = (uint32_t)j;
                break;
            }
            if (lock)
                continue;
            /* The one who is missing waits in a call itself; the earlier call comes first.  Of two that wait
               for each other it is the one that somebody never started: it holds up who waits for it alone;
               or the one that tells whom to look at. */
            bool earlier = other->kind == MPIQ_FINDING_COLLECTIVE_INCOMPLETE &&
                           (!mpiq_rank_set_overlaps(&other->missing, &finding->ranks) ||
                            (other->requests && !finding->requests) ||
                            (other->suspects.size > 0 && finding->suspects.size == 0));
            /* It made a call that does not fit the others': that keeps it. */
            bool mismatch = other->kind == MPIQ_FINDING_COLLECTIVE_MISMATCH ||
                            other->kind == MPIQ_FINDING_COLLECTIVE_LEFT ||
                            other->kind == MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH;
            if (cause == MPIQ_NONE && (other->proven ? mpiq_is_of_waits(other) : earlier || mismatch))
                cause = (uint32_t)j;
        }
        finding->consequence_of = cause;
    }
}

/* A consequence of a consequence is one of its cause. */
static void flatten(struct mpiq_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        uint32_t cause = diagnosis->findings[i].consequence_of;
        for (size_t steps = 0; cause != MPIQ_NONE && steps < diagnosis->finding_count; steps++) {
            uint32_t next = diagnosis->findings[cause].consequence_of;
            if (next == MPIQ_NONE)
                break;
            cause = next == i ? MPIQ_NONE : next;
        }
        diagnosis->findings[i].consequence_of = cause;
    }
}

/* ---- the order -------------------------------------------------------------------------------------- */

static uint64_t order_of(const struct mpiq_finding *finding, size_t index)
{
    return (uint64_t)(finding->consequence_of != MPIQ_NONE) << 48 | (uint64_t)!finding->proven << 40 |
           (uint64_t)finding->weight << 32 | index;
}

struct place {
    uint64_t order;
    uint32_t index;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void put_in_order(struct mpiq_analysis *analysis, const bool *dropped)
{
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    size_t count = diagnosis->finding_count;
    struct place *places _cleanup_free_ = calloc(count + 1, sizeof *places);
    uint32_t *map _cleanup_free_ = calloc(count + 1, sizeof *map);
    struct mpiq_finding *old _cleanup_free_ = calloc(count + 1, sizeof *old);
    if (!places || !map || !old) {
        analysis->failed = true;
        return;
    }
    size_t kept = 0;
    size_t last = count;
    for (size_t i = 0; i < count; i++) {
        old[i] = diagnosis->findings[i];
        size_t at = dropped[i] ? --last : kept++;
        places[at] = (struct place){.order = order_of(&old[i], i), .index = (uint32_t)i};
    }
    qsort(places, kept, sizeof *places, compare_places);
    for (size_t i = 0; i < count; i++)
        map[places[i].index] = (uint32_t)i;
    for (size_t i = 0; i < count; i++) {
        diagnosis->findings[i] = old[places[i].index];
        uint32_t *cause = &diagnosis->findings[i].consequence_of;
        *cause = *cause == MPIQ_NONE ? MPIQ_NONE : map[*cause];
    }
    while (diagnosis->finding_count > kept)
        mpiq_diagnosis_drop_finding(diagnosis);
}

void mpiq_find_causes(struct mpiq_analysis *analysis)
{
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    struct ends ends = {.count = analysis->explanation->root_count};
    uint32_t *parent _cleanup_free_ = malloc(((size_t)ends.count + 1) * sizeof *parent);
    bool *dropped _cleanup_free_ = calloc(diagnosis->finding_count + 1, sizeof *dropped);
    if (!parent || !dropped) {
        analysis->failed = true;
        return;
    }
    ends.parent = parent;
    for (uint32_t i = 0; i < ends.count; i++)
        parent[i] = i;
    mpiq_settle_orders(analysis);
    link_proven(analysis, &ends);
    link_unproven(diagnosis);
    flatten(diagnosis);
    mpiq_merge_causes(analysis, dropped);
    mpiq_widen_circles(analysis, dropped);
    mpiq_drop_said(analysis, dropped);
    put_in_order(analysis, dropped);
}

/* Of a circle through several collectives that some have left for MPI_Finalize: the fewer are to look at. */
static void suspect_leavers(struct mpiq_analysis *analysis, struct mpiq_finding *finding)
{
    struct mpiq_rank_set left _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set stay _cleanup_(mpiq_rank_set_deinit) = {0};
    const char *call = NULL;
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const struct mpiq_evidence *evidence = &finding->evidence[i];
        if (!evidence->finalizes && call && evidence->call && strcmp(call, evidence->call) != 0)
            return; /* those who are left are in more than one call */
        call = evidence->finalizes ? call : evidence->call;
        if (!mpiq_rank_set_add_set(evidence->finalizes ? &left : &stay, &evidence->ranks))
            analysis->failed = true;
    }
    if (left.size > 0 && stay.size > 0 && call && left.size != stay.size && finding->suspects.size == 0 &&
        !mpiq_rank_set_add_set(&finding->suspects, left.size < stay.size ? &left : &stay))
        analysis->failed = true;
}

void mpiq_finish_findings(struct mpiq_analysis *analysis)
{
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        if (finding->consequence_of != MPIQ_NONE)
            mpiq_ranks_beyond(analysis, &diagnosis->findings[finding->consequence_of], finding,
                              &finding->beyond);
        else if (finding->kind == MPIQ_FINDING_WAIT_CYCLE && finding->through == 2)
            suspect_leavers(analysis, finding);
    }
}
