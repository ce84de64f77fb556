/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/graph.h"

#include "base/array.h"
#include "job/collective.h"

uint32_t mpiq_graph_append(struct mpiq_wait_graph *graph, struct mpiq_node node)
{
    if (!mpiq_array_reserve(&graph->nodes, &graph->node_capacity, graph->node_count + 1)) {
        graph->failed = true;
        return MPIQ_NODE_LIVE;
    }
    graph->nodes[graph->node_count] = node;
    return graph->node_count++;
}

uint32_t mpiq_graph_node(struct mpiq_wait_graph *graph, enum mpiq_node_kind kind, uint32_t subject,
                         int64_t number, uint32_t extra)
{
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, (uint64_t)kind << 32 | subject);
    hash = mpiq_hash(mpiq_hash(hash, (uint64_t)number), extra);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&graph->others, hash, &cursor)) != MPIQ_NONE;) {
        const struct mpiq_node *node = &graph->nodes[i];
        if (node->kind == kind && node->subject == subject && node->number == number && node->extra == extra)
            return i;
    }
    struct mpiq_node node = {.kind = kind, .subject = subject, .number = number, .extra = extra};
    uint32_t index = mpiq_graph_append(graph, node);
    if (!graph->failed && !mpiq_hash_table_add(&graph->others, hash, index))
        graph->failed = true;
    return index;
}

void mpiq_graph_edge(struct mpiq_wait_graph *graph, uint32_t child, uint32_t operation)
{
    if (!mpiq_array_reserve(&graph->edges, &graph->edge_capacity, graph->edge_count + 1)) {
        graph->failed = true;
        return;
    }
    graph->edges[graph->edge_count++] = (struct mpiq_edge){.child = child, .operation = operation};
}

bool mpiq_never_answers(const struct mpiq_job_state *job, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    bool ended = rank && (rank->gone || rank->process_state == 'Z' || rank->process_state == 'X' ||
                          rank->phase == MPIQ_PHASE_FINALIZED);
    /* Who ended between the looks may have done before what others are waiting for. */
    return ended && mpiq_was_before(rank);
}

bool mpiq_never_acts(const struct mpiq_job_state *job, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    if (mpiq_never_answers(job, process))
        return true;
    for (uint32_t i = 0; rank && i < rank->thread_count; i++) {
        /* Who came there during the second look may have sent something after its counts were read. */
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread + i];
        const struct mpiq_job_wait *wait = mpiq_innermost_wait(job, thread);
        if (wait && wait->kind == MPIQ_WAIT_FINALIZE && thread->same_wait == MPIQ_YES)
            return true;
    }
    return false;
}

bool mpiq_is_background(const struct mpiq_job_operation *op, bool any)
{
    return (mpiq_is_of_collective(op) || any) && !op->blocked && !op->inactive &&
           op->status != MPIQ_STATUS_COMPLETE && op->comm != MPIQ_NONE &&
           (op->queue == MPIQ_QUEUE_SENDS || op->queue == MPIQ_QUEUE_RECEIVES);
}

bool mpiq_has_background(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    for (uint32_t i = 0; i < rank->operation_count; i++) {
        if (mpiq_is_background(&job->operations[rank->first_operation + i], false))
            return true;
    }
    return false;
}

bool mpiq_has_outstanding(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    for (uint32_t i = 0; i < rank->member_count; i++) {
        if (job->members[job->member_order[rank->first_member + i]].outstanding_count > 0)
            return true;
    }
    return false;
}

uint32_t mpiq_actor(struct mpiq_wait_graph *graph, uint32_t process, bool internal)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(graph->job, process);
    /* Who is stopped completes nothing in the background either. */
    bool stopped = mpiq_is_stopped(graph->diagnosis->ranks[process].activity);
    if (!internal || !rank || stopped || mpiq_never_acts(graph->job, process) ||
        (!mpiq_has_background(graph->job, rank) && !mpiq_has_outstanding(graph->job, rank)))
        return mpiq_rank_node(process);
    return mpiq_graph_node(graph, MPIQ_KIND_INTERNAL, process, 0, 0);
}

bool mpiq_ends_last(const struct mpiq_wait_graph *graph, uint32_t index)
{
    const struct mpiq_node *node = &graph->nodes[index];
    if (node->kind != MPIQ_KIND_THREAD)
        return node->kind == MPIQ_KIND_ENTERED;
    const struct mpiq_job_wait *wait = mpiq_innermost_wait(graph->job, &graph->job->threads[node->subject]);
    return wait && wait->kind == MPIQ_WAIT_REFUSED;
}
