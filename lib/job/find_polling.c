/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that keep testing for something that nobody will send as long as nobody stops polling.  This is no
   proof, since one of them may stop. */
#include "job/evidence.h"
#include "job/find.h"
#include "job/waits.h"

struct alike {
    uint32_t operation;
    uint32_t site;
    size_t finding;
};

static bool is_alike(const struct mpiq_job_state *job, const struct alike *a, uint32_t operation,
                     uint32_t site)
{
    const struct mpiq_job_operation *x = &job->operations[a->operation];
    const struct mpiq_job_operation *y = &job->operations[operation];
    return a->site == site && mpiq_is_send(x) == mpiq_is_send(y) && x->any == y->any &&
           x->tag_any == y->tag_any && (x->tag_any || x->tag == y->tag) &&
           mpiq_same_communicator(job, x->comm, y->comm);
}

/* The first of its requests that nobody answers; MPIQ_NONE: none of the user's. */
static uint32_t polled_for(const struct mpiq_wait_graph *graph, uint32_t node_index)
{
    const struct mpiq_node *node = &graph->nodes[node_index];
    for (uint32_t i = 0; i < node->edge_count; i++) {
        uint32_t operation = graph->edges[node->first_edge + i].operation;
        if (operation != MPIQ_NONE && !graph->job->operations[operation].internal &&
            (mpiq_is_send(&graph->job->operations[operation]) ||
             mpiq_is_receive(&graph->job->operations[operation])))
            return operation;
    }
    return MPIQ_NONE;
}

/* What the one peer of all polls for itself; NULL: it does not poll. */
static const struct mpiq_waits_for *peer_polls(struct mpiq_analysis *analysis,
                                               const struct mpiq_finding *finding)
{
    static const struct mpiq_waits_for not_known = {0};
    const struct mpiq_job_operation *op = &analysis->job->operations[finding->operation];
    if (op->any || !finding->relation.same_peer || op->peer == MPIQ_NONE)
        return NULL;
    const struct mpiq_rank_diagnosis *peer = &analysis->diagnosis->ranks[op->peer];
    uint32_t node = peer->thread == MPIQ_NONE ? MPIQ_NONE : analysis->graph->poller_nodes[peer->thread];
    if (node == MPIQ_NONE)
        return NULL;
    uint32_t operation = polled_for(analysis->graph, node);
    return operation == MPIQ_NONE ? &not_known : mpiq_operation_waits(analysis, op->peer, operation);
}

void mpiq_find_polling(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_wait_graph *graph = analysis->graph;
    struct alike kinds[MPIQ_MOST_FINDINGS];
    uint32_t count = 0;
    for (uint32_t thread = 0; thread < job->thread_count && !analysis->failed; thread++) {
        uint32_t node = graph->poller_nodes[thread];
        uint32_t operation =
            node == MPIQ_NONE || graph->nodes[node].may_poll ? MPIQ_NONE : polled_for(graph, node);
        if (operation == MPIQ_NONE)
            continue;
        uint32_t site = job->threads[thread].site;
        uint32_t at = 0;
        while (at < count && !is_alike(job, &kinds[at], operation, site))
            at++;
        if (at == MPIQ_MOST_FINDINGS)
            continue;
        const struct mpiq_job_operation *op = &job->operations[operation];
        if (at == count) {
            struct mpiq_finding *made =
                mpiq_diagnosis_add_finding(analysis->diagnosis, MPIQ_FINDING_POLLING_UNMATCHED);
            if (!made) {
                analysis->failed = true;
                return;
            }
            made->comm = op->comm == MPIQ_NONE ? MPIQ_NONE : job->communicators[op->comm].user;
            made->operation = operation;
            kinds[count++] = (struct alike){
                .operation = operation, .site = site, .finding = analysis->diagnosis->finding_count - 1};
        }
        struct mpiq_finding *finding = &analysis->diagnosis->findings[kinds[at].finding];
        uint32_t process = mpiq_thread_process(graph, thread);
        mpiq_analysis_add(analysis, &finding->ranks, process);
        mpiq_analysis_site(analysis, finding, process, thread);
        mpiq_add_evidence(analysis, finding, process, thread, operation);
        mpiq_relation_add(job, &finding->relation, process, op->comm, op->peer, op->peer_local);
        if (!op->any && op->peer != MPIQ_NONE)
            mpiq_analysis_add(analysis, &finding->others, op->peer);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct mpiq_finding *finding = &analysis->diagnosis->findings[kinds[i].finding];
        mpiq_add_evidence_of(analysis, finding, &finding->others);
        finding->peer_polls = peer_polls(analysis, finding);
    }
}
