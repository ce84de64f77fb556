/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of a job, with their collectives, as JSON. */
#include "base/cleanup.h"
#include "report/call_counts.h"
#include "report/json.h"

static void put_collectives(struct mpiq_json *json, uint32_t comm)
{
    struct mpiq_call_counts counts _cleanup_(mpiq_call_counts_deinit) = {0};
    if (!mpiq_call_counts_collect(json->page, comm, &counts))
        mpiq_buffer_fail(json->text.out);
    mpiq_json_key(json, "collectives");
    mpiq_json_open(json, '[');
    for (size_t i = 0; i < counts.row_count; i++) {
        const struct mpiq_call_count *row = &counts.rows[i];
        if (i == 0 || row->class != counts.rows[i - 1].class) {
            mpiq_json_open(json, '{');
            mpiq_json_put_string(json, "collective", row->collective);
            mpiq_json_key(json, "calls");
            mpiq_json_open(json, '[');
        }
        mpiq_json_open(json, '{');
        mpiq_json_put_ranks(json, "ranks", &row->ranks, true);
        mpiq_json_put_number(json, "count", row->count);
        mpiq_json_put_bool(json, "active", row->active);
        mpiq_json_close(json, '}');
        if (i + 1 == counts.row_count || counts.rows[i + 1].class != row->class) {
            mpiq_json_close(json, ']');
            mpiq_json_close(json, '}');
        }
    }
    mpiq_json_close(json, ']');
    mpiq_json_key(json, "numbers");
    mpiq_json_open(json, '[');
    for (size_t i = 0; i < counts.number_count; i++) {
        mpiq_json_open(json, '{');
        mpiq_json_put_ranks(json, "ranks", &counts.numbers[i].ranks, true);
        mpiq_json_put_number(json, "number", counts.numbers[i].number);
        mpiq_json_close(json, '}');
    }
    mpiq_json_close(json, ']');
}

static void put_flag(struct mpiq_json *json, uint32_t flags, uint32_t flag, const char *key)
{
    if (flags & flag)
        mpiq_json_put_bool(json, key, true);
}

static void put_communicator(struct mpiq_json *json, uint32_t comm, bool collectives)
{
    const struct mpiq_job_state *job = json->page->job;
    const struct mpiq_job_communicator *row = &job->communicators[comm];
    struct mpiq_rank_set members _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_buffer context _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(json->text.out);

    if (!mpiq_job_communicator_members(job, comm, &members))
        mpiq_buffer_fail(json->text.out);
    mpiq_json_open(json, '{');
    mpiq_json_put_number(json, "comm", comm);
    mpiq_json_put_string(json, "name", mpiq_job_communicator_name(job, comm));
    mpiq_put_context(&context, row);
    mpiq_json_put_string(json, "context", mpiq_buffer_text(&context));
    mpiq_json_put_ranks(json, "members", &members, true);
    put_flag(json, row->flags, MPIQ_COMM_INTER, "intercommunicator");
    put_flag(json, row->flags, MPIQ_COMM_INTERNAL, "internal");
    put_flag(json, row->flags, MPIQ_COMM_FREED, "freed");
    mpiq_json_put_string(json, "made_by", mpiq_job_string(job, row->made_by));
    mpiq_json_put_place(json, "made", row->made);
    if (row->user != comm && row->user < job->communicator_count)
        mpiq_json_put_number(json, "serves", row->user);
    if (collectives)
        put_collectives(json, comm);
    mpiq_json_close(json, '}');
}

void mpiq_json_communicators(struct mpiq_json *json, bool collectives)
{
    mpiq_json_key(json, "communicators");
    mpiq_json_open(json, '[');
    for (uint32_t comm = 0; comm < json->page->job->communicator_count; comm++) {
        if (!mpiq_page_wants_communicator(json->page, comm))
            continue;
        mpiq_json_break(json);
        put_communicator(json, comm, collectives);
    }
    mpiq_json_close(json, ']');
}
