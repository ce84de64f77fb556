/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks wait for, and the evidence of findings, as JSON. */
#include "base/cleanup.h"
#include "report/json.h"
#include "words/wait_text.h"

static void put_borrowed(struct mpiq_json *json, const char *key, const struct mpiq_ranks *ranks)
{
    const struct mpiq_rank_set set = mpiq_borrowed_set(ranks);
    mpiq_json_put_ranks(json, key, &set, true);
}

static bool is_message(const struct mpiq_wait_part *part)
{
    return part->kind == MPIQ_PART_RECEIVE || part->kind == MPIQ_PART_SEND || part->kind == MPIQ_PART_PROBE;
}

static void put_message(struct mpiq_json *json, const struct mpiq_wait_part *part)
{
    if (part->any)
        mpiq_json_put_string(json, "peer", "any");
    else if (!part->relative)
        mpiq_json_put_process(json, "peer", part->peer);
    if (part->given && part->given->local >= 0)
        mpiq_json_put_number(json, "peer_local", part->given->local);
    if (part->relative) {
        mpiq_json_put_number(json, "peer_offset", part->offset);
        mpiq_json_put_bool(json, "wraps", part->wraps);
    }
    if (part->tag_any)
        mpiq_json_put_string(json, "tag", "any");
    else if (!part->given || !part->given->tag_unknown)
        mpiq_json_put_number(json, "tag", part->tag);
    if (part->bytes >= 0)
        mpiq_json_put_number(json, "bytes", part->bytes);
}

/* What the caller's code says beside it. */
static void put_given(struct mpiq_json *json, const struct mpiq_wait_part *part)
{
    const struct mpiq_given_wait *given = part->given;
    mpiq_json_put_string(json, "from", "caller");
    if (part->kind == MPIQ_PART_COLLECTIVE && given->local >= 0)
        mpiq_json_put_number(json, "root", given->local);
    if (part->kind == MPIQ_PART_COLLECTIVE && !given->tag_unknown)
        mpiq_json_put_number(json, "tag", part->tag);
    if (part->kind == MPIQ_PART_WINDOW)
        mpiq_json_put_number(json, "peer_local", given->local);
    if (part->kind == MPIQ_PART_REQUEST)
        mpiq_json_put_number(json, "requests", given->requests);
    mpiq_json_put_string(json, "made_by", given->made_by);
    mpiq_json_put_string(json, "op", given->op);
    if (given->count >= 0)
        mpiq_json_put_number(json, "count", given->count);
    mpiq_json_put_string(json, "datatype", given->type);
    if (part->comm == MPIQ_NONE)
        mpiq_json_put_string(json, "communicator", given->comm);
}

static void put_part(struct mpiq_json *json, const struct mpiq_wait_part *part)
{
    mpiq_json_open(json, '{');
    mpiq_json_put_string(json, "kind", mpiq_wait_part_word(part->kind));
    if (is_message(part))
        put_message(json, part);
    mpiq_json_put_string(json, "collective", part->collective);
    if (part->number > 0)
        mpiq_json_put_number(json, "number", part->number);
    mpiq_json_put_communicator(json, part->comm);
    if (part->window < json->page->job->window_count)
        mpiq_json_put_number(json, "window", part->window);
    if (part->request)
        mpiq_json_put_hex(json, "request", part->request);
    if (part->internal)
        mpiq_json_put_bool(json, "internal", true);
    mpiq_json_put_place(json, "started", part->started);
    if (part->given)
        put_given(json, part);
    put_borrowed(json, "ranks", &part->ranks);
    mpiq_json_close(json, '}');
}

void mpiq_json_put_waits_for(struct mpiq_json *json, const struct mpiq_waits_for *wait, const char *call,
                             uint32_t process)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(json->text.out);
    if (!wait)
        return;
    mpiq_json_key(json, "waits_for");
    mpiq_json_open(json, '{');
    mpiq_json_put_bool(json, "all", wait->all);
    if (wait->guessed)
        mpiq_json_put_bool(json, "guessed", true);
    mpiq_json_key(json, "of");
    mpiq_json_open(json, '[');
    for (uint32_t i = 0; i < wait->part_count; i++)
        put_part(json, &wait->parts[i]);
    mpiq_json_close(json, ']');
    if (wait->more > 0)
        mpiq_json_put_number(json, "more", wait->more);
    if (wait->done > 0)
        mpiq_json_put_number(json, "done", wait->done);
    put_borrowed(json, "ranks", &wait->ranks);
    mpiq_put_wait(json->page->job, &text, wait, call, process, MPIQ_WAIT_EXACT);
    mpiq_json_put_string(json, "text", mpiq_buffer_text(&text));
    mpiq_json_close(json, '}');
}

void mpiq_json_put_last_call(struct mpiq_json *json, const struct mpiq_last_call *last)
{
    if (!last->known)
        return;
    mpiq_json_key(json, "last_mpi_call");
    mpiq_json_open(json, '{');
    mpiq_json_put_string(json, "call", last->call);
    mpiq_json_put_seconds(json, "ago", last->ago);
    if (last->collective)
        mpiq_json_put_bool(json, "collective", true);
    mpiq_json_close(json, '}');
}

void mpiq_json_put_failed(struct mpiq_json *json, uint32_t past_call)
{
    const struct mpiq_job_state *job = json->page->job;
    if (past_call >= job->past_call_count)
        return;
    const struct mpiq_job_past_call *call = &job->past_calls[past_call];
    uint32_t rank = 0;
    while (rank < job->rank_count && past_call - job->ranks[rank].first_past >=
                                         job->ranks[rank].past_count) /* wraps for those behind */
        rank++;
    mpiq_json_key(json, "failed");
    mpiq_json_open(json, '{');
    if (rank < job->rank_count)
        mpiq_json_put_process(json, "rank", job->ranks[rank].process);
    mpiq_json_put_string(json, "call", mpiq_job_string(job, call->call));
    mpiq_json_put_string(json, "error", mpiq_job_string(job, call->error));
    mpiq_json_put_site(json, call->site);
    if (call->made != MPIQ_NONE) {
        const struct mpiq_job_past_call *made = &job->past_calls[call->made];
        mpiq_json_key(json, "request");
        mpiq_json_open(json, '{');
        mpiq_json_put_string(json, "call", mpiq_job_string(job, made->call));
        mpiq_json_put_site(json, made->site);
        mpiq_json_close(json, '}');
    }
    mpiq_json_close(json, '}');
}

static void put_evidence(struct mpiq_json *json, const struct mpiq_evidence *evidence)
{
    uint32_t process = MPIQ_NONE;
    if (evidence->ranks.count > 0)
        process = mpiq_job_process(json->page->job, evidence->ranks.ranges[0].world,
                                   evidence->ranks.ranges[0].first);
    mpiq_json_open(json, '{');
    mpiq_json_put_ranks(json, "ranks", &evidence->ranks, true);
    mpiq_json_put_string(json, "state", mpiq_rank_activity_word(evidence->activity));
    mpiq_json_put_string(json, "call", evidence->call);
    mpiq_json_put_site(json, evidence->site);
    mpiq_json_put_place(json, "started", evidence->started);
    mpiq_json_put_seconds(json, "since", evidence->since);
    mpiq_json_put_last_call(json, &evidence->last);
    if (process != MPIQ_NONE)
        mpiq_json_put_waits_for(json, evidence->wait, evidence->call, process);
    mpiq_json_put_failed(json, evidence->failed);
    mpiq_json_put_string(json, "note", evidence->note);
    mpiq_json_close(json, '}');
}

void mpiq_json_put_evidence(struct mpiq_json *json, const struct mpiq_finding *finding)
{
    if (finding->evidence_count == 0)
        return;
    mpiq_json_key(json, "evidence");
    mpiq_json_open(json, '[');
    for (size_t i = 0; i < finding->evidence_count; i++)
        put_evidence(json, &finding->evidence[i]);
    mpiq_json_close(json, ']');
    if (finding->unlisted.size > 0)
        mpiq_json_put_ranks(json, "unlisted", &finding->unlisted, false);
}
