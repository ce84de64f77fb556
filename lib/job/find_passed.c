/* SPDX-License-Identifier: BSD-3-Clause */
/* Who left out a collective that some wait in and the others are past, where the library counts no calls:
   messages of that call lie unreceived at that rank.

   With a wrong root the ranks stand in the same calls, but no such message lies at the rank that is waited
   for. */
#include <string.h>

#include "job/collective.h"
#include "job/find.h"

/* Whether the sender of a message is past the finding's call: it is in a later one, the same that the process
   is in, and that is a call that nobody leaves before all have entered it. */
static bool is_past(const struct mpiq_analysis *analysis, uint32_t sender, uint32_t process,
                    const struct mpiq_finding *finding)
{
    const struct mpiq_rank_diagnosis *own = &analysis->diagnosis->ranks[process];
    const struct mpiq_rank_diagnosis *other = &analysis->diagnosis->ranks[sender];
    return own->call && other->call && strcmp(own->call, other->call) == 0 && own->comm == finding->comm &&
           other->comm == finding->comm && own->site == other->site &&
           mpiq_collective_needs_all(mpiq_collective_class(own->call), -1);
}

/* Whether a message with that tag of the library's lies at a process, and whoever sent it is past the call.
 */
static bool holds(const struct mpiq_analysis *analysis, uint32_t process, const struct mpiq_finding *finding,
                  int32_t tag)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    for (uint32_t i = 0; rank && i < rank->operation_count; i++) {
        uint32_t index = rank->first_operation + i;
        const struct mpiq_job_operation *op = &job->operations[index];
        if (op->queue == MPIQ_QUEUE_UNEXPECTED && mpiq_is_of_collective(op) && op->tag == tag &&
            op->comm != MPIQ_NONE && job->communicators[op->comm].user == finding->comm &&
            op->peer != MPIQ_NONE && is_past(analysis, op->peer, process, finding) &&
            !mpiq_is_taken(analysis, index))
            return true;
    }
    return false;
}

/* Whether a process in the call waits for that one, which has what it waits for itself. */
static bool is_awaited(const struct mpiq_analysis *analysis, uint32_t process, uint32_t awaited,
                       const struct mpiq_finding *finding)
{
    const struct mpiq_job_state *job = analysis->job;
    uint32_t thread = analysis->diagnosis->ranks[process].thread;
    uint32_t index = thread == MPIQ_NONE ? MPIQ_NONE : analysis->graph->thread_nodes[thread];
    const struct mpiq_node *node = index == MPIQ_NONE ? NULL : &analysis->graph->nodes[index];
    for (uint32_t i = 0; node && i < node->edge_count; i++) {
        uint32_t operation = analysis->graph->edges[node->first_edge + i].operation;
        const struct mpiq_job_operation *op = operation == MPIQ_NONE ? NULL : &job->operations[operation];
        if (op && mpiq_is_receive(op) && mpiq_is_of_collective(op) && op->peer == awaited &&
            holds(analysis, awaited, finding, op->tag))
            return true;
    }
    return false;
}

static bool is_awaited_by_any(const struct mpiq_analysis *analysis, uint32_t awaited,
                              const struct mpiq_finding *finding)
{
    for (uint32_t i = 0; i < finding->ranks.count; i++) {
        const struct mpiq_rank_range *range = &finding->ranks.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++) {
            if (is_awaited(analysis, mpiq_job_process(analysis->job, range->world, rank), awaited, finding))
                return true;
        }
    }
    return false;
}

bool mpiq_find_passed(struct mpiq_analysis *analysis, struct mpiq_finding *finding)
{
    for (uint32_t i = 0; i < finding->missing.count; i++) {
        const struct mpiq_rank_range *range = &finding->missing.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++) {
            if (!is_awaited_by_any(analysis, mpiq_job_process(analysis->job, range->world, rank), finding))
                return false;
        }
    }
    if (!finding->proven || finding->missing.size == 0)
        return false;
    finding->elsewhere = finding->parted = true;
    if (!mpiq_rank_set_add_set(&finding->suspects, &finding->missing))
        analysis->failed = true;
    return true;
}
