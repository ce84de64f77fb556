/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/waits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/given.h"
#include "job/rank_activity.h"
#include "names/system_calls.h"

/* Parts that are listed; a wait may have a hundred thousand. */
enum { MOST_PARTS = 8 };

static struct mpiq_wait_part part_of_call(const struct mpiq_job_state *job, int collective, uint32_t comm,
                                          int64_t number, uint32_t call)
{
    return (struct mpiq_wait_part){
        .kind = MPIQ_PART_COLLECTIVE,
        .peer = MPIQ_NONE,
        .bytes = -1,
        .comm = comm,
        .window = MPIQ_NONE,
        .collective = mpiq_collective_name(collective),
        .number = number,
        .operation = MPIQ_NONE,
        .started = call == MPIQ_NONE || job->calls[call].request == 0 ? MPIQ_NONE : job->calls[call].started,
    };
}

static struct mpiq_wait_part part_of_operation(struct mpiq_analysis *analysis,
                                               const struct mpiq_job_rank *rank, uint32_t operation)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_operation *op = &job->operations[operation];
    bool own = op->kind == MPIQ_OPERATION_PSEND && mpiq_job_more(job, op)->missing > 0; /* its MPI_Pready */
    uint32_t comm = MPIQ_NONE;
    const struct mpiq_job_call *call = mpiq_outstanding_call(job, rank, op, &comm);
    if (call) {
        const struct mpiq_call_shape *shape = &job->shapes[call->shape];
        struct mpiq_wait_part part = part_of_call(job, shape->collective, job->communicators[comm].user,
                                                  shape->number, (uint32_t)(call - job->calls));
        part.request = op->request;
        part.operation = operation;
        part.ranks = mpiq_pending_members(analysis, comm, MPIQ_NONE, shape->collective, shape->number);
        return part;
    }
    return (struct mpiq_wait_part){
        .kind = op->kind == MPIQ_OPERATION_COLLECTIVE || op->kind == MPIQ_OPERATION_OTHER ? MPIQ_PART_REQUEST
                : mpiq_is_send(op) || op->kind == MPIQ_OPERATION_PSEND                    ? MPIQ_PART_SEND
                : op->kind == MPIQ_OPERATION_PROBE                                        ? MPIQ_PART_PROBE
                                                                                          : MPIQ_PART_RECEIVE,
        .any = op->any,
        .tag_any = op->tag_any,
        .internal = op->internal,
        .peer = op->peer,
        .tag = op->tag,
        .bytes = op->bytes,
        .comm = op->comm == MPIQ_NONE ? MPIQ_NONE : job->communicators[op->comm].user,
        .window = MPIQ_NONE,
        .request = op->request,
        .operation = operation,
        .started = op->started,
        .ranks = mpiq_one_rank(analysis, own ? rank->process : op->peer),
    };
}

/* The parts of a wait while they are gathered. */
struct gathering {
    struct mpiq_wait_part parts[MOST_PARTS];
    uint32_t count;
    uint32_t more;
};

static void gather(struct gathering *gathering, struct mpiq_wait_part part)
{
    if (gathering->count < MOST_PARTS)
        gathering->parts[gathering->count++] = part;
    else
        gathering->more++;
}

/* The operations behind a thread's edges: those that hold it first. */
static void gather_operations(struct mpiq_analysis *analysis, uint32_t thread,
                              const struct mpiq_job_rank *rank, struct gathering *gathering)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < node->edge_count; i++) {
            const struct mpiq_edge *edge = &graph->edges[node->first_edge + i];
            bool holds = !graph->nodes[edge->child].may || node->may;
            if (edge->operation == MPIQ_NONE || holds != (pass == 0))
                continue;
            if (gathering->count < MOST_PARTS)
                gather(gathering, part_of_operation(analysis, rank, edge->operation));
            else
                gathering->more++;
        }
    }
}

/* Who could end a one-sided wait: those that a thread waits for, the holders of a lock among them. */
static struct mpiq_ranks window_ranks(struct mpiq_analysis *analysis, uint32_t thread)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
    struct mpiq_rank_set set _cleanup_(mpiq_rank_set_deinit) = {0};
    for (uint32_t i = 0; i < node->edge_count; i++) {
        uint32_t index = graph->edges[node->first_edge + i].child;
        const struct mpiq_node *child = &graph->nodes[index];
        if (child->kind == MPIQ_KIND_RANK)
            mpiq_analysis_add(analysis, &set, child->subject);
        if (child->kind != MPIQ_KIND_LOCK)
            continue;
        if (node->edge_count == 1 && analysis->lock == index)
            return analysis->lock_ranks;
        for (uint32_t j = 0; j < child->edge_count; j++)
            mpiq_analysis_add(analysis, &set,
                              graph->nodes[graph->edges[child->first_edge + j].child].subject);
        if (node->edge_count == 1) {
            analysis->lock = index;
            analysis->lock_ranks = mpiq_arena_ranks(analysis, &set);
            return analysis->lock_ranks;
        }
    }
    struct mpiq_world_rank own = mpiq_job_world_rank(analysis->job, mpiq_thread_process(graph, thread));
    struct mpiq_rank_set others _cleanup_(mpiq_rank_set_deinit) = {0};
    for (uint32_t i = 0; i < set.count; i++) {
        const struct mpiq_rank_range *range = &set.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++) {
            if ((range->world != own.world || rank != own.rank) &&
                !mpiq_rank_set_add(&others, range->world, rank))
                analysis->failed = true;
        }
    }
    return mpiq_arena_ranks(analysis, &others);
}

/* Whether a lock is waited for that nobody is known to hold: its target has to grant it. */
static bool has_to_be_granted(const struct mpiq_wait_graph *graph, uint32_t thread,
                              const struct mpiq_job_wait *wait)
{
    const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
    for (uint32_t i = 0; wait->kind == MPIQ_WAIT_LOCK && i < node->edge_count; i++) {
        if (graph->nodes[graph->edges[node->first_edge + i].child].kind == MPIQ_KIND_RANK)
            return true;
    }
    return false;
}

static void gather_window(struct mpiq_analysis *analysis, uint32_t thread, const struct mpiq_job_wait *wait,
                          struct gathering *gathering)
{
    struct mpiq_ranks ranks = window_ranks(analysis, thread);
    struct mpiq_wait_part part = {
        .kind = MPIQ_PART_WINDOW,
        .peer = wait->window_target,
        .bytes = -1,
        .comm = analysis->job->windows[wait->window].comm,
        .window = wait->window,
        .operation = MPIQ_NONE,
        .started = MPIQ_NONE,
        .answers = ranks.size == 0 || has_to_be_granted(analysis->graph, thread, wait),
        .ranks = ranks.size > 0 ? ranks : mpiq_one_rank(analysis, wait->window_target),
    };
    gather(gathering, part);
}

/* Requests of the wait that are complete.  The recorder does not know which of an MPI_Waitall's are: what the
   graph has no edge for may still be pending. */
static uint32_t done_of(const struct mpiq_job_rank *rank, const struct mpiq_job_wait *wait,
                        const struct mpiq_node *node)
{
    bool counted = mpiq_job_is_counted(rank) && wait && wait->kind == MPIQ_WAIT_ALL;
    return wait && !counted && wait->operation_count > node->edge_count
               ? wait->operation_count - node->edge_count
               : 0;
}

/* The parts of what a thread waits for; none: it is not known. */
static void gather_wait(struct mpiq_analysis *analysis, uint32_t thread, struct gathering *gathering)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_thread *row = &job->threads[thread];
    const struct mpiq_job_rank *rank = &job->ranks[analysis->graph->thread_ranks[thread]];
    const struct mpiq_job_wait *wait = mpiq_innermost_wait(job, row);
    gathering->count = gathering->more = 0;
    struct mpiq_thread_collective in;
    mpiq_thread_collective(job, rank, row, &in);
    struct mpiq_ranks pending = {0};
    if (in.collective >= 0 && in.comm != MPIQ_NONE)
        pending = mpiq_pending_members(analysis, in.comm, mpiq_counted_window(job, rank->process, wait),
                                       in.collective, in.number);
    bool together = wait && (wait->kind == MPIQ_WAIT_FENCE || wait->kind == MPIQ_WAIT_WIN_FREE);
    enum mpiq_blocking blocking = row->blocking;
    bool world = blocking == MPIQ_BLOCKING_FINALIZE || blocking == MPIQ_BLOCKING_INIT;
    if (wait && wait->window != MPIQ_NONE && !(together && pending.size > 0)) {
        gather_window(analysis, thread, wait, gathering);
    } else if (world) {
        int collective =
            mpiq_collective_class(blocking == MPIQ_BLOCKING_FINALIZE ? "MPI_Finalize" : "MPI_Init");
        struct mpiq_wait_part part = part_of_call(job, collective, MPIQ_NONE, 0, MPIQ_NONE);
        part.ranks = mpiq_pending_members(analysis, MPIQ_NONE, MPIQ_NONE, collective, 0);
        gather(gathering, part);
    } else if (in.collective >= 0) { /* whom its own messages go to says nothing: it is a call of all */
        struct mpiq_wait_part part = part_of_call(job, in.collective, in.comm, in.number, MPIQ_NONE);
        part.ranks = pending;
        gather(gathering, part);
    } else {
        gather_operations(analysis, thread, rank, gathering);
        if (gathering->count == 0 && wait && wait->kind == MPIQ_WAIT_CONNECT)
            gather(gathering, (struct mpiq_wait_part){.kind = MPIQ_PART_LAUNCHER,
                                                      .peer = MPIQ_NONE,
                                                      .bytes = -1,
                                                      .comm = MPIQ_NONE,
                                                      .window = MPIQ_NONE,
                                                      .operation = MPIQ_NONE,
                                                      .started = MPIQ_NONE});
    }
}

/* Equal waits of ranks that follow each other are one: in a collective, or for the same. */
static bool same_wait(const struct mpiq_waits_for *a, const struct mpiq_waits_for *b)
{
    if (!a || a->part_count != 1 || b->part_count != 1 || a->more || b->more || a->done != b->done)
        return false;
    const struct mpiq_wait_part *x = &a->parts[0];
    const struct mpiq_wait_part *y = &b->parts[0];
    return x->kind == MPIQ_PART_COLLECTIVE && y->kind == MPIQ_PART_COLLECTIVE && x->comm == y->comm &&
           x->number == y->number && x->collective == y->collective && x->request == 0 && y->request == 0 &&
           x->ranks.ranges == y->ranks.ranges && !x->given && !y->given;
}

/* "shared.log"; NULL not known. */
static const char *file_of(const struct mpiq_job_state *job, const struct mpiq_job_thread *thread)
{
    const char *path = mpiq_job_string(job, thread->file);
    return path ? mpiq_job_base_name(path) : NULL;
}

/* What a thread waits for: `before`, which may be NULL, where that is the same. */
static const struct mpiq_waits_for *thread_waits(struct mpiq_analysis *analysis, uint32_t thread,
                                                 const struct mpiq_waits_for *before)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_wait_graph *graph = analysis->graph;
    const struct mpiq_job_thread *row = &job->threads[thread];
    const struct mpiq_job_rank *rank = &job->ranks[graph->thread_ranks[thread]];
    static const struct mpiq_node no_node = {.kind = MPIQ_KIND_THREAD};
    bool sure;
    uint32_t holder = row->in_mpi ? MPIQ_NONE : mpiq_lock_holder(job, rank, row, &sure);
    bool in_wait = graph->thread_nodes[thread] != MPIQ_NONE && holder == MPIQ_NONE;
    const struct mpiq_node *node = in_wait ? &graph->nodes[graph->thread_nodes[thread]] : &no_node;
    struct gathering gathering = {.count = 0};
    if (in_wait)
        gather_wait(analysis, thread, &gathering);
    else if (holder != MPIQ_NONE)
        gather(&gathering, (struct mpiq_wait_part){.kind = MPIQ_PART_LOCK,
                                                   .peer = holder,
                                                   .bytes = -1,
                                                   .comm = MPIQ_NONE,
                                                   .window = MPIQ_NONE,
                                                   .operation = MPIQ_NONE,
                                                   .started = MPIQ_NONE,
                                                   .file = file_of(job, row),
                                                   .ranks = mpiq_one_rank(analysis, holder)});
    struct mpiq_given_parts given = {.count = 0};
    if (gathering.count == 0)
        mpiq_given_parts(analysis, thread, &given);
    for (uint32_t i = 0; i < given.count; i++)
        gather(&gathering, given.parts[i]);
    gathering.more += given.more;
    if (gathering.count == 0)
        return NULL;
    struct mpiq_waits_for waits = {
        .all = gathering.parts[0].given ? !given.any : node->need == node->edge_count,
        .guessed = gathering.parts[0].given ? given.some : row->wait_count == 0 && gathering.count > 1,
        .parts = gathering.parts,
        .part_count = gathering.count,
        .more = gathering.more,
        .done = done_of(rank, mpiq_innermost_wait(job, row), node),
    };
    if (same_wait(before, &waits))
        return before;
    struct mpiq_waits_for *ret = mpiq_arena_alloc(analysis->arena, sizeof *ret);
    struct mpiq_wait_part *parts = mpiq_arena_alloc(analysis->arena, gathering.count * sizeof *parts);
    if (!ret || !parts) {
        analysis->failed = true;
        return NULL;
    }
    memcpy(parts, gathering.parts, gathering.count * sizeof *parts);
    *ret = waits;
    ret->parts = parts;
    if (gathering.count == 1) {
        ret->ranks = parts[0].ranks;
    } else {
        struct mpiq_rank_set all _cleanup_(mpiq_rank_set_deinit) = {0};
        for (uint32_t i = 0; i < gathering.count; i++) {
            for (uint32_t j = 0; j < parts[i].ranks.count; j++) {
                const struct mpiq_rank_range *range = &parts[i].ranks.ranges[j];
                if (!mpiq_rank_set_add_range(&all, range->world, range->first, range->last))
                    analysis->failed = true;
            }
        }
        ret->ranks = mpiq_arena_ranks(analysis, &all);
    }
    return ret;
}

const struct mpiq_waits_for *mpiq_thread_waits(struct mpiq_analysis *analysis, uint32_t thread)
{
    return thread_waits(analysis, thread, NULL);
}

const struct mpiq_waits_for *mpiq_operation_waits(struct mpiq_analysis *analysis, uint32_t process,
                                                  uint32_t operation)
{
    struct mpiq_waits_for *ret = mpiq_arena_alloc(analysis->arena, sizeof *ret);
    struct mpiq_wait_part *part = mpiq_arena_alloc(analysis->arena, sizeof *part);
    if (!ret || !part) {
        analysis->failed = true;
        return NULL;
    }
    *part = part_of_operation(analysis, mpiq_job_rank_of(analysis->job, process), operation);
    *ret = (struct mpiq_waits_for){.all = true, .parts = part, .part_count = 1, .ranks = part->ranks};
    return ret;
}

void mpiq_analysis_wait(struct mpiq_analysis *analysis, struct mpiq_step *step, uint32_t thread,
                        uint32_t operation)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_thread *row = &job->threads[thread];
    step->wait = mpiq_thread_waits(analysis, thread);
    bool lock = step->wait && step->wait->parts[0].kind == MPIQ_PART_LOCK;
    bool inside = step->wait && step->wait->parts[0].kind == MPIQ_PART_COLLECTIVE &&
                  step->wait->parts[0].operation == MPIQ_NONE;
    if (operation != MPIQ_NONE && !lock && !inside)
        step->wait = mpiq_operation_waits(analysis, mpiq_thread_process(analysis->graph, thread), operation);
    step->call = lock ? mpiq_system_call_name(row->system_call) : mpiq_job_string(job, row->call);
}

void mpiq_find_waits(struct mpiq_analysis *analysis)
{
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    const struct mpiq_waits_for *before = NULL;
    for (uint32_t process = 0; process < diagnosis->rank_count && !analysis->failed; process++) {
        struct mpiq_rank_diagnosis *rank = &diagnosis->ranks[process];
        if (rank->thread == MPIQ_NONE)
            continue;
        const struct mpiq_waits_for *waits = thread_waits(analysis, rank->thread, before);
        rank->waits_for = waits;
        before = waits;
    }
}
