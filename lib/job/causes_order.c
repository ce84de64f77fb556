/* SPDX-License-Identifier: BSD-3-Clause */
/* Two collectives that wait for each other, on different communicators or one of them among neighbours: which
   ranks took the other path.

   Seen standing still, one rank that skipped the first of two collectives looks like one that makes them in
   the other order.  So what is decided is only whom the others contradict: by a rank that is known to have
   left the first one before it entered the second, else by how many ranks are in which, else by the ranks
   whose call of the second one is at another place than the others'. */
#include <string.h>

#include "base/cleanup.h"
#include "job/causes.h"
#include "job/collective.h"

/* One of the two, and those of the other one that have not come to it. */
struct side {
    struct mpiq_finding *finding;
    struct mpiq_rank_set strays; /* who is in the other one and has not come to this one */
    bool left;                   /* somebody in the other one has come to this one and left it */
};

static void side_deinit(struct side *side)
{
    mpiq_rank_set_deinit(&side->strays);
}

/* Whether it holds every member until all have come, so that who is not in it has not been in it. */
static bool holds_all(const struct mpiq_finding *finding)
{
    return finding->collective && mpiq_collective_needs_all(mpiq_collective_class(finding->collective), -1);
}

static void add_stray(struct mpiq_analysis *analysis, struct side *side, uint32_t process)
{
    const struct mpiq_finding *finding = side->finding;
    const struct mpiq_job_member *member = mpiq_job_member_of_process(analysis->job, process, finding->comm);
    struct mpiq_world_rank name = mpiq_job_world_rank(analysis->job, process);
    bool counted = member && finding->number > 0 && member->ordered >= 0;
    if (counted && member->ordered >= finding->number)
        side->left = true;
    else if (member && (counted || holds_all(finding) ||
                        mpiq_rank_set_contains(&finding->missing, name.world, name.rank)))
        mpiq_analysis_add(analysis, &side->strays, process);
}

static void fill(struct mpiq_analysis *analysis, struct side *side, const struct mpiq_finding *other)
{
    for (uint32_t i = 0; i < other->ranks.count; i++) {
        const struct mpiq_rank_range *range = &other->ranks.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++)
            add_stray(analysis, side, mpiq_job_process(analysis->job, range->world, rank));
    }
}

/* Whether the strays of a side made their call elsewhere than more others that are in it too. */
static bool are_apart(const struct side *side, const struct mpiq_finding *other)
{
    uint64_t most = 0;
    for (size_t i = 0; i < other->site_count; i++) {
        const struct mpiq_finding_site *site = &other->sites[i];
        if (!site->call || !other->collective || strcmp(site->call, other->collective) != 0)
            continue; /* of those that are missing from it */
        if (!mpiq_rank_set_overlaps(&site->ranks, &side->strays))
            most = site->ranks.size > most ? site->ranks.size : most;
        else if (!mpiq_rank_set_includes(&side->strays, &site->ranks))
            return false;
    }
    return most > side->strays.size;
}

/* The side whose strays took the other path; NULL: that cannot be told. */
static struct side *decide(struct side *a, struct side *b)
{
    if (a->left != b->left)
        return a->left ? a : b;
    if (a->left)
        return NULL; /* both orders are there */
    /* Each side's own ranks are the strays of the other one, but those that may have left that. */
    if (a->strays.size != b->strays.size)
        return a->strays.size < b->strays.size ? a : b;
    bool a_apart = are_apart(a, b->finding);
    if (a_apart == are_apart(b, a->finding))
        return NULL;
    return a_apart ? a : b;
}

static void set_suspects(struct mpiq_analysis *analysis, struct mpiq_finding *finding,
                         const struct mpiq_rank_set *suspects)
{
    if (finding->parted && !suspects) /* from another one that it waits for */
        return;
    mpiq_rank_set_deinit(&finding->suspects);
    finding->suspects = (struct mpiq_rank_set){0};
    if (suspects && !mpiq_rank_set_add_set(&finding->suspects, suspects))
        analysis->failed = true;
}

static void settle(struct mpiq_analysis *analysis, struct mpiq_finding *first, struct mpiq_finding *second)
{
    struct side a _cleanup_(side_deinit) = {.finding = first};
    struct side b _cleanup_(side_deinit) = {.finding = second};
    fill(analysis, &a, second);
    fill(analysis, &b, first);
    if (analysis->failed || a.strays.size == 0 || b.strays.size == 0)
        return;
    struct side *wrong = decide(&a, &b);
    if (wrong && wrong->finding->roots_may_differ) /* all may have come to it, and left */
        wrong = NULL;
    set_suspects(analysis, first, wrong == &a ? &a.strays : NULL);
    set_suspects(analysis, second, wrong == &b ? &b.strays : NULL);
    if (wrong)
        wrong->finding->parted = true;
}

static bool is_among_neighbours(const struct mpiq_finding *finding)
{
    return finding->collective &&
           mpiq_collective_rule(mpiq_collective_class(finding->collective)) == MPIQ_RULE_SOURCES;
}

/* Whether they are calls that a rank may have made in another order than the others.  On one communicator
   that is one too many or too few; a number would tell.  Who is not in the one among neighbours may have left
   it, or is a neighbour of none who is in it. */
static bool are_two(const struct mpiq_finding *a, const struct mpiq_finding *b)
{
    return a->comm != MPIQ_NONE && b->comm != MPIQ_NONE &&
           (a->comm != b->comm ||
            (a->number == 0 && b->number == 0 && is_among_neighbours(a) != is_among_neighbours(b)));
}

void mpiq_settle_orders(struct mpiq_analysis *analysis)
{
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    enum { MOST_COMPARED = 64 };
    size_t count = diagnosis->finding_count < MOST_COMPARED ? diagnosis->finding_count : MOST_COMPARED;
    for (size_t i = 0; i < count; i++) {
        struct mpiq_finding *a = &diagnosis->findings[i];
        for (size_t j = i + 1; a->kind == MPIQ_FINDING_COLLECTIVE_INCOMPLETE && j < count; j++) {
            struct mpiq_finding *b = &diagnosis->findings[j];
            if (b->kind == MPIQ_FINDING_COLLECTIVE_INCOMPLETE && a->proven == b->proven && are_two(a, b) &&
                mpiq_rank_set_overlaps(&a->missing, &b->ranks) &&
                mpiq_rank_set_overlaps(&b->missing, &a->ranks))
                settle(analysis, a, b);
        }
    }
}
