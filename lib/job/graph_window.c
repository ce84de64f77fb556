/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided waits: who has not posted, completed or unlocked. */
#include "job/graph.h"

/* Whether a process lets another one in: it has posted the window to it, or anybody may enter. */
static bool has_posted(const struct mpiq_job_state *job, uint32_t window, uint32_t target, uint32_t origin)
{
    const struct mpiq_job_window_view *view = mpiq_job_window_view_of(job, target, window);
    if (!view || view->exposure != MPIQ_EXPOSURE_POST)
        return false;
    for (uint32_t i = 0; i < view->exposure_count; i++) {
        if (job->window_ranks[view->first_exposure + i] == origin)
            return true;
    }
    return false;
}

/* MPI_Win_start, MPI_Win_complete: each of the group that has not posted. */
static void build_access(struct mpiq_wait_graph *graph, const struct mpiq_job_window_view *view,
                         uint32_t process)
{
    const struct mpiq_job_state *job = graph->job;
    for (uint32_t i = 0; i < view->access_count; i++) {
        uint32_t target = job->window_ranks[view->first_access + i];
        bool known = target != MPIQ_NONE &&
                     (mpiq_never_acts(job, target) || mpiq_job_window_view_of(job, target, view->window));
        if (!known) /* it may have posted long ago */
            mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);
        else if (!has_posted(job, view->window, target, process))
            mpiq_graph_edge(graph, mpiq_rank_node(target), MPIQ_NONE);
    }
}

/* MPI_Win_wait: each of the group that has not completed.  Its word may be on the way: only a waiter that
   turned round in its wait from look to look would have it by now. */
static void build_exposure(struct mpiq_wait_graph *graph, const struct mpiq_job_window_view *view,
                           bool turned)
{
    for (uint32_t i = 0; i < view->exposure_count; i++) {
        uint32_t origin = graph->job->window_ranks[view->first_exposure + i];
        bool known = origin != MPIQ_NONE && mpiq_job_window_view_of(graph->job, origin, view->window);
        mpiq_graph_edge(graph,
                        !known    ? MPIQ_NODE_UNKNOWN
                        : !turned ? MPIQ_NODE_LIVE
                                  : mpiq_rank_node(origin),
                        MPIQ_NONE);
    }
}

bool mpiq_holds_lock(const struct mpiq_job_state *job, const struct mpiq_job_window_view *view,
                     uint32_t target, uint8_t wanted, uint8_t *type)
{
    for (uint32_t i = 0; i < view->lock_count; i++) {
        const struct mpiq_job_window_lock *lock = &job->window_locks[view->first_lock + i];
        bool there = lock->all || (lock->target != MPIQ_NONE && lock->target == target);
        bool excludes = wanted == MPIQ_LOCK_EXCLUSIVE || lock->type == MPIQ_LOCK_EXCLUSIVE;
        if (lock->held && there && excludes) {
            *type = lock->type;
            return true;
        }
    }
    return false;
}

/* MPI_Win_lock: each that holds a lock there which excludes the one that is asked for. */
static void build_lock(struct mpiq_wait_graph *graph, const struct mpiq_job_wait *wait, uint32_t process)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_window *window = &job->windows[wait->window];
    for (uint32_t i = 0; wait->window_target != MPIQ_NONE && i < window->view_count; i++) {
        const struct mpiq_job_window_view *view = &job->window_views[window->first_view + i];
        uint32_t holder = job->ranks[view->rank].process;
        uint8_t type;
        if (holder != process && mpiq_holds_lock(job, view, wait->window_target, wait->lock_type, &type))
            mpiq_graph_edge(graph, mpiq_rank_node(holder), MPIQ_NONE);
    }
}

uint32_t mpiq_build_window(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                           const struct mpiq_job_thread *thread, const struct mpiq_job_wait *wait)
{
    bool turned = rank->core || thread->cpu_between_ns >= MPIQ_POLLED_NS;
    const struct mpiq_job_window_view *view =
        mpiq_job_window_view_of(graph->job, rank->process, wait->window);
    uint32_t before = graph->edge_count;
    bool counted = view != NULL; /* by the record it can be told who is missing */
    switch ((enum mpiq_wait_kind)wait->kind) {
    case MPIQ_WAIT_START:
    case MPIQ_WAIT_COMPLETE:
        if (view)
            build_access(graph, view, rank->process);
        break;
    case MPIQ_WAIT_WAIT:
        if (view)
            build_exposure(graph, view, turned);
        break;
    case MPIQ_WAIT_LOCK:
        build_lock(graph, wait, rank->process);
        break;
    default:
        counted = false;
        break;
    }
    uint32_t edges = graph->edge_count - before;
    if (edges > 0)
        return edges;
    mpiq_graph_edge(graph, counted ? MPIQ_NODE_LIVE : MPIQ_NODE_UNKNOWN, MPIQ_NONE);
    return 1;
}
