/* SPDX-License-Identifier: BSD-3-Clause */
/* If only stacks could be read: which ranks are in which MPI call, the smallest group first.  A hint, never
   a proof. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/evidence.h"
#include "job/find.h"

struct group {
    const char *call;
    uint32_t count;
    uint32_t first; /* process */
};

static bool by_stacks_alone(const struct mpiq_job_rank *rank)
{
    return rank->source == MPIQ_SOURCE_STACKS || rank->source == MPIQ_SOURCE_NONE;
}

/* The call that a living rank is in; NULL: none. */
static const char *call_of(const struct mpiq_finder *finder, uint32_t process)
{
    const struct mpiq_rank_diagnosis *rank = &finder->diagnosis->ranks[process];
    return rank->doing == MPIQ_DOING_GONE || rank->doing == MPIQ_DOING_STOPPED ? NULL : rank->call;
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
static void collect(const struct mpiq_finder *finder, struct group *groups, uint32_t *ret_count)
{
    uint32_t count = 0;
    for (uint32_t process = 0; process < finder->job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(finder->job, process);
        const char *call = rank ? call_of(finder, process) : NULL;
        if (rank && call && !by_stacks_alone(rank))
            return;
        uint32_t at = call ? group_of(groups, &count, call) : MPIQ_MOST_EVIDENCE;
        if (at < MPIQ_MOST_EVIDENCE && groups[at].count++ == 0)
            groups[at].first = process;
    }
    *ret_count = count;
}

static bool add_group(struct mpiq_finder *finder, struct mpiq_finding *finding, const struct group *group)
{
    struct mpiq_finding_call *call = mpiq_finding_add_call(finding);
    if (!call)
        return false;
    call->collective = group->call;
    for (uint32_t process = group->first; process < finder->job->process_count; process++) {
        const char *own = mpiq_job_rank_of(finder->job, process) ? call_of(finder, process) : NULL;
        if (!own || strcmp(own, group->call) != 0)
            continue;
        mpiq_finder_add(finder, &call->ranks, process);
        mpiq_finder_add(finder, &finding->ranks, process);
        mpiq_finder_site(finder, finding, process, MPIQ_NONE);
        mpiq_add_evidence(finder, finding, process, MPIQ_NONE, MPIQ_NONE);
    }
    /* Without a record nobody can tell one wait in the call from the next: that is not polling. */
    for (size_t i = 0; i < finding->evidence_count; i++) {
        struct mpiq_evidence *evidence = &finding->evidence[i];
        if (evidence->doing == MPIQ_DOING_POLLING && mpiq_blocking_call(evidence->call) != MPIQ_BLOCKING_NOT)
            evidence->doing = MPIQ_DOING_BLOCKED;
    }
    return true;
}

void mpiq_find_stacks(struct mpiq_finder *finder)
{
    struct group groups[MPIQ_MOST_EVIDENCE + 1];
    uint32_t count = 0;
    memset(groups, 0, sizeof groups);
    collect(finder, groups, &count);
    if (count < 2)
        return;
    qsort(groups, count, sizeof *groups, compare_groups);
    struct mpiq_finding *finding = mpiq_diagnosis_add_finding(finder->diagnosis, MPIQ_FINDING_STACKS_DIFFER);
    for (uint32_t i = 0; finding && i < count; i++) {
        if (!add_group(finder, finding, &groups[i]))
            finding = NULL;
    }
    if (!finding) {
        finder->failed = true;
        return;
    }
    const char *text = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct mpiq_finding_call *call = &finding->calls[i];
        const char *who = WORDS(finder->arena, "%s %s in %s", mpiq_words_ranks(finder->arena, &call->ranks),
                                call->ranks.size == 1 ? "is" : "are", call->collective);
        text = text ? WORDS(finder->arena, "%s, %s", text, who) : who;
    }
    finding->text = text;
}
