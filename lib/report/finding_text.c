/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/finding_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/columns.h"

#define INDENT 5

static void put_line(struct mpiq_page *page, struct mpiq_buffer *text)
{
    mpiq_buffer_printf(&page->out, "%*s", INDENT, "");
    mpiq_put_paragraph(page, &page->out, INDENT, INDENT + 2, mpiq_buffer_text(text));
    page->out.failed |= text->failed;
    text->length = 0;
}

static size_t shown_of(size_t count, size_t most)
{
    return count <= most + 1 && most > 0 ? count : most;
}

static void put_rest(struct mpiq_page *page, size_t count, size_t shown, const char *noun)
{
    if (shown > 0 && shown < count)
        mpiq_buffer_printf(&page->out, "%*s... and %zu more %s\n", INDENT, "", count - shown, noun);
}

/* "ranks 0,2-63  in MPI_Bcast  at solver.c:88 step", one below the other. */
static void put_sites(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    static const struct mpiq_column headings[] = {
        {.heading = "who", .wrap = true}, {.heading = "call"}, {.heading = "place"}};
    struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
        mpiq_columns_create(page, headings, sizeof headings / sizeof *headings);
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = {0};
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

static void put_calls(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = {0};
    size_t shown = shown_of(finding->call_count, most);
    for (size_t i = 0; i < shown; i++) {
        mpiq_buffer_printf(&text, "%s: ", finding->calls[i].collective);
        mpiq_put_who(&text, &finding->calls[i].ranks, MPIQ_MOST_RANGES);
        put_line(page, &text);
    }
    put_rest(page, finding->call_count, shown, "calls");
}

static void put_values(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = {0};
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
    struct mpiq_buffer place _cleanup_(mpiq_buffer_deinit) = {0};
    mpiq_buffer_string(buffer, "rank ");
    mpiq_put_process(page, buffer, step->process);
    if (step->waits_for.size > 0) {
        mpiq_buffer_string(buffer, " waits for ");
        mpiq_put_who(buffer, &step->waits_for, MPIQ_MOST_RANGES);
    }
    if (step->why)
        mpiq_buffer_printf(buffer, ": %s", step->why);
    mpiq_put_site(page, &place, step->site);
    if (place.length > 0)
        mpiq_buffer_printf(buffer, " at %s", mpiq_buffer_text(&place));
    if (step->since >= 0) {
        mpiq_buffer_string(buffer, ", for ");
        mpiq_put_duration(buffer, step->since);
    }
    buffer->failed |= place.failed;
}

static void put_steps(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = {0};
    size_t shown = shown_of(finding->step_count, most);
    for (size_t i = 0; i < shown; i++) {
        mpiq_put_step(page, &text, &finding->steps[i]);
        put_line(page, &text);
    }
    put_rest(page, finding->step_count, shown, "steps: mpiq why shows the chain from one rank");
}

/* "a message from rank 5 with tag 98, 40 bytes, on halves". */
static void put_message(const struct mpiq_page *page, struct mpiq_buffer *text, const char *lead,
                        const struct mpiq_job_operation *operation, uint32_t peer)
{
    const char *communicator = mpiq_job_communicator_name(page->job, operation->comm);
    mpiq_buffer_string(text, lead);
    if (peer != MPIQ_NONE)
        mpiq_put_process(page, text, peer);
    else
        mpiq_buffer_string(text, operation->any ? "any" : "?");
    if (operation->tag_any)
        mpiq_buffer_string(text, ", any tag");
    else
        mpiq_buffer_printf(text, ", tag %" PRId32, operation->tag);
    if (operation->bytes >= 0)
        mpiq_buffer_printf(text, ", %" PRId64 " bytes", operation->bytes);
    if (*communicator)
        mpiq_buffer_printf(text, ", on %s", communicator);
}

static void put_miss(const struct mpiq_page *page, struct mpiq_buffer *text,
                     const struct mpiq_near_miss *miss)
{
    const struct mpiq_job_operation *operation = &page->job->operations[miss->operation];
    if (operation->queue == MPIQ_QUEUE_UNEXPECTED) {
        mpiq_buffer_string(text, "close: at rank ");
        mpiq_put_process(page, text, miss->holder);
        put_message(page, text, " lies a message from rank ", operation, operation->peer);
    } else {
        bool send = operation->queue == MPIQ_QUEUE_SENDS ||
                    (operation->kind != MPIQ_OPERATION_RECEIVE && operation->kind != MPIQ_OPERATION_PROBE);
        mpiq_buffer_string(text, "close: rank ");
        mpiq_put_process(page, text, miss->process);
        put_message(page, text, send ? " is sending to rank " : " is ready to receive from rank ", operation,
                    operation->peer);
    }
    mpiq_buffer_printf(text, ": the %s differs", mpiq_miss_word(miss->differs));
}

static void put_misses(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = {0};
    size_t shown = shown_of(finding->near_miss_count, most);
    for (size_t i = 0; i < shown; i++) {
        if (finding->near_misses[i].operation >= page->job->operation_count)
            continue;
        put_miss(page, &text, &finding->near_misses[i]);
        put_line(page, &text);
    }
    put_rest(page, finding->near_miss_count, shown, "that are close");
}

void mpiq_put_finding(struct mpiq_page *page, const struct mpiq_finding *finding, size_t number, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = {0};
    const char *bold = mpiq_page_style(page, MPIQ_STYLE_BOLD);
    const char *plain = mpiq_page_style(page, MPIQ_STYLE_NONE);

    mpiq_buffer_printf(&text, "%2zu. ", number);
    mpiq_buffer_printf(&page->out, "%s%s%s", bold, mpiq_buffer_text(&text), plain);
    mpiq_put_paragraph(page, &page->out, text.length, 4, finding->text);
    text.length = 0;
    if (finding->suspects.size > 0) {
        mpiq_buffer_printf(&page->out, "%*s%s", INDENT, "", mpiq_page_style(page, MPIQ_STYLE_BAD));
        mpiq_buffer_string(&text, "look first at ");
        mpiq_put_who(&text, &finding->suspects, MPIQ_MOST_RANGES);
        mpiq_buffer_printf(&page->out, "%s%s\n", mpiq_buffer_text(&text), plain);
        text.length = 0;
    }
    put_sites(page, finding, most);
    put_calls(page, finding, most);
    put_values(page, finding, most);
    put_steps(page, finding, most);
    put_misses(page, finding, most);
    page->out.failed |= text.failed;
}
