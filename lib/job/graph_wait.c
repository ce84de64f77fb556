/* SPDX-License-Identifier: BSD-3-Clause */
/* The edge rule: which ranks each operation waits for, and how many of a wait's operations must complete. */
#include "job/collective.h"
#include "job/graph.h"
#include "job/rank_activity.h"

/* Whether a process is in MPI, where it takes in what comes. */
static bool takes_in(const struct mpiq_wait_graph *graph, uint32_t process)
{
    enum mpiq_rank_activity activity = graph->diagnosis->ranks[process].activity;
    return activity == MPIQ_ACTIVITY_BLOCKED || activity == MPIQ_ACTIVITY_POLLING;
}

static bool has_ended(const struct mpiq_wait_graph *graph, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(graph->job, process);
    return rank && (graph->diagnosis->ranks[process].activity == MPIQ_ACTIVITY_GONE ||
                    rank->phase == MPIQ_PHASE_FINALIZED);
}

/* For a message on its way: its receiver needs but to enter MPI. */
static uint32_t taking_in(const struct mpiq_wait_graph *graph, uint32_t process)
{
    return takes_in(graph, process) ? MPIQ_NODE_LIVE : mpiq_rank_node(process);
}

/* Without the library's own state, a send that may complete before it is received counts as incomplete only
   if both ends have polled in MPI since. */
static bool may_be_complete(const struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                            const struct mpiq_job_operation *op)
{
    const struct mpiq_job_rank *receiver = mpiq_job_rank_of(graph->job, op->peer);
    return mpiq_job_is_counted(rank) && op->kind != MPIQ_OPERATION_SSEND &&
           (!receiver || !mpiq_has_polled(graph->job, rank) || !mpiq_has_polled(graph->job, receiver));
}

static uint32_t send_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                          const struct mpiq_job_operation *op, uint32_t operation, bool detach)
{
    if (op->peer == MPIQ_NONE)
        return MPIQ_NODE_UNKNOWN;
    if (op->kind == MPIQ_OPERATION_BSEND && !detach)
        return MPIQ_NODE_LIVE;
    if (has_ended(graph, op->peer))
        return mpiq_rank_node(op->peer);
    if (op->eager || op->status == MPIQ_STATUS_MATCHED)
        return taking_in(graph, op->peer);
    switch ((enum mpiq_fate)graph->matching.fates[operation]) {
    case MPIQ_FATE_UNEXPECTED:
        return may_be_complete(graph, rank, op) ? MPIQ_NODE_UNKNOWN
                                                : mpiq_actor(graph, op->peer, mpiq_is_of_collective(op));
    case MPIQ_FATE_IN_TRANSIT:
    case MPIQ_FATE_MEETS:
        return taking_in(graph, op->peer);
    case MPIQ_FATE_NONE:
    case MPIQ_FATE_OPEN:
        break;
    }
    return MPIQ_NODE_UNKNOWN;
}

/* Whether the count of what was sent for a receive is gone with its sender. */
static bool source_has_left(const struct mpiq_job_state *job, const struct mpiq_job_member *member,
                            const struct mpiq_job_operation *op)
{
    const struct mpiq_job_communicator *comm = &job->communicators[op->comm];
    if (op->any) {
        uint64_t size = (uint64_t)(comm->group == MPIQ_NONE ? 0 : job->groups[comm->group].count) +
                        (comm->remote == MPIQ_NONE ? 0 : job->groups[comm->remote].count);
        return comm->member_count < size;
    }
    const struct mpiq_job_rank *from = mpiq_job_rank_of(job, op->peer);
    return from && (from->gone || !mpiq_job_member_of(job, (uint32_t)(from - job->ranks), member->comm));
}

/* Nobody has sent it: it waits for its source to act. */
static uint32_t source_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                            const struct mpiq_job_operation *op)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_member *member = mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), op->comm);
    if (!member || !mpiq_queues_known(rank) || (!op->any && op->peer == MPIQ_NONE))
        return MPIQ_NODE_UNKNOWN;
    /* A request that is done already, which a wait for several does not show, has taken what came. */
    if (graph->several && mpiq_job_is_counted(rank) && source_has_left(job, member, op))
        return MPIQ_NODE_LIVE;
    if (!op->any) {
        if (!mpiq_job_rank_of(job, op->peer))
            return mpiq_rank_node(op->peer);
        if (mpiq_channel_in_transit(job, member, op->peer))
            return MPIQ_NODE_LIVE;
        return mpiq_actor(graph, op->peer, mpiq_is_of_collective(op));
    }
    if (mpiq_any_in_transit(&graph->matching.in_transit, member))
        return MPIQ_NODE_LIVE;
    const struct mpiq_job_communicator *comm = &job->communicators[op->comm];
    if (comm->flags & MPIQ_COMM_SELF)
        return mpiq_actor(graph, rank->process, mpiq_is_of_collective(op));
    uint32_t group = comm->remote == MPIQ_NONE || member->remote_side ? comm->group : comm->remote;
    if (group == MPIQ_NONE)
        return MPIQ_NODE_UNKNOWN;
    return mpiq_graph_node(graph, mpiq_is_of_collective(op) ? MPIQ_KIND_INTERNAL_GROUP : MPIQ_KIND_GROUP,
                           group, 0, 0);
}

/* A receive or probe that is in no queue: whether something there is for it. */
static bool something_fits(const struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                           const struct mpiq_job_operation *receive)
{
    const struct mpiq_job_state *job = graph->job;
    for (uint32_t i = 0; i < rank->operation_count; i++) {
        const struct mpiq_job_operation *op = &job->operations[rank->first_operation + i];
        if (op->queue == MPIQ_QUEUE_UNEXPECTED && mpiq_fits(receive, op->comm, op->peer, op->tag))
            return true;
    }
    const uint32_t *first = &graph->matching.first_incoming[rank->process];
    for (uint32_t i = first[0]; i < first[1]; i++) {
        const struct mpiq_incoming *in = &graph->matching.incoming[i];
        const struct mpiq_job_operation *op = &job->operations[in->operation];
        if (graph->matching.fates[in->operation] != MPIQ_FATE_MEETS &&
            mpiq_fits(receive, op->comm, in->sender, op->tag))
            return true;
    }
    return false;
}

static uint32_t receive_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                             const struct mpiq_job_operation *op, uint32_t operation)
{
    if (op->status == MPIQ_STATUS_MATCHED) {
        uint32_t sender = mpiq_job_more(graph->job, op)->actual;
        return sender != MPIQ_NONE && has_ended(graph, sender) ? mpiq_rank_node(sender) : MPIQ_NODE_LIVE;
    }
    if (op->queue == MPIQ_QUEUE_WAIT) {
        /* Only a probe may be in no queue.  A receive that is not there any more has been served. */
        if (op->kind != MPIQ_OPERATION_PROBE || something_fits(graph, rank, op))
            return MPIQ_NODE_LIVE;
    } else if (graph->matching.fates[operation] != MPIQ_FATE_OPEN) {
        return MPIQ_NODE_LIVE;
    }
    return source_node(graph, rank, op);
}

/* A request that stands for many messages: what is known about the call, or else about its internal traffic.
   This may include the traffic of other requests; then more has to be stuck than necessary. */
static uint32_t request_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                             const struct mpiq_job_operation *op)
{
    uint32_t comm = MPIQ_NONE;
    const struct mpiq_job_call *call = mpiq_outstanding_call(graph->job, rank, op, &comm);
    if (call && call->done)
        return MPIQ_NONE;
    uint32_t node = MPIQ_NODE_UNKNOWN;
    if (call) {
        const struct mpiq_call_shape *shape = &graph->job->shapes[call->shape];
        node = mpiq_collective_node(graph, rank, comm, shape->collective, shape->number, shape->root);
    }
    bool collective = call || op->kind == MPIQ_OPERATION_COLLECTIVE;
    bool forced = node != MPIQ_NODE_UNKNOWN && node != MPIQ_NODE_LIVE;
    if (forced || !collective || rank->queues != MPIQ_YES)
        return node;
    /* Where the standard forces nobody (the root of a broadcast), the algorithm may: a rank that went round
       in this wait has no request between two rounds, so that what is under way is what it waits for. */
    if (node == MPIQ_NODE_LIVE &&
        !(mpiq_has_polled(graph->job, rank) && mpiq_has_background(graph->job, rank)))
        return node;
    return mpiq_graph_node(graph, MPIQ_KIND_BACKGROUND, rank->process, 0, 0);
}

uint32_t mpiq_operation_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                             uint32_t operation, bool detach)
{
    const struct mpiq_job_operation *op = &graph->job->operations[operation];
    if (op->status == MPIQ_STATUS_COMPLETE || op->inactive)
        return MPIQ_NONE;
    if (op->kind == MPIQ_OPERATION_COLLECTIVE || op->kind == MPIQ_OPERATION_OTHER)
        return request_node(graph, rank, op);
    if (mpiq_is_partitioned(op)) {
        uint32_t inner;
        uint32_t node = mpiq_partitioned_node(graph, rank, op, &inner);
        if (inner != MPIQ_NONE)
            node = mpiq_operation_node(graph, rank, inner, false);
        return node == MPIQ_NONE ? MPIQ_NODE_UNKNOWN : node;
    }
    if (op->comm == MPIQ_NONE || rank->queues != MPIQ_YES)
        return MPIQ_NODE_UNKNOWN;
    if (mpiq_is_send(op))
        return send_node(graph, rank, op, operation, detach);
    if (mpiq_is_receive(op))
        return receive_node(graph, rank, op, operation);
    return MPIQ_NODE_UNKNOWN;
}

/* What a wait's operations are looked for in where they are many: the rank's requests that somebody waits
   for, by their handle.  The first of a handle wins. */
static bool index_requests(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank)
{
    const struct mpiq_job_state *job = graph->job;
    mpiq_hash_table_clear(&graph->requests);
    for (uint32_t i = 0; i < rank->operation_count; i++) {
        const struct mpiq_job_operation *op = &job->operations[rank->first_operation + i];
        if (op->queue == MPIQ_QUEUE_UNEXPECTED || !op->request || !op->blocked)
            continue;
        if (!mpiq_hash_table_add(&graph->requests, mpiq_hash(MPIQ_HASH_START, op->request),
                                 rank->first_operation + i))
            return false;
    }
    return true;
}

static uint32_t indexed(const struct mpiq_wait_graph *graph, uint32_t operation)
{
    const struct mpiq_job_operation *op = &graph->job->operations[operation];
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, op->request);
    uint64_t cursor = hash;
    uint32_t first = MPIQ_NONE;
    for (uint32_t i; (i = mpiq_hash_table_next(&graph->requests, hash, &cursor)) != MPIQ_NONE;) {
        if (i < first && graph->job->operations[i].request == op->request)
            first = i;
    }
    return first == MPIQ_NONE ? operation : first;
}

/* The same operation in the rank's queues, where its sequence and fate are; itself if it is not there. */
static uint32_t queued(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank, uint32_t operation)
{
    const struct mpiq_job_operation *op = &job->operations[operation];
    uint32_t found = operation;
    for (uint32_t i = 0; i < rank->operation_count; i++) {
        uint32_t index = rank->first_operation + i;
        const struct mpiq_job_operation *candidate = &job->operations[index];
        if (candidate->queue == MPIQ_QUEUE_UNEXPECTED)
            continue;
        if (op->request) {
            if (candidate->blocked && candidate->request == op->request)
                return index;
            continue;
        }
        /* By its envelope: the last one posted is the blocking call's own. */
        if (candidate->kind == op->kind && candidate->comm == op->comm &&
            candidate->peer_local == op->peer_local && candidate->tag_any == op->tag_any &&
            (op->tag_any || candidate->tag == op->tag) && candidate->status != MPIQ_STATUS_COMPLETE &&
            !candidate->inactive)
            found = index;
    }
    return found;
}

/* What the standard forces for the collective call that a thread is in; UNKNOWN outside of one. */
static uint32_t call_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                          const struct mpiq_job_thread *thread)
{
    struct mpiq_thread_collective in;
    mpiq_thread_collective(graph->job, rank, thread, &in);
    if (in.call == MPIQ_NONE || in.comm == MPIQ_NONE)
        return MPIQ_NODE_UNKNOWN;
    const struct mpiq_call_shape *shape = &graph->job->shapes[graph->job->calls[in.call].shape];
    return mpiq_collective_node(graph, rank, in.comm, in.collective, in.number, shape->root);
}

/* A wait in which no operation is seen: what the call itself needs. */
static void build_call(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                       const struct mpiq_job_thread *thread, bool finalize, bool initialize)
{
    uint32_t world = mpiq_job_world_rank(graph->job, rank->process).world;
    uint32_t child =
        finalize || initialize
            ? mpiq_graph_node(graph, finalize ? MPIQ_KIND_FINALIZE : MPIQ_KIND_INITIALIZE, world, 0, 0)
            : call_node(graph, rank, thread);
    mpiq_graph_edge(graph, child, MPIQ_NONE);
}

/* How many of the edges must come true, by the kind of the wait. */
static uint32_t needed(const struct mpiq_job_wait *wait, uint32_t edges, uint32_t done)
{
    switch ((enum mpiq_wait_kind)wait->kind) {
    case MPIQ_WAIT_ALL:
    case MPIQ_WAIT_BSEND_DETACH:
        return edges;
    case MPIQ_WAIT_ANY:
    case MPIQ_WAIT_SOME:
        return done > 0 ? 0 : 1;
    default:
        break;
    }
    int64_t need = (int64_t)wait->need - done;
    return need < 1 ? 1 : need > edges ? edges : (uint32_t)need;
}

static bool is_message(const struct mpiq_job_operation *op)
{
    return mpiq_is_send(op) || mpiq_is_receive(op);
}

static bool is_collective_wait(const struct mpiq_job_wait *wait)
{
    switch ((enum mpiq_wait_kind)wait->kind) {
    case MPIQ_WAIT_RMA:
    case MPIQ_WAIT_CONNECT:
    case MPIQ_WAIT_START:
    case MPIQ_WAIT_COMPLETE:
    case MPIQ_WAIT_WAIT:
    case MPIQ_WAIT_LOCK:
    case MPIQ_WAIT_UNLOCK:
    case MPIQ_WAIT_FLUSH:
        return false;
    default:
        return wait->collective >= 0;
    }
}

/* A send that the library may complete before it is received. */
static bool is_standard_send(const struct mpiq_job_operation *op)
{
    return mpiq_is_send(op) && op->kind != MPIQ_OPERATION_SSEND;
}

/* Whether the message for a receive is whole at its receiver: its send has returned. */
static bool has_arrived(const struct mpiq_wait_graph *graph, uint32_t receive)
{
    uint32_t message = graph->matching.partner[receive];
    return message != MPIQ_NONE && graph->job->operations[message].queue == MPIQ_QUEUE_UNEXPECTED &&
           graph->job->operations[message].eager;
}

/* An operation that may be complete though nobody has answered: such a send, or a collective without data. */
static bool may_need_nobody(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                            const struct mpiq_job_operation *op)
{
    uint32_t comm;
    if (mpiq_is_send(op) || mpiq_is_receive(op))
        return is_standard_send(op);
    const struct mpiq_job_call *call = mpiq_outstanding_call(job, rank, op, &comm);
    const struct mpiq_call_shape *shape = call ? &job->shapes[call->shape] : NULL;
    return shape && mpiq_collective_may_be_empty(shape->collective, shape->bytes);
}

/* Whether a message and partitioned messages may be taken for each other: the recorder counts both by
   envelope, and they never match. */
static bool is_counted_with_partitions(const struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                                       const struct mpiq_job_operation *op)
{
    if (!mpiq_is_send(op) && !mpiq_is_receive(op))
        return false;
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_rank *peer = op->peer == MPIQ_NONE ? NULL : mpiq_job_rank_of(job, op->peer);
    return graph->partitioned[rank - job->ranks] || (op->any && graph->partitioned[job->rank_count]) ||
           (peer && graph->partitioned[peer - job->ranks]);
}

/*
 * A wait for all of several requests, seen by the recorder, which does not know which of them are complete.
 * Receives without a message and synchronous sends without a receive are not complete.  If there are none of
 * these, and no message is in transit, one of the other requests is incomplete, but it is not known which.
 */
static uint32_t build_counted_all(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                                  const struct mpiq_job_wait *wait)
{
    const struct mpiq_job_state *job = graph->job;
    uint32_t before = graph->edge_count;
    bool live = false;
    for (uint32_t i = 0; i < wait->operation_count; i++) {
        uint32_t operation = queued(job, rank, wait->first_operation + i);
        const struct mpiq_job_operation *op = &job->operations[operation];
        if (is_counted_with_partitions(graph, rank, op)) {
            live = true;
            continue;
        }
        if (may_need_nobody(job, rank, op))
            continue;
        uint32_t child = mpiq_operation_node(graph, rank, operation, false);
        if (child == MPIQ_NODE_LIVE || child == MPIQ_NODE_UNKNOWN)
            live = live || !mpiq_is_receive(op) || !has_arrived(graph, operation);
        else if (child != MPIQ_NONE)
            mpiq_graph_edge(graph, child, operation);
    }
    uint32_t edges = graph->edge_count - before;
    if (edges > 0)
        return edges;
    for (uint32_t i = 0; !live && i < wait->operation_count; i++) {
        uint32_t operation = queued(job, rank, wait->first_operation + i);
        if (may_need_nobody(job, rank, &job->operations[operation]))
            mpiq_graph_edge(graph, mpiq_operation_node(graph, rank, operation, false), operation);
    }
    if (graph->edge_count == before)
        mpiq_graph_edge(graph, live ? MPIQ_NODE_LIVE : MPIQ_NODE_UNKNOWN, MPIQ_NONE);
    return 1;
}

/* Whether a rank is in one collective call at most, so that the traffic in its background is that call's. */
static bool is_in_one_call(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    uint32_t waits = 0;
    for (uint32_t i = 0; i < rank->thread_count; i++)
        waits += job->threads[rank->first_thread + i].wait_count;
    return waits == 1 && !mpiq_has_outstanding(job, rank);
}

/*
 * A collective call that the recorder has seen begin, beside the library's own queues: it needs what the
 * standard forces it to wait for, and it needs every message of its own.  Which of these it waits for just
 * now nobody says; none of them coming true is proof enough.  Edges, 0: neither is known.
 */

static uint32_t build_counted_call(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                                   const struct mpiq_job_thread *thread, int collective)
{
    uint32_t edges = 0;
    uint32_t call = call_node(graph, rank, thread);
    if (call != MPIQ_NODE_UNKNOWN && call != MPIQ_NODE_LIVE) {
        mpiq_graph_edge(graph, call, MPIQ_NONE);
        edges++;
    }
    bool tagged = mpiq_collective_is_tagged(collective);
    if (is_in_one_call(graph->job, rank) && mpiq_has_polled(graph->job, rank) &&
        (tagged || mpiq_has_background(graph->job, rank))) {
        mpiq_graph_edge(graph, mpiq_graph_node(graph, MPIQ_KIND_BACKGROUND, rank->process, 0, tagged),
                        MPIQ_NONE);
        edges++;
    }
    return edges;
}

/* A call that --strict has refused never ends.  Of the members that it would have waited for, some may have a
   bug of their own that keeps them from coming. */
static uint32_t build_refused(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                              const struct mpiq_job_thread *thread)
{
    uint32_t child = rank->strict && thread->blocking == MPIQ_BLOCKING_COLLECTIVE
                         ? call_node(graph, rank, thread)
                         : MPIQ_NODE_UNKNOWN;
    bool waits = child >= MPIQ_NODE_CONSTANTS && graph->nodes[child].kind == MPIQ_KIND_ENTERED;
    if (waits)
        mpiq_graph_edge(graph, child, MPIQ_NONE);
    mpiq_graph_edge(graph, MPIQ_NODE_DEAD, MPIQ_NONE);
    return waits ? 2 : 1;
}

static uint32_t build_recorded(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                               const struct mpiq_job_thread *thread)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_wait *wait = mpiq_innermost_wait(job, thread);
    if (wait->kind == MPIQ_WAIT_REFUSED)
        return build_refused(graph, rank, thread);
    bool together = wait->kind == MPIQ_WAIT_FENCE || wait->kind == MPIQ_WAIT_WIN_FREE;
    if (together ? mpiq_counted_window(job, rank->process, wait) != MPIQ_NONE : wait->window != MPIQ_NONE)
        return mpiq_build_window(graph, rank, thread, wait);
    enum { FEW = 16 };
    bool many = wait->operation_count > FEW;
    if (many && !index_requests(graph, rank))
        graph->failed = true;
    bool detach = wait->kind == MPIQ_WAIT_BSEND_DETACH;
    uint32_t before = graph->edge_count;
    uint32_t done = 0;
    graph->several = wait->operation_count > 1;
    if (rank->library_queues && wait->operation_count == 0 && is_collective_wait(wait)) {
        uint32_t edges = build_counted_call(graph, rank, thread, wait->collective);
        if (edges > 0)
            return edges;
    }
    if (graph->several && wait->kind == MPIQ_WAIT_ALL && mpiq_job_is_counted(rank))
        return build_counted_all(graph, rank, wait);
    for (uint32_t i = 0; i < wait->operation_count; i++) {
        uint32_t operation = wait->first_operation + i;
        operation = many && job->operations[operation].request ? indexed(graph, operation)
                                                               : queued(job, rank, operation);
        uint32_t child = mpiq_operation_node(graph, rank, operation, detach);
        /* A request of the library's own (Comm_dup's, say) is as far as the call around it; where nothing is
           known of that, as its messages, which need not look internal: Comm_create_group's have the user's
           tag. */
        if (child == MPIQ_NODE_UNKNOWN && is_collective_wait(wait) &&
            !is_message(&job->operations[operation])) {
            child = call_node(graph, rank, thread);
            if (child == MPIQ_NODE_UNKNOWN && rank->queues == MPIQ_YES)
                child = mpiq_graph_node(graph, MPIQ_KIND_BACKGROUND, rank->process, 0, 1);
        }
        if (child == MPIQ_NODE_UNKNOWN && rank->queues != MPIQ_YES && is_collective_wait(wait) &&
            is_message(&job->operations[operation]))
            child = mpiq_unread_message_node(graph, rank, thread, &job->operations[operation]);
        if (child == MPIQ_NONE)
            done++;
        else
            mpiq_graph_edge(graph, child, operation);
    }
    if (detach && wait->operation_count == 0) {
        for (uint32_t i = 0; i < rank->operation_count; i++) {
            uint32_t operation = rank->first_operation + i;
            if (job->operations[operation].kind != MPIQ_OPERATION_BSEND)
                continue;
            uint32_t child = mpiq_operation_node(graph, rank, operation, true);
            if (child != MPIQ_NONE)
                mpiq_graph_edge(graph, child, operation);
        }
    }
    uint32_t edges = graph->edge_count - before;
    if (edges > 0)
        return needed(wait, edges, done);
    bool finalize = wait->kind == MPIQ_WAIT_FINALIZE;
    bool initialize = wait->kind == MPIQ_WAIT_INIT;
    if (finalize || initialize || (done == 0 && is_collective_wait(wait)))
        build_call(graph, rank, thread, finalize, initialize);
    else
        mpiq_graph_edge(graph, done > 0 ? MPIQ_NODE_LIVE : MPIQ_NODE_UNKNOWN, MPIQ_NONE);
    return 1;
}

/* Whether a blocking call of that kind may be waiting for an operation. */
static bool may_wait_for(const struct mpiq_job_operation *op, enum mpiq_blocking blocking)
{
    if (op->status == MPIQ_STATUS_COMPLETE || op->inactive || op->queue == MPIQ_QUEUE_UNEXPECTED)
        return false;
    switch (blocking) {
    case MPIQ_BLOCKING_RECEIVE:
        return !op->internal && mpiq_is_receive(op);
    case MPIQ_BLOCKING_SEND:
        return !op->internal && mpiq_is_send(op);
    case MPIQ_BLOCKING_BOTH:
        return !op->internal && (mpiq_is_receive(op) || mpiq_is_send(op));
    case MPIQ_BLOCKING_REQUESTS: /* it may be a collective's request, too: then its traffic counts */
        return !op->internal || mpiq_is_of_collective(op); /* a partitioned request stands for its messages */
    case MPIQ_BLOCKING_COLLECTIVE:
        return mpiq_is_of_collective(op);
    default:
        return false;
    }
}

/* Without a record nobody knows which of its pending operations the thread waits for: it is proven stuck only
   if none of those that it may be waiting for can come true. */
static uint32_t build_from_stack(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                                 const struct mpiq_job_thread *thread)
{
    const struct mpiq_job_state *job = graph->job;
    enum mpiq_blocking blocking = thread->blocking;
    uint32_t before = graph->edge_count;
    for (uint32_t i = 0; i < rank->operation_count; i++) {
        uint32_t operation = rank->first_operation + i;
        if (!may_wait_for(&job->operations[operation], blocking))
            continue;
        uint32_t child = mpiq_operation_node(graph, rank, operation, false);
        if (child != MPIQ_NONE)
            mpiq_graph_edge(graph, child, operation);
    }
    bool tagged = blocking == MPIQ_BLOCKING_COLLECTIVE &&
                  mpiq_collective_is_tagged(mpiq_collective_class(mpiq_job_string(job, thread->call)));
    if (graph->edge_count == before && tagged && rank->queues == MPIQ_YES && mpiq_has_polled(job, rank))
        mpiq_graph_edge(graph, mpiq_graph_node(graph, MPIQ_KIND_BACKGROUND, rank->process, 0, 1), MPIQ_NONE);
    else if (graph->edge_count == before)
        build_call(graph, rank, thread, blocking == MPIQ_BLOCKING_FINALIZE, blocking == MPIQ_BLOCKING_INIT);
    return 1;
}

uint32_t mpiq_build_wait(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                         const struct mpiq_job_thread *thread)
{
    bool sure;
    uint32_t holder = thread->in_mpi ? MPIQ_NONE : mpiq_lock_holder(graph->job, rank, thread, &sure);
    if (holder != MPIQ_NONE) { /* only those that are sure have a node */
        mpiq_graph_edge(graph, mpiq_rank_node(holder), MPIQ_NONE);
        return 1;
    }
    return thread->wait_count > 0 ? build_recorded(graph, rank, thread)
                                  : build_from_stack(graph, rank, thread);
}
