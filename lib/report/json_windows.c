/* SPDX-License-Identifier: BSD-3-Clause */
/* The windows of a job as JSON, with each rank's open epochs and the locks it holds or requests. */
#include "report/json.h"

static void put_locks(struct mpiq_json *json, const struct mpiq_job_window_view *view)
{
    const struct mpiq_job_state *job = json->page->job;
    mpiq_json_key(json, "locks");
    mpiq_json_open(json, '[');
    for (uint32_t i = 0; i < view->lock_count; i++) {
        const struct mpiq_job_window_lock *lock = &job->window_locks[view->first_lock + i];
        mpiq_json_open(json, '{');
        if (lock->all)
            mpiq_json_put_string(json, "target", "all");
        else
            mpiq_json_put_process(json, "target", lock->target);
        mpiq_json_put_string(json, "type", mpiq_lock_type_word(lock->type));
        mpiq_json_put_bool(json, "held", lock->held);
        mpiq_json_close(json, '}');
    }
    mpiq_json_close(json, ']');
}

static void put_group(struct mpiq_json *json, const char *key, uint32_t first, uint32_t count)
{
    const struct mpiq_job_state *job = json->page->job;
    struct mpiq_rank_set ranks = {0};
    for (uint32_t i = 0; i < count; i++) {
        struct mpiq_world_rank name = mpiq_job_world_rank(job, job->window_ranks[first + i]);
        if (!mpiq_rank_set_add(&ranks, name.world, name.rank))
            mpiq_buffer_fail(json->text.out);
    }
    mpiq_json_put_ranks(json, key, &ranks, false);
    mpiq_rank_set_deinit(&ranks);
}

static void put_view(struct mpiq_json *json, const struct mpiq_job_window_view *view)
{
    mpiq_json_open(json, '{');
    mpiq_json_put_process(json, "rank", json->page->job->ranks[view->rank].process);
    mpiq_json_put_string(json, "exposure", mpiq_window_exposure_word(view->exposure));
    mpiq_json_put_string(json, "access", mpiq_window_access_word(view->access));
    put_group(json, "access_group", view->first_access, view->access_count);
    put_group(json, "exposure_group", view->first_exposure, view->exposure_count);
    if (view->lock_count > 0)
        put_locks(json, view);
    mpiq_json_close(json, '}');
}

static void put_window(struct mpiq_json *json, uint32_t index)
{
    const struct mpiq_job_state *job = json->page->job;
    const struct mpiq_job_window *window = &job->windows[index];
    mpiq_json_open(json, '{');
    mpiq_json_put_number(json, "window", index);
    mpiq_json_put_string(json, "name", mpiq_job_string(job, window->name));
    mpiq_json_put_communicator(json, window->comm);
    mpiq_json_put_string(json, "made_by", mpiq_job_string(job, window->made_by));
    mpiq_json_put_place(json, "made", window->made);
    mpiq_json_key(json, "ranks");
    mpiq_json_open(json, '[');
    for (uint32_t i = 0; i < window->view_count; i++) {
        const struct mpiq_job_window_view *view = &job->window_views[window->first_view + i];
        uint32_t process = job->ranks[view->rank].process;
        if (process != MPIQ_NONE && mpiq_page_wants(json->page, process))
            put_view(json, view);
    }
    mpiq_json_close(json, ']');
    mpiq_json_close(json, '}');
}

void mpiq_json_windows(struct mpiq_json *json)
{
    mpiq_json_key(json, "windows");
    mpiq_json_open(json, '[');
    for (uint32_t i = 0; i < json->page->job->window_count; i++) {
        mpiq_json_break(json);
        put_window(json, i);
    }
    mpiq_json_close(json, ']');
}
