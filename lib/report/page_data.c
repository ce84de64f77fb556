/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/page_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_text.h"
#include "report/behaviour.h"
#include "report/history.h"
#include "words/wait_text.h"

/* What a page has at most: two megabytes in all, whatever the job. */
enum {
    MOST_CLASSES = 2000,   /* told apart by more than their state */
    MOST_ROWS = 4096,      /* ranks with a row of their own */
    MOST_MESSAGES = 4000,  /* operations listed */
    MOST_BINS = 64,        /* of ranks, in the table of messages */
    MOST_HISTORIES = 64,   /* ranks whose last calls are listed */
    MOST_CALLS = 20,       /* of each */
    MOST_AWAITED = 600000, /* bytes that say whom each rank waits for */
    MOST_SET = 4096        /* bytes of one set of ranks there */
};

struct data {
    struct mpiq_page *page;
    struct mpiq_text json;
};

static void put_set(struct data *d, const char *key, const struct mpiq_rank_set *set)
{
    char *text _cleanup_free_ = mpiq_rank_set_text(set, 0);
    if (!text)
        mpiq_buffer_fail(&d->page->out);
    mpiq_text_key(&d->json, key);
    mpiq_text_string(&d->json, text ? text : "", SIZE_MAX);
}

/* A member whose value is that text, which it empties; nothing for an empty one. */
static void put_member(struct data *d, const char *key, struct mpiq_buffer *text)
{
    mpiq_text_put_string(&d->json, key, mpiq_buffer_text(text));
    text->length = 0;
}

static void put_value(struct data *d, struct mpiq_buffer *text)
{
    mpiq_text_string(&d->json, mpiq_buffer_text(text), SIZE_MAX);
    text->length = 0;
}

static void put_seconds(struct data *d, double seconds)
{
    mpiq_text_signed(&d->json, seconds >= 0 ? (int64_t)(seconds * 1000) : -1);
}

/* ---- classes and hosts -------------------------------------------------------------------------------- */

static void put_class(struct data *d, const struct mpiq_behaviour *one)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    const struct mpiq_rank_diagnosis *example = one->example;
    mpiq_text_break(&d->json);
    mpiq_text_open(&d->json, '{');
    put_set(d, "ranks", &one->ranks);
    mpiq_text_put_string(&d->json, "state",
                         example->stuck ? "stuck" : mpiq_rank_activity_word(example->activity));
    mpiq_put_call(d->page->job, &text, example);
    put_member(d, "call", &text);
    mpiq_text_put_string(&d->json, "comm",
                         example->call ? mpiq_job_communicator_name(d->page->job, example->comm) : NULL);
    mpiq_put_site(d->page->job, &text, example->site);
    put_member(d, "at", &text);
    mpiq_put_duration(&text, one->since);
    put_member(d, "for", &text);
    mpiq_text_key(&d->json, "since");
    put_seconds(d, one->since);
    if (example->call)
        mpiq_text_put_string(&d->json, "waits", one->what);
    mpiq_text_close(&d->json, '}');
}

/* Beyond a number of classes only the state of their ranks is told. */
static void put_state_alone(struct data *d, const char *state, const struct mpiq_rank_set *ranks)
{
    if (ranks->size == 0)
        return;
    mpiq_text_open(&d->json, '{');
    put_set(d, "ranks", ranks);
    mpiq_text_put_string(&d->json, "state", state);
    mpiq_text_close(&d->json, '}');
}

static void put_state(struct data *d, const char *word, char letter)
{
    mpiq_text_open(&d->json, '[');
    mpiq_text_string(&d->json, word, SIZE_MAX);
    mpiq_text_string(&d->json, &letter, 1);
    mpiq_text_close(&d->json, ']');
}

/* All states with their letters, what is unreadable last. */
static void put_states(struct data *d)
{
    mpiq_text_key(&d->json, "states");
    mpiq_text_open(&d->json, '[');
    put_state(d, "stuck", '!');
    for (int doing = 0; doing <= MPIQ_ACTIVITY_GONE; doing++) {
        enum mpiq_rank_activity one = (enum mpiq_rank_activity)((doing + 1) % (MPIQ_ACTIVITY_GONE + 1));
        put_state(d, mpiq_rank_activity_word(one), mpiq_rank_activity_letter(one));
    }
    mpiq_text_close(&d->json, ']');
}

static void put_classes(struct data *d)
{
    struct mpiq_behaviours classes _cleanup_(mpiq_behaviours_deinit) = {0};
    struct mpiq_rank_set stuck _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set others[MPIQ_ACTIVITY_GONE + 1] = {0};
    if (!mpiq_behaviours_collect(d->page, NULL, &classes))
        mpiq_buffer_fail(&d->page->out);
    mpiq_text_key(&d->json, "classes");
    mpiq_text_open(&d->json, '[');
    for (size_t i = 0; i < classes.count; i++) {
        const struct mpiq_behaviour *one = &classes.items[i];
        if (i < MOST_CLASSES)
            put_class(d, one);
        else if (!mpiq_rank_set_add_set(one->example->stuck ? &stuck : &others[one->example->activity],
                                        &one->ranks))
            mpiq_buffer_fail(&d->page->out);
    }
    put_state_alone(d, "stuck", &stuck);
    for (int activity = 0; activity <= MPIQ_ACTIVITY_GONE; activity++) {
        put_state_alone(d, mpiq_rank_activity_word((enum mpiq_rank_activity)activity), &others[activity]);
        mpiq_rank_set_deinit(&others[activity]);
    }
    mpiq_text_close(&d->json, ']');
}

static void put_hosts(struct data *d)
{
    const struct mpiq_job_state *job = d->page->job;
    struct mpiq_rank_set *sets _cleanup_free_ = calloc(job->host_count + 1, sizeof *sets);
    uint32_t *host_of _cleanup_free_ = calloc(job->string_count + 1, sizeof *host_of);
    mpiq_text_key(&d->json, "hosts");
    mpiq_text_open(&d->json, '[');
    if (!sets || !host_of)
        mpiq_buffer_fail(&d->page->out);
    for (uint32_t i = 0; host_of && i < job->host_count; i++)
        host_of[job->hosts[i]] = i + 1;
    for (uint32_t process = 0; sets && host_of && process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        struct mpiq_world_rank name = mpiq_job_world_rank(job, process);
        if (rank && host_of[rank->host] > 0 &&
            !mpiq_rank_set_add(&sets[host_of[rank->host] - 1], name.world, name.rank))
            mpiq_buffer_fail(&d->page->out);
    }
    for (uint32_t i = 0; sets && i < job->host_count; i++) {
        mpiq_text_open(&d->json, '{');
        mpiq_text_put_string(&d->json, "name", mpiq_job_string(job, job->hosts[i]));
        put_set(d, "ranks", &sets[i]);
        mpiq_text_close(&d->json, '}');
        mpiq_rank_set_deinit(&sets[i]);
    }
    mpiq_text_close(&d->json, ']');
}

/* ---- each rank ---------------------------------------------------------------------------------------- */

/* What the classes do not say of each rank: process id, time, what exactly it waits for. */
static void put_rows(struct data *d)
{
    const struct mpiq_diagnosis *diagnosis = d->page->diagnosis;
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    if (diagnosis->rank_count > MOST_ROWS)
        return;
    mpiq_text_key(&d->json, "rows");
    mpiq_text_open(&d->json, '[');
    for (uint32_t process = 0; process < diagnosis->rank_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(d->page->job, process);
        const struct mpiq_rank_diagnosis *one = &diagnosis->ranks[process];
        mpiq_text_break(&d->json);
        mpiq_text_open(&d->json, '[');
        mpiq_text_signed(&d->json, rank ? rank->pid : 0);
        mpiq_put_duration(&text, one->since);
        put_value(d, &text);
        if (one->call)
            mpiq_put_wait(d->page->job, &text, one->waits_for, one->call, process, MPIQ_WAIT_EXACT);
        put_value(d, &text);
        put_seconds(d, one->since);
        mpiq_text_close(&d->json, ']');
    }
    mpiq_text_close(&d->json, ']');
}

/* Whom a process waits for: the distance to one, a text of several, null for nobody. */
static void put_awaited_of(const struct mpiq_page *page, struct mpiq_buffer *text, uint32_t process)
{
    const struct mpiq_waits_for *wait = page->diagnosis->ranks[process].waits_for;
    if (!wait || wait->ranks.size == 0) {
        mpiq_buffer_string(text, "null");
        return;
    }
    if (wait->ranks.size == 1) {
        uint32_t other =
            mpiq_job_process(page->job, wait->ranks.ranges[0].world, wait->ranks.ranges[0].first);
        mpiq_buffer_signed(text, other == MPIQ_NONE ? 0 : (int64_t)other - process);
        return;
    }
    const struct mpiq_rank_set set = {.ranges = (struct mpiq_rank_range *)wait->ranks.ranges,
                                      .count = wait->ranks.count,
                                      .size = wait->ranks.size};
    char *ranks _cleanup_free_ = mpiq_rank_set_text(&set, 0);
    if (!ranks)
        mpiq_buffer_fail(text);
    else if (strlen(ranks) > MOST_SET)
        mpiq_buffer_string(text, "null");
    else
        mpiq_buffer_printf(text, "\"%s\"", ranks);
}

/* Alike neighbours are one item: [how many, whom]. */
static void put_awaited(struct data *d)
{
    const struct mpiq_diagnosis *diagnosis = d->page->diagnosis;
    struct mpiq_buffer all _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    struct mpiq_buffer one _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    struct mpiq_buffer last _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    uint32_t count = 0;
    for (uint32_t process = 0; process < diagnosis->rank_count && all.length <= MOST_AWAITED; process++) {
        one.length = 0;
        const struct mpiq_waits_for *wait = diagnosis->ranks[process].waits_for;
        bool same =
            process > 0 && wait && wait->ranks.size != 1 && wait == diagnosis->ranks[process - 1].waits_for;
        if (!same)
            put_awaited_of(d->page, &one, process);
        if (same || (count > 0 && strcmp(mpiq_buffer_text(&one), mpiq_buffer_text(&last)) == 0)) {
            count++;
            continue;
        }
        if (count > 0)
            mpiq_buffer_printf(&all, "[%u,%s],", count, mpiq_buffer_text(&last));
        count = 1;
        last.length = 0;
        mpiq_buffer_string(&last, mpiq_buffer_text(&one));
    }
    if (all.length > MOST_AWAITED || count == 0)
        return;
    mpiq_buffer_printf(&all, "[%u,%s]", count, mpiq_buffer_text(&last));
    mpiq_text_key(&d->json, "awaited");
    mpiq_text_open(&d->json, '[');
    mpiq_text_raw(&d->json, mpiq_buffer_text(&all), all.length);
    mpiq_text_close(&d->json, ']');
}

/* ---- messages ----------------------------------------------------------------------------------------- */

static void put_communicators(struct data *d)
{
    mpiq_text_key(&d->json, "comms");
    mpiq_text_open(&d->json, '[');
    for (uint32_t comm = 0; comm < d->page->job->communicator_count; comm++) {
        const char *name = mpiq_job_communicator_name(d->page->job, comm);
        mpiq_text_string(&d->json, comm < MOST_MESSAGES ? name : "", SIZE_MAX);
        if (comm >= MOST_MESSAGES)
            break;
    }
    mpiq_text_close(&d->json, ']');
}

static void put_message(struct data *d, uint32_t process, const struct mpiq_job_operation *operation)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    mpiq_text_break(&d->json);
    mpiq_text_open(&d->json, '[');
    mpiq_text_unsigned(&d->json, process);
    mpiq_text_unsigned(&d->json, operation->queue);
    mpiq_text_string(&d->json, mpiq_operation_kind_word(operation->kind), SIZE_MAX);
    if (operation->any)
        mpiq_buffer_string(&text, "any");
    else if (operation->peer != MPIQ_NONE)
        mpiq_put_process(d->page->job, &text, operation->peer);
    put_value(d, &text);
    if (operation->tag_any)
        mpiq_text_string(&d->json, "any", SIZE_MAX);
    else
        mpiq_text_signed(&d->json, operation->tag);
    mpiq_text_unsigned(&d->json, operation->comm);
    mpiq_text_signed(&d->json, operation->bytes);
    mpiq_text_string(&d->json, mpiq_operation_status_word(operation->status), SIZE_MAX);
    mpiq_text_close(&d->json, ']');
}

struct matrix {
    uint32_t bins, per;
    uint32_t *counts; /* of each sender and receiver three: sends, receives, unexpected messages */
};

static void count_message(struct matrix *matrix, uint32_t process, const struct mpiq_job_operation *operation)
{
    if (operation->peer == MPIQ_NONE || !matrix->counts || operation->status == MPIQ_STATUS_COMPLETE)
        return;
    bool sends = operation->queue == MPIQ_QUEUE_SENDS;
    uint32_t from = (sends ? process : operation->peer) / matrix->per;
    uint32_t to = (sends ? operation->peer : process) / matrix->per;
    if (from < matrix->bins && to < matrix->bins)
        matrix->counts[(from * matrix->bins + to) * 3 + operation->queue]++;
}

static void put_matrix(struct data *d, const struct matrix *matrix)
{
    mpiq_text_key(&d->json, "matrix");
    mpiq_text_open(&d->json, '{');
    mpiq_text_put_unsigned(&d->json, "bins", matrix->bins);
    mpiq_text_put_unsigned(&d->json, "per", matrix->per);
    mpiq_text_key(&d->json, "cells");
    mpiq_text_open(&d->json, '[');
    for (uint32_t i = 0; matrix->counts && i < matrix->bins * matrix->bins; i++) {
        const uint32_t *counts = &matrix->counts[(size_t)i * 3];
        if (counts[0] + counts[1] + counts[2] == 0)
            continue;
        mpiq_text_open(&d->json, '[');
        mpiq_text_unsigned(&d->json, i / matrix->bins);
        mpiq_text_unsigned(&d->json, i % matrix->bins);
        for (int k = 0; k < 3; k++)
            mpiq_text_unsigned(&d->json, counts[k]);
        mpiq_text_close(&d->json, ']');
    }
    mpiq_text_close(&d->json, ']');
    mpiq_text_close(&d->json, '}');
}

/* The operations in the queues of the ranks that the page wants, one by one and counted. */
static void put_messages(struct data *d)
{
    const struct mpiq_job_state *job = d->page->job;
    struct matrix matrix = {.bins = job->process_count < MOST_BINS ? job->process_count : MOST_BINS,
                            .per = 1};
    if (matrix.bins > 0)
        matrix.per = (job->process_count + matrix.bins - 1) / matrix.bins;
    uint32_t *counts _cleanup_free_ = calloc((size_t)matrix.bins * matrix.bins + 1, 3 * sizeof *counts);
    matrix.counts = counts;
    if (!counts)
        mpiq_buffer_fail(&d->page->out);
    size_t listed = 0, left_out = 0;
    mpiq_text_key(&d->json, "messages");
    mpiq_text_open(&d->json, '[');
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        for (uint32_t i = 0; rank && i < rank->operation_count && mpiq_page_wants(d->page, process); i++) {
            const struct mpiq_job_operation *operation = &job->operations[rank->first_operation + i];
            if (operation->queue > MPIQ_QUEUE_UNEXPECTED || (operation->internal && !d->page->options->all))
                continue;
            count_message(&matrix, process, operation);
            if (listed < MOST_MESSAGES && operation->comm < MOST_MESSAGES) {
                put_message(d, process, operation);
                listed++;
            } else {
                left_out++;
            }
        }
    }
    mpiq_text_close(&d->json, ']');
    mpiq_text_put_unsigned(&d->json, "messages_left_out", left_out);
    put_matrix(d, &matrix);
}

/* ---- the last calls ----------------------------------------------------------------------------------- */

static void put_history(struct data *d, uint32_t process)
{
    struct mpiq_history history _cleanup_(mpiq_history_deinit) = {0};
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    if (!mpiq_history_collect(d->page, process, &history))
        mpiq_buffer_fail(&d->page->out);
    if (history.count == 0)
        return;
    mpiq_put_process(d->page->job, &text, process);
    mpiq_text_key(&d->json, mpiq_buffer_text(&text));
    text.length = 0;
    mpiq_text_open(&d->json, '[');
    for (size_t i = 0; i < history.count && i < MOST_CALLS; i++) {
        mpiq_put_history_call(d->page, &text, &history, &history.calls[history.count - 1 - i]);
        put_value(d, &text);
    }
    mpiq_text_close(&d->json, ']');
}

static void put_histories(struct data *d)
{
    uint32_t count = 0;
    bool left_out = false;
    mpiq_text_key(&d->json, "history");
    mpiq_text_open(&d->json, '{');
    for (uint32_t process = 0; process < d->page->diagnosis->rank_count && !left_out; process++) {
        if (!mpiq_page_wants(d->page, process))
            continue;
        left_out = count == MOST_HISTORIES;
        if (!left_out)
            put_history(d, process);
        count++;
    }
    mpiq_text_close(&d->json, '}');
    mpiq_text_put_bool(&d->json, "history_left_out", left_out);
}

/* Inside of a script element "<" could end it: in JSON it stands in strings alone, where an escape is the
 * same. */
static void put_safe(struct mpiq_buffer *out, const char *json)
{
    for (const char *at = json; *at; at++) {
        if (*at == '<')
            mpiq_buffer_string(out, "\\u003c");
        else
            mpiq_buffer_char(out, *at);
    }
}

void mpiq_put_page_data(struct mpiq_page *page)
{
    struct mpiq_buffer json _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    struct mpiq_rank_set suspects _cleanup_(mpiq_rank_set_deinit) = {0};
    struct data d = {.page = page, .json = {.out = &json}};
    mpiq_text_open(&d.json, '{');
    put_states(&d);
    mpiq_text_key(&d.json, "worlds");
    mpiq_text_open(&d.json, '[');
    for (uint32_t world = 0; world < page->job->world_count; world++)
        mpiq_text_unsigned(&d.json, page->job->worlds[world].size);
    mpiq_text_close(&d.json, ']');
    if (!mpiq_page_suspects(page, &suspects))
        mpiq_buffer_fail(&page->out);
    put_set(&d, "suspects", &suspects);
    put_classes(&d);
    put_hosts(&d);
    put_rows(&d);
    put_awaited(&d);
    put_communicators(&d);
    put_messages(&d);
    put_histories(&d);
    mpiq_text_close(&d.json, '}');
    put_safe(&page->out, mpiq_buffer_text(&json));
}
