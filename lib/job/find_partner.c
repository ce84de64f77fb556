/* SPDX-License-Identifier: BSD-3-Clause */
/* Of ranks that wait for messages in vain: who took the wrong rank for its partner. */
#include "job/unmatched.h"

/* The message with that tag that one process has sent to another one, which has not received it; MPIQ_NONE.
 */
static uint32_t unreceived(const struct mpiq_analysis *analysis, uint32_t from, uint32_t to, uint32_t comm,
                           int32_t tag)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(analysis->job, to);
    for (uint32_t i = 0; rank && i < rank->operation_count; i++) {
        uint32_t index = rank->first_operation + i;
        const struct mpiq_job_operation *op = &analysis->job->operations[index];
        if (op->queue == MPIQ_QUEUE_UNEXPECTED && !op->internal && op->peer == from && op->comm == comm &&
            op->tag == tag && !mpiq_is_taken(analysis, index))
            return index;
    }
    return MPIQ_NONE;
}

/* The receive from a process that nobody has sent to, of one that is stuck in it; MPIQ_NONE. */
static uint32_t awaited(const struct mpiq_analysis *analysis, uint32_t process, uint32_t from, uint32_t comm)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(analysis->job, process);
    for (uint32_t i = 0; rank && i < rank->thread_count; i++) {
        uint32_t thread = rank->first_thread + i;
        if (!mpiq_is_stuck(graph, thread))
            continue;
        const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
        for (uint32_t j = 0; j < node->edge_count; j++) {
            const struct mpiq_edge *edge = &graph->edges[node->first_edge + j];
            const struct mpiq_job_operation *op =
                edge->operation == MPIQ_NONE ? NULL : &analysis->job->operations[edge->operation];
            if (op && mpiq_is_receive(op) && !op->internal && !op->any && !op->tag_any && op->peer == from &&
                op->comm == comm && !graph->nodes[edge->child].may)
                return edge->operation;
        }
    }
    return MPIQ_NONE;
}

/* A rank that takes the wrong one for its partner: what it sent lies at that one, and is what another one
   waits for, whose message for it has the tag that it waits for.  The two tags have to differ: with one tag
   for both, it may as well be about to exchange with that other one next. */
static void find_wrong_partners(const struct mpiq_unmatched *unmatched)
{
    struct mpiq_analysis *analysis = unmatched->analysis;
    const struct mpiq_job_state *job = analysis->job;
    for (uint32_t i = 0; i < unmatched->count && !analysis->failed; i++) {
        const struct mpiq_job_operation *receive = &job->operations[unmatched->first[i].operation];
        struct mpiq_finding *finding = &analysis->diagnosis->findings[unmatched->findings[i]];
        if (finding->ranks.size != 1 || finding->near_miss_count != 1 || !mpiq_is_receive(receive) ||
            receive->any || finding->near_misses[0].differs != MPIQ_MISS_SOURCE)
            continue;
        uint32_t own = mpiq_thread_process(analysis->graph, unmatched->first[i].thread);
        uint32_t other = awaited(analysis, finding->near_misses[0].process, own, receive->comm);
        int32_t tag = other == MPIQ_NONE ? 0 : job->operations[other].tag;
        uint32_t stray = other == MPIQ_NONE || tag == job->operations[finding->near_misses[0].operation].tag
                             ? MPIQ_NONE
                             : unreceived(analysis, own, receive->peer, receive->comm, tag);
        if (stray == MPIQ_NONE)
            continue;
        finding->other = stray;
        mpiq_analysis_add(analysis, &finding->suspects, own);
    }
}

/* Whether a process has a part in all messages that a closed set of threads waits for, with several others,
   and waits for one itself.  False also where a rank may be any. */
static bool has_part_in_all(const struct mpiq_analysis *analysis, const struct mpiq_closed_set *set,
                            uint32_t process)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    uint32_t partner = MPIQ_NONE;
    bool owns = false, several = false;
    for (uint32_t i = 0; i < set->thread_count; i++) {
        uint32_t thread = analysis->explanation->threads[set->first_thread + i];
        uint32_t owner = mpiq_thread_process(graph, thread);
        const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
        const char *call = mpiq_job_string(analysis->job, analysis->job->threads[thread].call);
        if (mpiq_same_string(call, "MPI_Waitany") || mpiq_same_string(call, "MPI_Waitsome"))
            return false; /* any partner would have done */
        for (uint32_t j = 0; j < node->edge_count; j++) {
            const struct mpiq_edge *edge = &graph->edges[node->first_edge + j];
            const struct mpiq_job_operation *op =
                edge->operation == MPIQ_NONE ? NULL : &analysis->job->operations[edge->operation];
            bool message = op && (mpiq_is_send(op) || mpiq_is_receive(op)) && !op->internal && !op->any;
            if (message && graph->nodes[edge->child].may)
                continue;
            if (!message || op->peer == MPIQ_NONE || (owner != process && op->peer != process))
                return false;
            uint32_t with = owner == process ? op->peer : owner;
            several = several || (partner != MPIQ_NONE && with != partner);
            partner = with;
            owns = owns || owner == process;
        }
    }
    return owns && several;
}

/* Of two ranks that send to each other, the one whose message a third rank waits for; MPIQ_NONE: both, or
   neither. */
static uint32_t missed_elsewhere(const struct mpiq_analysis *analysis, uint32_t one, uint32_t other,
                                 uint32_t comm)
{
    uint32_t missed = MPIQ_NONE;
    for (uint32_t process = 0; process < analysis->job->process_count; process++) {
        if (process == one || process == other)
            continue;
        bool first = awaited(analysis, process, one, comm) != MPIQ_NONE;
        bool second = awaited(analysis, process, other, comm) != MPIQ_NONE;
        uint32_t here = first ? one : other;
        if ((first && second) || ((first || second) && missed != MPIQ_NONE && missed != here))
            return MPIQ_NONE;
        missed = first || second ? here : missed;
    }
    return missed;
}

/* Two ranks that send to each other cannot be told apart by that: neither is suspected because it is the
   other one's peer. */
static uint32_t suspect_of_two(struct mpiq_analysis *analysis, struct mpiq_finding *finding)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_operation *op = &job->operations[finding->operation];
    if (!mpiq_is_send(op) || finding->ranks.size != 2)
        return MPIQ_NONE;
    const struct mpiq_rank_range *low = finding->ranks.ranges, *high = &low[finding->ranks.count - 1];
    uint32_t one = mpiq_job_process(job, low->world, low->first);
    uint32_t other = mpiq_job_process(job, high->world, high->last);
    if (op->peer != one && op->peer != other)
        return MPIQ_NONE;
    mpiq_rank_set_deinit(&finding->suspects);
    return missed_elsewhere(analysis, one, other, op->comm);
}

/* Of ranks that wait for each other's messages, one that has a part in all of them has another idea of who
   its partners are than the others: it alone is suspected.  Not where the finding says the same of ranks
   beyond them: each is a part of what all do wrong. */
static void suspect_odd_partner(const struct mpiq_unmatched *unmatched)
{
    struct mpiq_analysis *analysis = unmatched->analysis;
    const struct mpiq_explanation *explanation = analysis->explanation;
    uint32_t known = MPIQ_NONE, odd_of_known = MPIQ_NONE; /* most findings are of one set */
    for (uint32_t i = 0; i < unmatched->count; i++) {
        uint32_t index = explanation->closed_set_of[unmatched->first[i].thread];
        struct mpiq_finding *finding = &analysis->diagnosis->findings[unmatched->findings[i]];
        const struct mpiq_closed_set *set = index == MPIQ_NONE ? NULL : &explanation->closed_sets[index];
        uint32_t threads = set && set->thread_count < MPIQ_MOST_STEPS ? set->thread_count : 0;
        if (index != known)
            odd_of_known = MPIQ_NONE;
        for (uint32_t j = 0; index != known && j < threads && odd_of_known == MPIQ_NONE; j++) {
            uint32_t process =
                mpiq_thread_process(analysis->graph, explanation->threads[set->first_thread + j]);
            if (has_part_in_all(analysis, set, process))
                odd_of_known = process;
        }
        known = index;
        uint32_t odd = finding->ranks.size <= threads ? odd_of_known : MPIQ_NONE;
        if (odd == MPIQ_NONE)
            odd = suspect_of_two(analysis, finding);
        if (odd == MPIQ_NONE)
            continue;
        mpiq_rank_set_deinit(&finding->suspects);
        mpiq_analysis_add(analysis, &finding->suspects, odd);
    }
}

void mpiq_suspect_partners(const struct mpiq_unmatched *unmatched)
{
    suspect_odd_partner(unmatched);
    find_wrong_partners(unmatched);
}
