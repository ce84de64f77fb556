/* SPDX-License-Identifier: BSD-3-Clause */
/* job - libmpiq's public functions about a job: each is a few calls into the other folders. */
#include "mpiq.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/new_file.h"
#include "job/diagnose.h"
#include "session/plausibility.h"
#include "session/job.h"
#include "session/one_job.h"
#include "session/read_trace.h"
#include "state/snapshot.h"
#include "merge/merge.h"
#include "words/sentences.h"

const char *mpiq_error_message(const struct mpiq_error *error)
{
    return error->message;
}

struct mpiq_error *mpiq_write_file(const char *path, const char *text)
{
    struct mpiq_new_file file = {0};
    struct mpiq_error *error = mpiq_new_file_create(path, &file);
    if (!error)
        fputs(text, file.stream); /* a failure is remembered until the end */
    return error ? error : mpiq_new_file_finish(&file);
}

struct mpiq_error *mpiq_check_output(const char *path)
{
    struct mpiq_new_file file = {0};
    struct mpiq_error *error = mpiq_new_file_create(path, &file);
    mpiq_new_file_abandon(&file);
    return error;
}

struct mpiq_error *mpiq_check_ranks(const char *text)
{
    struct mpiq_rank_set set = {0};
    struct mpiq_error *error = mpiq_rank_set_parse(text, &set);
    mpiq_rank_set_deinit(&set);
    return error;
}

bool mpiq_error_is_usage(const struct mpiq_error *error)
{
    return error->code == MPIQ_ERROR_USAGE;
}

bool mpiq_error_is_gone(const struct mpiq_error *error)
{
    return error->code == MPIQ_ERROR_GONE;
}

/* A process that says it is what another one is costs itself its name, not all others the report.  What the
   user named twice, in files, is the user's to sort out; so are files beside processes. */
static struct mpiq_error *add_live(struct mpiq_job_state *job, int look, bool files,
                                   struct mpiq_rank_state **state)
{
    struct mpiq_error *error = mpiq_job_state_add(job, look, *state);
    if (!error || error->code != MPIQ_ERROR_CORRUPT || (*state)->final)
        return error;
    if (files) { /* they may be of another run */
        struct mpiq_error *usage = mpiq_error_create(MPIQ_ERROR_USAGE, "%s", error->message);
        mpiq_error_destroy(error);
        return usage;
    }
    error = mpiq_disown_state(error, state);
    return error ? error : mpiq_job_state_add(job, look, *state);
}

static struct mpiq_error *add_remote(void *context, int look, struct mpiq_rank_state **state)
{
    return add_live(context, look, false, state);
}

static struct mpiq_error *add_states(struct mpiq_job *from, struct mpiq_job_state *job)
{
    struct mpiq_look_sources *sources = &from->sources;
    struct mpiq_error *error = from->remote ? mpiq_remote_each(from->remote, add_remote, job) : NULL;
    for (int look = 1; look <= 2; look++) {
        for (size_t i = 0; i < sources->snapshot_state_count && !error; i++) {
            if (sources->snapshot_states[i].look == look)
                error = mpiq_job_state_add(job, look, sources->snapshot_states[i].state);
        }
        for (size_t i = 0; i < sources->count && !error; i++) {
            if (sources->items[i].looks[look - 1])
                error = add_live(job, look, sources->snapshot_state_count > 0,
                                 &sources->items[i].looks[look - 1]);
        }
    }
    return error;
}

struct mpiq_options mpiq_options_known(const struct mpiq_options *given)
{
    struct mpiq_options options = MPIQ_OPTIONS_DEFAULT;
    memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    return options;
}

struct mpiq_error *mpiq_job_decide_again(struct mpiq_job *job, const struct mpiq_diagnose_options *options)
{
    mpiq_diagnosis_destroy(mpiq_steal(job->diagnosis));
    struct mpiq_error *error = mpiq_diagnose(job->state, options, &job->diagnosis);
    return error ? error : mpiq_write_sentences(job->state, job->diagnosis);
}

struct mpiq_error *mpiq_job_decide(struct mpiq_job *job, const struct mpiq_diagnose_options *options)
{
    job->state = mpiq_job_state_create();
    if (!job->state)
        return mpiq_error_no_memory();
    struct mpiq_error *error = add_states(job, job->state);
    if (!error)
        error = mpiq_job_state_finish(job->state);
    if (!error && !job->remote)
        error = mpiq_check_one_job(&job->sources, job->state);
    return error ? error : mpiq_job_decide_again(job, options);
}

void mpiq_job_destroy(struct mpiq_job *job)
{
    if (!job)
        return;
    mpiq_diagnosis_destroy(job->diagnosis);
    mpiq_job_state_destroy(job->state);
    mpiq_remote_destroy(job->remote);
    mpiq_sources_deinit(&job->sources);
    free(job);
}

size_t mpiq_job_ranks(const struct mpiq_job *job)
{
    return job->state->process_count;
}

double mpiq_job_time(const struct mpiq_job *job)
{
    int64_t taken = 0;
    for (uint32_t i = 0; i < job->state->rank_count; i++)
        taken = job->state->ranks[i].taken_ns > taken ? job->state->ranks[i].taken_ns : taken;
    return (double)taken * 1e-9;
}

const char *mpiq_job_verdict(const struct mpiq_job *job)
{
    return mpiq_verdict_word(job->diagnosis->verdict);
}

int mpiq_job_checked(const struct mpiq_job *job)
{
    return mpiq_is_at_end(job->state) ? (int)job->diagnosis->finding_count : -1;
}

int mpiq_job_leaks(const struct mpiq_job *job)
{
    int count = 0;
    for (size_t i = 0; i < job->diagnosis->finding_count; i++)
        count += job->diagnosis->findings[i].kind == MPIQ_FINDING_NOT_FREED;
    return count;
}

struct mpiq_error *mpiq_job_check_summary(const struct mpiq_job *job, char **ret)
{
    const struct mpiq_job_state *state = job->state;
    uint64_t calls = 0;
    uint32_t comms = 0;
    for (uint32_t i = 0; i < state->count_count; i++)
        calls += state->counts[i].count;
    for (uint32_t i = 0; i < state->communicator_count; i++)
        comms += !(state->communicators[i].flags & MPIQ_COMM_INTERNAL);
    int length =
        asprintf(ret, "%" PRIu32 " rank%s, %" PRIu32 " communicator%s, %" PRIu64 " collective call%s",
                 state->process_count, state->process_count == 1 ? "" : "s", comms, comms == 1 ? "" : "s",
                 calls, calls == 1 ? "" : "s");
    return length < 0 ? mpiq_error_no_memory() : NULL;
}

int mpiq_job_exit_status(const struct mpiq_job *job)
{
    return mpiq_verdict_exit(job->diagnosis->verdict);
}

static struct mpiq_error *write_remote(void *context, int look, struct mpiq_rank_state **state)
{
    return mpiq_snapshot_add(context, look, *state);
}

/* Every rank state that was read or came with a snapshot, all of look 1 first. */
static struct mpiq_error *write_states(const struct mpiq_job *job, struct mpiq_snapshot_writer *writer)
{
    const struct mpiq_look_sources *sources = &job->sources;
    struct mpiq_error *error = job->remote ? mpiq_remote_each(job->remote, write_remote, writer) : NULL;
    for (int look = 1; look <= 2; look++) {
        for (size_t i = 0; i < sources->snapshot_state_count && !error; i++) {
            if (sources->snapshot_states[i].look == look)
                error = mpiq_snapshot_add(writer, look, sources->snapshot_states[i].state);
        }
        for (size_t i = 0; i < sources->count && !error; i++) {
            if (sources->items[i].looks[look - 1])
                error = mpiq_snapshot_add(writer, look, sources->items[i].looks[look - 1]);
        }
    }
    return error;
}

struct mpiq_error *mpiq_job_snapshot(const struct mpiq_job *job, const char *path)
{
    struct mpiq_snapshot_writer *writer = NULL;
    struct mpiq_error *error = mpiq_snapshot_create(path, &writer);
    if (!error)
        error = write_states(job, writer);
    if (error) {
        mpiq_snapshot_abandon(writer);
        return error;
    }
    return mpiq_snapshot_finish(writer);
}

bool mpiq_is_trace_file(const char *path)
{
    return mpiq_is_trace(path);
}

bool mpiq_is_snapshot_file(const char *path)
{
    return mpiq_is_snapshot(path);
}
