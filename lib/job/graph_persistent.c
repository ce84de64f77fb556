/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives: whoever has started one waits for the others to start theirs as often. */
#include "job/collective.h"
#include "job/graph.h"

/* In the number of a node for lower ranks: starts below, the running number above. */
enum { STARTS_BITS = 32 };

uint32_t mpiq_persistent_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank, uint32_t comm,
                              int collective, int64_t number, int32_t root, int64_t starts)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_member *member = mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm);
    if (job->communicators[comm].remote != MPIQ_NONE || starts > UINT32_MAX)
        return MPIQ_NODE_UNKNOWN;
    bool each = mpiq_collective_counts_each(collective);
    switch (mpiq_collective_rule(collective)) {
    case MPIQ_RULE_TO_ROOT:
        if (root != member->local_rank)
            return MPIQ_NODE_LIVE;
        break;
    case MPIQ_RULE_ALL:
        break;
    case MPIQ_RULE_LOWER:
        if (member->local_rank <= 0 || number > INT32_MAX)
            return MPIQ_NODE_LIVE;
        return mpiq_graph_node(graph, MPIQ_KIND_STARTED_LOWER, comm, number << STARTS_BITS | starts,
                               (uint32_t)member->local_rank);
    case MPIQ_RULE_ROOT: {
        uint32_t process = mpiq_job_local_process(job, member, true, root);
        return mpiq_is_unstarted(job, process, comm, number, starts) ? mpiq_rank_node(process)
                                                                     : MPIQ_NODE_LIVE;
    }
    case MPIQ_RULE_SOURCES:
        return mpiq_neighbour_node(graph, rank, comm, number);
    case MPIQ_RULE_NOBODY:
        return MPIQ_NODE_UNKNOWN;
    }
    return mpiq_graph_node(graph, each ? MPIQ_KIND_STARTED_ANY : MPIQ_KIND_STARTED, comm, number,
                           (uint32_t)starts);
}

/* The rank's request of the collective with that number; NULL: not known, or freed. */
static const struct mpiq_job_persistent *
request_of(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank, uint32_t comm, int64_t number)
{
    const struct mpiq_job_member *member = mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm);
    return member ? mpiq_persistent_of(job, member, number) : NULL;
}

/* A member that has started it and polled in MPI since has done all it can: only one that has not started it
   can still help. */
static void add_one_of_any(struct mpiq_wait_graph *graph, const struct mpiq_node *node, uint32_t process)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    const struct mpiq_job_persistent *request =
        rank ? request_of(job, rank, node->subject, node->number) : NULL;
    if (!rank || !request)
        mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);
    else if (request->starts < node->extra)
        mpiq_graph_edge(graph, mpiq_rank_node(process), MPIQ_NONE);
    else if (rank->final || !mpiq_has_polled(job, rank))
        mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
}

uint32_t mpiq_build_started_any(struct mpiq_wait_graph *graph, const struct mpiq_node *node)
{
    uint32_t index = graph->job->communicators[node->subject].group;
    const struct mpiq_job_group *group = index == MPIQ_NONE ? NULL : &graph->job->groups[index];
    uint32_t before = graph->edge_count;
    for (uint32_t i = 0; group && group->members && i < group->count; i++)
        add_one_of_any(graph, node, group->members[i]);
    if (graph->edge_count == before)
        mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
    return 1;
}

/* One node leads to the next, so that all of them together have as few edges as members. */
uint32_t mpiq_build_started_lower(struct mpiq_wait_graph *graph, const struct mpiq_node *node)
{
    const struct mpiq_job_state *job = graph->job;
    uint32_t index = job->communicators[node->subject].group;
    const struct mpiq_job_group *group = index == MPIQ_NONE ? NULL : &job->groups[index];
    uint32_t before = graph->edge_count;
    uint32_t below = node->extra - 1;
    if (group && group->members && below < group->count &&
        mpiq_is_unstarted(job, group->members[below], node->subject, node->number >> STARTS_BITS,
                          node->number & UINT32_MAX))
        mpiq_graph_edge(graph, mpiq_rank_node(group->members[below]), MPIQ_NONE);
    if (below > 0) {
        uint32_t next = mpiq_graph_node(graph, MPIQ_KIND_STARTED_LOWER, node->subject, node->number, below);
        mpiq_graph_edge(graph, next, MPIQ_NONE);
    }
    if (graph->edge_count == before)
        mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
    return graph->edge_count - before;
}

uint32_t mpiq_build_started(struct mpiq_wait_graph *graph, const struct mpiq_node *node)
{
    const struct mpiq_job_state *job = graph->job;
    uint32_t index = job->communicators[node->subject].group;
    const struct mpiq_job_group *group = index == MPIQ_NONE ? NULL : &job->groups[index];
    uint32_t before = graph->edge_count;
    for (uint32_t i = 0; group && group->members && i < group->count; i++) {
        if (mpiq_is_unstarted(job, group->members[i], node->subject, node->number, node->extra))
            mpiq_graph_edge(graph, mpiq_rank_node(group->members[i]), MPIQ_NONE);
    }
    if (graph->edge_count == before)
        mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
    return graph->edge_count - before;
}
