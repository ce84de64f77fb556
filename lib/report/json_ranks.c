/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a job, with their queues, as JSON. */
#include "base/cleanup.h"
#include "report/json.h"

static void put_queue(struct mpiq_json *json, const char *key, const struct mpiq_job_rank *rank,
                      enum mpiq_queue queue)
{
    const struct mpiq_job_operation *operation = &json->page->job->operations[rank->first_operation];
    mpiq_json_key(json, key);
    mpiq_json_open(json, '[');
    for (uint32_t i = 0; i < rank->operation_count; i++, operation++) {
        if (operation->queue == queue && (json->page->options->all || !operation->internal))
            mpiq_json_operation(json, rank, operation);
    }
    mpiq_json_close(json, ']');
}

/* By which handle this process knows each of its communicators. */
static void put_communicators(struct mpiq_json *json, const struct mpiq_job_rank *rank)
{
    const struct mpiq_job_state *job = json->page->job;
    mpiq_json_key(json, "communicators");
    mpiq_json_open(json, '[');
    for (uint32_t i = 0; i < rank->member_count; i++) {
        const struct mpiq_job_member *member = &job->members[job->member_order[rank->first_member + i]];
        if (!member->handle || !mpiq_page_wants_communicator(json->page, member->comm))
            continue;
        mpiq_json_open(json, '{');
        mpiq_json_put_number(json, "comm", member->comm);
        if (member->local_rank >= 0)
            mpiq_json_put_number(json, "local_rank", member->local_rank);
        mpiq_json_put_hex(json, "handle", member->handle);
        mpiq_json_close(json, '}');
    }
    mpiq_json_close(json, ']');
}

static void put_problem(struct mpiq_json *json, const char *what, const char *text)
{
    mpiq_json_open(json, '{');
    mpiq_json_put_string(json, "what", what);
    mpiq_json_put_string(json, "text", text);
    mpiq_json_close(json, '}');
}

/* What is missing in this rank's row, and why. */
static void put_problems(struct mpiq_json *json, const struct mpiq_job_rank *rank)
{
    const struct mpiq_job_state *job = json->page->job;
    if (rank->problem_count == 0 && rank->queues != MPIQ_NO)
        return;
    mpiq_json_key(json, "problems");
    mpiq_json_open(json, '[');
    if (rank->queues == MPIQ_NO) {
        struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = {0};
        mpiq_put_no_queues(json->page, &text, rank);
        put_problem(json, "queues", mpiq_buffer_text(&text));
    }
    for (uint32_t i = 0; i < rank->problem_count; i++) {
        const struct mpiq_job_problem *problem = &job->problems[rank->first_problem + i];
        put_problem(json, mpiq_job_string(job, problem->what), mpiq_job_string(job, problem->text));
    }
    mpiq_json_close(json, ']');
}

/* Where a rank outside MPI is, as the screens write it. */
static void put_where(struct mpiq_json *json, uint32_t site)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(json->text.out);
    mpiq_put_site(json->page->job, &text, site);
    if (text.length > 0)
        mpiq_json_put_string(json, "where", mpiq_buffer_text(&text));
}

static void put_rank(struct mpiq_json *json, uint32_t process, bool whole)
{
    const struct mpiq_job_state *job = json->page->job;
    const struct mpiq_rank_diagnosis *diagnosis = &json->page->diagnosis->ranks[process];
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);

    mpiq_json_open(json, '{');
    mpiq_json_put_process(json, "rank", process);
    if (rank) {
        if (rank->pid > 0)
            mpiq_json_put_number(json, "pid", rank->pid);
        mpiq_json_put_string(json, "host", mpiq_job_string(job, rank->host));
        mpiq_json_put_string(json, "source", mpiq_source_word(rank->source));
    }
    mpiq_json_put_string(json, "state", mpiq_rank_activity_word(diagnosis->activity));
    mpiq_json_put_bool(json, "stuck", diagnosis->stuck);
    mpiq_json_put_string(json, "call", diagnosis->call);
    if (diagnosis->call) {
        mpiq_json_put_communicator(json, diagnosis->comm);
        if (diagnosis->number > 0)
            mpiq_json_put_number(json, "number", diagnosis->number);
    }
    mpiq_json_put_string(json, "held_before", diagnosis->before);
    mpiq_json_put_string(json, "library_call", diagnosis->library_call);
    mpiq_json_put_waits_for(json, diagnosis->waits_for, diagnosis->call, process);
    if (!diagnosis->call)
        put_where(json, diagnosis->site);
    mpiq_json_put_seconds(json, "since", diagnosis->since);
    mpiq_json_put_last_call(json, &diagnosis->last);
    mpiq_json_put_site(json, diagnosis->site);
    if (rank && rank->queues == MPIQ_YES) {
        put_queue(json, "sends", rank, MPIQ_QUEUE_SENDS);
        put_queue(json, "receives", rank, MPIQ_QUEUE_RECEIVES);
        put_queue(json, "unexpected", rank, MPIQ_QUEUE_UNEXPECTED);
    }
    if (rank && rank->member_count > 0)
        put_communicators(json, rank);
    if (whole)
        mpiq_json_last_calls(json, process);
    if (rank)
        put_problems(json, rank);
    mpiq_json_close(json, '}');
}

void mpiq_json_ranks(struct mpiq_json *json, bool whole)
{
    mpiq_json_key(json, "ranks");
    mpiq_json_open(json, '[');
    for (uint32_t process = 0; process < json->page->diagnosis->rank_count; process++) {
        if (!mpiq_page_wants(json->page, process))
            continue;
        mpiq_json_break(json);
        put_rank(json, process, whole);
    }
    mpiq_json_close(json, ']');
}
