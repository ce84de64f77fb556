/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that wait for each other in a circle. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/rank_activity.h"
#include "job/evidence.h"
#include "job/find.h"
#include "job/waits.h"

/* Threads of a closed set in the order of waiting, from *start on in a circle. */
struct walk {
    uint32_t *threads;
    uint32_t count;
    uint32_t start;
};

/* position: of each thread of the job where it stands in the walk, plus one. */
static bool walk_closed_set(const struct mpiq_analysis *analysis, const struct mpiq_closed_set *set,
                            uint32_t *position, struct walk *ret)
{
    ret->threads = malloc(((size_t)set->thread_count + 1) * sizeof *ret->threads);
    ret->count = 0;
    if (!ret->threads)
        return false;
    uint32_t thread = analysis->explanation->threads[set->first_thread];
    uint32_t process;
    while (thread != MPIQ_NONE && !position[thread] && ret->count < set->thread_count) {
        ret->threads[ret->count++] = thread;
        position[thread] = ret->count;
        thread = mpiq_next_thread(analysis->graph, analysis->explanation, thread, &process);
    }
    bool closed = thread != MPIQ_NONE && position[thread];
    ret->start = closed ? position[thread] - 1 : 0;
    for (uint32_t i = 0; i < ret->count; i++)
        position[ret->threads[i]] = 0;
    return closed;
}

/* The collective call that a thread is in. */
static struct mpiq_thread_collective collective_of(const struct mpiq_analysis *analysis, uint32_t thread)
{
    const struct mpiq_job_state *job = analysis->job;
    struct mpiq_thread_collective in;
    mpiq_thread_collective(job, &job->ranks[analysis->graph->thread_ranks[thread]], &job->threads[thread],
                           &in);
    return in;
}

/* Whether two threads are in one and the same collective call. */
static bool same_call(const struct mpiq_analysis *analysis, uint32_t a, uint32_t b)
{
    struct mpiq_thread_collective in_a = collective_of(analysis, a);
    struct mpiq_thread_collective in_b = collective_of(analysis, b);
    return in_a.collective >= 0 && in_a.collective == in_b.collective && in_a.comm == in_b.comm &&
           in_a.comm != MPIQ_NONE && in_a.number == in_b.number;
}

/* The non-blocking collective that an operation of a thread's wait stands for; false: it stands for none. */
static bool started_call(const struct mpiq_analysis *analysis, uint32_t thread, uint32_t operation,
                         uint32_t *comm, int64_t *number)
{
    const struct mpiq_job_state *job = analysis->job;
    if (operation == MPIQ_NONE || job->operations[operation].kind != MPIQ_OPERATION_COLLECTIVE)
        return false;
    const struct mpiq_job_call *call = mpiq_outstanding_call(
        job, &job->ranks[analysis->graph->thread_ranks[thread]], &job->operations[operation], comm);
    if (!call)
        return false;
    *number = job->shapes[call->shape].number;
    return true;
}

/* The call that a thread is in, or that a request of its wait is of; false: there is none. */
static bool call_of(const struct mpiq_analysis *analysis, uint32_t thread, uint32_t *comm, int64_t *number)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    struct mpiq_thread_collective in;
    mpiq_thread_collective(analysis->job, &analysis->job->ranks[graph->thread_ranks[thread]],
                           &analysis->job->threads[thread], &in);
    *comm = in.comm;
    *number = in.number;
    if (in.collective >= 0)
        return true;
    const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
    for (uint32_t i = 0; i < node->edge_count; i++) {
        const struct mpiq_node *child = &graph->nodes[graph->edges[node->first_edge + i].child];
        if (started_call(analysis, thread, graph->edges[node->first_edge + i].operation, comm, number))
            return true;
        bool world = child->kind == MPIQ_KIND_FINALIZE || child->kind == MPIQ_KIND_INITIALIZE;
        if (!world && child->kind != MPIQ_KIND_ENTERED && child->kind != MPIQ_KIND_LOWER &&
            child->kind != MPIQ_KIND_SOURCES && child->kind != MPIQ_KIND_STARTED &&
            child->kind != MPIQ_KIND_STARTED_ANY)
            continue;
        *comm = world ? MPIQ_NONE : child->subject;
        *number = child->number;
        return true;
    }
    return false;
}

/* Collectives that a circle leads through: 0, 1, or 2 for more than one. */
static uint8_t collectives_on(const struct mpiq_analysis *analysis, const uint32_t *threads, uint32_t count)
{
    uint32_t first_comm = MPIQ_NONE;
    int64_t first_number = 0;
    uint8_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t comm;
        int64_t number;
        if (!call_of(analysis, threads[i], &comm, &number))
            continue;
        if (found && (comm != first_comm || number != first_number))
            return 2;
        first_comm = comm;
        first_number = number;
        found = 1;
    }
    return found;
}

/* Any of several would do: then there is more to it than a circle. */
static bool has_choice(const struct mpiq_wait_graph *graph, const uint32_t *threads, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[threads[i]]];
        if (node->need < node->edge_count)
            return true;
        for (uint32_t j = 0; j < node->edge_count; j++) {
            uint8_t kind = graph->nodes[graph->edges[node->first_edge + j].child].kind;
            uint32_t operation = graph->edges[node->first_edge + j].operation;
            bool user = operation != MPIQ_NONE && !graph->job->operations[operation].internal;
            if (user && (kind == MPIQ_KIND_GROUP || kind == MPIQ_KIND_INTERNAL_GROUP))
                return true;
        }
    }
    return false;
}

/* Of several operations that a thread needs all of, the one that leads round the circle; MPIQ_NONE: there is
   no such choice. */
static uint32_t leading_operation(const struct mpiq_analysis *analysis, uint32_t thread)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
    for (uint32_t i = 0; node->need == node->edge_count && i < node->edge_count; i++) {
        const struct mpiq_edge *edge = &graph->edges[node->first_edge + i];
        if (edge->child == analysis->explanation->chosen[graph->thread_nodes[thread]])
            return edge->operation;
    }
    return MPIQ_NONE;
}

static struct mpiq_step *add_step(struct mpiq_analysis *analysis, struct mpiq_finding *finding,
                                  uint32_t thread)
{
    struct mpiq_step *step = mpiq_finding_add_step(finding);
    if (!step) {
        analysis->failed = true;
        return NULL;
    }
    step->process = mpiq_thread_process(analysis->graph, thread);
    mpiq_analysis_wait(analysis, step, thread, leading_operation(analysis, thread));
    step->site = analysis->job->threads[thread].site;
    step->since = mpiq_waited(analysis->job, &analysis->job->ranks[analysis->graph->thread_ranks[thread]],
                              &analysis->job->threads[thread]);
    finding->since = step->since > finding->since ? step->since : finding->since;
    mpiq_analysis_add(analysis, &finding->ranks, step->process);
    mpiq_analysis_site(analysis, finding, step->process, thread);
    return step;
}

/* Circles of one kind: as long, through the same calls at the same places. */
struct kind {
    uint64_t mark;
    uint32_t finding;
};

struct kinds {
    struct kind list[MPIQ_MOST_FINDINGS];
    uint32_t count;
};

/* The same for all circles of one kind, wherever they begin. */
static uint64_t mark_of(const struct mpiq_analysis *analysis, const uint32_t *threads, uint32_t count)
{
    const struct mpiq_job_state *job = analysis->job;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct mpiq_job_thread *thread = &job->threads[threads[i]];
        uint32_t operation = leading_operation(analysis, threads[i]);
        uint64_t mark = mpiq_hash(MPIQ_HASH_START, (uint64_t)thread->call << 32 | thread->site);
        if (operation != MPIQ_NONE) {
            const struct mpiq_job_operation *op = &job->operations[operation];
            mark = mpiq_hash(mark, (uint64_t)op->kind << 32 | (op->internal ? 0 : (uint32_t)op->tag));
        }
        sum += mark;
    }
    return mpiq_hash(sum, count);
}

/* A further circle of a kind that has its finding: only its ranks are new. */
static bool join_kind(struct mpiq_analysis *analysis, const struct kinds *kinds, uint64_t mark,
                      const uint32_t *threads, uint32_t count)
{
    for (uint32_t i = 0; i < kinds->count; i++) {
        if (kinds->list[i].mark != mark)
            continue;
        struct mpiq_finding *finding = &analysis->diagnosis->findings[kinds->list[i].finding];
        finding->circles++;
        for (uint32_t j = 0; j < count; j++) {
            uint32_t process = mpiq_thread_process(analysis->graph, threads[j]);
            mpiq_analysis_add(analysis, &finding->ranks, process);
            mpiq_analysis_site(analysis, finding, process, threads[j]);
            mpiq_add_evidence(analysis, finding, process, threads[j],
                              leading_operation(analysis, threads[j]));
        }
        return true;
    }
    return false;
}

/* Whether all threads of a closed set are in one and the same collective call, which moves data, or opens a
   file: that can fail on some of them alone. */
static bool is_inside_one(const struct mpiq_analysis *analysis, const struct mpiq_closed_set *set)
{
    const uint32_t *threads = &analysis->explanation->threads[set->first_thread];
    for (uint32_t i = 1; i < set->thread_count; i++) {
        if (!same_call(analysis, threads[0], threads[i]))
            return false;
    }
    int collective = set->thread_count > 1 ? collective_of(analysis, threads[0]).collective : -1;
    return collective >= 0 &&
           (mpiq_collective_moves_data(collective) || mpiq_call_opens_file(mpiq_collective_name(collective)));
}

/* They wait for each other's messages inside it: then it does not matter which. */
static void add_inside(struct mpiq_analysis *analysis, const struct mpiq_closed_set *set,
                       struct mpiq_finding *finding)
{
    const uint32_t *threads = &analysis->explanation->threads[set->first_thread];
    struct mpiq_thread_collective in = collective_of(analysis, threads[0]);
    finding->collective = mpiq_collective_name(in.collective);
    finding->comm = in.comm;
    finding->number = in.number;
    for (uint32_t i = 0; i < set->thread_count; i++) {
        uint32_t process = mpiq_thread_process(analysis->graph, threads[i]);
        mpiq_analysis_add(analysis, &finding->ranks, process);
        mpiq_analysis_site(analysis, finding, process, threads[i]);
        mpiq_add_evidence(analysis, finding, process, threads[i], MPIQ_NONE);
        if (analysis->job->threads[threads[i]].takes_back) /* it failed there alone */
            mpiq_analysis_add(analysis, &finding->suspects, process);
    }
}

static void find_cycle(struct mpiq_analysis *analysis, const struct mpiq_closed_set *set, uint32_t *position,
                       struct kinds *kinds)
{
    struct walk walk;
    bool closed = walk_closed_set(analysis, set, position, &walk);
    uint32_t *threads _cleanup_free_ = walk.threads;
    if (!threads) {
        analysis->failed = true;
        return;
    }
    bool inside = is_inside_one(analysis, set);
    if (!closed || (!inside && has_choice(analysis->graph, &threads[walk.start], walk.count - walk.start)))
        return;
    uint64_t mark = mark_of(analysis, &threads[walk.start], walk.count - walk.start);
    if (join_kind(analysis, kinds, mark, &threads[walk.start], walk.count - walk.start) ||
        kinds->count == MPIQ_MOST_FINDINGS)
        return;
    struct mpiq_finding *finding = mpiq_diagnosis_add_finding(analysis->diagnosis, MPIQ_FINDING_WAIT_CYCLE);
    if (!finding) {
        analysis->failed = true;
        return;
    }
    finding->proven = true;
    finding->circles = 1;
    uint32_t length = walk.count - walk.start;
    /* Those in one collective call are one step: it begins behind the last of them. */
    uint32_t turn = 0;
    while (turn < length && same_call(analysis, threads[walk.start + turn],
                                      threads[walk.start + (turn + length - 1) % length]))
        turn++;
    /* All are in one and the same call: worth saying only where nothing else explains it. */
    bool alike = turn == length && length > 1;
    if (alike && analysis->diagnosis->finding_count > 1) {
        mpiq_diagnosis_drop_finding(analysis->diagnosis);
        return;
    }
    finding->through = collectives_on(analysis, &threads[walk.start], length);
    uint32_t before = MPIQ_NONE;
    for (uint32_t i = 0; i < length && !analysis->failed; i++) {
        uint32_t thread = threads[walk.start + (turn % length + i) % length];
        if (!alike && before != MPIQ_NONE && same_call(analysis, before, thread))
            continue;
        before = thread;
        if (finding->step_count < MPIQ_MOST_STEPS)
            add_step(analysis, finding, thread);
        else
            mpiq_analysis_add(analysis, &finding->ranks, mpiq_thread_process(analysis->graph, thread));
    }
    for (size_t i = 0; i < finding->step_count; i++) {
        uint32_t next = finding->steps[(i + 1) % finding->step_count].process;
        mpiq_analysis_add(analysis, &finding->steps[i].waits_for, next);
    }
    if (inside && alike)
        add_inside(analysis, set, finding);
    for (uint32_t i = 0; i < length && !finding->collective && !analysis->failed; i++) {
        uint32_t thread = threads[walk.start + i];
        mpiq_add_evidence(analysis, finding, mpiq_thread_process(analysis->graph, thread), thread,
                          leading_operation(analysis, thread));
    }
    kinds->list[kinds->count++] =
        (struct kind){.mark = mark, .finding = (uint32_t)analysis->diagnosis->finding_count - 1};
}

void mpiq_find_cycles(struct mpiq_analysis *analysis)
{
    uint32_t *position _cleanup_free_ = calloc((size_t)analysis->job->thread_count + 1, sizeof *position);
    analysis->failed = analysis->failed || !position;
    struct kinds kinds = {.count = 0};
    for (uint32_t i = 0; i < analysis->explanation->closed_set_count && !analysis->failed; i++)
        find_cycle(analysis, &analysis->explanation->closed_sets[i], position, &kinds);
}
