/* SPDX-License-Identifier: BSD-3-Clause */
/* The last MPI calls of a rank as JSON. */
#include "base/cleanup.h"
#include "report/history.h"
#include "report/json.h"

/* Of each rank of a whole report. */
#define LAST_CALLS 16

/* Seconds to the microsecond. */
static void put_micros(struct mpiq_json *json, const char *key, double seconds)
{
    if (!(seconds >= 0) || seconds > 1e9)
        return;
    mpiq_json_key(json, key);
    mpiq_json_micros(json, seconds);
}

/* The other end of its message. */
static void put_message(struct mpiq_json *json, const struct mpiq_history_call *call)
{
    if (call->partner == MPIQ_NONE)
        return;
    mpiq_json_key(json, "message");
    mpiq_json_open(json, '{');
    if (call->partner == MPIQ_PAST_UNRECEIVED) {
        mpiq_json_put_bool(json, "received", false);
    } else {
        const struct mpiq_job_past_call *other = &json->page->job->past_calls[call->partner];
        mpiq_json_put_process(json, "rank", call->peer);
        mpiq_json_put_string(json, "call", mpiq_job_string(json->page->job, other->call));
        mpiq_json_put_site(json, other->site);
    }
    mpiq_json_close(json, '}');
}

static void put_call(struct mpiq_json *json, const struct mpiq_history *history,
                     const struct mpiq_history_call *call)
{
    mpiq_json_open(json, '{');
    mpiq_json_put_string(json, "call", call->call);
    put_micros(json, "ago", (double)(history->taken_ns - call->begin_ns) * 1e-9);
    put_micros(json, "took", mpiq_history_seconds(history, call));
    if (call->open)
        mpiq_json_put_bool(json, "open", true);
    mpiq_json_put_communicator(json, call->comm);
    if (call->any_source)
        mpiq_json_put_string(json, "peer", "any");
    else if (call->proc_null)
        mpiq_json_put_string(json, "peer", "MPI_PROC_NULL");
    else
        mpiq_json_put_process(json, call->root ? "root" : "peer", call->peer);
    if (call->any_tag)
        mpiq_json_put_string(json, "tag", "any");
    else if (call->tag >= 0)
        mpiq_json_put_number(json, "tag", call->tag);
    if (call->bytes >= 0)
        mpiq_json_put_number(json, "bytes", call->bytes);
    mpiq_json_put_string(json, "error", call->error);
    if (history->several_tasks)
        mpiq_json_put_number(json, "thread", call->tid);
    mpiq_json_put_site(json, call->site);
    put_message(json, call);
    mpiq_json_close(json, '}');
}

static void put_calls(struct mpiq_json *json, const char *key, const struct mpiq_history *history,
                      size_t most)
{
    mpiq_json_key(json, key);
    mpiq_json_open(json, '[');
    for (size_t i = history->count > most ? history->count - most : 0; i < history->count; i++) {
        if (most > LAST_CALLS)
            mpiq_json_break(json);
        put_call(json, history, &history->calls[i]);
    }
    mpiq_json_close(json, ']');
}

void mpiq_json_last_calls(struct mpiq_json *json, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(json->page->job, process);
    struct mpiq_history history _cleanup_(mpiq_history_deinit) = {0};
    if (!rank || rank->past_count == 0)
        return;
    json->text.out->failed |= !mpiq_history_collect(json->page, process, &history);
    if (history.count > 0)
        put_calls(json, "last_calls", &history, LAST_CALLS);
}

static void put_history(struct mpiq_json *json, uint32_t process)
{
    struct mpiq_history history _cleanup_(mpiq_history_deinit) = {0};
    json->text.out->failed |= !mpiq_history_collect(json->page, process, &history);
    mpiq_json_open(json, '{');
    mpiq_json_put_process(json, "rank", process);
    mpiq_json_put_string(json, "holds", history.only_rings ? "collectives" : "calls");
    if (history.dropped > 0)
        mpiq_json_put_number(json, "dropped", (int64_t)history.dropped);
    put_calls(json, "calls", &history, SIZE_MAX);
    mpiq_json_close(json, '}');
}

/* Of one rank an object; of several, a list of them. */
void mpiq_json_history(struct mpiq_json *json)
{
    bool several = json->page->options->history->size > 1;
    mpiq_json_key(json, several ? "histories" : "history");
    if (several)
        mpiq_json_open(json, '[');
    for (uint32_t process = 0; process < json->page->job->process_count; process++) {
        if (!mpiq_history_wanted(json->page, process))
            continue;
        if (several)
            mpiq_json_break(json);
        put_history(json, process);
    }
    if (several)
        mpiq_json_close(json, ']');
}
