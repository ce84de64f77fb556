/* SPDX-License-Identifier: BSD-3-Clause */
/* From one rank to the cause: the chain that `mpiq why` shows. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/diagnose.h"
#include "job/explain.h"
#include "job/waits.h"

/* A way through the graph from a thread to where it ends. */
struct way {
    uint32_t *nodes;
    uint32_t count;
};

/* Of one who never goes on: along the children that prove it, until a node comes again or nothing is left. */
static bool follow(const struct mpiq_wait_graph *graph, const struct mpiq_explanation *explanation,
                   uint32_t node, struct way *way)
{
    bool *seen _cleanup_free_ = calloc((size_t)graph->node_count + 1, sizeof *seen);
    uint32_t process = MPIQ_NONE;
    if (!seen)
        return false;
    while (node != MPIQ_NONE) {
        way->nodes[way->count++] = node;
        if (seen[node])
            break;
        seen[node] = true;
        if (graph->nodes[node].kind == MPIQ_KIND_THREAD)
            process = mpiq_thread_process(graph, graph->nodes[node].subject);
        node = mpiq_chosen_child(graph, explanation, node, process);
    }
    return true;
}

/* Of one who may go on: the shortest way to a rank that is not blocked itself. */
static bool shortest(const struct mpiq_wait_graph *graph, uint32_t start, struct way *way)
{
    uint32_t *from _cleanup_free_ = malloc(((size_t)graph->node_count + 1) * sizeof *from);
    uint32_t *queue _cleanup_free_ = malloc(((size_t)graph->node_count + 1) * sizeof *queue);
    if (!from || !queue)
        return false;
    memset(from, 0xff, ((size_t)graph->node_count + 1) * sizeof *from);
    uint32_t count = 0;
    uint32_t end = start;
    queue[count++] = start;
    from[start] = start;
    for (uint32_t i = 0; i < count; i++) {
        const struct mpiq_node *node = &graph->nodes[queue[i]];
        bool leaf = node->kind == MPIQ_KIND_RANK &&
                    graph->diagnosis->ranks[node->subject].activity != MPIQ_ACTIVITY_BLOCKED;
        if (leaf || (end == start && node->kind == MPIQ_KIND_CONSTANT && queue[i] != start))
            end = queue[i];
        if (leaf)
            break;
        for (uint32_t j = 0; j < node->edge_count; j++) {
            uint32_t child = graph->edges[node->first_edge + j].child;
            if (from[child] != MPIQ_NONE)
                continue;
            from[child] = queue[i];
            queue[count++] = child;
        }
    }
    for (uint32_t node = end;; node = from[node]) {
        way->nodes[way->count++] = node;
        if (node == start)
            break;
    }
    for (uint32_t i = 0; i < way->count / 2; i++) {
        uint32_t node = way->nodes[i];
        way->nodes[i] = way->nodes[way->count - 1 - i];
        way->nodes[way->count - 1 - i] = node;
    }
    return true;
}

static bool add_process(const struct mpiq_job_state *job, struct mpiq_rank_set *set, uint32_t process)
{
    struct mpiq_world_rank name = mpiq_job_world_rank(job, process);
    return process == MPIQ_NONE || mpiq_rank_set_add(set, name.world, name.rank);
}

/* Of a step in a collective those that have not come to it: whom its own messages go to says nothing. */
static bool add_pending(const struct mpiq_wait_graph *graph, uint32_t thread, struct mpiq_rank_set *set)
{
    const struct mpiq_rank_diagnosis *rank = &graph->diagnosis->ranks[mpiq_thread_process(graph, thread)];
    const struct mpiq_waits_for *waits = rank->thread == thread ? rank->waits_for : NULL;
    bool collective = waits && waits->part_count == 1 && waits->parts[0].kind == MPIQ_PART_COLLECTIVE;
    for (uint32_t i = 0; collective && i < waits->ranks.count; i++) {
        const struct mpiq_rank_range *range = &waits->ranks.ranges[i];
        if (!mpiq_rank_set_add_range(set, range->world, range->first, range->last))
            return false;
    }
    return true;
}

/* The ranks that a step waits for: those that have not come to its collective, else the next one on the way,
   or all of a group on it. */
static bool add_waits_for(const struct mpiq_wait_graph *graph, const struct way *way, uint32_t at,
                          struct mpiq_rank_set *set)
{
    if (!add_pending(graph, graph->nodes[way->nodes[at]].subject, set))
        return false;
    if (set->size > 0)
        return true;
    for (uint32_t i = at + 1; i < way->count; i++) {
        const struct mpiq_node *node = &graph->nodes[way->nodes[i]];
        if (node->kind == MPIQ_KIND_RANK || node->kind == MPIQ_KIND_INTERNAL)
            return add_process(graph->job, set, node->subject);
        if (node->kind == MPIQ_KIND_GROUP || node->kind == MPIQ_KIND_INTERNAL_GROUP) {
            const struct mpiq_job_group *group = &graph->job->groups[node->subject];
            for (uint32_t j = 0; group->members && j < group->count; j++) {
                if (!add_process(graph->job, set, group->members[j]))
                    return false;
            }
            return true;
        }
    }
    return true;
}

/* Whether the way ends at a process that an earlier step has. */
static bool closes(struct mpiq_chain *chain, uint32_t process)
{
    for (size_t i = 0; i < chain->step_count; i++) {
        if (chain->steps[i].process != process)
            continue;
        chain->cycle = true;
        chain->cycle_step = i;
        return true;
    }
    return false;
}

static bool same_collective(const struct mpiq_wait_graph *graph, uint32_t a, uint32_t b)
{
    const struct mpiq_job_state *job = graph->job;
    struct mpiq_thread_collective in_a;
    struct mpiq_thread_collective in_b;
    mpiq_thread_collective(job, &job->ranks[graph->thread_ranks[a]], &job->threads[a], &in_a);
    mpiq_thread_collective(job, &job->ranks[graph->thread_ranks[b]], &job->threads[b], &in_b);
    return in_a.collective >= 0 && in_a.collective == in_b.collective && in_a.comm != MPIQ_NONE &&
           in_a.comm == in_b.comm && in_a.number == in_b.number;
}

/* Leaves out the members of a collective that the way passes on to the one that is missing from it.  A circle
   through such a member stays whole. */
static void shorten(const struct mpiq_wait_graph *graph, struct way *way)
{
    uint32_t *kept _cleanup_free_ = malloc(((size_t)way->count + 1) * sizeof *kept);
    uint32_t count = 0;
    uint32_t before = MPIQ_NONE;
    uint32_t last = way->count > 0 ? way->nodes[way->count - 1] : MPIQ_NONE;
    for (uint32_t i = 0; kept && i < way->count; i++) {
        const struct mpiq_node *node = &graph->nodes[way->nodes[i]];
        if (node->kind == MPIQ_KIND_THREAD) {
            bool passed = before != MPIQ_NONE && same_collective(graph, before, node->subject);
            bool end =
                mpiq_rank_node(mpiq_thread_process(graph, node->subject)) == last || (way->nodes[i] == last);
            if (passed && end)
                return;
            before = node->subject;
            if (passed) {
                while (count > 0 && graph->nodes[kept[count - 1]].kind != MPIQ_KIND_THREAD)
                    count--;
                continue;
            }
        }
        kept[count++] = way->nodes[i];
    }
    if (!kept)
        return;
    memcpy(way->nodes, kept, count * sizeof *kept);
    way->count = count;
}

static bool add_steps(struct mpiq_analysis *analysis, const struct way *way, struct mpiq_chain *chain)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    enum { MOST_STEPS = 100 };
    for (uint32_t i = 0; i < way->count && chain->step_count < MOST_STEPS; i++) {
        const struct mpiq_node *node = &graph->nodes[way->nodes[i]];
        bool rank = node->kind == MPIQ_KIND_RANK || node->kind == MPIQ_KIND_INTERNAL;
        if (i + 1 == way->count && rank && closes(chain, node->subject))
            return true;
        if (node->kind != MPIQ_KIND_THREAD)
            continue;
        uint32_t process = mpiq_thread_process(graph, node->subject);
        if (i + 1 == way->count && closes(chain, process))
            return true;
        struct mpiq_step *step = mpiq_chain_add_step(chain);
        if (!step || !add_waits_for(graph, way, i, &step->waits_for))
            return false;
        step->process = process;
        mpiq_analysis_wait(analysis, step, node->subject, MPIQ_NONE);
        step->site = graph->job->threads[node->subject].site;
        step->since = graph->diagnosis->ranks[process].since;
    }
    return true;
}

/* The first finding that names a process. */
static uint32_t finding_of(const struct mpiq_job_state *job, const struct mpiq_diagnosis *diagnosis,
                           uint32_t process)
{
    if (process == MPIQ_NONE)
        return MPIQ_NONE;
    struct mpiq_world_rank name = mpiq_job_world_rank(job, process);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &diagnosis->findings[i];
        if (mpiq_rank_set_contains(&finding->ranks, name.world, name.rank) ||
            mpiq_rank_set_contains(&finding->missing, name.world, name.rank))
            return (uint32_t)i;
    }
    return MPIQ_NONE;
}

static struct mpiq_error *make_chain(const struct mpiq_wait_graph *graph,
                                     const struct mpiq_diagnosis *diagnosis, uint32_t process,
                                     struct mpiq_chain *chain)
{
    struct mpiq_error *error = mpiq_error_no_memory();
    uint32_t thread = diagnosis->ranks[process].thread;
    uint32_t start = thread == MPIQ_NONE ? MPIQ_NONE : graph->thread_nodes[thread];
    uint32_t last = process;
    struct way way = {.nodes = malloc(((size_t)graph->node_count + 2) * sizeof *way.nodes)};
    uint32_t *nodes _cleanup_free_ = way.nodes;
    if (!nodes)
        return error;
    if (start != MPIQ_NONE) {
        struct mpiq_explanation explanation;
        bool good = mpiq_explain(graph, &explanation) &&
                    (mpiq_is_stuck(graph, thread) ? follow(graph, &explanation, start, &way)
                                                  : shortest(graph, start, &way));
        mpiq_explanation_deinit(&explanation);
        if (good)
            shorten(graph, &way);
        struct mpiq_analysis analysis = {.job = graph->job,
                                         .graph = graph,
                                         .diagnosis = (struct mpiq_diagnosis *)diagnosis, /* only read */
                                         .arena = chain->arena};
        if (!good || !add_steps(&analysis, &way, chain) || analysis.failed)
            return error;
    }
    for (uint32_t i = 0; i < way.count; i++) {
        const struct mpiq_node *node = &graph->nodes[way.nodes[i]];
        if (node->kind == MPIQ_KIND_RANK || node->kind == MPIQ_KIND_INTERNAL)
            last = node->subject;
    }
    chain->finding =
        finding_of(graph->job, diagnosis, chain->cycle ? chain->steps[chain->cycle_step].process : last);
    chain->end = last;
    mpiq_error_destroy(error);
    return NULL;
}

struct mpiq_error *mpiq_why(const struct mpiq_job_state *job, const struct mpiq_diagnosis *diagnosis,
                            uint32_t process, struct mpiq_chain **ret)
{
    if (process >= job->process_count)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "there is no such rank in this job");
    struct mpiq_chain *chain = mpiq_chain_create();
    uint32_t *partner _cleanup_free_ = malloc(((size_t)job->operation_count + 1) * sizeof *partner);
    if (partner)
        memset(partner, 0xff, ((size_t)job->operation_count + 1) * sizeof *partner);
    struct mpiq_wait_graph *graph = partner ? mpiq_wait_graph_create(job, diagnosis, partner) : NULL;
    struct mpiq_error *error =
        chain && graph ? make_chain(graph, diagnosis, process, chain) : mpiq_error_no_memory();
    mpiq_wait_graph_destroy(graph);
    if (error) {
        mpiq_chain_destroy(chain);
        return error;
    }
    *ret = chain;
    return NULL;
}
