/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided waits that nobody will end: the window, the call, and which ranks have not posted, completed or
   unlocked. */
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/evidence.h"
#include "job/find.h"

/* Alike waits of several ranks. */
struct alike {
    uint32_t window;
    uint32_t site;
    uint8_t kind;
    bool stuck;
    bool ended;    /* the target is in MPI_Finalize */
    uint32_t lock; /* node of the lock whose holders are in the finding; MPIQ_NONE */
    size_t finding;
};

/* Of the calls that all members make, those that are counted are told as collectives. */
static const struct mpiq_job_wait *window_wait(const struct mpiq_analysis *analysis, uint32_t thread)
{
    const struct mpiq_job_wait *wait = mpiq_innermost_wait(analysis->job, &analysis->job->threads[thread]);
    uint32_t process = mpiq_thread_process(analysis->graph, thread);
    bool counted = mpiq_counted_window(analysis->job, process, wait) != MPIQ_NONE;
    return wait && wait->window != MPIQ_NONE && !counted ? wait : NULL;
}

static bool completes(const struct mpiq_job_wait *wait)
{
    return wait->kind == MPIQ_WAIT_UNLOCK || wait->kind == MPIQ_WAIT_FLUSH;
}

/* Whether a process waits in a window itself: it is not the one that keeps others waiting there. */
static bool waits_in_window(const struct mpiq_analysis *analysis, uint32_t process)
{
    uint32_t thread = analysis->diagnosis->ranks[process].thread;
    return thread != MPIQ_NONE && window_wait(analysis, thread);
}

static void add_missing(struct mpiq_analysis *analysis, struct mpiq_finding *finding, uint32_t process)
{
    mpiq_analysis_add(analysis, &finding->others, process);
    mpiq_analysis_add(analysis, &finding->missing, process);
}

/* Whether a process is one of those who have not completed their access to a thread's window.  That one of
   several origins has not is proven; which one only where its access is open, or it never had one. */
static bool is_incomplete(const struct mpiq_analysis *analysis, uint32_t thread, uint32_t process)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    const struct mpiq_job_wait *wait = mpiq_innermost_wait(analysis->job, &analysis->job->threads[thread]);
    return !wait || wait->kind != MPIQ_WAIT_WAIT ||
           graph->nodes[graph->thread_nodes[thread]].edge_count == 1 ||
           mpiq_access_is_open(analysis->job, wait->window, process, mpiq_thread_process(graph, thread));
}

/* Who keeps a thread waiting: as far as that is proven, or, of one that may go on, who seems to. */
static void add_blockers(struct mpiq_analysis *analysis, struct mpiq_finding *finding, struct alike *alike,
                         uint32_t thread)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
    struct mpiq_rank_set candidates _cleanup_(mpiq_rank_set_deinit) = {0};
    uint64_t before = finding->missing.size;
    for (uint32_t i = 0; i < node->edge_count; i++) {
        uint32_t index = graph->edges[node->first_edge + i].child;
        const struct mpiq_node *child = &graph->nodes[index];
        if (child->kind == MPIQ_KIND_RANK && alike->stuck && !child->may) {
            if (is_incomplete(analysis, thread, child->subject))
                add_missing(analysis, finding, child->subject);
            else
                mpiq_analysis_add(analysis, &candidates, child->subject);
        }
        if (child->kind != MPIQ_KIND_LOCK || index == alike->lock || (alike->stuck && child->may))
            continue;
        alike->lock = index;
        for (uint32_t j = 0; j < child->edge_count; j++) {
            uint32_t holder = graph->edges[child->first_edge + j].child;
            if (!graph->nodes[holder].may || !alike->stuck) {
                uint32_t process = graph->nodes[holder].subject;
                if (alike->stuck || !waits_in_window(analysis, process))
                    add_missing(analysis, finding, process);
            }
        }
    }
    /* Where nothing tells which of them it is, none of them is blamed. */
    if (finding->missing.size == before && !mpiq_rank_set_add_set(&finding->others, &candidates))
        analysis->failed = true;
}

/* What each one and the only rank that it waits for have in common: its neighbour, say. */
static void relate(struct mpiq_analysis *analysis, struct mpiq_finding *finding, uint32_t thread)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
    const struct mpiq_node *child = &graph->nodes[graph->edges[node->first_edge].child];
    uint32_t peer = node->edge_count == 1 && child->kind == MPIQ_KIND_RANK ? child->subject : MPIQ_NONE;
    mpiq_relation_add(analysis->job, &finding->relation, mpiq_thread_process(graph, thread), finding->comm,
                      peer, peer == MPIQ_NONE ? -1 : mpiq_local_rank(analysis->job, peer, finding->comm));
}

static void add(struct mpiq_analysis *analysis, struct alike *alike, uint32_t process, uint32_t thread)
{
    struct mpiq_finding *finding = &analysis->diagnosis->findings[alike->finding];
    mpiq_analysis_add(analysis, &finding->ranks, process);
    mpiq_analysis_site(analysis, finding, process, thread);
    mpiq_analysis_since(analysis, finding, process, thread);
    mpiq_add_evidence(analysis, finding, process, thread, MPIQ_NONE);
    add_blockers(analysis, finding, alike, thread);
    relate(analysis, finding, thread);
}

/* The lock on its target that keeps a thread waiting, by the first of its holders; enum mpiq_lock_type. */
static uint8_t lock_held(const struct mpiq_analysis *analysis, const struct mpiq_finding *finding,
                         const struct mpiq_job_wait *wait)
{
    const struct mpiq_rank_set *holders = &finding->missing;
    uint8_t type = MPIQ_LOCK_NONE;
    if (wait->kind != MPIQ_WAIT_LOCK || holders->size == 0)
        return type;
    uint32_t holder = mpiq_job_process(analysis->job, holders->ranges[0].world, holders->ranges[0].first);
    const struct mpiq_job_window_view *view = mpiq_job_window_view_of(analysis->job, holder, wait->window);
    if (view)
        mpiq_holds_lock(analysis->job, view, wait->window_target, wait->lock_type, &type);
    return type;
}

/* Whether another rank holds or requests a lock that conflicts with the one a thread completes under. */
static bool is_contended(const struct mpiq_analysis *analysis, uint32_t thread)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
    uint32_t process = mpiq_thread_process(graph, thread);
    for (uint32_t i = 0; i < node->edge_count; i++) {
        const struct mpiq_node *child = &graph->nodes[graph->edges[node->first_edge + i].child];
        for (uint32_t j = 0; child->kind == MPIQ_KIND_LOCK && j < child->edge_count; j++) {
            uint32_t holder = graph->nodes[graph->edges[child->first_edge + j].child].subject;
            if (holder != process && !waits_in_window(analysis, holder))
                return true;
        }
    }
    return false;
}

/* Whether a process is in MPI_Finalize with a window that it has not freed. */
static bool has_left_window(const struct mpiq_analysis *analysis, uint32_t window, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(analysis->job, process);
    const struct mpiq_job_window_view *view = mpiq_job_window_view_of(analysis->job, process, window);
    return rank && view && !view->freeing &&
           (rank->phase == MPIQ_PHASE_FINALIZING ||
            analysis->diagnosis->ranks[process].blocking == MPIQ_BLOCKING_FINALIZE);
}

/* Those of whom a lock, unlock or flush needs an answer, and who are in MPI_Finalize with the window; ret
   NULL: only whether there are any. */
static bool find_leavers(struct mpiq_analysis *analysis, const struct mpiq_job_wait *wait,
                         struct mpiq_finding *ret)
{
    const struct mpiq_job_window *window = &analysis->job->windows[wait->window];
    bool any = false;
    if (wait->kind != MPIQ_WAIT_LOCK && !completes(wait))
        return false;
    for (uint32_t i = 0; i < window->view_count; i++) {
        const struct mpiq_job_window_view *view = &analysis->job->window_views[window->first_view + i];
        uint32_t process = analysis->job->ranks[view->rank].process;
        if (process == MPIQ_NONE || (wait->window_target != MPIQ_NONE && wait->window_target != process) ||
            !has_left_window(analysis, wait->window, process))
            continue;
        any = true;
        if (ret)
            add_missing(analysis, ret, process);
    }
    return any;
}

/* The finding of waits like that one, made if need be; NULL: there is no room for more, or no memory. */
static struct alike *alike_of(struct mpiq_analysis *analysis, struct alike *kinds, uint32_t *count,
                              uint32_t thread, const struct mpiq_job_wait *wait, bool ended)
{
    const struct mpiq_job_state *job = analysis->job;
    uint32_t site = job->threads[thread].site;
    bool stuck = mpiq_is_stuck(analysis->graph, thread);
    uint32_t at = 0;
    while (at < *count && (kinds[at].site != site || kinds[at].kind != wait->kind ||
                           kinds[at].stuck != stuck || kinds[at].ended != ended ||
                           job->windows[kinds[at].window].name != job->windows[wait->window].name))
        at++;
    if (at < *count)
        return &kinds[at];
    if (at == MPIQ_MOST_FINDINGS)
        return NULL;
    struct mpiq_finding *made = mpiq_diagnosis_add_finding(analysis->diagnosis, MPIQ_FINDING_WINDOW_WAIT);
    if (!made) {
        analysis->failed = true;
        return NULL;
    }
    made->proven = stuck;
    made->window = wait->window;
    made->comm = job->windows[wait->window].comm;
    kinds[(*count)++] = (struct alike){.window = wait->window,
                                       .site = site,
                                       .kind = wait->kind,
                                       .stuck = stuck,
                                       .ended = ended,
                                       .lock = MPIQ_NONE,
                                       .finding = analysis->diagnosis->finding_count - 1};
    return &kinds[at];
}

void mpiq_find_windows(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    struct alike kinds[MPIQ_MOST_FINDINGS] = {0};
    const struct mpiq_job_wait *first[MPIQ_MOST_FINDINGS];
    uint32_t count = 0;
    for (uint32_t thread = 0; job->window_count > 0 && thread < job->thread_count && !analysis->failed;
         thread++) {
        if (analysis->graph->thread_nodes[thread] == MPIQ_NONE)
            continue;
        const struct mpiq_job_wait *wait = window_wait(analysis, thread);
        bool stuck = mpiq_is_stuck(analysis->graph, thread);
        bool ended = wait && !stuck && find_leavers(analysis, wait, NULL);
        if (!wait || !(stuck || ended || (completes(wait) && is_contended(analysis, thread))))
            continue;
        uint32_t before = count;
        struct alike *alike = alike_of(analysis, kinds, &count, thread, wait, ended);
        if (!alike)
            continue;
        if (count > before)
            first[before] = wait;
        add(analysis, alike, mpiq_thread_process(analysis->graph, thread), thread);
        if (ended)
            find_leavers(analysis, wait, &analysis->diagnosis->findings[alike->finding]);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct mpiq_finding *finding = &analysis->diagnosis->findings[kinds[i].finding];
        /* Where all wait for each other none is more likely than the others. */
        bool mutual = mpiq_rank_set_includes(&finding->ranks, &finding->missing);
        if (!mutual && !mpiq_rank_set_add_set(&finding->suspects, &finding->missing))
            analysis->failed = true;
        mpiq_add_evidence_of(analysis, finding, &finding->others);
        finding->wait = (uint32_t)(first[i] - job->waits);
        finding->peer_finalizes = kinds[i].ended;
        finding->lock_type = lock_held(analysis, finding, first[i]);
    }
}
