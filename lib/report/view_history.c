/* SPDX-License-Identifier: BSD-3-Clause */
/* `mpiq history RANK`: its last MPI calls, oldest first. */
#include <inttypes.h>

#include "base/cleanup.h"
#include "report/columns.h"
#include "report/history.h"
#include "report/views.h"

enum { AGO, TOOK, CALL, COMMUNICATOR, PEER, TAG, BYTES, THREAD, PLACE, COLUMN_COUNT };

/* Calls in a row that differ in their times alone are one line. */
struct run {
    size_t first;
    size_t count;
};

static struct run next_run(const struct mpiq_history *history, size_t first)
{
    struct run run = {.first = first, .count = 1};
    while (first + run.count < history->count &&
           mpiq_history_alike(&history->calls[first], &history->calls[first + run.count]))
        run.count++;
    return run;
}

static void put_took(struct mpiq_buffer *cell, const struct mpiq_history *history, struct run run)
{
    double sum = 0;
    for (size_t i = 0; i < run.count; i++) {
        double seconds = mpiq_history_seconds(history, &history->calls[run.first + i]);
        if (seconds < 0)
            return;
        sum += seconds;
    }
    mpiq_put_span(cell, sum);
    if (history->calls[run.first].open)
        mpiq_buffer_string(cell, " so far");
}

static void put_row(struct mpiq_page *page, struct mpiq_columns *table, const struct mpiq_history *history,
                    struct run run)
{
    const struct mpiq_history_call *call = &history->calls[run.first];
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);

    mpiq_columns_row(table, call->open ? MPIQ_STYLE_BOLD : MPIQ_STYLE_NONE);
    mpiq_buffer_printf(&cell, "%.6f s", (double)(history->taken_ns - call->begin_ns) * 1e-9);
    mpiq_columns_set(table, AGO, &cell);
    put_took(&cell, history, run);
    mpiq_columns_set(table, TOOK, &cell);
    mpiq_put_plain(&cell, call->call);
    if (run.count > 1)
        mpiq_buffer_printf(&cell, " (%zu times)", run.count);
    mpiq_columns_set(table, CALL, &cell);
    mpiq_columns_set_string(table, COMMUNICATOR, mpiq_job_communicator_name(page->job, call->comm));
    mpiq_put_past_peer(page, &cell, call);
    mpiq_columns_set(table, PEER, &cell);
    if (call->any_tag)
        mpiq_buffer_string(&cell, "any");
    else if (call->tag >= 0)
        mpiq_buffer_signed(&cell, call->tag);
    mpiq_columns_set(table, TAG, &cell);
    if (call->bytes >= 0)
        mpiq_buffer_signed(&cell, call->bytes);
    mpiq_columns_set(table, BYTES, &cell);
    if (history->several_tasks)
        mpiq_buffer_signed(&cell, call->tid);
    mpiq_columns_set(table, THREAD, &cell);
    mpiq_put_site(page, &cell, call->site);
    mpiq_columns_set(table, PLACE, &cell);
}

static void put_heading(struct mpiq_page *page, const struct mpiq_history *history, uint32_t process)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    mpiq_buffer_string(&text, "Last MPI ");
    mpiq_buffer_string(&text, history->only_rings ? "collectives" : "calls");
    mpiq_buffer_string(&text, " of rank ");
    mpiq_put_process(page, &text, process);
    mpiq_print_heading(page, mpiq_buffer_text(&text));
}

void mpiq_show_history(struct mpiq_page *page)
{
    static const struct mpiq_column headings[COLUMN_COUNT] = {
        [AGO] = {.heading = "AGO", .number = true},
        [TOOK] = {.heading = "TOOK", .number = true},
        [CALL] = {.heading = "CALL"},
        [COMMUNICATOR] = {.heading = "COMMUNICATOR"},
        [PEER] = {.heading = "PEER"},
        [TAG] = {.heading = "TAG", .number = true},
        [BYTES] = {.heading = "BYTES", .number = true},
        [THREAD] = {.heading = "THREAD", .number = true},
        [PLACE] = {.heading = "PLACE"},
    };
    struct mpiq_history history _cleanup_(mpiq_history_deinit) = {0};
    struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
        mpiq_columns_create(page, headings, COLUMN_COUNT);

    page->out.failed |= !mpiq_history_collect(page->job, page->options->process, &history);
    if (history.count == 0) {
        mpiq_print_gap(page);
        mpiq_print(page, 0,
                   "Its last calls are not known: start the job with `mpiq run`, which records them.");
        return;
    }
    put_heading(page, &history, page->options->process);
    for (struct run run = {0}; run.first < history.count; run.first += run.count) {
        run = next_run(&history, run.first);
        put_row(page, table, &history, run);
    }
    mpiq_columns_print(table, 2, true);
    if (history.dropped > 0)
        mpiq_print(page, 2, "%" PRIu64 " older calls were left out for lack of room.", history.dropped);
}
