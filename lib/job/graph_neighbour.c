/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives: a member waits for those whose data it needs. */
#include "job/collective.h"
#include "job/graph.h"

/* Whether it is known whose data a member needs in its call of that number. */
static bool has_sources(const struct mpiq_job_state *job, const struct mpiq_job_member *member,
                        int64_t number)
{
    for (uint32_t i = 0; i < member->source_count; i++) {
        if (job->call_sources[member->first_source + i].number == number)
            return true;
    }
    return false;
}

uint32_t mpiq_neighbour_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank, uint32_t comm,
                             int64_t number)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_member *member = mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm);
    return member && has_sources(job, member, number)
               ? mpiq_graph_node(graph, MPIQ_KIND_SOURCES, comm, number, rank->process)
               : MPIQ_NODE_UNKNOWN;
}

/* Whether a member may have sent to its neighbours in its call of that number or a later one: a library
   may mistake the messages of one neighbourhood collective for another's. */
static bool may_have_sent(const struct mpiq_job_state *job, const struct mpiq_job_member *member,
                          int64_t number)
{
    for (int64_t i = number; i <= member->ordered; i++) {
        const struct mpiq_job_call *call = mpiq_numbered_call(job, member, i);
        if (!call || mpiq_collective_rule(job->shapes[call->shape].collective) == MPIQ_RULE_SOURCES)
            return true;
    }
    return false;
}

uint32_t mpiq_build_sources(struct mpiq_wait_graph *graph, const struct mpiq_node *node)
{
    const struct mpiq_job_state *job = graph->job;
    uint32_t row = job->processes[node->extra];
    const struct mpiq_job_member *member = mpiq_job_member_of(job, row, node->subject);
    uint32_t before = graph->edge_count;
    for (uint32_t i = 0; i < member->source_count; i++) {
        const struct mpiq_call_source *source = &job->call_sources[member->first_source + i];
        uint32_t process = source->number == node->number
                               ? mpiq_job_local_process(job, member, false, source->local)
                               : MPIQ_NONE;
        const struct mpiq_job_rank *rank = process == MPIQ_NONE ? NULL : mpiq_job_rank_of(job, process);
        const struct mpiq_job_member *other =
            rank ? mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), node->subject) : NULL;
        const struct mpiq_job_persistent *own = mpiq_persistent_of(job, member, node->number);
        if (own && mpiq_is_unstarted(job, process, node->subject, node->number, own->starts))
            mpiq_graph_edge(graph, mpiq_rank_node(process), MPIQ_NONE);
        if (own)
            continue;
        bool gone = rank && !other && graph->diagnosis->ranks[process].activity == MPIQ_ACTIVITY_GONE;
        if (gone || (other && other->ordered >= 0 && !may_have_sent(job, other, node->number)))
            mpiq_graph_edge(graph, mpiq_rank_node(process), MPIQ_NONE);
    }
    if (graph->edge_count == before) /* all are there: it may end at any moment */
        mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
    return graph->edge_count - before;
}
