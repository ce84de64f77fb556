/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives: whoever has started one waits for the others to start theirs as often. */
#include "job/collective.h"
#include "job/graph.h"

uint32_t mpiq_persistent_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank, uint32_t comm,
                              int collective, int64_t number, int32_t root, int64_t starts)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_member *member = mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm);
    if (job->communicators[comm].remote != MPIQ_NONE || mpiq_collective_counts_each(collective) ||
        starts > UINT32_MAX)
        return MPIQ_NODE_UNKNOWN;
    switch (mpiq_collective_rule(collective)) {
    case MPIQ_RULE_TO_ROOT:
        if (root != member->local_rank)
            return MPIQ_NODE_LIVE;
        break;
    case MPIQ_RULE_ALL:
        break;
    case MPIQ_RULE_ROOT: {
        uint32_t process = mpiq_job_local_process(job, member, true, root);
        return mpiq_is_unstarted(job, process, comm, number, starts) ? mpiq_rank_node(process)
                                                                     : MPIQ_NODE_LIVE;
    }
    case MPIQ_RULE_SOURCES:
        return mpiq_neighbour_node(graph, rank, comm, number);
    case MPIQ_RULE_LOWER:
    case MPIQ_RULE_NOBODY:
        return MPIQ_NODE_UNKNOWN;
    }
    return mpiq_graph_node(graph, MPIQ_KIND_STARTED, comm, number, (uint32_t)starts);
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
