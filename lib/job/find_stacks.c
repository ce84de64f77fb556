/* SPDX-License-Identifier: BSD-3-Clause */
/* If only stacks and what calls were given could be read: which ranks are in which MPI call, the smallest
   group first, who is outside MPI, a root that is not in its collective, and who waits for each other in a
   circle.  A hint, never a proof. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/evidence.h"
#include "job/find.h"
#include "job/given.h"

struct group {
    const char *call;
    uint32_t count;
    uint32_t first; /* process */
};

/* Or by its communicators, where the messages are kept by somebody else (PML ucx, cm). */
static bool by_stacks_alone(const struct mpiq_job_rank *rank)
{
    return mpiq_source_is_outside(rank->source) || mpiq_is_blind(rank);
}

/* Without a record nobody can tell one wait in a call from the next: that is not polling. */
void mpiq_note_stack_waits(struct mpiq_analysis *analysis)
{
    for (uint32_t process = 0; process < analysis->job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(analysis->job, process);
        struct mpiq_rank_diagnosis *diagnosed = &analysis->diagnosis->ranks[process];
        bool waits = diagnosed->blocking != MPIQ_BLOCKING_NOT || mpiq_call_waits_in_window(diagnosed->call);
        if (rank && by_stacks_alone(rank) && waits && diagnosed->activity == MPIQ_ACTIVITY_POLLING)
            diagnosed->activity = MPIQ_ACTIVITY_BLOCKED;
    }
}

/* The call that a living rank is in; NULL: none. */
static const char *call_of(const struct mpiq_analysis *analysis, uint32_t process)
{
    const struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[process];
    return rank->activity == MPIQ_ACTIVITY_GONE || mpiq_is_stopped(rank->activity) ? NULL : rank->call;
}

static uint32_t group_of(struct group *groups, uint32_t *count, const char *call)
{
    uint32_t at = 0;
    while (at < *count && strcmp(groups[at].call, call) != 0)
        at++;
    if (at == *count && *count < MPIQ_MOST_EVIDENCE)
        groups[(*count)++] = (struct group){.call = call};
    return at;
}

static int compare_groups(const void *left, const void *right)
{
    const struct group *a = left;
    const struct group *b = right;
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* The calls that ranks are in, of whom nothing but stacks was read; *ret_count 0: of some more was read. */
static void collect(const struct mpiq_analysis *analysis, struct group *groups, uint32_t *ret_count)
{
    uint32_t count = 0;
    for (uint32_t process = 0; process < analysis->job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(analysis->job, process);
        const char *call = rank ? call_of(analysis, process) : NULL;
        if (rank && call && !by_stacks_alone(rank))
            return;
        uint32_t at = call ? group_of(groups, &count, call) : MPIQ_MOST_EVIDENCE;
        if (at < MPIQ_MOST_EVIDENCE && groups[at].count++ == 0)
            groups[at].first = process;
    }
    *ret_count = count;
}

static bool add_group(struct mpiq_analysis *analysis, struct mpiq_finding *finding, const struct group *group)
{
    struct mpiq_finding_call *call = mpiq_finding_add_call(finding);
    if (!call)
        return false;
    call->collective = group->call;
    for (uint32_t process = group->first; process < analysis->job->process_count; process++) {
        const char *own = mpiq_job_rank_of(analysis->job, process) ? call_of(analysis, process) : NULL;
        if (!own || strcmp(own, group->call) != 0)
            continue;
        mpiq_analysis_add(analysis, &call->ranks, process);
        mpiq_analysis_add(analysis, &finding->ranks, process);
        mpiq_analysis_site(analysis, finding, process, MPIQ_NONE);
        mpiq_add_evidence(analysis, finding, process, MPIQ_NONE, MPIQ_NONE);
    }
    return true;
}

/* Adds the ranks that compute or sleep outside MPI, for whom those in it may wait. */
static void add_outside(struct mpiq_analysis *analysis, struct mpiq_finding *finding)
{
    for (uint32_t process = 0; process < analysis->job->process_count; process++) {
        const struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[process];
        bool lives = rank->activity == MPIQ_ACTIVITY_COMPUTING || rank->activity == MPIQ_ACTIVITY_CALLING ||
                     rank->activity == MPIQ_ACTIVITY_ASLEEP;
        if (!mpiq_job_rank_of(analysis->job, process) || rank->call || !lives)
            continue;
        mpiq_analysis_add(analysis, &finding->missing, process);
        mpiq_analysis_site(analysis, finding, process, MPIQ_NONE);
        mpiq_add_evidence(analysis, finding, process, MPIQ_NONE, MPIQ_NONE);
    }
}

/* Notes the root of a collective whose callers all name the same one, if that is in another call or none. */
static void add_root(struct mpiq_analysis *analysis, struct mpiq_finding *finding)
{
    for (size_t i = 0; i < finding->call_count && finding->others.size == 0; i++) {
        const struct mpiq_finding_call *call = &finding->calls[i];
        uint32_t root = MPIQ_NONE;
        bool same = true;
        for (uint32_t j = 0; j < call->ranks.count; j++) {
            const struct mpiq_rank_range *range = &call->ranks.ranges[j];
            for (uint32_t rank = range->first; rank <= range->last && same; rank++) {
                uint32_t process = mpiq_job_process(analysis->job, range->world, rank);
                uint32_t thread = analysis->diagnosis->ranks[process].thread;
                uint32_t own = thread == MPIQ_NONE ? MPIQ_NONE : mpiq_given_root(analysis, thread);
                same = own != MPIQ_NONE && (root == MPIQ_NONE || root == own);
                root = own;
            }
        }
        if (!same || root == MPIQ_NONE)
            continue;
        struct mpiq_world_rank name = mpiq_job_world_rank(analysis->job, root);
        if (mpiq_rank_set_contains(&call->ranks, name.world, name.rank) ||
            !mpiq_job_rank_of(analysis->job, root))
            continue;
        finding->collective = call->collective;
        mpiq_analysis_add(analysis, &finding->others, root);
    }
}

/* The one rank that a rank waits for, by what its call was given; MPIQ_NONE: none, several, or not known. */
static uint32_t waits_for(struct mpiq_analysis *analysis, uint32_t process)
{
    const struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[process];
    struct mpiq_given_parts given;
    if (rank->thread == MPIQ_NONE || !call_of(analysis, process))
        return MPIQ_NONE;
    mpiq_given_parts(analysis, rank->thread, &given);
    /* Of a call that sends and receives both are needed: the receive surely waits for the other rank. */
    const struct mpiq_wait_part *part =
        given.count > 0 && !given.any && !given.some ? &given.parts[given.count - 1] : NULL;
    bool message = part && part->kind != MPIQ_PART_COLLECTIVE && !part->any;
    return message ? part->peer : MPIQ_NONE;
}

/* A process on a circle of such waits; MPIQ_NONE: there is none, or no memory. */
static uint32_t find_circle(struct mpiq_analysis *analysis, const uint32_t *next, uint32_t *seen)
{
    for (uint32_t start = 0; start < analysis->job->process_count; start++) {
        uint32_t at = start;
        while (at != MPIQ_NONE && seen[at] == 0) {
            seen[at] = start + 1;
            at = next[at];
        }
        if (at != MPIQ_NONE && seen[at] == start + 1)
            return at;
    }
    return MPIQ_NONE;
}

/* Adds the steps of a circle; each rank's wait is said by its evidence. */
static void add_circle(struct mpiq_analysis *analysis, struct mpiq_finding *finding, const uint32_t *next,
                       uint32_t *seen)
{
    uint32_t first = find_circle(analysis, next, seen);
    for (uint32_t at = first; at != MPIQ_NONE && finding->step_count < MPIQ_MOST_STEPS;) {
        struct mpiq_step *step = mpiq_finding_add_step(finding);
        if (!step) {
            analysis->failed = true;
            return;
        }
        const struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[at];
        step->process = at;
        step->call = rank->call;
        step->site = rank->site;
        step->since = rank->since;
        mpiq_analysis_add(analysis, &step->waits_for, next[at]);
        at = next[at] == first ? MPIQ_NONE : next[at];
    }
}

/* The place in the finding's calls of the one that a process is in; MPIQ_NONE: none. */
static uint32_t place_of(const struct mpiq_analysis *analysis, const struct mpiq_finding *finding,
                         uint32_t process)
{
    struct mpiq_world_rank name = mpiq_job_world_rank(analysis->job, process);
    for (uint32_t i = 0; i < finding->call_count; i++) {
        if (mpiq_rank_set_contains(&finding->calls[i].ranks, name.world, name.rank))
            return i;
    }
    return MPIQ_NONE;
}

/* Notes whom the ranks of each call wait for, where all of those are in one other call. */
static void add_awaited(struct mpiq_analysis *analysis, struct mpiq_finding *finding, const uint32_t *next)
{
    enum { MANY = UINT32_MAX - 1 };
    for (uint32_t process = 0; process < analysis->job->process_count; process++) {
        uint32_t at = place_of(analysis, finding, process);
        if (at == MPIQ_NONE || finding->calls[at].awaited_in == MANY)
            continue;
        struct mpiq_finding_call *call = &finding->calls[at];
        uint32_t in = next[process] == MPIQ_NONE ? MPIQ_NONE : place_of(analysis, finding, next[process]);
        bool same = call->awaited_in == MPIQ_NONE || call->awaited_in == in;
        call->awaited_in = in == MPIQ_NONE || in == at || !same ? MANY : in;
        if (call->awaited_in == in)
            mpiq_analysis_add(analysis, &call->awaited, next[process]);
    }
    for (size_t i = 0; i < finding->call_count; i++) {
        struct mpiq_finding_call *call = &finding->calls[i];
        if (call->awaited_in == MANY) {
            mpiq_rank_set_deinit(&call->awaited);
            call->awaited_in = MPIQ_NONE;
        }
    }
}

/* Adds who waits for whom, by what the calls were given. */
static void add_waits(struct mpiq_analysis *analysis, struct mpiq_finding *finding)
{
    uint32_t count = analysis->job->process_count;
    uint32_t *next _cleanup_free_ = malloc(count * sizeof *next);
    uint32_t *seen _cleanup_free_ = calloc(count ? count : 1, sizeof *seen);
    if (!next || !seen) {
        analysis->failed = true;
        return;
    }
    for (uint32_t process = 0; process < count; process++)
        next[process] = mpiq_job_rank_of(analysis->job, process) ? waits_for(analysis, process) : MPIQ_NONE;
    add_circle(analysis, finding, next, seen);
    add_awaited(analysis, finding, next);
}

/* Whether other findings tell of all its ranks already: a file lock that they wait for, the end of one. */
static bool is_told(struct mpiq_analysis *analysis, const struct mpiq_finding *hint)
{
    struct mpiq_rank_set told _cleanup_(mpiq_rank_set_deinit) = {0};
    for (size_t i = 0; i < analysis->diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &analysis->diagnosis->findings[i];
        if (finding != hint && (!mpiq_rank_set_add_set(&told, &finding->ranks) ||
                                !mpiq_rank_set_add_set(&told, &finding->others)))
            analysis->failed = true;
    }
    return mpiq_rank_set_includes(&told, &hint->ranks) && mpiq_rank_set_includes(&told, &hint->missing);
}

void mpiq_find_stacks(struct mpiq_analysis *analysis)
{
    struct group groups[MPIQ_MOST_EVIDENCE + 1];
    uint32_t count = 0;
    memset(groups, 0, sizeof groups);
    collect(analysis, groups, &count);
    if (count == 0)
        return;
    qsort(groups, count, sizeof *groups, compare_groups);
    struct mpiq_finding *finding =
        mpiq_diagnosis_add_finding(analysis->diagnosis, MPIQ_FINDING_STACKS_DIFFER);
    if (finding)
        add_outside(analysis, finding);
    for (uint32_t i = 0; finding && i < count; i++) {
        if (!add_group(analysis, finding, &groups[i]))
            finding = NULL;
    }
    if (!finding) {
        analysis->failed = true;
        return;
    }
    add_waits(analysis, finding);
    add_root(analysis, finding);
    bool alike = count < 2 && finding->step_count == 0 && finding->evidence_count < 2;
    if (alike || is_told(analysis, finding))
        mpiq_diagnosis_drop_finding(analysis->diagnosis);
}
