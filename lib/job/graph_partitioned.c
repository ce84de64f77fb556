/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whom a partitioned send or receive waits for.
 *
 * The library implements it with internal messages: one per partition, and some for the set-up.  If a
 * partition was marked ready before both sides knew of each other, the library sends it later without a call
 * by the program.  So the operation waits for what its first unfinished message waits for, as long as the
 * other side's library has no such work left.
 *
 * The recorder sees none of these messages.  It counts a partitioned send as one message, sent when the send
 * is started.  So a receive waits for its sender to act if every message that may be for it is a started send
 * that lacks a partition.
 */
#include "job/graph.h"

/* Whether both looks found the same requests. */
static bool stands_still(const struct mpiq_job_rank *rank)
{
    return rank->final || (rank->looks == 3 && !(rank->changed & MPIQ_CHANGED_QUEUES));
}

/* Whether the other side's library may send for this operation by itself. */
static bool other_side_moves(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                             const struct mpiq_job_operation *op)
{
    const struct mpiq_job_rank *peer = mpiq_job_rank_of(job, op->peer);
    if (mpiq_never_answers(job, op->peer))
        return false;
    if (!peer)
        return true;
    for (uint32_t i = 0; i < peer->operation_count; i++) {
        const struct mpiq_job_operation *other = &job->operations[peer->first_operation + i];
        bool same_comm = other->comm == op->comm || other->comm == MPIQ_NONE;
        bool same_peer = other->peer == rank->process || other->peer == MPIQ_NONE;
        bool same_tag = other->tag == op->tag || other->tag < 0;
        if (mpiq_is_partitioned(other) && other->moves && same_comm && same_peer && same_tag)
            return true;
    }
    return false;
}

/* How many active partitioned sends match the rank's receive and lack a partition. */
static uint32_t count_incomplete(const struct mpiq_job_state *job, const struct mpiq_job_rank *sender,
                                 const struct mpiq_job_rank *rank, const struct mpiq_job_operation *receive)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sender->operation_count; i++) {
        const struct mpiq_job_operation *op = &job->operations[sender->first_operation + i];
        count += op->kind == MPIQ_OPERATION_PSEND && op->queue == MPIQ_QUEUE_SENDS && !op->inactive &&
                 op->status == MPIQ_STATUS_PENDING && op->comm == receive->comm &&
                 op->peer == rank->process && op->tag == receive->tag && mpiq_job_more(job, op)->missing > 0;
    }
    return count;
}

/* How many messages that match the rank's receive were sent and not yet received. */
static uint32_t count_messages(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                               const struct mpiq_job_operation *receive)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rank->operation_count; i++) {
        const struct mpiq_job_operation *op = &job->operations[rank->first_operation + i];
        count += op->queue == MPIQ_QUEUE_UNEXPECTED && op->comm == receive->comm &&
                 op->peer == receive->peer && op->tag == receive->tag;
    }
    return count;
}

/* What a receive waits for, by the recorder's counts. */
static uint32_t counted_node(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                             const struct mpiq_job_operation *op)
{
    const struct mpiq_job_rank *sender = mpiq_job_rank_of(job, op->peer);
    const struct mpiq_job_member *member = mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), op->comm);
    if (!member || !sender || mpiq_channel_in_transit(job, member, op->peer))
        return MPIQ_NODE_UNKNOWN;
    /* A sender that has left may have sent all of it; then its counts and requests are gone. */
    if (sender->gone || !mpiq_job_member_of(job, (uint32_t)(sender - job->ranks), op->comm))
        return MPIQ_NODE_UNKNOWN;
    uint32_t messages = count_messages(job, rank, op);
    return messages == 0 || messages == count_incomplete(job, sender, rank, op) ? mpiq_rank_node(op->peer)
                                                                                : MPIQ_NODE_UNKNOWN;
}

static uint32_t find_inner(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                           uint64_t request)
{
    for (uint32_t i = 0; i < rank->operation_count; i++) {
        uint32_t index = rank->first_operation + i;
        const struct mpiq_job_operation *inner = &job->operations[index];
        if (inner->queue != MPIQ_QUEUE_UNEXPECTED && inner->request == request && !mpiq_is_partitioned(inner))
            return index;
    }
    return MPIQ_NONE;
}

uint32_t mpiq_partitioned_node(const struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                               const struct mpiq_job_operation *op, uint32_t *inner)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_operation_more *more = mpiq_job_more(job, op);
    *inner = MPIQ_NONE;
    const struct mpiq_job_rank *peer = mpiq_job_rank_of(job, op->peer);
    bool answers = op->peer != MPIQ_NONE && !mpiq_never_answers(job, op->peer);
    if (op->peer == MPIQ_NONE || op->comm == MPIQ_NONE || op->tag < 0 || !mpiq_queues_known(rank) ||
        (answers && (!peer || !mpiq_queues_known(peer))))
        return MPIQ_NODE_UNKNOWN;
    if (!stands_still(rank) || (answers && !stands_still(peer)))
        return MPIQ_NODE_LIVE;
    if (op->kind == MPIQ_OPERATION_PSEND && more->missing > 0) /* its own process has to call MPI_Pready */
        return mpiq_rank_node(rank->process);
    if (mpiq_job_is_counted(rank) && op->kind == MPIQ_OPERATION_PRECV)
        return counted_node(job, rank, op);
    if (more->inner == 0 || other_side_moves(job, rank, op))
        return MPIQ_NODE_UNKNOWN;
    *inner = find_inner(job, rank, more->inner);
    return MPIQ_NODE_UNKNOWN;
}
