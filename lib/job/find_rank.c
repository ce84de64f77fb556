/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks outside MPI that others wait for, and what is left over in ranks inside MPI. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/rank_activity.h"
#include "job/evidence.h"
#include "job/find.h"

/* Ranks that do the same at the same place. */
struct behaviour_group {
    enum mpiq_rank_activity activity;
    bool traced;            /* held by a debugger, if it is stopped */
    mpiq_string_id tracer;  /* the name of that */
    mpiq_string_id freezer; /* the file that thaws it, if it is frozen */
    uint32_t site;
    struct mpiq_rank_set ranks;
    const char *library_call; /* of the job's strings; NULL: none */
    uint32_t first;           /* process */
    uint32_t thread;          /* a thread beside the one that says what the rank does; MPIQ_NONE: that one */
};

/* Nodes that threads wait for, near or far. */
static bool mark_waited_for(const struct mpiq_wait_graph *graph, bool *marked)
{
    uint32_t *queue _cleanup_free_ = malloc(((size_t)graph->node_count + 1) * sizeof *queue);
    uint32_t count = 0;
    for (uint32_t i = 0; queue && i < graph->node_count; i++) {
        if (graph->nodes[i].kind == MPIQ_KIND_THREAD) {
            marked[i] = true;
            queue[count++] = i;
        }
    }
    for (uint32_t i = 0; queue && i < count; i++) {
        const struct mpiq_node *node = &graph->nodes[queue[i]];
        for (uint32_t j = 0; j < node->edge_count; j++) {
            uint32_t child = graph->edges[node->first_edge + j].child;
            if (!marked[child]) {
                marked[child] = true;
                queue[count++] = child;
            }
        }
    }
    return queue;
}

struct waiters {
    uint64_t count; /* processes */
    double since;
    bool stuck;
};

/* Who waits, near or far, for any of a group. */
static bool count_waiters(const struct mpiq_analysis *analysis, const struct behaviour_group *group,
                          struct waiters *ret)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    bool *marked _cleanup_free_ = calloc((size_t)graph->node_count + 1, sizeof *marked);
    uint32_t *queue _cleanup_free_ = malloc(((size_t)graph->node_count + 1) * sizeof *queue);
    uint32_t count = 0;
    *ret = (struct waiters){.since = -1};
    if (!marked || !queue)
        return false;
    for (uint32_t i = 0; i < group->ranks.count; i++) {
        const struct mpiq_rank_range *range = &group->ranks.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++) {
            uint32_t node = mpiq_rank_node(mpiq_job_process(analysis->job, range->world, rank));
            marked[node] = true;
            queue[count++] = node;
        }
    }
    uint32_t last = MPIQ_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const struct mpiq_node *node = &graph->nodes[queue[i]];
        /* Who is stuck anyhow does not wait for one who may come. */
        if (node->kind == MPIQ_KIND_THREAD && (node->may || group->activity == MPIQ_ACTIVITY_GONE)) {
            uint32_t process = mpiq_thread_process(graph, node->subject);
            double since = analysis->diagnosis->ranks[process].since;
            ret->count += process != last;
            ret->since = since > ret->since ? since : ret->since;
            ret->stuck = ret->stuck || !node->may;
            last = process;
        }
        for (uint32_t j = graph->first_parent[queue[i]]; j < graph->first_parent[queue[i] + 1]; j++) {
            if (!marked[graph->parents[j]]) {
                marked[graph->parents[j]] = true;
                queue[count++] = graph->parents[j];
            }
        }
    }
    return true;
}

/* Whether all ranks are asleep outside MPI: then nobody waits for anybody, and what they sleep on is all
   there is to say. */
static bool are_all_asleep(const struct mpiq_analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->job->process_count; i++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(analysis->job, i);
        if (!rank || rank->phase == MPIQ_PHASE_FINALIZED ||
            analysis->diagnosis->ranks[i].activity != MPIQ_ACTIVITY_ASLEEP)
            return false;
    }
    return true;
}

/* alone: also if nobody waits for them. */
static void say_behaviour(struct mpiq_analysis *analysis, const struct behaviour_group *group, bool alone)
{
    struct waiters waiters;
    enum mpiq_finding_kind kind = group->activity == MPIQ_ACTIVITY_GONE ? MPIQ_FINDING_RANK_GONE
                                  : mpiq_is_stopped(group->activity)    ? MPIQ_FINDING_RANK_STOPPED
                                                                        : MPIQ_FINDING_RANK_ELSEWHERE;
    if (!count_waiters(analysis, group, &waiters)) {
        analysis->failed = true;
        return;
    }
    if (kind == MPIQ_FINDING_RANK_ELSEWHERE && waiters.count == 0 && !alone)
        return;
    struct mpiq_finding *finding = mpiq_diagnosis_add_finding(analysis->diagnosis, kind);
    if (!finding || !mpiq_rank_set_add_set(&finding->ranks, &group->ranks)) {
        analysis->failed = true;
        return;
    }
    if (group->activity != MPIQ_ACTIVITY_FROZEN) /* wherever that was */
        mpiq_analysis_site(analysis, finding, group->first, group->thread);
    if (finding->site_count > 0) {
        mpiq_rank_set_deinit(&finding->sites[0].ranks);
        analysis->failed =
            analysis->failed || !mpiq_rank_set_add_set(&finding->sites[0].ranks, &group->ranks);
    }
    for (uint32_t i = 0; i < group->ranks.count; i++) {
        const struct mpiq_rank_range *range = &group->ranks.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++)
            mpiq_add_evidence(analysis, finding, mpiq_job_process(analysis->job, range->world, rank),
                              group->thread == MPIQ_NONE ? MPIQ_NONE : group->thread, MPIQ_NONE);
    }
    const struct mpiq_job_rank *first = mpiq_job_rank_of(analysis->job, group->first);
    if (kind == MPIQ_FINDING_RANK_GONE && group->ranks.size == 1 && first->end.kind != MPIQ_END_NONE)
        finding->ending = mpiq_describe_end(analysis, first);
    finding->since = waiters.since;
    finding->proven = group->activity == MPIQ_ACTIVITY_GONE && waiters.stuck;
    finding->thread = group->thread;
    finding->waiters = waiters.count;
}

static bool is_worth(enum mpiq_rank_activity activity, bool waited_for)
{
    switch (activity) {
    case MPIQ_ACTIVITY_GONE:
    case MPIQ_ACTIVITY_STOPPED:
    case MPIQ_ACTIVITY_FROZEN:
        return true;
    case MPIQ_ACTIVITY_COMPUTING:
    case MPIQ_ACTIVITY_CALLING:
    case MPIQ_ACTIVITY_ASLEEP:
    case MPIQ_ACTIVITY_HELD:
        return waited_for;
    default:
        return false;
    }
}

/* Whether it sleeps for a lock that a rank of the job has: that one is the finding. */
static bool waits_for_rank(const struct mpiq_analysis *analysis, const struct mpiq_rank_diagnosis *rank)
{
    const struct mpiq_job_state *job = analysis->job;
    bool sure;
    return rank->activity == MPIQ_ACTIVITY_ASLEEP && rank->thread != MPIQ_NONE &&
           mpiq_lock_holder(job, &job->ranks[analysis->graph->thread_ranks[rank->thread]],
                            &job->threads[rank->thread], &sure) != MPIQ_NONE;
}

/* A thread that sleeps while another one of its rank waits in MPI, and that may yet act for it. */
static uint32_t sleeping_thread(const struct mpiq_analysis *analysis, uint32_t process)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    for (uint32_t i = 0; rank && i < rank->thread_count; i++) {
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread + i];
        if (analysis->graph->thread_nodes[rank->first_thread + i] == MPIQ_NONE &&
            mpiq_thread_sleeps(thread) && mpiq_thread_may_act(job, rank, thread))
            return rank->first_thread + i;
    }
    return MPIQ_NONE;
}

static bool same_behaviour(const struct behaviour_group *a, const struct behaviour_group *b)
{
    return a->activity == b->activity && a->traced == b->traced && a->tracer == b->tracer &&
           a->freezer == b->freezer && (a->thread == MPIQ_NONE) == (b->thread == MPIQ_NONE) &&
           a->library_call == b->library_call &&
           (a->site == b->site || a->activity == MPIQ_ACTIVITY_GONE || a->activity == MPIQ_ACTIVITY_FROZEN);
}

void mpiq_find_ranks(struct mpiq_analysis *analysis)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    struct behaviour_group groups[MPIQ_MOST_FINDINGS] = {0};
    uint32_t count = 0;
    bool *marked _cleanup_free_ = calloc((size_t)graph->node_count + 1, sizeof *marked);
    if (!marked || !mark_waited_for(graph, marked)) {
        analysis->failed = true;
        return;
    }
    bool all_asleep = are_all_asleep(analysis);
    uint64_t living = 0;
    for (uint32_t process = 0; process < analysis->job->process_count; process++)
        living += analysis->diagnosis->ranks[process].activity != MPIQ_ACTIVITY_GONE &&
                  analysis->diagnosis->ranks[process].activity != MPIQ_ACTIVITY_UNREADABLE;
    for (uint32_t process = 0; living > 0 && process < analysis->job->process_count; process++) {
        const struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[process];
        bool waited_for = marked[mpiq_rank_node(process)];
        struct behaviour_group group = {
            .activity = rank->activity, .site = rank->site, .first = process, .thread = MPIQ_NONE};
        const struct mpiq_job_rank *stopped =
            mpiq_is_stopped(rank->activity) ? mpiq_job_rank_of(analysis->job, process) : NULL;
        bool frozen = rank->activity == MPIQ_ACTIVITY_FROZEN;
        group.traced = stopped && !frozen && stopped->traced;
        group.tracer = group.traced ? stopped->tracer_name : 0;
        group.freezer = stopped && frozen ? stopped->freezer : 0;
        if (rank->activity == MPIQ_ACTIVITY_CALLING || rank->activity == MPIQ_ACTIVITY_ASLEEP)
            group.library_call = rank->library_call;
        if (rank->activity == MPIQ_ACTIVITY_BLOCKED && waited_for) {
            group.thread = sleeping_thread(analysis, process);
            if (group.thread == MPIQ_NONE)
                continue;
            group.activity = MPIQ_ACTIVITY_ASLEEP;
            group.site = analysis->job->threads[group.thread].site;
        } else if ((!all_asleep && !is_worth(rank->activity, waited_for)) || waits_for_rank(analysis, rank)) {
            continue;
        }
        uint32_t at = 0;
        while (at < count && !same_behaviour(&groups[at], &group))
            at++;
        if (at == MPIQ_MOST_FINDINGS)
            continue;
        if (at == count)
            groups[count++] = group;
        mpiq_analysis_add(analysis, &groups[at].ranks, process);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!analysis->failed)
            say_behaviour(analysis, &groups[i], all_asleep);
        mpiq_rank_set_deinit(&groups[i].ranks);
    }
}

/* A request that its owner ought to have waited for, or freed, before MPI_Finalize. */
static bool is_left(const struct mpiq_job_operation *op)
{
    return !op->internal && !op->freed && !op->inactive && !op->blocked &&
           op->kind <= MPIQ_OPERATION_RECEIVE && op->kind != MPIQ_OPERATION_BSEND &&
           (op->queue == MPIQ_QUEUE_SENDS || op->queue == MPIQ_QUEUE_RECEIVES);
}

static bool in_finalize(const struct mpiq_analysis *analysis, uint32_t process,
                        const struct mpiq_job_rank *rank)
{
    return rank->phase == MPIQ_PHASE_FINALIZING ||
           analysis->diagnosis->ranks[process].blocking == MPIQ_BLOCKING_FINALIZE;
}

static void find_leaks(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    struct mpiq_rank_set ranks _cleanup_(mpiq_rank_set_deinit) = {0};
    uint64_t count = 0;
    uint32_t first = MPIQ_NONE;
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (!rank || !in_finalize(analysis, process, rank))
            continue;
        for (uint32_t i = 0; i < rank->operation_count; i++) {
            if (!is_left(&job->operations[rank->first_operation + i]))
                continue;
            count++;
            if (first == MPIQ_NONE)
                first = rank->first_operation + i;
            mpiq_analysis_add(analysis, &ranks, process);
        }
    }
    if (count == 0)
        return;
    struct mpiq_finding *finding = mpiq_diagnosis_add_finding(analysis->diagnosis, MPIQ_FINDING_REQUEST_LEAK);
    if (!finding || !mpiq_rank_set_add_set(&finding->ranks, &ranks)) {
        analysis->failed = true;
        return;
    }
    const struct mpiq_job_operation *op = &job->operations[first];
    finding->comm = op->comm == MPIQ_NONE ? MPIQ_NONE : job->communicators[op->comm].user;
    finding->operation = first;
    finding->count = count;
}

/* From so many messages on a rank is not just busy with others. */
enum { BACKLOG = 1000 };

static void find_backlog(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    struct mpiq_rank_set ranks _cleanup_(mpiq_rank_set_deinit) = {0};
    uint64_t most = 0;
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        uint64_t count = 0;
        if (!rank || rank->operation_count < BACKLOG)
            continue;
        for (uint32_t i = 0; i < rank->operation_count; i++) {
            const struct mpiq_job_operation *op = &job->operations[rank->first_operation + i];
            count += op->queue == MPIQ_QUEUE_UNEXPECTED && !op->internal;
        }
        if (count >= BACKLOG)
            mpiq_analysis_add(analysis, &ranks, process);
        most = count > most ? count : most;
    }
    if (ranks.size == 0)
        return;
    struct mpiq_finding *finding =
        mpiq_diagnosis_add_finding(analysis->diagnosis, MPIQ_FINDING_UNEXPECTED_BACKLOG);
    if (!finding || !mpiq_rank_set_add_set(&finding->ranks, &ranks)) {
        analysis->failed = true;
        return;
    }
    finding->count = most;
}

void mpiq_find_leftovers(struct mpiq_analysis *analysis)
{
    find_leaks(analysis);
    find_backlog(analysis);
}
