/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/finding_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/behaviour.h"
#include "report/columns.h"

#define INDENT 5

static void put_line(struct mpiq_page *page, struct mpiq_buffer *text)
{
    mpiq_layout_say(page, INDENT, "%s", mpiq_buffer_text(text));
    text->length = 0;
}

static size_t shown_of(size_t count, size_t most)
{
    return count <= most + 1 && most > 0 ? count : most;
}

static void put_rest(struct mpiq_page *page, size_t count, size_t shown, const char *noun)
{
    if (shown > 0 && shown < count)
        mpiq_layout_say(page, INDENT, "... and %zu more %s", count - shown, noun);
}

/* "ranks 0,2-63  in MPI_Bcast  at solver.c:88 step", one below the other. */
static void put_sites(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    static const struct mpiq_column headings[] = {
        {.heading = "who", .wrap = true}, {.heading = "call"}, {.heading = "place"}};
    struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
        mpiq_columns_create(page, headings, sizeof headings / sizeof *headings);
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    size_t shown = shown_of(finding->site_count, most);

    for (size_t i = 0; i < shown; i++) {
        const struct mpiq_finding_site *site = &finding->sites[i];
        mpiq_columns_row(table, MPIQ_STYLE_NONE);
        mpiq_put_who(&cell, &site->ranks, MPIQ_MOST_RANGES);
        mpiq_columns_set(table, 0, &cell);
        if (site->call)
            mpiq_buffer_printf(&cell, "in %s", site->call);
        mpiq_columns_set(table, 1, &cell);
        if (site->file || site->function) {
            mpiq_buffer_string(&cell, site->file ? "at " : "in ");
            mpiq_put_place(&cell, site->file, site->line, site->function, NULL);
        }
        mpiq_columns_set(table, 2, &cell);
    }
    mpiq_columns_print(table, INDENT, false);
    put_rest(page, finding->site_count, shown, "places");
}

/* Whether the sentence has all the places in it already. */
static bool places_in_text(struct mpiq_page *page, const struct mpiq_finding *finding)
{
    for (size_t i = 0; i < finding->site_count; i++) {
        const struct mpiq_finding_site *site = &finding->sites[i];
        struct mpiq_buffer place _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
        mpiq_put_place(&place, site->file, site->line, NULL, NULL);
        if (place.length == 0 || !finding->text || !strstr(finding->text, mpiq_buffer_text(&place)))
            return false;
    }
    return true;
}

/* Whether the places above say who is in that call already. */
static bool said_by_sites(const struct mpiq_finding *finding, const struct mpiq_finding_call *call)
{
    for (size_t i = 0; i < finding->site_count; i++) {
        const struct mpiq_finding_site *site = &finding->sites[i];
        if (site->call && strcmp(site->call, call->collective) == 0 &&
            mpiq_rank_set_equal(&site->ranks, &call->ranks))
            return true;
    }
    return false;
}

static void put_calls(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    size_t shown = shown_of(finding->call_count, most);
    for (size_t i = 0; i < shown; i++) {
        if (said_by_sites(finding, &finding->calls[i]))
            continue;
        mpiq_buffer_printf(&text, "%s: ", finding->calls[i].collective);
        mpiq_put_who(&text, &finding->calls[i].ranks, MPIQ_MOST_RANGES);
        put_line(page, &text);
    }
    put_rest(page, finding->call_count, shown, "calls");
}

static void put_values(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    size_t shown = shown_of(finding->value_count, most);
    for (size_t i = 0; i < shown; i++) {
        mpiq_buffer_printf(&text, "%s %s: ", finding->field ? finding->field : "value",
                           finding->values[i].value);
        mpiq_put_who(&text, &finding->values[i].ranks, MPIQ_MOST_RANGES);
        put_line(page, &text);
    }
    put_rest(page, finding->value_count, shown, "values");
}

void mpiq_put_step(const struct mpiq_page *page, struct mpiq_buffer *buffer, const struct mpiq_step *step)
{
    mpiq_buffer_string(buffer, "rank ");
    mpiq_put_process(page, buffer, step->process);
    size_t before = buffer->length;
    mpiq_buffer_string(buffer, " (");
    size_t begun = buffer->length;
    mpiq_put_site(page, buffer, step->site);
    if (step->since >= 0) {
        mpiq_buffer_string(buffer, buffer->length > begun ? ", for " : "for ");
        mpiq_put_duration(buffer, step->since);
    }
    if (buffer->length > begun)
        mpiq_buffer_char(buffer, ')');
    else
        buffer->length = before;
    if (step->waits_for.size > 0) {
        mpiq_buffer_string(buffer, " waits for ");
        mpiq_put_who(buffer, &step->waits_for, MPIQ_MOST_RANGES);
    }
    if (step->why)
        mpiq_buffer_printf(buffer, ": %s", step->why);
}

/* Whether each rank of a cycle does the same as the others, relative to itself; the rank that it waits for
   and why go to *relative. */
static bool uniform_steps(struct mpiq_page *page, const struct mpiq_finding *finding,
                          struct mpiq_buffer *relative)
{
    struct mpiq_buffer other _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    for (size_t i = 0; i < finding->step_count; i++) {
        const struct mpiq_step *step = &finding->steps[i];
        struct mpiq_world_rank name = mpiq_job_world_rank(page->job, step->process);
        struct mpiq_buffer *text = i == 0 ? relative : &other;
        if (step->waits_for.size != 1 || !step->why || step->site != finding->steps[0].site ||
            name.world > 0 || step->waits_for.ranges[0].world > 0)
            return false;
        char *said _cleanup_free_ = NULL;
        if (asprintf(&said, "rank %" PRIu32 ": %s", step->waits_for.ranges[0].first, step->why) < 0) {
            said = NULL;
            mpiq_buffer_fail(&page->out);
        }
        text->length = 0;
        mpiq_put_relative(text, said ? said : "", name.rank, page->job->worlds[0].size);
        if (!said || (i > 0 && strcmp(mpiq_buffer_text(relative), mpiq_buffer_text(&other)) != 0))
            return false;
    }
    return true;
}

/* A long cycle in which all do the same, on one line; false if this one is not like that. */
static bool put_uniform_steps(struct mpiq_page *page, const struct mpiq_finding *finding)
{
    enum { WORTH_IT = 4 };
    struct mpiq_buffer relative _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    if (finding->step_count < WORTH_IT || !uniform_steps(page, finding, &relative))
        return false;
    mpiq_buffer_string(&text, "each rank r of them");
    size_t before = text.length;
    mpiq_buffer_string(&text, " (");
    size_t begun = text.length;
    mpiq_put_site(page, &text, finding->steps[0].site);
    if (text.length > begun)
        mpiq_buffer_char(&text, ')');
    else
        text.length = before;
    mpiq_buffer_printf(&text, " waits for %s", mpiq_buffer_text(&relative));
    put_line(page, &text);
    return true;
}

/* Whether the sentence spells all the steps already. */
static bool steps_in_text(struct mpiq_page *page, const struct mpiq_finding *finding)
{
    for (size_t i = 0; i < finding->step_count; i++) {
        const char *why = finding->steps[i].why;
        if (!why || !finding->text || !strstr(finding->text, why))
            return false;
    }
    return places_in_text(page, finding);
}

static void put_steps(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    size_t shown = shown_of(finding->step_count, most);
    if (shown == 0 || steps_in_text(page, finding) || put_uniform_steps(page, finding))
        return;
    for (size_t i = 0; i < shown; i++) {
        mpiq_put_step(page, &text, &finding->steps[i]);
        put_line(page, &text);
    }
    put_rest(page, finding->step_count, shown, "steps: mpiq why RANK shows the chain from a rank");
}

/* "rank 5, with tag 98, 40 bytes, on halves": the other side of an operation, and what it is. */
static void put_envelope(const struct mpiq_page *page, struct mpiq_buffer *text,
                         const struct mpiq_near_miss *miss)
{
    const struct mpiq_job_operation *operation = &page->job->operations[miss->operation];
    if (operation->peer != MPIQ_NONE) {
        mpiq_buffer_string(text, "rank ");
        mpiq_put_process(page, text, operation->peer);
    } else {
        mpiq_buffer_string(text, operation->any ? "any rank" : "a rank that is not known");
    }
    if (operation->tag_any)
        mpiq_buffer_string(text, " with any tag");
    else
        mpiq_buffer_printf(text, " with tag %" PRId32, operation->tag);
    if (operation->bytes >= 0)
        mpiq_buffer_printf(text, ", %" PRId64 " bytes", operation->bytes);
    if (miss->differs == MPIQ_MISS_COMMUNICATOR)
        mpiq_buffer_printf(text, ", on %s", mpiq_job_communicator_name(page->job, operation->comm));
    mpiq_buffer_printf(text, ": only the %s differs", mpiq_miss_word(miss->differs));
}

static void put_miss(const struct mpiq_page *page, struct mpiq_buffer *text,
                     const struct mpiq_near_miss *miss)
{
    const struct mpiq_job_operation *operation = &page->job->operations[miss->operation];
    bool receives = operation->kind == MPIQ_OPERATION_RECEIVE || operation->kind == MPIQ_OPERATION_PROBE;
    bool arrived = operation->queue == MPIQ_QUEUE_UNEXPECTED;
    mpiq_buffer_string(text, "almost: rank ");
    mpiq_put_process(page, text, arrived ? miss->holder : miss->process);
    mpiq_buffer_string(text, arrived    ? " has an unexpected message from "
                             : receives ? " waits to receive from "
                                        : " sends to ");
    put_envelope(page, text, miss);
}

enum { MOST_MISSES = 3 };

/* Near misses that read the same, such as a message sent again and again. */
struct like_misses {
    struct mpiq_buffer text;
    size_t count;
};

static void put_like_misses(struct mpiq_page *page, struct like_misses *like)
{
    if (like->count > 1)
        mpiq_buffer_string(&like->text, " (several of them)"); /* no finding keeps all of very many */
    put_line(page, &like->text);
    mpiq_buffer_deinit(&like->text);
}

static void put_misses(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    struct like_misses likes[MOST_MISSES + 1];
    size_t room = shown_of(finding->near_miss_count, most < MOST_MISSES ? most : MOST_MISSES);
    size_t count = 0, told = 0;
    for (size_t i = 0; i < finding->near_miss_count; i++) {
        if (finding->near_misses[i].operation >= page->job->operation_count)
            continue;
        put_miss(page, &text, &finding->near_misses[i]);
        size_t k = 0;
        while (k < count && strcmp(mpiq_buffer_text(&likes[k].text), mpiq_buffer_text(&text)) != 0)
            k++;
        if (k == count && count < room && count < sizeof likes / sizeof *likes) {
            likes[count] = (struct like_misses){.text = mpiq_buffer_part(&page->out)};
            mpiq_buffer_string(&likes[count++].text, mpiq_buffer_text(&text));
        }
        if (k < count) {
            likes[k].count++;
            told++;
        }
        text.length = 0;
    }
    for (size_t k = 0; k < count; k++)
        put_like_misses(page, &likes[k]);
    put_rest(page, finding->near_miss_count, told, "like that");
}

void mpiq_put_finding(struct mpiq_page *page, const struct mpiq_finding *finding, size_t number, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    char lead[32];

    snprintf(lead, sizeof lead, "%2zu. ", number);
    mpiq_layout_line(page, (struct mpiq_line){.hang = 4, .lead = lead, .lead_style = MPIQ_STYLE_BOLD},
                     finding->text);
    if (finding->suspects.size > 0) {
        mpiq_buffer_string(&text, "look first at ");
        mpiq_put_who(&text, &finding->suspects, MPIQ_MOST_RANGES);
        mpiq_layout_line(page,
                         (struct mpiq_line){.indent = INDENT, .hang = INDENT + 2, .style = MPIQ_STYLE_BAD},
                         mpiq_buffer_text(&text));
    }
    if (finding->step_count == 0 && (number == 1 || !places_in_text(page, finding)))
        put_sites(page, finding, most);
    put_calls(page, finding, most);
    put_values(page, finding, most);
    put_steps(page, finding, most);
    put_misses(page, finding, most);
}
