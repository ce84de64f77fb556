/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/causes.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/evidence.h"

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

static uint32_t process_end(const struct mpiq_finder *finder, uint32_t process, struct ends *ends,
                            uint32_t before, bool join)
{
    const struct mpiq_wait_graph *graph = finder->graph;
    const uint32_t *root_of = finder->explanation->root_of;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(finder->job, process);
    uint32_t end = before;
    if (finder->diagnosis->ranks[process].doing == MPIQ_DOING_GONE)
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

static uint32_t finding_end(const struct mpiq_finder *finder, const struct mpiq_finding *finding,
                            struct ends *ends)
{
    uint32_t end = MPIQ_NONE;
    bool join = is_one_bug(finding);
    for (uint32_t i = 0; i < finding->ranks.count; i++) {
        const struct mpiq_rank_range *range = &finding->ranks.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last && (join || end == MPIQ_NONE); rank++)
            end = process_end(finder, mpiq_job_process(finder->job, range->world, rank), ends, end, join);
    }
    return end;
}

/* ---- the finding of a family that is nearest to the bug --------------------------------------------- */

static bool has_near_miss(const struct mpiq_finding *finding)
{
    return finding->never_started != MPIQ_NONE ||
           (finding->near_miss_count > 0 && finding->near_misses[0].differs != MPIQ_MISS_DESTINATION);
}

static bool is_message(const struct mpiq_finding *finding)
{
    return finding->kind == MPIQ_FINDING_RECEIVE_UNMATCHED || finding->kind == MPIQ_FINDING_SEND_UNMATCHED;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether one place comes before another in one function. */
static bool is_before(const struct mpiq_finding_site *a, const struct mpiq_finding_site *b)
{
    return a->line > 0 && a->line < b->line && same_text(a->file, b->file) &&
           same_text(a->function, b->function);
}

/* Whether a process has made a call at that place and returned from it, by its last calls. */
static bool has_passed(const struct mpiq_job_state *job, uint32_t process, uint32_t site)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    for (uint32_t i = 0; rank && site != MPIQ_NONE && i < rank->past_count; i++) {
        const struct mpiq_job_past_call *call = &job->past_calls[rank->first_past + i];
        const struct mpiq_site *past = call->site == MPIQ_NONE ? NULL : &job->sites[call->site];
        if (past && call->end_ns > 0 && past->line > 0 && past->line == job->sites[site].line &&
            past->file == job->sites[site].file)
            return true;
    }
    return false;
}

/* Whether one of those whom a message is awaited from was where it is awaited, and went on. */
static bool went_on(const struct mpiq_job_state *job, const struct mpiq_finding *message)
{
    const struct mpiq_rank_set *suspects = &message->suspects;
    uint32_t process = mpiq_job_process(job, suspects->ranges[0].world, suspects->ranges[0].first);
    return message->evidence_count > 0 && has_passed(job, process, message->evidence[0].site);
}

/* Who is missing from a collective may have gone astray, or may be the victim of one that went ahead into it.
   It is the victim where the others are in MPI_Finalize, where it stands before their call in the same
   function, or where they were before. */
static bool is_pile(const struct mpiq_job_state *job, const struct mpiq_finding *incomplete,
                    const struct mpiq_finding *message)
{
    if (!is_message(message) || !mpiq_rank_set_includes(&incomplete->missing, &message->ranks) ||
        !mpiq_rank_set_includes(&incomplete->ranks, &message->suspects) || message->suspects.size == 0)
        return false;
    const char *call = incomplete->collective;
    if ((call && strcmp(call, "MPI_Finalize") == 0) || went_on(job, message))
        return true;
    return incomplete->site_count > 0 && message->site_count > 0 &&
           is_before(&message->sites[0], &incomplete->sites[0]);
}

static bool is_pile_of_any(const struct mpiq_diagnosis *diagnosis, const struct mpiq_finding *incomplete)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &diagnosis->findings[i];
        if (finding->root == incomplete->root && finding->proven &&
            is_pile(diagnosis->graph->job, incomplete, finding))
            return true;
    }
    return false;
}

static uint8_t weigh(const struct mpiq_diagnosis *diagnosis, const struct mpiq_finding *finding)
{
    switch (finding->kind) {
    case MPIQ_FINDING_COLLECTIVE_OVERLAP:
    case MPIQ_FINDING_COLLECTIVE_MISMATCH:
        return 0;
    case MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH:
        return 1;
    case MPIQ_FINDING_RANK_GONE:
    case MPIQ_FINDING_RANK_STOPPED:
        return 2;
    case MPIQ_FINDING_RANK_ELSEWHERE:
        return 3;
    case MPIQ_FINDING_WINDOW_WAIT:
        return 5;
    case MPIQ_FINDING_RECEIVE_UNMATCHED:
    case MPIQ_FINDING_SEND_UNMATCHED:
        return has_near_miss(finding) ? 4 : 8;
    case MPIQ_FINDING_POLLING_UNMATCHED:
        return has_near_miss(finding) ? 4 : 9;
    case MPIQ_FINDING_WAIT_CYCLE: /* one through a single collective says little beside that collective */
        return finding->through == 1 ? 11 : 6;
    case MPIQ_FINDING_COLLECTIVE_INCOMPLETE: /* one that waits for the rest comes behind what explains it */
        return finding->outside                     ? 10
               : is_pile_of_any(diagnosis, finding) ? 9
               : finding->requests                  ? 5 /* never started: before the circle it closes */
                                                    : 7;
    case MPIQ_FINDING_TRUNCATION:
        return 12;
    case MPIQ_FINDING_REQUEST_LEAK:
        return 13;
    case MPIQ_FINDING_UNEXPECTED_BACKLOG:
        return 14;
    case MPIQ_FINDING_MESSAGE_LOST:
    case MPIQ_FINDING_TYPE_MISMATCH:
    case MPIQ_FINDING_NOT_FREED:
    case MPIQ_FINDING_STACKS_DIFFER:
        break;
    }
    return 15;
}

/* Whether a finding tells of a wait, and so may follow from another one. */
static bool is_of_waits(const struct mpiq_finding *finding)
{
    switch (finding->kind) {
    case MPIQ_FINDING_TRUNCATION:
    case MPIQ_FINDING_REQUEST_LEAK:
    case MPIQ_FINDING_UNEXPECTED_BACKLOG:
    case MPIQ_FINDING_MESSAGE_LOST:
    case MPIQ_FINDING_TYPE_MISMATCH:
    case MPIQ_FINDING_NOT_FREED:
    case MPIQ_FINDING_STACKS_DIFFER:
        return false;
    default:
        return true;
    }
}

static void link_proven(struct mpiq_finder *finder, struct ends *ends)
{
    struct mpiq_diagnosis *diagnosis = finder->diagnosis;
    uint32_t *best _cleanup_free_ = malloc(((size_t)ends->count + 1) * sizeof *best);
    if (!best) {
        finder->failed = true;
        return;
    }
    memset(best, 0xff, ((size_t)ends->count + 1) * sizeof *best);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        finding->root =
            finding->proven && is_of_waits(finding) ? finding_end(finder, finding, ends) : MPIQ_NONE;
    }
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        diagnosis->findings[i].root = end_of(ends, diagnosis->findings[i].root);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        finding->weight = weigh(diagnosis, finding);
        uint32_t *first = finding->root == MPIQ_NONE ? NULL : &best[finding->root];
        if (first && (*first == MPIQ_NONE || finding->weight < diagnosis->findings[*first].weight))
            *first = (uint32_t)i;
    }
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        if (finding->root != MPIQ_NONE && best[finding->root] != i)
            finding->consequence_of = best[finding->root];
    }
}

/* ---- what is not proven ----------------------------------------------------------------------------- */

static bool overlap(const struct mpiq_rank_set *a, const struct mpiq_rank_set *b)
{
    for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
        const struct mpiq_rank_range *x = &a->ranges[i];
        const struct mpiq_rank_range *y = &b->ranges[j];
        if (x->world == y->world && x->first <= y->last && y->first <= x->last)
            return true;
        if (x->world < y->world || (x->world == y->world && x->last < y->last))
            i++;
        else
            j++;
    }
    return false;
}

static bool is_elsewhere(const struct mpiq_finding *finding)
{
    return finding->kind == MPIQ_FINDING_RANK_GONE || finding->kind == MPIQ_FINDING_RANK_STOPPED ||
           finding->kind == MPIQ_FINDING_RANK_ELSEWHERE || finding->kind == MPIQ_FINDING_POLLING_UNMATCHED;
}

/* Of calls that not all have come to: what those who are missing do is the cause, as far as it goes on. */
static void link_unproven(struct mpiq_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        if (finding->proven || finding->kind != MPIQ_FINDING_COLLECTIVE_INCOMPLETE)
            continue;
        uint32_t cause = MPIQ_NONE;
        for (size_t j = 0; j < diagnosis->finding_count; j++) {
            const struct mpiq_finding *other = &diagnosis->findings[j];
            bool overlapping = other->kind == MPIQ_FINDING_COLLECTIVE_OVERLAP &&
                               other->comm == finding->comm && overlap(&finding->ranks, &other->ranks);
            if (overlapping) {
                cause = (uint32_t)j;
                break;
            }
            if (i == j || !overlap(&finding->missing, &other->ranks))
                continue;
            if (is_elsewhere(other)) {
                cause = (uint32_t)j;
                break;
            }
            /* The one who is missing waits in a call itself; the earlier call comes first.  Of two that wait
               for each other it is the one that somebody never started: it holds up who waits for it alone.
             */
            bool earlier =
                other->kind == MPIQ_FINDING_COLLECTIVE_INCOMPLETE &&
                (!overlap(&other->missing, &finding->ranks) || (other->requests && !finding->requests));
            if (cause == MPIQ_NONE && (other->proven ? is_of_waits(other) : earlier))
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

/* ---- causes that say the same of others ------------------------------------------------------------- */

static bool same_evidence(const struct mpiq_finding *a, const struct mpiq_finding *b)
{
    if (a->evidence_count != b->evidence_count)
        return false;
    for (size_t i = 0; i < a->evidence_count; i++) {
        if (a->evidence[i].site != b->evidence[i].site ||
            !same_text(a->evidence[i].call, b->evidence[i].call))
            return false;
    }
    return true;
}

static bool is_same_bug(const struct mpiq_job_state *job, const struct mpiq_finding *a,
                        const struct mpiq_finding *b)
{
    if (a->kind != b->kind || a->proven != b->proven || a->consequence_of != MPIQ_NONE ||
        b->consequence_of != MPIQ_NONE || a->comm == MPIQ_NONE || a->comm == b->comm ||
        !mpiq_same_communicator(job, a->comm, b->comm))
        return false;
    switch (a->kind) {
    case MPIQ_FINDING_COLLECTIVE_INCOMPLETE:
        return same_text(a->collective, b->collective) && same_evidence(a, b);
    case MPIQ_FINDING_COLLECTIVE_MISMATCH:
    case MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH:
        return a->number == b->number && same_text(a->field, b->field) &&
               same_text(a->collective, b->collective) && a->call_count == b->call_count &&
               a->value_count == b->value_count && same_evidence(a, b);
    default:
        return false;
    }
}

static void add_set(struct mpiq_finder *finder, struct mpiq_rank_set *set, const struct mpiq_rank_set *more)
{
    if (!mpiq_rank_set_add_set(set, more))
        finder->failed = true;
}

static void merge(struct mpiq_finder *finder, struct mpiq_finding *into, const struct mpiq_finding *from)
{
    add_set(finder, &into->ranks, &from->ranks);
    add_set(finder, &into->missing, &from->missing);
    add_set(finder, &into->others, &from->others);
    add_set(finder, &into->suspects, &from->suspects);
    into->since = from->since > into->since ? from->since : into->since;
    for (size_t i = 0; i < into->evidence_count && i < from->evidence_count; i++)
        add_set(finder, &into->evidence[i].ranks, &from->evidence[i].ranks);
    for (size_t i = 0; i < into->site_count && i < from->site_count; i++)
        add_set(finder, &into->sites[i].ranks, &from->sites[i].ranks);
    for (size_t i = 0; i < into->call_count && i < from->call_count; i++)
        add_set(finder, &into->calls[i].ranks, &from->calls[i].ranks);
    for (size_t i = 0; i < into->value_count && i < from->value_count; i++)
        add_set(finder, &into->values[i].ranks, &from->values[i].ranks);
    into->communicators++;
}

/* Causes to compare with; of more kinds of bugs at once the rest is left as it is. */
enum { MOST_KINDS = 64 };

static void merge_causes(struct mpiq_finder *finder, bool *dropped)
{
    struct mpiq_diagnosis *diagnosis = finder->diagnosis;
    uint32_t kinds[MOST_KINDS];
    uint32_t count = 0;
    uint32_t *moved _cleanup_free_ = malloc((diagnosis->finding_count + 1) * sizeof *moved);
    if (!moved) {
        finder->failed = true;
        return;
    }
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        moved[i] = (uint32_t)i;
        uint32_t at = 0;
        while (at < count && !is_same_bug(finder->job, &diagnosis->findings[kinds[at]], finding))
            at++;
        if (at < count) {
            merge(finder, &diagnosis->findings[kinds[at]], finding);
            dropped[i] = true;
            moved[i] = kinds[at];
        } else if (count < MOST_KINDS && finding->consequence_of == MPIQ_NONE) {
            kinds[count++] = (uint32_t)i;
        }
    }
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        if (diagnosis->findings[i].consequence_of != MPIQ_NONE)
            diagnosis->findings[i].consequence_of = moved[diagnosis->findings[i].consequence_of];
    }
}

/* ---- consequences ----------------------------------------------------------------------------------- */

static bool is_named(const struct mpiq_finding *cause, uint32_t world, uint32_t rank)
{
    return mpiq_rank_set_contains(&cause->ranks, world, rank) ||
           mpiq_rank_set_contains(&cause->missing, world, rank) ||
           mpiq_rank_set_contains(&cause->others, world, rank) ||
           mpiq_rank_set_contains(&cause->suspects, world, rank);
}

void mpiq_ranks_beyond(struct mpiq_finder *finder, const struct mpiq_finding *cause,
                       const struct mpiq_finding *finding, struct mpiq_rank_set *ret)
{
    for (uint32_t i = 0; i < finding->ranks.count; i++) {
        const struct mpiq_rank_range *range = &finding->ranks.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++) {
            if (!is_named(cause, range->world, rank) && !mpiq_rank_set_add(ret, range->world, rank))
                finder->failed = true;
        }
    }
}

static bool is_same_consequence(const struct mpiq_job_state *job, const struct mpiq_finding *a,
                                const struct mpiq_finding *b)
{
    return a->consequence_of == b->consequence_of && a->kind == b->kind &&
           same_text(a->collective, b->collective) && mpiq_same_communicator(job, a->comm, b->comm) &&
           a->evidence_count > 0 && b->evidence_count > 0 && a->evidence[0].site == b->evidence[0].site;
}

/* What names no rank that its cause does not name says nothing new. */
static void drop_said(struct mpiq_finder *finder, bool *dropped)
{
    struct mpiq_diagnosis *diagnosis = finder->diagnosis;
    uint32_t kept[MOST_KINDS];
    uint32_t count = 0;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        if (dropped[i] || finding->consequence_of == MPIQ_NONE)
            continue;
        struct mpiq_rank_set beyond _cleanup_(mpiq_rank_set_deinit) = {0};
        mpiq_ranks_beyond(finder, &diagnosis->findings[finding->consequence_of], finding, &beyond);
        dropped[i] = beyond.size == 0 || finding->kind == MPIQ_FINDING_WAIT_CYCLE;
        for (uint32_t j = 0; !dropped[i] && j < count; j++) {
            struct mpiq_finding *known = &diagnosis->findings[kept[j]];
            if (!is_same_consequence(finder->job, known, finding))
                continue;
            merge(finder, known, finding);
            dropped[i] = true;
        }
        if (!dropped[i] && count < MOST_KINDS)
            kept[count++] = (uint32_t)i;
        else
            dropped[i] = true;
    }
}

/* A circle through several collectives: all who are in them are in the circle's place, not only those by whom
   it was found. */
static void widen_circles(struct mpiq_finder *finder, bool *dropped)
{
    struct mpiq_diagnosis *diagnosis = finder->diagnosis;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &diagnosis->findings[i];
        struct mpiq_finding *circle =
            finding->consequence_of == MPIQ_NONE ? NULL : &diagnosis->findings[finding->consequence_of];
        if (dropped[i] || !circle || circle->kind != MPIQ_FINDING_WAIT_CYCLE || circle->through != 2 ||
            finding->kind != MPIQ_FINDING_COLLECTIVE_INCOMPLETE || !overlap(&finding->ranks, &circle->ranks))
            continue;
        mpiq_add_evidence_of(finder, circle, &finding->ranks);
        for (size_t j = 0; j < finding->site_count && circle->site_count > 0; j++) {
            for (size_t k = 0; k < circle->site_count; k++) {
                if (circle->sites[k].line == finding->sites[j].line &&
                    same_text(circle->sites[k].call, finding->sites[j].call) &&
                    same_text(circle->sites[k].file, finding->sites[j].file))
                    add_set(finder, &circle->sites[k].ranks, &finding->sites[j].ranks);
            }
        }
        add_set(finder, &circle->ranks, &finding->ranks);
        dropped[i] = true;
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

static void put_in_order(struct mpiq_finder *finder, const bool *dropped)
{
    struct mpiq_diagnosis *diagnosis = finder->diagnosis;
    size_t count = diagnosis->finding_count;
    struct place *places _cleanup_free_ = calloc(count + 1, sizeof *places);
    uint32_t *map _cleanup_free_ = calloc(count + 1, sizeof *map);
    struct mpiq_finding *old _cleanup_free_ = malloc((count + 1) * sizeof *old);
    if (!places || !map || !old) {
        finder->failed = true;
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

void mpiq_find_causes(struct mpiq_finder *finder)
{
    struct mpiq_diagnosis *diagnosis = finder->diagnosis;
    struct ends ends = {.count = finder->explanation->root_count};
    uint32_t *parent _cleanup_free_ = malloc(((size_t)ends.count + 1) * sizeof *parent);
    bool *dropped _cleanup_free_ = calloc(diagnosis->finding_count + 1, sizeof *dropped);
    if (!parent || !dropped) {
        finder->failed = true;
        return;
    }
    ends.parent = parent;
    for (uint32_t i = 0; i < ends.count; i++)
        parent[i] = i;
    link_proven(finder, &ends);
    link_unproven(diagnosis);
    flatten(diagnosis);
    merge_causes(finder, dropped);
    widen_circles(finder, dropped);
    drop_said(finder, dropped);
    put_in_order(finder, dropped);
}
