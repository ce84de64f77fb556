/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided waits: which ranks have not posted, completed or unlocked. */
#include "job/collective.h"
#include "job/diagnose_options.h"
#include "job/graph.h"
#include "job/in_transit.h"

static bool is_listed(const struct mpiq_job_state *job, uint32_t first, uint32_t count, uint32_t process)
{
    for (uint32_t i = 0; i < count; i++) {
        if (job->window_ranks[first + i] == process)
            return true;
    }
    return false;
}

/* Whether a rank's part in windows may be of another moment than its wait: it is not what the first look saw,
   or the wait is not. */
static bool has_moved(const struct mpiq_job_rank *rank)
{
    return rank->changed & (MPIQ_CHANGED_CALLS | MPIQ_CHANGED_WAITS | MPIQ_CHANGED_STATE);
}

const struct mpiq_job_window_view *mpiq_known_view(const struct mpiq_job_state *job, uint32_t process,
                                                   uint32_t window)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    return rank && has_moved(rank) ? NULL : mpiq_job_window_view_of(job, process, window);
}

/* The recorder's groups are those of all epochs so far while none is open. */
static bool is_of_all_epochs(const struct mpiq_job_state *job, const struct mpiq_job_window_view *view,
                             bool open)
{
    return job->ranks[view->rank].source == MPIQ_SOURCE_RECORDER && !open;
}

/* Whether a process has posted the window to another one.  If it also did so earlier (before: that counts),
   that epoch may be the one that the other is about to leave. */
static bool has_posted(const struct mpiq_job_state *job, uint32_t window, uint32_t target, uint32_t origin,
                       bool before)
{
    const struct mpiq_job_window_view *view = mpiq_job_window_view_of(job, target, window);
    bool posted = view && view->exposure == MPIQ_EXPOSURE_POST;
    return view && (posted || (before && is_of_all_epochs(job, view, posted))) &&
           is_listed(job, view->first_exposure, view->exposure_count, origin);
}

/* MPI_Win_start, MPI_Win_complete: each of the group that has not posted. */
static void build_access(struct mpiq_wait_graph *graph, const struct mpiq_job_window_view *view,
                         uint32_t process, bool complete)
{
    const struct mpiq_job_state *job = graph->job;
    for (uint32_t i = 0; i < view->access_count; i++) {
        uint32_t target = job->window_ranks[view->first_access + i];
        bool known = target != MPIQ_NONE &&
                     (mpiq_never_answers(job, target) || mpiq_known_view(job, target, view->window));
        if (!known) /* it may have posted long ago */
            mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);
        else if (!has_posted(job, view->window, target, process, complete))
            mpiq_graph_edge(graph, mpiq_rank_node(target), MPIQ_NONE);
    }
}

/* Whether a rank is in MPI, but may have yet to take in what has come. */
static bool may_take_in(const struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank)
{
    enum mpiq_rank_activity activity = graph->diagnosis->ranks[rank->process].activity;
    return (activity == MPIQ_ACTIVITY_BLOCKED || activity == MPIQ_ACTIVITY_POLLING) &&
           !mpiq_has_polled(graph->job, rank);
}

/* MPI_Win_complete of a library that does not say which epochs are over: a member that has not posted may
   have posted and left its epoch since, while another has yet to take in what was put there.  So any member
   of the group may end the wait, except those that have posted and polled in MPI since, which have taken in
   everything.  Because the waiting rank polled too, at least one of the others has to act. */
static uint32_t build_complete(struct mpiq_wait_graph *graph, const struct mpiq_job_window_view *view,
                               uint32_t process)
{
    const struct mpiq_job_state *job = graph->job;
    uint32_t before = graph->edge_count;
    for (uint32_t i = 0; i < view->access_count; i++) {
        uint32_t target = job->window_ranks[view->first_access + i];
        const struct mpiq_job_rank *rank = target == MPIQ_NONE ? NULL : mpiq_job_rank_of(job, target);
        bool ended = rank && mpiq_never_answers(job, target);
        bool known = ended || (rank && mpiq_known_view(job, target, view->window));
        bool there = known && !ended && mpiq_has_polled(job, rank);
        if (!known)
            mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);
        else if (!ended && may_take_in(graph, rank))
            mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
        else if (!there || !has_posted(job, view->window, target, process, false))
            mpiq_graph_edge(graph, mpiq_rank_node(target), MPIQ_NONE);
    }
    if (graph->edge_count == before)
        mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
    return 1;
}

bool mpiq_access_is_open(const struct mpiq_job_state *job, uint32_t window, uint32_t origin, uint32_t target)
{
    const struct mpiq_job_window_view *view = mpiq_known_view(job, origin, window);
    if (!view)
        return false;
    const struct mpiq_job_rank *rank = &job->ranks[view->rank];
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        const struct mpiq_job_wait *wait = mpiq_innermost_wait(job, &job->threads[rank->first_thread + i]);
        if (wait && wait->window == window && wait->kind == MPIQ_WAIT_COMPLETE)
            return false;
    }
    bool listed = is_listed(job, view->first_access, view->access_count, target);
    return is_of_all_epochs(job, view, view->access == MPIQ_ACCESS_START) ? !listed : listed;
}

/* MPI_Win_wait: any member of the group may be the one that has not completed.  One of them has not, if the
   waiting rank polled between the looks; otherwise their messages may be there unread.  An open access may
   already be the next one, so it is not known which member it is. */
static uint32_t build_exposure(struct mpiq_wait_graph *graph, const struct mpiq_job_window_view *view,
                               bool turned)
{
    const struct mpiq_job_state *job = graph->job;
    for (uint32_t i = 0; turned && i < view->exposure_count; i++) {
        uint32_t origin = job->window_ranks[view->first_exposure + i];
        bool known = origin != MPIQ_NONE && mpiq_known_view(job, origin, view->window);
        mpiq_graph_edge(graph, known ? mpiq_rank_node(origin) : MPIQ_NODE_UNKNOWN, MPIQ_NONE);
    }
    if (!turned)
        mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);
    return 1;
}

bool mpiq_holds_lock(const struct mpiq_job_state *job, const struct mpiq_job_window_view *view,
                     uint32_t target, uint8_t wanted, uint8_t *type)
{
    for (uint32_t i = 0; i < view->lock_count; i++) {
        const struct mpiq_job_window_lock *lock = &job->window_locks[view->first_lock + i];
        bool there = lock->all || target == MPIQ_NONE || lock->target == target;
        bool excludes = wanted == MPIQ_LOCK_EXCLUSIVE || lock->type == MPIQ_LOCK_EXCLUSIVE;
        if (lock->held && there && excludes) {
            *type = lock->type;
            return true;
        }
    }
    return false;
}

uint32_t mpiq_build_lock(struct mpiq_wait_graph *graph, const struct mpiq_node *node)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_window *window = &job->windows[node->subject];
    uint32_t target = node->number < 0 ? MPIQ_NONE : (uint32_t)node->number;
    uint8_t wanted = (uint8_t)(node->extra & ~MPIQ_LOCK_OF_ANY);
    uint32_t before = graph->edge_count;
    for (uint32_t i = 0; i < window->view_count; i++) {
        const struct mpiq_job_window_view *view = &job->window_views[window->first_view + i];
        uint8_t type;
        if (!has_moved(&job->ranks[view->rank]) && mpiq_holds_lock(job, view, target, wanted, &type))
            mpiq_graph_edge(graph, mpiq_rank_node(job->ranks[view->rank].process), MPIQ_NONE);
    }
    uint32_t edges = graph->edge_count - before;
    return edges > 0 && node->extra & MPIQ_LOCK_OF_ANY ? 1 : edges;
}

/* One node for all who want the same. */
static uint32_t lock_node(struct mpiq_wait_graph *graph, uint32_t window, uint32_t target, uint32_t wanted)
{
    return mpiq_graph_node(graph, MPIQ_KIND_LOCK, window, target == MPIQ_NONE ? -1 : (int64_t)target, wanted);
}

/* Whether a target is outside MPI, where it may not answer. */
static bool is_outside(const struct mpiq_wait_graph *graph, uint32_t process)
{
    enum mpiq_rank_activity doing =
        process == MPIQ_NONE ? MPIQ_ACTIVITY_UNREADABLE : graph->diagnosis->ranks[process].activity;
    return doing == MPIQ_ACTIVITY_COMPUTING || doing == MPIQ_ACTIVITY_CALLING ||
           doing == MPIQ_ACTIVITY_ASLEEP || mpiq_is_stopped(doing);
}

/* Whether anybody is known to hold a lock at a target that excludes one of that type. */
static bool is_held(const struct mpiq_job_state *job, uint32_t window, uint32_t target, uint8_t wanted)
{
    const struct mpiq_job_window *row = &job->windows[window];
    uint8_t type;
    for (uint32_t i = 0; i < row->view_count; i++) {
        if (mpiq_holds_lock(job, &job->window_views[row->first_view + i], target, wanted, &type))
            return true;
    }
    return false;
}

/* MPI_Win_lock: all that hold a lock there which excludes the one that is asked for.  A rank that holds one
   itself has made an error, of which nobody knows what comes.
   A library that sends for locks lets MPI_Win_lock return before another rank has granted it: only for the
   lock on its own memory (in MPI_Win_lock_all too) does a rank wait.  Then some of those who are said to hold
   one may be behind the waiter in the queue, and any of them may be the one that does hold it: one of them
   does, where the waiter turned round without getting it.
   A lock that nobody holds is the target's to grant: some libraries do so only while that one is in MPI.
   True: that is so, and one of the edges suffices: it proves nothing. */
static bool build_lock_wait(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                            const struct mpiq_job_window_view *view, const struct mpiq_job_wait *wait,
                            bool turned)
{
    uint8_t type;
    bool known = view && !mpiq_holds_lock(graph->job, view, wait->window_target, wait->lock_type, &type);
    bool any = wait->window_target == MPIQ_NONE ||
               (rank->source != MPIQ_SOURCE_RECORDER && wait->window_target == rank->process);
    uint32_t node = MPIQ_NODE_UNKNOWN;
    if (known && any && !turned)
        node = MPIQ_NODE_LIVE;
    else if (known)
        node = lock_node(graph, wait->window, wait->window_target,
                         wait->lock_type | (any ? MPIQ_LOCK_OF_ANY : 0));
    mpiq_graph_edge(graph, node, MPIQ_NONE);
    bool granted = known && is_outside(graph, wait->window_target) &&
                   !is_held(graph->job, wait->window, wait->window_target, wait->lock_type);
    if (granted)
        mpiq_graph_edge(graph, mpiq_rank_node(wait->window_target), MPIQ_NONE);
    return granted;
}

/* Which lock a view has, or wants, at the target: an enum mpiq_lock_type.  view may be NULL. */
static uint8_t own_lock(const struct mpiq_job_state *job, const struct mpiq_job_window_view *view,
                        uint32_t target)
{
    for (uint32_t i = 0; view && i < view->lock_count; i++) {
        const struct mpiq_job_window_lock *lock = &job->window_locks[view->first_lock + i];
        if (lock->all || lock->target == target)
            return lock->type;
    }
    return MPIQ_LOCK_NONE;
}

/*
 * MPI_Win_unlock, MPI_Win_flush: the target has to be there.  A library may take its time with the lock
 * itself: MPI_Win_lock returns, and here is where it is waited for.  So another one's lock may be what holds
 * it up, or the other one's is not granted either: a hint, no proof.
 */
static uint32_t build_completion(struct mpiq_wait_graph *graph, const struct mpiq_job_window_view *view,
                                 const struct mpiq_job_wait *wait)
{
    uint32_t target = wait->window_target;
    if (target != MPIQ_NONE && mpiq_never_answers(graph->job, target)) {
        mpiq_graph_edge(graph, mpiq_rank_node(target), MPIQ_NONE);
        return 1;
    }
    uint8_t own = own_lock(graph->job, view, target);
    if (own != MPIQ_LOCK_NONE && target != MPIQ_NONE)
        mpiq_graph_edge(graph, lock_node(graph, wait->window, target, own), MPIQ_NONE);
    if (target != MPIQ_NONE)
        mpiq_graph_edge(graph, mpiq_rank_node(target), MPIQ_NONE);
    mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);
    return 1;
}

uint32_t mpiq_counted_window(const struct mpiq_job_state *job, uint32_t process,
                             const struct mpiq_job_wait *wait)
{
    if (!wait || wait->window == MPIQ_NONE ||
        (wait->kind != MPIQ_WAIT_FENCE && wait->kind != MPIQ_WAIT_WIN_FREE))
        return MPIQ_NONE;
    const struct mpiq_job_window_view *view = mpiq_job_window_view_of(job, process, wait->window);
    return view && view->fences >= 0 ? wait->window : MPIQ_NONE;
}

int64_t mpiq_window_number(const struct mpiq_job_window_view *view, const struct mpiq_job_wait *wait)
{
    return wait->kind == MPIQ_WAIT_WIN_FREE ? MPIQ_FREED : view->fences;
}

bool mpiq_is_behind(const struct mpiq_job_window_view *view, int64_t number)
{
    return number == MPIQ_FREED ? !view->freeing : view->fences < number;
}

/*
 * MPI_Win_fence, MPI_Win_free.  Where the standard holds the caller until all have come, each that has not.
 * Elsewhere the caller has nothing left to do but to wait for others: while it turns round in that (in a core
 * file nobody can tell), for one at least of those that have not come.
 */
static uint32_t build_together(struct mpiq_wait_graph *graph, const struct mpiq_job_window_view *view,
                               const struct mpiq_job_wait *wait, bool turned)
{
    int64_t number = mpiq_window_number(view, wait);
    uint32_t before = graph->edge_count;
    if (view->synchronises)
        mpiq_graph_edge(graph, mpiq_graph_node(graph, MPIQ_KIND_TOGETHER, wait->window, number, 0),
                        MPIQ_NONE);
    if (turned)
        mpiq_graph_edge(graph, mpiq_graph_node(graph, MPIQ_KIND_TOGETHER, wait->window, number, 1),
                        MPIQ_NONE);
    return graph->edge_count - before;
}

uint32_t mpiq_build_window(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                           const struct mpiq_job_thread *thread, const struct mpiq_job_wait *wait)
{
    bool turned = rank->final || thread->polled_ns >= MPIQ_POLLED_NS;
    const struct mpiq_job_window_view *view = mpiq_known_view(graph->job, rank->process, wait->window);
    uint32_t before = graph->edge_count;
    bool counted = view != NULL; /* by the record it can be told who is missing */
    /* The recorder sees the call and not the wait in it: MPI_Win_lock and MPI_Win_start may return at once.
     */
    bool passing = rank->source == MPIQ_SOURCE_RECORDER && !turned;
    switch ((enum mpiq_wait_kind)wait->kind) {
    case MPIQ_WAIT_START:
        if (view && !passing)
            build_access(graph, view, rank->process, false);
        break;
    case MPIQ_WAIT_COMPLETE: /* one of the group may have its word, and be past the epoch */
        if (view && turned && rank->source != MPIQ_SOURCE_RECORDER && view->access_count > 0)
            return build_complete(graph, view, rank->process);
        if (view && turned)
            build_access(graph, view, rank->process, true);
        break;
    case MPIQ_WAIT_WAIT:
        if (view && view->exposure_count > 0)
            return build_exposure(graph, view, turned);
        break;
    case MPIQ_WAIT_FENCE:
    case MPIQ_WAIT_WIN_FREE:
        if (view && build_together(graph, view, wait, turned && !rank->final) > 0)
            return graph->edge_count - before;
        counted = counted && !rank->final;
        break;
    case MPIQ_WAIT_LOCK:
        if (!passing && build_lock_wait(graph, rank, view, wait, turned))
            return 1;
        break;
    case MPIQ_WAIT_UNLOCK:
    case MPIQ_WAIT_FLUSH:
        return build_completion(graph, view, wait);
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
