/* SPDX-License-Identifier: BSD-3-Clause */
/* `mpiq queues`: pending sends, posted receives and unexpected messages, with equal operations of all ranks
   on one line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/columns.h"
#include "report/message_kind.h"
#include "report/message_rows.h"
#include "report/views.h"

/* Lines of a table where no ranks were asked for. */
#define MOST_ROWS 24

struct queue_words {
    enum mpiq_queue queue;
    const char *title;
    const char *peer;  /* the heading */
    const char *plain; /* the kind that goes without saying */
};

static void put_peer(const struct mpiq_page *page, struct mpiq_buffer *cell,
                     const struct mpiq_message_row *row)
{
    const struct mpiq_job_operation *operation = row->example;
    bool taken = operation->any && mpiq_message_is_matched(operation);
    uint32_t peer = taken ? mpiq_job_more(page->job, operation)->actual : operation->peer;

    if (row->form == MPIQ_PEER_VARIOUS)
        mpiq_buffer_string(cell, "various");
    else if (peer == MPIQ_NONE)
        mpiq_buffer_string(cell, operation->any ? "any" : "?");
    else if (row->form == MPIQ_PEER_EXACT ||
             mpiq_job_world_rank(page->job, peer).world != mpiq_job_world_rank(page->job, row->process).world)
        mpiq_put_process(page->job, cell, peer);
    else if (row->distance == 0)
        mpiq_buffer_char(cell, 'r');
    else
        mpiq_buffer_printf(cell, "r%+" PRId64, row->distance);
    if (taken && peer != MPIQ_NONE)
        mpiq_buffer_string(cell, " (any)");
}

static void put_tag(struct mpiq_buffer *cell, const struct mpiq_message_row *row)
{
    const struct mpiq_job_operation *operation = row->example;
    if (operation->tag_any && !mpiq_message_is_matched(operation)) {
        mpiq_buffer_string(cell, "any");
        return;
    }
    mpiq_buffer_signed(cell, row->tag_least);
    if (row->tag_most > row->tag_least)
        mpiq_buffer_printf(cell, "..%" PRId32, row->tag_most);
    mpiq_buffer_string(cell, operation->tag_any ? " (any)" : "");
}

static void put_bytes(struct mpiq_buffer *cell, const struct mpiq_message_row *row)
{
    if (row->bytes_least > row->bytes_most)
        return;
    mpiq_buffer_signed(cell, row->bytes_least);
    if (row->bytes_most > row->bytes_least)
        mpiq_buffer_printf(cell, "..%" PRId64, row->bytes_most);
}

static const char *status_of(const struct mpiq_job_operation *operation)
{
    if (operation->inactive)
        return "not started";
    if (operation->cancelled)
        return "cancelled";
    if (operation->out_of_order)
        return "out of order";
    return mpiq_operation_status_word(operation->status);
}

static void put_kind(struct mpiq_buffer *cell, const struct mpiq_job_operation *operation, const char *plain)
{
    const char *kind = mpiq_operation_kind_word(operation->kind);
    if (strcmp(kind, plain) == 0)
        kind = "";
    mpiq_buffer_string(cell, kind);
    if (operation->persistent)
        mpiq_buffer_string(cell, *kind ? ", persistent" : "persistent");
    if (operation->internal)
        mpiq_buffer_string(cell, *kind || operation->persistent ? ", internal" : "internal");
}

static void put_each(struct mpiq_buffer *cell, const struct mpiq_message_row *row)
{
    if (row->each_most == 1)
        return;
    if (row->each_least == row->each_most)
        mpiq_buffer_unsigned(cell, row->each_most);
    else
        mpiq_buffer_printf(cell, "%" PRIu32 "-%" PRIu32, row->each_least, row->each_most);
}

static void put_blocked(const struct mpiq_page *page, struct mpiq_buffer *cell,
                        const struct mpiq_message_row *row)
{
    struct mpiq_waiter waiter = mpiq_message_waiter(page, row->process, row->example);
    if (!mpiq_message_holds(row->example))
        return;
    mpiq_buffer_string(cell, waiter.call ? waiter.call : "yes");
    size_t before = cell->length;
    mpiq_buffer_string(cell, " at ");
    size_t named = cell->length;
    mpiq_put_site(page->job, cell, waiter.site);
    if (cell->length == named)
        cell->length = before;
}

static void put_row(struct mpiq_page *page, struct mpiq_columns *table, const struct mpiq_message_row *row,
                    const struct queue_words *words)
{
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    const struct mpiq_job_operation *operation = row->example;

    mpiq_columns_row(table, mpiq_message_holds(operation) ? MPIQ_STYLE_BOLD : MPIQ_STYLE_NONE);
    mpiq_put_ranks(&cell, &row->ranks, MPIQ_MOST_RANGES);
    mpiq_columns_set(table, 0, &cell);
    mpiq_columns_set_string(table, 1, mpiq_job_communicator_name(page->job, operation->comm));
    put_peer(page, &cell, row);
    mpiq_columns_set(table, 2, &cell);
    put_tag(&cell, row);
    mpiq_columns_set(table, 3, &cell);
    put_bytes(&cell, row);
    mpiq_columns_set(table, 4, &cell);
    mpiq_columns_set_string(table, 5, status_of(operation));
    put_kind(&cell, operation, words->plain);
    mpiq_columns_set(table, 6, &cell);
    put_each(&cell, row);
    mpiq_columns_set(table, 7, &cell);
    put_blocked(page, &cell, row);
    mpiq_columns_set(table, 8, &cell);
}

static void put_queue(struct mpiq_page *page, const struct queue_words *words)
{
    const struct mpiq_column headings[] = {
        {.heading = "RANKS"},
        {.heading = "COMMUNICATOR"},
        {.heading = words->peer},
        {.heading = "TAG", .number = true},
        {.heading = "BYTES", .number = true},
        {.heading = "STATUS"},
        {.heading = "KIND"},
        {.heading = "EACH", .number = true},
        {.heading = "BLOCKS"},
    };
    struct mpiq_message_rows rows _cleanup_(mpiq_message_rows_deinit) = {0};
    struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
        mpiq_columns_create(page, headings, sizeof headings / sizeof *headings);

    if (!mpiq_message_rows_collect(page, words->queue, &rows)) {
        page->out.failed = true;
        return;
    }
    if (rows.count == 0) {
        mpiq_print_gap(page);
        mpiq_print_line(page, (struct mpiq_paragraph){.lead = words->title, .lead_style = MPIQ_STYLE_BOLD},
                        ": none");
        return;
    }
    mpiq_print_heading(page, words->title);
    size_t shown = page->options->ranks || rows.count <= MOST_ROWS + 1 ? rows.count : MOST_ROWS;
    for (size_t i = 0; i < shown; i++)
        put_row(page, table, &rows.items[i], words);
    mpiq_columns_print(table, 2, true);
    if (shown < rows.count)
        mpiq_print(page, 2, "%zu more lines: --ranks LIST shows all of some ranks", rows.count - shown);
}

/* The sentence on a rank whose queues are not known, or NULL. */
static const char *unknown_queues(const struct mpiq_page *page, const struct mpiq_job_rank *rank,
                                  struct mpiq_buffer *text)
{
    const struct mpiq_job_state *job = page->job;
    text->length = 0;
    if (rank && rank->queues == MPIQ_YES)
        return NULL;
    if (!rank) {
        mpiq_buffer_string(text, "not read");
    } else if (rank->queues == MPIQ_NO) {
        mpiq_put_no_queues(page, text, rank);
    } else {
        const char *why = NULL;
        for (uint32_t i = 0; i < rank->problem_count; i++) {
            const struct mpiq_job_problem *problem = &job->problems[rank->first_problem + i];
            const char *what = mpiq_job_string(job, problem->what);
            if (what && strcmp(what, "queues") == 0)
                why = mpiq_job_string(job, problem->text);
        }
        mpiq_buffer_string(text, why ? why : "could not be read");
    }
    return mpiq_buffer_text(text);
}

/* Queues that are not known are no empty queues: says whose, one line for each reason but no more than a
   few. */
static void put_unknown(struct mpiq_page *page)
{
    enum { MOST_REASONS = 4 };
    struct {
        char *text;
        struct mpiq_rank_set ranks;
    } reasons[MOST_REASONS + 1] = {0};
    size_t count = 0;
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);

    for (uint32_t process = 0; process < page->job->process_count; process++) {
        const char *why = unknown_queues(page, mpiq_job_rank_of(page->job, process), &text);
        size_t i = 0;
        if (!why || !mpiq_page_wants(page, process))
            continue;
        while (i < count && i < MOST_REASONS && strcmp(reasons[i].text, why) != 0)
            i++;
        if (i == count) {
            count++;
            reasons[i].text = strdup(i < MOST_REASONS ? why : "could not be read, for other reasons");
        }
        struct mpiq_world_rank name = mpiq_job_world_rank(page->job, process);
        page->out.failed |= !reasons[i].text || !mpiq_rank_set_add(&reasons[i].ranks, name.world, name.rank);
        if (page->out.failed)
            break;
    }
    if (count > 0)
        mpiq_print_gap(page);
    for (size_t i = 0; i < count; i++) {
        text.length = 0;
        mpiq_buffer_string(&text, "Queues of ");
        mpiq_put_who(&text, &reasons[i].ranks, MPIQ_MOST_RANGES);
        mpiq_buffer_printf(&text, ": %s", reasons[i].text);
        mpiq_print(page, 0, "%s", mpiq_buffer_text(&text));
        mpiq_rank_set_deinit(&reasons[i].ranks);
        free(reasons[i].text);
    }
}

/* Whether the queues of a rank on this page were read; otherwise "none" would be no answer. */
static bool any_known(const struct mpiq_page *page)
{
    for (uint32_t process = 0; process < page->job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(page->job, process);
        if (rank && rank->queues == MPIQ_YES && mpiq_page_wants(page, process))
            return true;
    }
    return false;
}

void mpiq_show_queues(struct mpiq_page *page)
{
    static const struct queue_words queues[] = {
        {MPIQ_QUEUE_SENDS, "Pending sends", "TO", "send"},
        {MPIQ_QUEUE_RECEIVES, "Posted receives", "FROM", "receive"},
        {MPIQ_QUEUE_UNEXPECTED, "Unexpected messages", "FROM", "message"},
    };
    for (size_t i = 0; any_known(page) && i < sizeof queues / sizeof *queues; i++)
        put_queue(page, &queues[i]);
    put_unknown(page);
    if (page->job->process_count == 0) {
        mpiq_print_gap(page);
        mpiq_print(page, 0, "No queues could be read.");
    }
}
