/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/graph.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/rank_activity.h"
#include "base/array.h"

/* Edges of the operations in the background of a process (any: the user's, too); false: there are none. */
static bool add_background(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank, bool any)
{
    bool seen = false;
    for (uint32_t i = 0; rank && i < rank->operation_count; i++) {
        uint32_t index = rank->first_operation + i;
        if (!mpiq_is_background(&graph->job->operations[index], any))
            continue;
        uint32_t child = mpiq_operation_node(graph, rank, index, false);
        mpiq_graph_edge(graph, child == MPIQ_NONE ? MPIQ_NODE_LIVE : child, index);
        seen = true;
    }
    return seen;
}

static uint32_t build_background(struct mpiq_wait_graph *graph, uint32_t process, bool any)
{
    if (!add_background(graph, mpiq_job_rank_of(graph->job, process), any))
        mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);
    return 1;
}

static uint32_t build_internal(struct mpiq_wait_graph *graph, uint32_t process)
{
    mpiq_graph_edge(graph, mpiq_rank_node(process), MPIQ_NONE);
    if (!add_background(graph, mpiq_job_rank_of(graph->job, process),
                        false)) /* it stands between two rounds */
        mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
    return 1;
}

static uint32_t build_rank(struct mpiq_wait_graph *graph, uint32_t process)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    if (!rank) {
        mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);
        return 1;
    }
    if (mpiq_never_acts(job, process)) {
        mpiq_graph_edge(graph, MPIQ_NODE_DEAD, MPIQ_NONE);
        return 1;
    }
    if (mpiq_is_stopped(graph->diagnosis->ranks[process].activity)) {
        mpiq_graph_edge(graph, MPIQ_NODE_STOPPED, MPIQ_NONE);
        return 1;
    }
    uint32_t before = graph->edge_count;
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        uint32_t index = rank->first_thread + i;
        const struct mpiq_job_thread *thread = &job->threads[index];
        if (graph->thread_nodes[index] != MPIQ_NONE) {
            mpiq_graph_edge(graph, graph->thread_nodes[index], MPIQ_NONE);
        } else if (graph->poller_nodes[index] != MPIQ_NONE) {
            mpiq_graph_edge(graph, graph->poller_nodes[index], MPIQ_NONE);
        } else if (mpiq_thread_may_act(job, rank, thread)) {
            mpiq_graph_edge(graph, mpiq_thread_sleeps(thread) ? MPIQ_NODE_ASLEEP : MPIQ_NODE_LIVE, MPIQ_NONE);
        }
    }
    if (graph->edge_count == before)
        mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);
    return 1;
}

static uint32_t build_group(struct mpiq_wait_graph *graph, uint32_t index, bool internal)
{
    const struct mpiq_job_group *group = &graph->job->groups[index];
    if (!group->members)
        mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);
    for (uint32_t i = 0; group->members && i < group->count; i++) {
        uint32_t process = group->members[i];
        mpiq_graph_edge(graph,
                        process == MPIQ_NONE ? MPIQ_NODE_UNKNOWN : mpiq_actor(graph, process, internal),
                        MPIQ_NONE);
    }
    return 1;
}

/* What a thread polls for: what it probes for, as far as that is recorded; beside that any of the requests
   that are open, since which one it tests is not. */
static uint32_t build_poller(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                             const struct mpiq_job_thread *thread)
{
    mpiq_graph_edge(graph, MPIQ_NODE_POLLS, MPIQ_NONE);
    uint32_t before = graph->edge_count;
    for (uint32_t i = 0; i < thread->probed_count; i++) {
        uint32_t child = mpiq_operation_node(graph, rank, thread->first_probed + i, false);
        mpiq_graph_edge(graph, child == MPIQ_NONE ? MPIQ_NODE_LIVE : child, thread->first_probed + i);
    }
    bool probes_alone = thread->probed_count > 0 && thread->probed_all;
    /* Without a record of its calls nobody knows what it probes for. */
    const char *call = mpiq_job_string(graph->job, thread->in_mpi ? thread->call : rank->last_mpi_call);
    if (thread->probed_count == 0 && (mpiq_call_messages(call) & MPIQ_CALL_PROBES))
        mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);
    for (uint32_t i = 0; !probes_alone && i < rank->operation_count; i++) {
        uint32_t index = rank->first_operation + i;
        const struct mpiq_job_operation *op = &graph->job->operations[index];
        if (op->inactive || op->queue == MPIQ_QUEUE_UNEXPECTED || op->status == MPIQ_STATUS_COMPLETE)
            continue;
        uint32_t child = mpiq_operation_node(graph, rank, index, false);
        mpiq_graph_edge(graph, child == MPIQ_NONE ? MPIQ_NODE_LIVE : child, index);
    }
    if (graph->edge_count == before)
        mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
    return 1;
}

/* Returns how many children the node needs. */
static uint32_t build(struct mpiq_wait_graph *graph, uint32_t index)
{
    const struct mpiq_node node = graph->nodes[index];
    switch ((enum mpiq_node_kind)node.kind) {
    case MPIQ_KIND_RANK:
        return build_rank(graph, node.subject);
    case MPIQ_KIND_INTERNAL:
        return build_internal(graph, node.subject);
    case MPIQ_KIND_BACKGROUND:
        return build_background(graph, node.subject, node.extra);
    case MPIQ_KIND_THREAD:
        return mpiq_build_wait(graph, &graph->job->ranks[graph->thread_ranks[node.subject]],
                               &graph->job->threads[node.subject]);
    case MPIQ_KIND_POLLER:
        return build_poller(graph, &graph->job->ranks[graph->thread_ranks[node.subject]],
                            &graph->job->threads[node.subject]);
    case MPIQ_KIND_GROUP:
    case MPIQ_KIND_INTERNAL_GROUP:
        return build_group(graph, node.subject, node.kind == MPIQ_KIND_INTERNAL_GROUP);
    case MPIQ_KIND_LOCK:
        return mpiq_build_lock(graph, &node);
    case MPIQ_KIND_SOURCES:
        return mpiq_build_sources(graph, &node);
    case MPIQ_KIND_STARTED:
        return mpiq_build_started(graph, &node);
    case MPIQ_KIND_STARTED_LOWER:
        return mpiq_build_started_lower(graph, &node);
    case MPIQ_KIND_STARTED_ANY:
        return mpiq_build_started_any(graph, &node);
    case MPIQ_KIND_FINALIZE:
    case MPIQ_KIND_INITIALIZE:
        return mpiq_build_world(graph, node.subject, node.kind == MPIQ_KIND_FINALIZE);
    case MPIQ_KIND_CONSTANT:
    case MPIQ_KIND_ENTERED: /* built together, by communicator */
    case MPIQ_KIND_LOWER:
    case MPIQ_KIND_TOGETHER:
        break;
    }
    return 0;
}

/* Nodes of constants, processes and threads that wait. */
static bool begin(struct mpiq_wait_graph *graph)
{
    const struct mpiq_job_state *job = graph->job;
    for (uint32_t i = 0; i < MPIQ_NODE_CONSTANTS; i++)
        mpiq_graph_append(graph, (struct mpiq_node){.kind = MPIQ_KIND_CONSTANT, .subject = i});
    for (uint32_t i = 0; i < job->process_count; i++)
        mpiq_graph_append(graph, (struct mpiq_node){.kind = MPIQ_KIND_RANK, .subject = i});
    for (uint32_t i = 0; i < job->rank_count; i++) {
        const struct mpiq_job_rank *rank = &job->ranks[i];
        /* What is stopped may be continued; what has ended waits no more. */
        bool runs = rank->process != MPIQ_NONE &&
                    !mpiq_is_stopped(graph->diagnosis->ranks[rank->process].activity) &&
                    graph->diagnosis->ranks[rank->process].activity != MPIQ_ACTIVITY_GONE;
        for (uint32_t j = 0; j < rank->thread_count; j++) {
            uint32_t thread = rank->first_thread + j;
            graph->thread_ranks[thread] = i;
            bool sure;
            bool locked = mpiq_lock_holder(job, rank, &job->threads[thread], &sure) != MPIQ_NONE && sure;
            if (runs && (job->threads[thread].same_wait == MPIQ_YES || locked))
                graph->thread_nodes[thread] =
                    mpiq_graph_append(graph, (struct mpiq_node){.kind = MPIQ_KIND_THREAD, .subject = thread});
            else if (runs && mpiq_thread_polls(job, rank, &job->threads[thread]) &&
                     mpiq_thread_may_act(job, rank, &job->threads[thread]))
                graph->poller_nodes[thread] =
                    mpiq_graph_append(graph, (struct mpiq_node){.kind = MPIQ_KIND_POLLER, .subject = thread});
        }
    }
    return !graph->failed;
}

static bool build_all(struct mpiq_wait_graph *graph)
{
    if (!begin(graph))
        return false;
    for (uint32_t i = 0; i < graph->node_count && !graph->failed; i++) {
        uint32_t first = graph->edge_count;
        uint32_t need = build(graph, i);
        struct mpiq_node *node = &graph->nodes[i];
        node->first_edge = first;
        node->edge_count = graph->edge_count - first;
        node->need = need;
    }
    if (!graph->failed)
        mpiq_build_collectives(graph);
    return !graph->failed;
}

static bool invert(struct mpiq_wait_graph *graph)
{
    uint32_t *first = graph->first_parent = calloc((size_t)graph->node_count + 2, sizeof *first);
    uint32_t *parents = graph->parents = malloc(((size_t)graph->edge_count + 1) * sizeof *parents);
    if (!first || !parents)
        return false;
    for (uint32_t i = 0; i < graph->edge_count; i++)
        first[graph->edges[i].child + 2]++;
    for (uint32_t i = 2; i < graph->node_count + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct mpiq_node *node = &graph->nodes[i];
        for (uint32_t j = 0; j < node->edge_count; j++)
            parents[first[graph->edges[node->first_edge + j].child + 1]++] = i;
    }
    return true;
}

/* All that some of the leaves reach, marked in a flag of the nodes: a node happens once `need` of its
   children do.  Each edge is looked at once. */
static void reach(struct mpiq_wait_graph *graph, uint32_t *missing, uint32_t *queue, unsigned leaves,
                  size_t flag)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct mpiq_node *node = &graph->nodes[i];
        missing[i] = node->need;
        bool happens = node->kind == MPIQ_KIND_CONSTANT ? leaves & 1u << i : node->need == 0;
        if (happens)
            queue[count++] = i;
        else if (node->kind == MPIQ_KIND_CONSTANT)
            missing[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < count; i++) {
        *((bool *)&graph->nodes[queue[i]] + flag) = true;
        for (uint32_t j = graph->first_parent[queue[i]]; j < graph->first_parent[queue[i] + 1]; j++) {
            uint32_t parent = graph->parents[j];
            if (missing[parent] > 0 && --missing[parent] == 0)
                queue[count++] = parent;
        }
    }
}

static bool reduce(struct mpiq_wait_graph *graph)
{
    uint32_t *missing _cleanup_free_ = calloc((size_t)graph->node_count + 1, sizeof *missing);
    uint32_t *queue _cleanup_free_ = calloc((size_t)graph->node_count + 1, sizeof *queue);
    if (!invert(graph) || !missing || !queue)
        return false;
    enum {
        AWAKE = 1u << MPIQ_NODE_LIVE | 1u << MPIQ_NODE_UNKNOWN | 1u << MPIQ_NODE_ASLEEP,
        POLLS = 1u << MPIQ_NODE_POLLS,
        RUNNING = AWAKE | POLLS,
        STOPPED = 1u << MPIQ_NODE_STOPPED,
        KNOWN = 1u << MPIQ_NODE_LIVE | 1u << MPIQ_NODE_ASLEEP | POLLS | STOPPED
    };
    reach(graph, missing, queue, RUNNING | STOPPED, offsetof(struct mpiq_node, may));
    reach(graph, missing, queue, RUNNING, offsetof(struct mpiq_node, may_unstopped));
    reach(graph, missing, queue, KNOWN, offsetof(struct mpiq_node, may_known));
    reach(graph, missing, queue, AWAKE | STOPPED, offsetof(struct mpiq_node, may_poll));
    return true;
}

static void find_partitioned(struct mpiq_wait_graph *graph)
{
    const struct mpiq_job_state *job = graph->job;
    for (uint32_t rank = 0; rank < job->rank_count; rank++) {
        const struct mpiq_job_operation *operations = &job->operations[job->ranks[rank].first_operation];
        for (uint32_t i = 0; i < job->ranks[rank].operation_count && !graph->partitioned[rank]; i++)
            graph->partitioned[rank] = mpiq_is_partitioned(&operations[i]);
        graph->partitioned[job->rank_count] |= graph->partitioned[rank];
    }
}

struct mpiq_wait_graph *mpiq_wait_graph_create(const struct mpiq_job_state *job,
                                               const struct mpiq_diagnosis *diagnosis, uint32_t *partner)
{
    struct mpiq_wait_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return NULL;
    graph->job = job;
    graph->diagnosis = diagnosis;
    graph->thread_nodes = malloc(((size_t)job->thread_count + 1) * sizeof *graph->thread_nodes);
    graph->poller_nodes = malloc(((size_t)job->thread_count + 1) * sizeof *graph->poller_nodes);
    if (graph->poller_nodes)
        memset(graph->poller_nodes, 0xff, ((size_t)job->thread_count + 1) * sizeof *graph->poller_nodes);
    graph->thread_ranks = calloc((size_t)job->thread_count + 1, sizeof *graph->thread_ranks);
    graph->partitioned = calloc((size_t)job->rank_count + 1, sizeof *graph->partitioned);
    if (graph->thread_nodes)
        memset(graph->thread_nodes, 0xff, ((size_t)job->thread_count + 1) * sizeof *graph->thread_nodes);
    if (graph->partitioned)
        find_partitioned(graph);
    if (!graph->thread_nodes || !graph->thread_ranks || !graph->poller_nodes || !graph->partitioned ||
        !mpiq_matching_init(&graph->matching, job, partner) || !build_all(graph) || !reduce(graph)) {
        mpiq_wait_graph_destroy(graph);
        return NULL;
    }
    return graph;
}

void mpiq_wait_graph_destroy(struct mpiq_wait_graph *graph)
{
    if (!graph)
        return;
    mpiq_matching_deinit(&graph->matching);
    free(graph->nodes);
    free(graph->edges);
    free(graph->thread_nodes);
    free(graph->poller_nodes);
    free(graph->thread_ranks);
    free(graph->partitioned);
    free(graph->parents);
    free(graph->first_parent);
    mpiq_hash_table_deinit(&graph->others);
    mpiq_hash_table_deinit(&graph->requests);
    free(graph);
}
