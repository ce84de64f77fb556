/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows: one for all its members, with each member's open epochs and the locks it holds or requests. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "merge/builder_private.h"

/* Whether the library gave a window that name: "window 3", "rdma window 3". */
static bool is_librarys(const char *name)
{
    static const char word[] = "window ";
    size_t length = strlen(name);
    size_t digits = 0;
    while (digits < length && isdigit((unsigned char)name[length - 1 - digits]))
        digits++;
    size_t before = length - digits;
    size_t size = strlen(word);
    if (digits == 0 || before < size || memcmp(name + before - size, word, size) != 0)
        return false;
    return before == size || name[before - size - 1] == ' ';
}

/* The window with that id on that communicator (both provisional), made at its first view. */
static bool intern_window(struct mpiq_job_state *job, const struct mpiq_window *window, uint32_t comm,
                          uint32_t *ret)
{
    struct mpiq_job_builder *builder = job->builder;
    uint64_t hash = mpiq_hash(mpiq_hash(MPIQ_HASH_START, comm), window->id[0]);
    hash = mpiq_hash(hash, window->id[1]);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&builder->windows, hash, &cursor)) != MPIQ_NONE;) {
        const struct mpiq_job_window *known = &job->windows[i];
        if (known->comm == comm && known->id[0] == window->id[0] && known->id[1] == window->id[1]) {
            *ret = i;
            return true;
        }
    }
    if (!MPIQ_RESERVE(job->windows, job->window_count, builder->window_capacity, 1) ||
        !mpiq_hash_table_add(&builder->windows, hash, job->window_count))
        return false;
    job->windows[job->window_count] = (struct mpiq_job_window){
        .id = {window->id[0], window->id[1]},
        .comm = comm,
        .made = MPIQ_NONE,
    };
    *ret = job->window_count++;
    return true;
}

static bool describe_window(struct mpiq_job_state *job, const struct mpiq_window *window, uint32_t index)
{
    struct mpiq_job_window *row = &job->windows[index];
    return (row->name || mpiq_job_intern(job, window->name, &row->name)) &&
           (row->made_by || mpiq_job_intern(job, window->made_by, &row->made_by)) &&
           (row->made != MPIQ_NONE || mpiq_job_intern_place(job, &window->made, &row->made));
}

static bool add_ranks(struct mpiq_job_state *job, const struct mpiq_local_rank *ranks, size_t count,
                      uint32_t *first, uint32_t *ret)
{
    if (!MPIQ_RESERVE(job->window_ranks, job->window_rank_count, job->builder->window_rank_capacity, count))
        return false;
    *first = job->window_rank_count;
    *ret = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        job->window_ranks[job->window_rank_count++] = (uint32_t)ranks[i].local;
    return true;
}

static bool add_view(struct mpiq_job_state *job, const struct mpiq_window *window, uint32_t row,
                     uint32_t member, struct mpiq_job_window_view *view)
{
    struct mpiq_job_builder *builder = job->builder;
    *view = (struct mpiq_job_window_view){
        .rank = row,
        .local_rank = window->local_rank,
        .exposure = window->exposure,
        .access = window->access,
        .fences = window->fences,
        .freeing = window->freeing,
        .synchronises = window->synchronises,
        .first_lock = job->window_lock_count,
        .lock_count = (uint32_t)window->lock_count,
        .member = member,
    };
    if (!intern_window(job, window, job->members[member].comm, &view->window) ||
        !describe_window(job, window, view->window) ||
        !MPIQ_RESERVE(job->window_locks, job->window_lock_count, builder->window_lock_capacity,
                      window->lock_count) ||
        !add_ranks(job, window->access_group, window->access_count, &view->first_access,
                   &view->access_count) ||
        !add_ranks(job, window->exposure_group, window->exposure_count, &view->first_exposure,
                   &view->exposure_count))
        return false;
    for (size_t i = 0; i < window->lock_count; i++)
        job->window_locks[job->window_lock_count++] = (struct mpiq_job_window_lock){
            .target = (uint32_t)window->locks[i].target_local,
            .type = window->locks[i].type,
            .held = window->locks[i].held,
        };
    return true;
}

bool mpiq_job_add_windows(struct mpiq_job_state *job, const struct mpiq_rank_state *state, uint32_t row,
                          uint32_t first_member, struct mpiq_job_rank *rank)
{
    struct mpiq_job_builder *builder = job->builder;
    /* The first look's views are forgotten: their rows stay empty. */
    for (uint32_t i = 0; i < rank->view_count; i++)
        job->window_views[rank->first_view + i].rank = MPIQ_NONE;
    if (!MPIQ_RESERVE(job->window_views, job->window_view_count, builder->window_view_capacity,
                      state->window_count))
        return false;
    rank->first_view = job->window_view_count;
    rank->view_count = (uint32_t)state->window_count;
    for (size_t i = 0; i < state->window_count; i++) {
        const struct mpiq_window *window = &state->windows[i];
        if (!add_view(job, window, row, first_member + window->comm,
                      &job->window_views[job->window_view_count++]))
            return false;
    }
    return true;
}

static int compare_windows(const void *left, const void *right, void *context)
{
    const struct mpiq_job_state *job = context;
    const struct mpiq_job_window *a = &job->windows[*(const uint32_t *)left];
    const struct mpiq_job_window *b = &job->windows[*(const uint32_t *)right];
    if (a->comm != b->comm)
        return a->comm < b->comm ? -1 : 1;
    for (int i = 0; i < 2; i++) {
        if (a->id[i] != b->id[i])
            return a->id[i] < b->id[i] ? -1 : 1;
    }
    return 0;
}

static bool sort_windows(struct mpiq_job_state *job, uint32_t *map)
{
    uint32_t count = job->window_count;
    uint32_t *order _cleanup_free_ = calloc((size_t)count + 1, sizeof *order);
    struct mpiq_job_window *sorted = calloc((size_t)count + 1, sizeof *sorted);
    if (!order || !sorted) {
        free(sorted);
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, compare_windows, job);
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = job->windows[order[i]];
        map[order[i]] = i;
        char name[64];
        const char *given = mpiq_job_string(job, sorted[i].name);
        sorted[i].named = given && *given && !is_librarys(given);
        snprintf(name, sizeof name, "window %" PRIu32, i + 1);
        if (!sorted[i].name && !mpiq_job_intern(job, name, &sorted[i].name)) {
            free(sorted);
            return false;
        }
    }
    free(job->windows);
    job->windows = sorted;
    return true;
}

/* Local ranks of a view become processes. */
static void resolve_view(struct mpiq_job_state *job, const struct mpiq_job_window_view *view,
                         const struct mpiq_job_member *member)
{
    for (uint32_t i = 0; i < view->lock_count; i++) {
        struct mpiq_job_window_lock *lock = &job->window_locks[view->first_lock + i];
        lock->all = lock->target == (uint32_t)-1;
        lock->target = mpiq_job_local_process(job, member, false, (int32_t)lock->target);
    }
    for (uint32_t i = 0; i < view->access_count; i++) {
        uint32_t *process = &job->window_ranks[view->first_access + i];
        *process = mpiq_job_local_process(job, member, false, (int32_t)*process);
    }
    for (uint32_t i = 0; i < view->exposure_count; i++) {
        uint32_t *process = &job->window_ranks[view->first_exposure + i];
        *process = mpiq_job_local_process(job, member, false, (int32_t)*process);
    }
}

bool mpiq_job_finish_windows(struct mpiq_job_state *job, const uint32_t *comm_map, const uint32_t *member_map)
{
    uint32_t count = job->window_count;
    uint32_t *map _cleanup_free_ = calloc((size_t)count + 1, sizeof *map);
    struct mpiq_job_window_view *views = calloc((size_t)job->window_view_count + 1, sizeof *views);
    uint32_t *next _cleanup_free_ = calloc((size_t)count + 1, sizeof *next);
    if (!map || !views || !next) {
        free(views);
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        job->windows[i].comm = comm_map[job->windows[i].comm];
    if (!sort_windows(job, map)) {
        free(views);
        return false;
    }
    uint32_t total = 0;
    for (uint32_t i = 0; i < job->window_view_count; i++) {
        struct mpiq_job_window_view *view = &job->window_views[i];
        uint32_t member = view->rank == MPIQ_NONE ? MPIQ_NONE : member_map[view->member];
        view->member = member;
        if (member == MPIQ_NONE)
            continue;
        view->window = map[view->window];
        job->windows[view->window].view_count++;
        resolve_view(job, view, &job->members[member]);
    }
    for (uint32_t i = 0; i < count; i++) {
        job->windows[i].first_view = next[i] = total;
        total += job->windows[i].view_count;
    }
    /* By process, so that views of a window stand in the order of ranks. */
    for (uint32_t process = 0; total > 0 && process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        for (uint32_t i = 0; rank && i < rank->view_count; i++) {
            const struct mpiq_job_window_view *view = &job->window_views[rank->first_view + i];
            if (view->member != MPIQ_NONE)
                views[next[view->window]++] = *view;
        }
    }
    for (uint32_t i = 0; i < job->wait_count; i++) {
        struct mpiq_job_wait *wait = &job->waits[i];
        if (wait->window == MPIQ_NONE)
            continue;
        const struct mpiq_job_window_view *view = &job->window_views[wait->window];
        wait->window = view->member == MPIQ_NONE ? MPIQ_NONE : view->window;
        wait->window_target = view->member == MPIQ_NONE
                                  ? MPIQ_NONE
                                  : mpiq_job_local_process(job, &job->members[view->member], false,
                                                           (int32_t)wait->window_target);
    }
    free(job->window_views);
    job->window_views = views;
    job->window_view_count = total;
    return true;
}
