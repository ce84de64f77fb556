/* SPDX-License-Identifier: BSD-3-Clause */
/* What the standard forces: which members must enter a call before others can leave it. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/graph.h"
#include "job/in_transit.h"
#include "base/array.h"

/* Which group has to come, as the extra of an ENTERED node; ANY_OF_THEM: one at least of those that have not,
   to the collective that stands above it. */
enum { WHOLE, REMOTE_GROUP, FIRST_GROUP, BOTH_GROUPS, SIDES = 3, ANY_OF_THEM = 4, COLLECTIVE_SHIFT = 3 };

/* How far a process has come on a communicator. */
enum progress { COMING, ENTERED, NEVER };

static enum progress progress_of(const struct mpiq_wait_graph *graph, uint32_t process, uint32_t comm,
                                 int64_t number, int collective)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    if (!rank)
        return ENTERED; /* nobody knows: it is not held against anybody */
    const struct mpiq_job_member *member = mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm);
    if (!member || member->ordered < 0)
        return mpiq_never_acts(job, process) &&
                       graph->diagnosis->ranks[process].activity == MPIQ_ACTIVITY_GONE && !member
                   ? NEVER
                   : ENTERED;
    if (member->ordered < number)
        return COMING;
    if (mpiq_is_refused(job, rank, comm, number))
        return NEVER;
    const struct mpiq_job_call *call = collective >= 0 ? mpiq_numbered_call(job, member, number) : NULL;
    return call && job->shapes[call->shape].collective != collective ? NEVER : ENTERED;
}

uint32_t mpiq_collective_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank, uint32_t comm,
                              int collective, int64_t number, int32_t root)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_communicator *row = &job->communicators[comm];
    const struct mpiq_job_member *member = mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm);
    if (number <= 0 || !member || row->flags & MPIQ_COMM_SELF)
        return MPIQ_NODE_UNKNOWN;
    const struct mpiq_job_persistent *request = mpiq_persistent_of(job, member, number);
    if (request)
        return mpiq_persistent_node(graph, rank, comm, collective, number, root, request->starts);
    bool inter = row->remote != MPIQ_NONE;
    uint32_t side = !inter                                           ? WHOLE
                    : mpiq_collective_makes_communicator(collective) ? BOTH_GROUPS
                    : member->remote_side                            ? FIRST_GROUP
                                                                     : REMOTE_GROUP;
    bool synchronised = rank->strict && mpiq_collective_synchronised(collective);
    switch (synchronised ? MPIQ_RULE_ALL : mpiq_collective_rule(collective)) {
    case MPIQ_RULE_ALL:
        break;
    case MPIQ_RULE_TO_ROOT:
        if (root != member->local_rank || inter)
            return MPIQ_NODE_LIVE;
        break;
    case MPIQ_RULE_ROOT: {
        uint32_t process = mpiq_job_local_process(job, member, true, root);
        if (process == MPIQ_NONE)
            return MPIQ_NODE_LIVE;
        enum progress progress = progress_of(graph, process, comm, number, collective);
        return progress == COMING  ? mpiq_rank_node(process)
               : progress == NEVER ? MPIQ_NODE_DEAD
                                   : MPIQ_NODE_LIVE;
    }
    case MPIQ_RULE_LOWER:
        if (inter || member->local_rank <= 0)
            return MPIQ_NODE_LIVE;
        return mpiq_graph_node(graph, MPIQ_KIND_LOWER, comm, number, (uint32_t)member->local_rank);
    case MPIQ_RULE_SOURCES:
        return mpiq_neighbour_node(graph, rank, comm, number);
    case MPIQ_RULE_NOBODY:
        return MPIQ_NODE_UNKNOWN;
    }
    if (!synchronised && mpiq_collective_counts_each(collective))
        side |= ANY_OF_THEM | (uint32_t)collective << COLLECTIVE_SHIFT;
    return mpiq_graph_node(graph, MPIQ_KIND_ENTERED, comm, number, side);
}

uint32_t mpiq_unread_message_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                                  const struct mpiq_job_thread *thread, const struct mpiq_job_operation *op)
{
    struct mpiq_thread_collective in;
    mpiq_thread_collective(graph->job, rank, thread, &in);
    if (in.call == MPIQ_NONE || in.comm == MPIQ_NONE)
        return MPIQ_NODE_UNKNOWN;
    const struct mpiq_call_shape *shape = &graph->job->shapes[graph->job->calls[in.call].shape];
    if (mpiq_collective_needs_all(in.collective, shape->bytes))
        return mpiq_collective_node(graph, rank, in.comm, in.collective, in.number, shape->root);
    if (in.number <= 0 || !mpiq_is_receive(op) || op->any || op->peer == MPIQ_NONE || op->comm == MPIQ_NONE ||
        graph->job->communicators[op->comm].user != in.comm)
        return MPIQ_NODE_UNKNOWN;
    /* In another collective of that number it may send what looks the same. */
    enum progress progress = progress_of(graph, op->peer, in.comm, in.number, -1);
    return progress == COMING  ? mpiq_rank_node(op->peer)
           : progress == NEVER ? MPIQ_NODE_DEAD
                               : MPIQ_NODE_UNKNOWN;
}

/* Whether a rank that has called MPI_Finalize is held before its last fence: by an attribute's delete
   function, or by the library's own messages. */
static bool is_before_fence(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread + i];
        const struct mpiq_job_wait *wait = mpiq_innermost_wait(job, thread);
        bool finalize = thread->blocking == MPIQ_BLOCKING_FINALIZE;
        bool at_fence = wait ? wait->kind == MPIQ_WAIT_FINALIZE : finalize;
        if (thread->same_wait == MPIQ_YES && !at_fence && (finalize || rank->phase == MPIQ_PHASE_FINALIZING))
            return true;
    }
    return false;
}

uint32_t mpiq_build_world(struct mpiq_wait_graph *graph, uint32_t world, bool finalize)
{
    const struct mpiq_job_state *job = graph->job;
    uint32_t edges = 0;
    for (uint32_t i = 0; i < job->worlds[world].size; i++) {
        uint32_t process = job->worlds[world].first + i;
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (!rank)
            continue;
        const struct mpiq_rank_diagnosis *diagnosed = &graph->diagnosis->ranks[process];
        enum mpiq_blocking blocking = diagnosed->blocking;
        bool there = finalize ? rank->phase >= MPIQ_PHASE_FINALIZING || blocking == MPIQ_BLOCKING_FINALIZE
                              : rank->phase > MPIQ_PHASE_LOADED || diagnosed->call;
        if (there && finalize && is_before_fence(job, rank))
            there = false;
        if (there && diagnosed->activity != MPIQ_ACTIVITY_GONE)
            continue;
        if (there && finalize && rank->phase == MPIQ_PHASE_FINALIZED)
            continue;
        mpiq_graph_edge(graph, mpiq_rank_node(process), MPIQ_NONE);
        edges++;
    }
    if (edges == 0) { /* all are there: the launcher has the word */
        mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
        edges = 1;
    }
    return edges;
}

/* A member of the group that has to come, and how many calls it has made. */
struct pending_member {
    int64_t ordered;
    uint32_t process;
    bool outside; /* not in the last one of them, of a window */
};

struct pending_members {
    struct pending_member *list;
    uint32_t count;
    uint32_t capacity;
    bool unknown; /* of some members it is not known how far they are */
};

static void add_pending(struct mpiq_wait_graph *graph, struct pending_members *pending, uint32_t comm,
                        uint32_t index)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_group *group = index == MPIQ_NONE ? NULL : &job->groups[index];
    for (uint32_t i = 0; group && group->members && i < group->count; i++) {
        uint32_t process = group->members[i];
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (!rank)
            continue;
        const struct mpiq_job_member *member = mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm);
        bool gone = graph->diagnosis->ranks[process].activity == MPIQ_ACTIVITY_GONE && !member;
        if (!gone && (!member || member->ordered < 0))
            continue;
        if (!mpiq_array_reserve(&pending->list, &pending->capacity, pending->count + 1)) {
            graph->failed = true;
            return;
        }
        pending->list[pending->count++] =
            (struct pending_member){.ordered = gone ? 0 : member->ordered, .process = process};
    }
}

/* Whether a rank is in its last fence, or in MPI_Win_free, of a window. */
static bool is_inside(const struct mpiq_job_state *job, const struct mpiq_job_window_view *view, bool free)
{
    const struct mpiq_job_rank *rank = &job->ranks[view->rank];
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        const struct mpiq_job_wait *wait = mpiq_innermost_wait(job, &job->threads[rank->first_thread + i]);
        if (wait && wait->window == view->window &&
            wait->kind == (free ? MPIQ_WAIT_WIN_FREE : MPIQ_WAIT_FENCE))
            return true;
    }
    return false;
}

/* The members of a window that may still enter a fence, or MPI_Win_free: those whose progress is known. any:
   one of them would suffice.  Then a member with unknown progress may be the one, or one that has yet to
   take in what has arrived.  A member that frees the window will never come; if all must come, that would be
   an error that the library may not notice. */
static void add_pending_views(struct mpiq_wait_graph *graph, struct pending_members *pending,
                              const struct mpiq_node *node)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_window *window = &job->windows[node->subject];
    uint32_t index = job->communicators[window->comm].group;
    const struct mpiq_job_group *group = index == MPIQ_NONE ? NULL : &job->groups[index];
    bool any = node->extra != 0;
    bool free = node->number == MPIQ_FREED;
    pending->unknown = !group || !group->members;
    for (uint32_t i = 0; group && group->members && i < group->count; i++) {
        uint32_t process = group->members[i];
        const struct mpiq_job_window_view *view =
            process == MPIQ_NONE ? NULL : mpiq_known_view(job, process, node->subject);
        bool gone = !view && process != MPIQ_NONE &&
                    graph->diagnosis->ranks[process].activity == MPIQ_ACTIVITY_GONE && !any;
        bool known = gone || (view && view->fences >= 0);
        bool outside = any && view && !is_inside(job, view, free);
        bool takes_in = any && view && !mpiq_has_polled(job, &job->ranks[view->rank]);
        pending->unknown = pending->unknown || !known || takes_in || (free && outside && view->freeing);
        if (!known || (view && view->freeing && (free || !any)))
            continue;
        if (!mpiq_array_reserve(&pending->list, &pending->capacity, pending->count + 1)) {
            graph->failed = true;
            return;
        }
        pending->list[pending->count++] = (struct pending_member){
            .ordered = gone ? 0 : view->fences, .process = process, .outside = outside};
    }
}

static int compare_pending(const void *left, const void *right)
{
    const struct pending_member *a = left;
    const struct pending_member *b = right;
    if (a->ordered != b->ordered)
        return a->ordered < b->ordered ? -1 : 1;
    return a->process < b->process ? -1 : a->process > b->process;
}

/* Adds those that have not come to that number, from list[next] on.  Returns the first that has. */
static uint32_t add_behind(struct mpiq_wait_graph *graph, const struct pending_members *pending,
                           uint32_t next, int64_t number)
{
    for (; next < pending->count && pending->list[next].ordered < number; next++)
        mpiq_graph_edge(graph, mpiq_rank_node(pending->list[next].process), MPIQ_NONE);
    return next;
}

/* Whether somebody spent that number on another collective than those who wait in it, or on one that
   --strict has refused. */
static bool is_mixed(const struct mpiq_wait_graph *graph, const struct pending_members *pending,
                     uint32_t comm, int64_t number)
{
    const struct mpiq_job_state *job = graph->job;
    int first = -1;
    for (uint32_t i = 0; i < pending->count; i++) {
        if (pending->list[i].ordered < number)
            continue;
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, pending->list[i].process);
        const struct mpiq_job_member *member = mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm);
        if (mpiq_is_refused(job, rank, comm, number))
            return true;
        const struct mpiq_job_call *call = member ? mpiq_numbered_call(job, member, number) : NULL;
        int collective = call ? job->shapes[call->shape].collective : -1;
        if (collective >= 0 && first >= 0 && collective != first)
            return true;
        if (first < 0)
            first = collective;
    }
    return false;
}

/* Numbers of one communicator that are looked through for a mix of calls; more would not be linear. */
enum { MOST_MIXED = 8 };

/* What a member of a collective with a count for each can still do for one that waits in it.  One that is in
   the call and went round there has done all it can without those who have not come, and so has one that had
   left it by the first look. */
static uint32_t awaited(const struct mpiq_wait_graph *graph, uint32_t process, const struct mpiq_node *node)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_rank *rank = process == MPIQ_NONE ? NULL : mpiq_job_rank_of(job, process);
    if (!rank)
        return MPIQ_NODE_UNKNOWN;
    const struct mpiq_job_member *member =
        mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), node->subject);
    switch (
        progress_of(graph, process, node->subject, node->number, (int)(node->extra >> COLLECTIVE_SHIFT))) {
    case COMING:
        return mpiq_rank_node(process);
    case NEVER:
        return MPIQ_NODE_DEAD;
    case ENTERED:
        break;
    }
    if (!member || member->ordered < 0)
        return MPIQ_NODE_UNKNOWN;
    const struct mpiq_job_call *call = mpiq_numbered_call(job, member, node->number);
    bool left = member->ordered > node->number || (call && call->done);
    if (left)
        return rank->changed & MPIQ_CHANGED_CALLS ? MPIQ_NODE_LIVE : MPIQ_NONE;
    return rank->final || !mpiq_has_polled(job, rank) ? MPIQ_NODE_LIVE : MPIQ_NONE;
}

static void add_awaited(struct mpiq_wait_graph *graph, const struct mpiq_node *node, uint32_t index)
{
    const struct mpiq_job_group *group = index == MPIQ_NONE ? NULL : &graph->job->groups[index];
    if (!group || !group->members)
        mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);
    for (uint32_t i = 0; group && group->members && i < group->count; i++) {
        uint32_t child = awaited(graph, group->members[i], node);
        if (child != MPIQ_NONE)
            mpiq_graph_edge(graph, child, MPIQ_NONE);
    }
}

/* A collective in which some may have nothing to give: who waits in it waits for one at least of those that
   have not come, or nobody can tell for whom. */
static void build_any(struct mpiq_wait_graph *graph, uint32_t index)
{
    const struct mpiq_node node = graph->nodes[index];
    const struct mpiq_job_communicator *comm = &graph->job->communicators[node.subject];
    uint32_t start = graph->edge_count;
    uint32_t side = node.extra & SIDES;
    if (side != REMOTE_GROUP)
        add_awaited(graph, &node, comm->group);
    if (side == REMOTE_GROUP || side == BOTH_GROUPS)
        add_awaited(graph, &node, comm->remote);
    if (graph->edge_count == start) /* all are there: it may end at any moment */
        mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
    graph->nodes[index].first_edge = start;
    graph->nodes[index].edge_count = graph->edge_count - start;
    graph->nodes[index].need = 1;
}

/* Nodes of one communicator and side, by number: each adds the members that have entered the previous call
   but not this one, so that all nodes together have as many edges as members. */
static void build_entered(struct mpiq_wait_graph *graph, const uint32_t *nodes, uint32_t count,
                          struct pending_members *pending)
{
    const struct mpiq_node first = graph->nodes[nodes[0]];
    const struct mpiq_job_communicator *comm = &graph->job->communicators[first.subject];
    for (uint32_t i = 0; first.extra & ANY_OF_THEM && i < count; i++)
        build_any(graph, nodes[i]);
    if (first.extra & ANY_OF_THEM)
        return;
    pending->count = 0;
    if (first.extra != REMOTE_GROUP)
        add_pending(graph, pending, first.subject, comm->group);
    if (first.extra == REMOTE_GROUP || first.extra == BOTH_GROUPS)
        add_pending(graph, pending, first.subject, comm->remote);
    if (pending->count > 0)
        qsort(pending->list, pending->count, sizeof *pending->list, compare_pending);
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct mpiq_node *node = &graph->nodes[nodes[i]];
        uint32_t start = graph->edge_count;
        if (i > 0)
            mpiq_graph_edge(graph, nodes[i - 1], MPIQ_NONE);
        next = add_behind(graph, pending, next, node->number);
        if (i < MOST_MIXED && is_mixed(graph, pending, first.subject, node->number))
            mpiq_graph_edge(graph, MPIQ_NODE_DEAD, MPIQ_NONE);
        if (graph->edge_count == start) /* all are there: it may end at any moment */
            mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
        node->first_edge = start;
        node->edge_count = node->need = graph->edge_count - start;
    }
}

/* The collective on which the member with that local rank spent a running number; -1 not known. */
static int spent_on(const struct mpiq_wait_graph *graph, uint32_t comm, uint32_t local, int64_t number)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_group *group = &job->groups[job->communicators[comm].group];
    uint32_t process = local < group->count ? group->members[local] : MPIQ_NONE;
    const struct mpiq_job_rank *rank = process == MPIQ_NONE ? NULL : mpiq_job_rank_of(job, process);
    const struct mpiq_job_member *member =
        rank ? mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm) : NULL;
    const struct mpiq_job_call *call = member ? mpiq_numbered_call(job, member, number) : NULL;
    return call ? job->shapes[call->shape].collective : -1;
}

/* Nodes of one communicator and number, by local rank: each adds the members since the one before.  A member
   that waits in a different collective than a lower member was in waits for ever, and so does every member
   above both. */
static void build_lower(struct mpiq_wait_graph *graph, const uint32_t *nodes, uint32_t count)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_node first = graph->nodes[nodes[0]];
    uint32_t index = job->communicators[first.subject].group;
    const struct mpiq_job_group *group = index == MPIQ_NONE ? NULL : &job->groups[index];
    uint32_t local = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct mpiq_node *node = &graph->nodes[nodes[i]];
        uint32_t start = graph->edge_count;
        if (i > 0)
            mpiq_graph_edge(graph, nodes[i - 1], MPIQ_NONE);
        int collective =
            group && group->members ? spent_on(graph, first.subject, node->extra, node->number) : -1;
        for (; group && group->members && local < node->extra && local < group->count; local++) {
            uint32_t process = group->members[local];
            enum progress progress =
                process == MPIQ_NONE ? ENTERED
                                     : progress_of(graph, process, first.subject, node->number, collective);
            if (progress == COMING)
                mpiq_graph_edge(graph, mpiq_rank_node(process), MPIQ_NONE);
            else if (progress == NEVER)
                mpiq_graph_edge(graph, MPIQ_NODE_DEAD, MPIQ_NONE);
        }
        if (graph->edge_count == start)
            mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
        node->first_edge = start;
        node->edge_count = node->need = graph->edge_count - start;
    }
}

/* Whether one of those that have come to a fence, the first of them list[next], has left it. */
static bool has_left(const struct pending_members *pending, uint32_t next, int64_t number)
{
    for (; next < pending->count && pending->list[next].ordered == number; next++) {
        if (pending->list[next].outside)
            return true;
    }
    return next < pending->count;
}

/* The same for a window's nodes of one kind.  If any one of several suffices, one that may come is enough.
   If a member has already left the call, that may be the one the others were waiting for. */
static void build_together(struct mpiq_wait_graph *graph, const uint32_t *nodes, uint32_t count,
                           struct pending_members *pending)
{
    const struct mpiq_node first = graph->nodes[nodes[0]];
    bool any = first.extra != 0;
    pending->count = 0;
    add_pending_views(graph, pending, &first);
    if (pending->count > 0)
        qsort(pending->list, pending->count, sizeof *pending->list, compare_pending);
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct mpiq_node *node = &graph->nodes[nodes[i]];
        uint32_t start = graph->edge_count;
        if (next > 0)
            mpiq_graph_edge(graph, nodes[i - 1], MPIQ_NONE);
        next = add_behind(graph, pending, next, node->number);
        bool unknown = pending->unknown || (any && has_left(pending, next, node->number));
        if (unknown && (any || graph->edge_count == start))
            mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);
        else if (graph->edge_count == start)
            mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
        node->first_edge = start;
        node->edge_count = graph->edge_count - start;
        node->need = any ? 1 : node->edge_count;
    }
}

static int compare_nodes(const void *left, const void *right, void *context)
{
    const struct mpiq_wait_graph *graph = context;
    const struct mpiq_node *a = &graph->nodes[*(const uint32_t *)left];
    const struct mpiq_node *b = &graph->nodes[*(const uint32_t *)right];
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->subject != b->subject)
        return a->subject < b->subject ? -1 : 1;
    if (a->kind == MPIQ_KIND_ENTERED || a->kind == MPIQ_KIND_TOGETHER) {
        if (a->extra != b->extra)
            return a->extra < b->extra ? -1 : 1;
        return a->number < b->number ? -1 : a->number > b->number;
    }
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->extra < b->extra ? -1 : a->extra > b->extra;
}

static bool together(const struct mpiq_node *a, const struct mpiq_node *b)
{
    return a->kind == b->kind && a->subject == b->subject &&
           (a->kind == MPIQ_KIND_LOWER
                ? a->number == b->number
                : a->extra == b->extra && (a->kind == MPIQ_KIND_ENTERED ||
                                           (a->number == MPIQ_FREED) == (b->number == MPIQ_FREED)));
}

void mpiq_build_collectives(struct mpiq_wait_graph *graph)
{
    uint32_t *nodes _cleanup_free_ = malloc(((size_t)graph->node_count + 1) * sizeof *nodes);
    struct pending_members pending = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; nodes && i < graph->node_count; i++) {
        uint8_t kind = graph->nodes[i].kind;
        if (kind == MPIQ_KIND_ENTERED || kind == MPIQ_KIND_LOWER || kind == MPIQ_KIND_TOGETHER)
            nodes[count++] = i;
    }
    graph->failed = graph->failed || !nodes;
    if (count > 0)
        qsort_r(nodes, count, sizeof *nodes, compare_nodes, graph);
    for (uint32_t i = 0; i < count && !graph->failed;) {
        uint32_t end = i + 1;
        while (end < count && together(&graph->nodes[nodes[i]], &graph->nodes[nodes[end]]))
            end++;
        if (graph->nodes[nodes[i]].kind == MPIQ_KIND_ENTERED)
            build_entered(graph, &nodes[i], end - i, &pending);
        else if (graph->nodes[nodes[i]].kind == MPIQ_KIND_TOGETHER)
            build_together(graph, &nodes[i], end - i, &pending);
        else
            build_lower(graph, &nodes[i], end - i);
        i = end;
    }
    free(pending.list);
}
