/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/wait_circle.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Waits that are followed in search of a circle, for each process: more are a dense graph in which every rank
   is on some circle. */
#define MOST_STEPS 16

void mpiq_wait_circle_deinit(struct mpiq_wait_circle *circle)
{
    free(circle->processes);
    *circle = (struct mpiq_wait_circle){0};
}

static struct mpiq_ranks borrowed(const struct mpiq_rank_set *set)
{
    return (struct mpiq_ranks){.ranges = set->ranges, .count = set->count, .size = set->size};
}

/* Adds the ranks of a finding about this collective that did something else than `name` did. */
static bool add_opponents(const struct mpiq_finding *finding, struct mpiq_world_rank name,
                          struct mpiq_rank_set *ret)
{
    bool good = true;
    for (size_t i = 0; i < finding->call_count && good; i++) {
        const struct mpiq_rank_set *ranks = &finding->calls[i].ranks;
        if (!mpiq_rank_set_contains(ranks, name.world, name.rank))
            good = mpiq_rank_set_add_set(ret, ranks);
    }
    for (size_t i = 0; i < finding->value_count && good; i++) {
        const struct mpiq_rank_set *ranks = &finding->values[i].ranks;
        if (!mpiq_rank_set_contains(ranks, name.world, name.rank))
            good = mpiq_rank_set_add_set(ret, ranks);
    }
    return good;
}

/* Adds the members of a communicator (of none: of the process's world) but itself, and unless `all` without
   those in the same call on it: whom a receive from any source may wait for, or a collective of which the
   library does not say who is missing. */
static bool add_members(const struct mpiq_page *page, uint32_t process, const struct mpiq_wait_part *part,
                        bool all, struct mpiq_rank_set *ret)
{
    const struct mpiq_rank_diagnosis *own = &page->diagnosis->ranks[process];
    struct mpiq_rank_set members _cleanup_(mpiq_rank_set_deinit) = {0};
    uint32_t world = mpiq_job_world_rank(page->job, process).world;
    bool known = part->comm < page->job->communicator_count;
    if (!(known ? mpiq_job_communicator_members(page->job, part->comm, &members)
                : mpiq_rank_set_add_range(&members, world, 0, page->job->worlds[world].size - 1)))
        return false;
    for (uint32_t i = 0; i < members.count; i++) {
        const struct mpiq_rank_range *range = &members.ranges[i];
        for (uint64_t rank = range->first; rank <= range->last; rank++) {
            uint32_t other = mpiq_job_process(page->job, range->world, (uint32_t)rank);
            if (other == process || other == MPIQ_NONE)
                continue;
            const struct mpiq_rank_diagnosis *one = &page->diagnosis->ranks[other];
            bool same = !all && part->kind == MPIQ_PART_COLLECTIVE && own->call && one->call &&
                        strcmp(own->call, one->call) == 0 && own->comm == one->comm &&
                        own->number == one->number;
            if (!same && !mpiq_rank_set_add(ret, range->world, (uint32_t)rank))
                return false;
        }
    }
    return true;
}

static bool is_of(const struct mpiq_finding *finding, const struct mpiq_wait_part *part,
                  struct mpiq_world_rank name)
{
    return (finding->call_count > 0 || finding->value_count > 0) && finding->comm == part->comm &&
           mpiq_rank_set_contains(&finding->ranks, name.world, name.rank);
}

bool mpiq_each_awaited(const struct mpiq_page *page, uint32_t process, mpiq_awaited_callback *each,
                       void *context)
{
    const struct mpiq_diagnosis *diagnosis = page->diagnosis;
    const struct mpiq_waits_for *wait = diagnosis->ranks[process].waits_for;
    struct mpiq_world_rank name = mpiq_job_world_rank(page->job, process);
    for (uint32_t i = 0; wait && i < wait->part_count; i++) {
        const struct mpiq_wait_part *part = &wait->parts[i];
        struct mpiq_rank_set others _cleanup_(mpiq_rank_set_deinit) = {0};
        struct mpiq_ranks ranks = part->ranks;
        for (size_t k = 0; ranks.size == 0 && k < diagnosis->finding_count; k++) {
            if (is_of(&diagnosis->findings[k], part, name) &&
                !add_opponents(&diagnosis->findings[k], name, &others))
                return false;
        }
        bool anybody = part->any || part->kind == MPIQ_PART_COLLECTIVE;
        for (int all = 0; all < 2 && ranks.size == 0 && others.size == 0 && anybody; all++) {
            if (!add_members(page, process, part, all, &others))
                return false;
        }
        if (ranks.size == 0)
            ranks = borrowed(&others);
        if (ranks.size > 0 && !each(context, part, &ranks))
            return false;
    }
    return true;
}

/* ---- the shortest circle through a process ------------------------------------------------------------ */

struct search {
    const struct mpiq_page *page;
    uint32_t *parents; /* of each process: from whom it was reached; MPIQ_NONE: not yet */
    uint32_t *queue;
    uint32_t count;
    uint32_t start, current;
    uint64_t steps; /* left */
    bool closed;    /* the current process waits for the start */
};

static bool reach(void *context, const struct mpiq_wait_part *part, const struct mpiq_ranks *ranks)
{
    struct search *s = context;
    (void)part;
    for (uint32_t i = 0; i < ranks->count; i++) {
        const struct mpiq_rank_range *range = &ranks->ranges[i];
        for (uint64_t rank = range->first; rank <= range->last; rank++) {
            if (s->steps == 0)
                return false;
            s->steps--;
            uint32_t process = mpiq_job_process(s->page->job, range->world, (uint32_t)rank);
            if (process == MPIQ_NONE || !s->page->diagnosis->ranks[process].stuck)
                continue;
            if (process == s->start) {
                s->closed = true;
                return false;
            }
            if (s->parents[process] != MPIQ_NONE)
                continue;
            s->parents[process] = s->current;
            s->queue[s->count++] = process;
        }
    }
    return true;
}

static bool keep_path(struct search *s, struct mpiq_wait_circle *ret)
{
    size_t length = 1;
    for (uint32_t at = s->current; at != s->start; at = s->parents[at])
        length++;
    ret->processes = malloc(length * sizeof *ret->processes);
    if (!ret->processes)
        return false;
    ret->count = length;
    for (uint32_t at = s->current; length > 0; at = s->parents[at])
        ret->processes[--length] = at;
    return true;
}

static bool search_from(const struct mpiq_page *page, uint32_t start, struct mpiq_wait_circle *ret)
{
    size_t count = page->diagnosis->rank_count;
    uint32_t *parents _cleanup_free_ = malloc(count * sizeof *parents);
    uint32_t *queue _cleanup_free_ = calloc(count, sizeof *queue);
    struct search s = {.page = page,
                       .parents = parents,
                       .queue = queue,
                       .start = start,
                       .steps = (uint64_t)count * MOST_STEPS};
    if (!parents || !queue)
        return false;
    memset(parents, 0xff, count * sizeof *parents);
    parents[start] = start;
    queue[s.count++] = start;
    for (uint32_t i = 0; i < s.count && s.steps > 0 && !s.closed; i++) {
        s.current = queue[i];
        mpiq_each_awaited(page, s.current, reach, &s);
    }
    return !s.closed || keep_path(&s, ret);
}

static bool take_steps(const struct mpiq_finding *finding, struct mpiq_wait_circle *ret)
{
    ret->processes = malloc(finding->step_count * sizeof *ret->processes);
    if (!ret->processes)
        return false;
    for (size_t i = 0; i < finding->step_count; i++)
        ret->processes[i] = finding->steps[i].process;
    ret->count = finding->step_count;
    return true;
}

/* The first rank of the first of these sets that has one. */
static uint32_t first_of(const struct mpiq_page *page, const struct mpiq_finding *finding)
{
    const struct mpiq_rank_set *sets[] = {&finding->suspects, &finding->missing, &finding->ranks};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (sets[i]->count > 0)
            return mpiq_job_process(page->job, sets[i]->ranges[0].world, sets[i]->ranges[0].first);
    }
    return MPIQ_NONE;
}

bool mpiq_wait_circle_collect(const struct mpiq_page *page, const struct mpiq_finding *finding,
                              struct mpiq_wait_circle *ret)
{
    *ret = (struct mpiq_wait_circle){0};
    if (finding->kind == MPIQ_FINDING_WAIT_CYCLE && finding->step_count > 0)
        return take_steps(finding, ret);
    uint32_t start = finding->proven ? first_of(page, finding) : MPIQ_NONE;
    if (start == MPIQ_NONE || !page->diagnosis->ranks[start].stuck)
        return true;
    return search_from(page, start, ret);
}
