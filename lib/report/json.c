/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/message_kind.h"

void mpiq_json_open(struct mpiq_json *json, char open)
{
    mpiq_text_open(&json->text, open);
}

void mpiq_json_close(struct mpiq_json *json, char close)
{
    mpiq_text_close(&json->text, close);
}

void mpiq_json_break(struct mpiq_json *json)
{
    mpiq_text_break(&json->text);
}

void mpiq_json_key(struct mpiq_json *json, const char *key)
{
    mpiq_text_key(&json->text, key);
}

void mpiq_json_micros(struct mpiq_json *json, double seconds)
{
    uint64_t micros = (uint64_t)(seconds * 1e6 + 0.5);
    mpiq_buffer_printf(mpiq_text_value(&json->text), "%" PRIu64 ".%06" PRIu64, micros / 1000000,
                       micros % 1000000);
}

void mpiq_json_words(struct mpiq_json *json, const char *string)
{
    mpiq_text_string(&json->text, string, SIZE_MAX);
}

/* A rank: 3, or "w1:3" of another world. */
static void put_process(struct mpiq_json *json, uint32_t process)
{
    bool other = mpiq_job_world_rank(json->page->job, process).world > 0;
    struct mpiq_buffer *out = mpiq_text_value(&json->text);
    if (other)
        mpiq_buffer_char(out, '"');
    mpiq_put_process(json->page->job, out, process);
    if (other)
        mpiq_buffer_char(out, '"');
}

void mpiq_json_put_number(struct mpiq_json *json, const char *key, int64_t value)
{
    mpiq_text_put_signed(&json->text, key, value);
}

void mpiq_json_put_bool(struct mpiq_json *json, const char *key, bool value)
{
    mpiq_text_put_bool(&json->text, key, value);
}

void mpiq_json_put_string(struct mpiq_json *json, const char *key, const char *value)
{
    if (!value)
        return;
    mpiq_json_key(json, key);
    mpiq_json_words(json, value);
}

void mpiq_json_put_hex(struct mpiq_json *json, const char *key, uint64_t value)
{
    mpiq_text_key(&json->text, key);
    mpiq_text_hex(&json->text, value);
}

void mpiq_json_put_seconds(struct mpiq_json *json, const char *key, double seconds)
{
    if (!(seconds >= 0) || seconds > 1e15)
        return;
    uint64_t tenths = (uint64_t)(seconds * 10 + 0.5);
    mpiq_text_key(&json->text, key);
    struct mpiq_buffer *out = mpiq_text_value(&json->text);
    mpiq_buffer_unsigned(out, tenths / 10);
    if (tenths % 10 > 0) {
        mpiq_buffer_char(out, '.');
        mpiq_buffer_unsigned(out, tenths % 10);
    }
}

void mpiq_json_put_process(struct mpiq_json *json, const char *key, uint32_t process)
{
    if (process == MPIQ_NONE)
        return;
    mpiq_json_key(json, key);
    put_process(json, process);
}

void mpiq_json_put_ranks(struct mpiq_json *json, const char *key, const struct mpiq_rank_set *set,
                         bool always)
{
    if (set->size == 0 && !always)
        return;
    char *text _cleanup_free_ = mpiq_rank_set_text(set, 0);
    if (!text)
        mpiq_buffer_fail(json->text.out);
    mpiq_json_put_string(json, key, text);
}

void mpiq_json_put_site(struct mpiq_json *json, uint32_t site)
{
    mpiq_json_put_place(json, "site", site);
}

void mpiq_json_put_place(struct mpiq_json *json, const char *key, uint32_t site)
{
    const struct mpiq_job_state *job = json->page->job;
    if (site >= job->site_count)
        return;
    const struct mpiq_site *place = &job->sites[site];
    mpiq_json_key(json, key);
    mpiq_json_open(json, '{');
    mpiq_json_put_string(json, "file", mpiq_job_string(job, place->file));
    if (place->line > 0)
        mpiq_json_put_number(json, "line", place->line);
    mpiq_json_put_string(json, "function", mpiq_job_string(job, place->function));
    mpiq_json_put_string(json, "object", mpiq_job_string(job, place->object));
    mpiq_json_put_callers(json, place->called_at);
    mpiq_json_close(json, '}');
}

void mpiq_json_put_callers(struct mpiq_json *json, uint32_t called_at)
{
    const struct mpiq_job_state *job = json->page->job;
    if (called_at == 0 || called_at > job->site_count)
        return;
    const struct mpiq_site *place = &job->sites[called_at - 1];
    mpiq_json_key(json, "callers");
    mpiq_json_open(json, '[');
    mpiq_json_open(json, '{');
    mpiq_json_put_string(json, "file", mpiq_job_string(job, place->file));
    mpiq_json_put_number(json, "line", place->line);
    mpiq_json_put_string(json, "function", mpiq_job_string(job, place->function));
    mpiq_json_close(json, '}');
    mpiq_json_close(json, ']');
}

void mpiq_json_put_communicator(struct mpiq_json *json, uint32_t comm)
{
    if (comm >= json->page->job->communicator_count)
        return;
    mpiq_json_put_number(json, "comm", comm);
    mpiq_json_put_string(json, "communicator", mpiq_job_communicator_name(json->page->job, comm));
}

static void put_peer(struct mpiq_json *json, const char *key, bool any, uint32_t process)
{
    if (any)
        mpiq_json_put_string(json, key, "any");
    else
        mpiq_json_put_process(json, key, process);
}

void mpiq_json_operation(struct mpiq_json *json, const struct mpiq_job_rank *rank,
                         const struct mpiq_job_operation *operation)
{
    const struct mpiq_job_state *job = json->page->job;
    const struct mpiq_job_operation_more *more = mpiq_job_more(job, operation);
    mpiq_json_open(json, '{');
    mpiq_json_put_communicator(json, operation->comm);
    put_peer(json, "peer", operation->any, operation->peer);
    if (operation->any)
        mpiq_json_put_string(json, "peer_local", "any");
    else if (operation->peer_local >= 0)
        mpiq_json_put_number(json, "peer_local", operation->peer_local);
    if (operation->tag_any)
        mpiq_json_put_string(json, "tag", "any");
    else
        mpiq_json_put_number(json, "tag", operation->tag);
    if (operation->bytes >= 0)
        mpiq_json_put_number(json, "bytes", operation->bytes);
    mpiq_json_put_string(json, "datatype", mpiq_job_string(job, operation->datatype));
    mpiq_json_put_string(json, "status", mpiq_operation_status_word(operation->status));
    mpiq_json_put_string(json, "kind", mpiq_operation_kind_word(operation->kind));
    mpiq_json_put_bool(json, "persistent", operation->persistent);
    if (operation->buffer)
        mpiq_json_put_hex(json, "buffer", operation->buffer);
    mpiq_json_put_bool(json, "system_buffer", operation->system_buffer);
    /* Without records of the waits a thread may wait for it although none is seen to. */
    bool recorded = rank && (rank->source == MPIQ_SOURCE_PATCHED || rank->source == MPIQ_SOURCE_RECORDER);
    if (operation->blocked || recorded)
        mpiq_json_put_bool(json, "blocked", operation->blocked);
    if (mpiq_message_is_matched(operation)) {
        mpiq_json_put_process(json, "actual_peer", more->actual);
        if (more->actual_local >= 0 || more->actual != MPIQ_NONE)
            mpiq_json_put_number(json, "actual_tag", more->actual_tag);
        if (more->actual_bytes >= 0)
            mpiq_json_put_number(json, "actual_bytes", more->actual_bytes);
    }
    mpiq_json_put_place(json, "started", operation->started);
    if (operation->inactive)
        mpiq_json_put_bool(json, "inactive", true);
    if (operation->internal)
        mpiq_json_put_bool(json, "internal", true);
    if (operation->cancelled)
        mpiq_json_put_bool(json, "cancelled", true);
    if (operation->out_of_order)
        mpiq_json_put_bool(json, "out_of_order", true);
    if (more->partitions > 0)
        mpiq_json_put_number(json, "partitions", more->partitions);
    if (more->partitions > 0 && more->missing >= 0)
        mpiq_json_put_number(json, "missing", more->missing);
    if (more->partitions > 0)
        mpiq_json_put_string(json, "missing_partitions", mpiq_job_string(job, more->which));
    mpiq_json_close(json, '}');
}
