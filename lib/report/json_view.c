/* SPDX-License-Identifier: BSD-3-Clause */
/* Each view as JSON: the report's object, or the part of it that the view is about. */
#include "base/cleanup.h"
#include "report/json.h"
#include "report/views.h"

static void put_worlds(struct mpiq_json *json)
{
    const struct mpiq_job_state *job = json->page->job;
    mpiq_json_key(json, "worlds");
    mpiq_json_open(json, '[');
    for (uint32_t world = 0; world < job->world_count; world++) {
        mpiq_json_open(json, '{');
        mpiq_json_put_number(json, "world", world);
        mpiq_json_put_number(json, "size", job->worlds[world].size);
        mpiq_json_put_number(json, "ranks_seen", job->worlds[world].present);
        mpiq_json_put_string(json, "namespace", mpiq_job_string(job, job->worlds[world].nspace));
        mpiq_json_close(json, '}');
    }
    mpiq_json_close(json, ']');
}

/* Hosts of which nothing is known, each with the reason: left out where there is none. */
static void put_lost_hosts(struct mpiq_json *json)
{
    const struct mpiq_job_state *job = json->page->job;
    bool any = false;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        const struct mpiq_job_rank *rank = &job->ranks[i];
        if (!mpiq_job_is_lost_host(job, rank))
            continue;
        if (!any) {
            mpiq_json_key(json, "hosts_unread");
            mpiq_json_open(json, '[');
        }
        any = true;
        mpiq_json_open(json, '{');
        mpiq_json_put_string(json, "host", mpiq_job_string(job, rank->host));
        mpiq_json_put_string(json, "text", mpiq_job_string(job, job->problems[rank->first_problem].text));
        mpiq_json_close(json, '}');
    }
    if (any)
        mpiq_json_close(json, ']');
}

static void put_job(struct mpiq_json *json)
{
    const struct mpiq_job_state *job = json->page->job;
    struct mpiq_library library = mpiq_page_library(json->page);

    mpiq_json_key(json, "job");
    mpiq_json_open(json, '{');
    mpiq_json_put_number(json, "size", job->process_count);
    mpiq_json_put_number(json, "ranks_seen", mpiq_job_ranks_read(job));
    mpiq_json_put_string(json, "mpi", library.name);
    if (library.file)
        mpiq_json_put_string(json, "library", library.file);
    mpiq_json_put_string(json, "source", mpiq_source_word(library.source));
    mpiq_json_key(json, "hosts");
    mpiq_json_open(json, '[');
    for (uint32_t i = 0; i < job->host_count; i++)
        mpiq_json_words(json, mpiq_job_string(job, job->hosts[i]));
    mpiq_json_close(json, ']');
    put_lost_hosts(json);
    if (job->world_count > 1)
        put_worlds(json);
    mpiq_json_close(json, '}');
}

static void put_notes(struct mpiq_json *json, const char *key, const struct mpiq_note *notes, size_t count)
{
    mpiq_json_key(json, key);
    mpiq_json_open(json, '[');
    for (size_t i = 0; i < count; i++) {
        mpiq_json_open(json, '{');
        mpiq_json_put_ranks(json, "ranks", &notes[i].ranks, false);
        mpiq_json_put_string(json, "text", notes[i].text);
        mpiq_json_close(json, '}');
    }
    mpiq_json_close(json, ']');
}

static void put_known_hangs(struct mpiq_json *json, const struct mpiq_diagnosis *diagnosis)
{
    mpiq_json_key(json, "known_hangs");
    mpiq_json_open(json, '[');
    for (size_t i = 0; i < diagnosis->known_hang_count; i++) {
        const struct mpiq_hang_match *match = &diagnosis->known_hangs[i];
        mpiq_json_open(json, '{');
        mpiq_json_put_ranks(json, "ranks", &match->ranks, false);
        mpiq_json_put_string(json, "call", match->call);
        mpiq_json_put_string(json, "fixed_in", match->fixed_in);
        mpiq_json_put_string(json, "reference", match->reference);
        mpiq_json_put_string(json, "text", match->text);
        mpiq_json_close(json, '}');
    }
    mpiq_json_close(json, ']');
}

void mpiq_json_view(struct mpiq_page *page, enum mpiq_view view)
{
    struct mpiq_json json = {.page = page, .text = {.out = &page->out}};
    const struct mpiq_diagnosis *diagnosis = page->diagnosis;
    bool whole = view == MPIQ_VIEW_REPORT;

    mpiq_json_open(&json, '{');
    mpiq_json_put_number(&json, "schema", 2);
    mpiq_json_put_string(&json, "verdict", mpiq_verdict_word(diagnosis->verdict));
    mpiq_json_put_string(&json, "text", diagnosis->text);
    mpiq_json_break(&json);
    put_job(&json);
    if (whole) {
        mpiq_json_break(&json);
        mpiq_json_findings(&json);
    }
    if (view == MPIQ_VIEW_WHY) {
        mpiq_json_break(&json);
        mpiq_json_chain(&json);
    }
    if (view == MPIQ_VIEW_STACKS) {
        mpiq_json_break(&json);
        mpiq_json_stacks(&json);
    }
    if (view == MPIQ_VIEW_HISTORY) {
        mpiq_json_break(&json);
        mpiq_json_history(&json);
    }
    if (whole || view == MPIQ_VIEW_COLLECTIVES || view == MPIQ_VIEW_COMMS) {
        mpiq_json_break(&json);
        mpiq_json_communicators(&json, view != MPIQ_VIEW_COMMS);
    }
    if (whole) {
        mpiq_json_break(&json);
        mpiq_json_windows(&json);
    }
    if (whole || view == MPIQ_VIEW_QUEUES || view == MPIQ_VIEW_RANKS) {
        mpiq_json_break(&json);
        mpiq_json_ranks(&json, whole);
    }
    if (whole) {
        mpiq_json_break(&json);
        put_notes(&json, "assumptions", diagnosis->assumptions, diagnosis->assumption_count);
        mpiq_json_break(&json);
        put_notes(&json, "notes", diagnosis->notes, diagnosis->note_count);
        if (diagnosis->known_hang_count > 0) {
            mpiq_json_break(&json);
            put_known_hangs(&json, diagnosis);
        }
    }
    mpiq_json_close(&json, '}');
    mpiq_buffer_char(&page->out, '\n');
}
