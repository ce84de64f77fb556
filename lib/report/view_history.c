/* SPDX-License-Identifier: BSD-3-Clause */
/* `mpiq history RANKS`: their last MPI calls, oldest first. */
#include <inttypes.h>

#include "base/cleanup.h"
#include "report/columns.h"
#include "report/history.h"
#include "report/views.h"

enum { AGO, TOOK, CALL, COMMUNICATOR, PEER, TAG, BYTES, THREAD, ERROR, PLACE, MESSAGE, COLUMN_COUNT };

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

/* A round of a loop is `period` calls, and there are `rounds` of it in a row; 1 round: no loop. */
struct loop {
    size_t period;
    size_t rounds;
};

enum { LONGEST_ROUND = 16 };

/* The loop that begins with that call, the one that covers most calls; of several the shortest round. */
static struct loop find_loop(const struct mpiq_history *history, size_t first)
{
    struct loop best = {.period = 1, .rounds = 1};
    size_t left = history->count - first;
    for (size_t period = 2; period <= LONGEST_ROUND && 2 * period <= left; period++) {
        const struct mpiq_history_call *calls = &history->calls[first];
        size_t alike = 0;
        while (period + alike < left && mpiq_history_alike(&calls[alike], &calls[period + alike]))
            alike++;
        size_t rounds = 1 + alike / period;
        if (rounds > 1 && rounds * period > best.rounds * best.period)
            best = (struct loop){.period = period, .rounds = rounds};
    }
    return next_run(history, first).count >= best.period * best.rounds ? (struct loop){1, 1} : best;
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
                    struct run run, int indent)
{
    const struct mpiq_history_call *call = &history->calls[run.first];
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);

    mpiq_columns_row(table, call->open ? MPIQ_STYLE_BOLD : MPIQ_STYLE_NONE);
    mpiq_buffer_printf(&cell, "%.6f s", (double)(history->taken_ns - call->begin_ns) * 1e-9);
    mpiq_columns_set(table, AGO, &cell);
    put_took(&cell, history, run);
    mpiq_columns_set(table, TOOK, &cell);
    mpiq_buffer_printf(&cell, "%*s", indent, "");
    mpiq_put_plain(&cell, call->call);
    if (run.count > 1)
        mpiq_columns_set_times(table, CALL, &cell, run.count);
    else
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
    mpiq_columns_set_string(table, ERROR, call->error);
    mpiq_put_site(page->job, &cell, call->site);
    mpiq_columns_set(table, PLACE, &cell);
    /* Of several in a row the newest one's: what the oldest belongs to may be forgotten. */
    mpiq_put_partner(page, &cell, &history->calls[run.first + run.count - 1]);
    mpiq_columns_set(table, MESSAGE, &cell);
}

/* What all rounds of a loop took, and the calls of its last round below. */
static void put_loop(struct mpiq_page *page, struct mpiq_columns *table, const struct mpiq_history *history,
                     size_t first, struct loop loop)
{
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    size_t end = first + loop.period * loop.rounds, last = end - loop.period;
    const struct mpiq_history_call *begin = &history->calls[first], *until = &history->calls[end - 1];

    mpiq_columns_row(table, MPIQ_STYLE_NONE);
    mpiq_buffer_printf(&cell, "%.6f s", (double)(history->taken_ns - begin->begin_ns) * 1e-9);
    mpiq_columns_set(table, AGO, &cell);
    if (until->end_ns > 0)
        mpiq_put_span(&cell, (double)(until->end_ns - begin->begin_ns) * 1e-9);
    mpiq_columns_set(table, TOOK, &cell);
    mpiq_columns_set_times(table, CALL, &cell, loop.rounds);
    for (struct run run = {.first = last}; run.first < end; run.first += run.count) {
        run = next_run(history, run.first);
        run.count = run.count < end - run.first ? run.count : end - run.first;
        put_row(page, table, history, run, 2);
    }
}

static void put_heading(struct mpiq_page *page, const struct mpiq_history *history, uint32_t process)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    mpiq_buffer_string(&text, "Last MPI ");
    mpiq_buffer_string(&text, history->only_rings ? "collectives" : "calls");
    mpiq_buffer_string(&text, " of rank ");
    mpiq_put_process(page->job, &text, process);
    mpiq_print_heading(page, mpiq_buffer_text(&text));
}

/* False: nothing is known of it. */
static bool show_process(struct mpiq_page *page, uint32_t process)
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
        [ERROR] = {.heading = "ERROR"},
        [PLACE] = {.heading = "PLACE"},
        [MESSAGE] = {.heading = "MESSAGE"},
    };
    struct mpiq_history history _cleanup_(mpiq_history_deinit) = {0};
    struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
        mpiq_columns_create(page, headings, COLUMN_COUNT);

    page->out.failed |= !mpiq_history_collect(page, process, &history);
    if (history.count == 0)
        return false;
    put_heading(page, &history, process);
    for (size_t first = 0; first < history.count;) {
        struct loop loop = find_loop(&history, first);
        struct run run = next_run(&history, first);
        if (loop.rounds > 1)
            put_loop(page, table, &history, first, loop);
        else
            put_row(page, table, &history, run, 0);
        first += loop.rounds > 1 ? loop.period * loop.rounds : run.count;
    }
    mpiq_columns_print(table, 2, true);
    if (history.dropped > 0)
        mpiq_print(page, 2, "%" PRIu64 " older calls were left out for lack of room.", history.dropped);
    return true;
}

static void put_unknown(struct mpiq_page *page, const struct mpiq_rank_set *ranks)
{
    struct mpiq_buffer who _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    mpiq_put_who(&who, ranks, MPIQ_MOST_RANGES);
    mpiq_print_gap(page);
    mpiq_print(page, 0,
               "The last calls of %s are not known: start the job with `mpiq run`, which records them.",
               mpiq_buffer_text(&who));
}

void mpiq_show_history(struct mpiq_page *page)
{
    struct mpiq_rank_set unknown _cleanup_(mpiq_rank_set_deinit) = {0};
    for (uint32_t process = 0; process < page->job->process_count; process++) {
        if (!mpiq_history_wanted(page, process) || show_process(page, process))
            continue;
        struct mpiq_world_rank name = mpiq_job_world_rank(page->job, process);
        page->out.failed |= !mpiq_rank_set_add(&unknown, name.world, name.rank);
    }
    if (unknown.size > 0)
        put_unknown(page, &unknown);
}
