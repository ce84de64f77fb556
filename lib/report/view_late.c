/* SPDX-License-Identifier: BSD-3-Clause */
/* The time lost waiting, for people: who was late first, then the tables. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/columns.h"
#include "report/late_private.h"

/* Without --all, so many delays have a sentence of their own, and so many rows a table has. */
enum { SENTENCES_MOST = 5, ROWS_MOST = 15 };

/* What costs less of all waiting is not worth a sentence. */
static const double least_share = 0.01;

/* "14,745,600": at most 10^18. */
static void put_grouped(struct mpiq_buffer *buffer, double whole)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%.0f", whole < 1e18 ? whole : 1e18);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            mpiq_buffer_char(buffer, ',');
        mpiq_buffer_char(buffer, digits[i]);
    }
}

/* "0.42 ms", "41.2 s", "1,920 s". */
static void put_time(struct mpiq_buffer *buffer, double seconds)
{
    if (seconds < 0.0999995) {
        mpiq_buffer_printf(buffer, "%.*f ms", seconds < 0.00995 ? 2 : 1, seconds * 1e3);
    } else if (seconds < 99.95) {
        mpiq_buffer_printf(buffer, "%.*f s", seconds < 9.995 ? 2 : 1, seconds);
    } else {
        put_grouped(buffer, seconds);
        mpiq_buffer_string(buffer, " s");
    }
}

static void put_share(struct mpiq_buffer *buffer, double part, double whole)
{
    double percent = whole > 0 ? part / whole * 100 : 0;
    mpiq_buffer_printf(buffer, percent > 0 && percent < 0.5 ? "< 1 %%" : "%.0f %%", percent);
}

static void put_place_of(struct mpiq_buffer *buffer, const struct mpiq_late_site *site)
{
    mpiq_put_place(buffer, site->file, site->line, site->function, NULL);
}

static double cost_of(const struct mpiq_lateness *delay)
{
    return delay->direct + delay->further;
}

/* ---- the beginning --------------------------------------------------------------------------------------
 */

static void show_total(struct mpiq_page *page, const struct mpiq_late_report *report)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    double all = report->seconds * (double)report->ranks;
    mpiq_buffer_string(&text, ": the ranks waited ");
    put_time(&text, report->waiting);
    mpiq_buffer_string(&text, " in all for each other, ");
    put_share(&text, report->waiting, all);
    mpiq_buffer_string(&text, " of their time (");
    if (report->creator)
        mpiq_put_plain(&text, report->creator);
    mpiq_buffer_printf(&text, "%strace of ", report->creator ? ", " : "");
    put_time(&text, report->seconds);
    mpiq_buffer_string(&text, "; ");
    mpiq_put_count(&text, report->ranks, "rank");
    mpiq_buffer_string(&text, ", ");
    mpiq_put_count(&text, report->messages, "message");
    mpiq_buffer_string(&text, ", ");
    mpiq_put_count(&text, report->collectives, "collective");
    mpiq_buffer_char(&text, ')');
    mpiq_print_line(
        page,
        (struct mpiq_paragraph){.hang = 2, .lead = "late", .lead_style = MPIQ_STYLE_BOLD, .element = "h1"},
        mpiq_buffer_text(&text));
}

/* "Rank 3 at mesh.c:88 is late by 41.2 s in all and costs the other ranks 1,920 s of waiting (61 %)." */
static void show_sentence(struct mpiq_page *page, const struct mpiq_late_report *report, size_t number,
                          const struct mpiq_lateness *delay)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    struct mpiq_buffer place _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    mpiq_put_place(&place, delay->site.file, delay->site.line, NULL, NULL);
    mpiq_buffer_printf(&text, "%zu. Rank %" PRIu32, number, delay->rank);
    if (delay->site.call) {
        mpiq_buffer_string(&text, " in ");
        mpiq_put_plain(&text, delay->site.call);
    }
    if (place.length > 0)
        mpiq_buffer_printf(&text, " at %s", mpiq_buffer_text(&place));
    if (delay->site.function) {
        mpiq_buffer_string(&text, place.length > 0 ? " (" : " in ");
        mpiq_put_plain(&text, delay->site.function);
        mpiq_buffer_string(&text, place.length > 0 ? ")" : "");
    }
    mpiq_buffer_string(&text, " is late by ");
    put_time(&text, delay->late);
    mpiq_buffer_string(&text, " in all and costs the other ranks ");
    put_time(&text, cost_of(delay));
    mpiq_buffer_string(&text, " of waiting (");
    put_share(&text, cost_of(delay), report->waiting);
    mpiq_buffer_string(&text, ").");
    mpiq_print_line(page, (struct mpiq_paragraph){.hang = 3}, mpiq_buffer_text(&text));
}

/* ---- tables ---------------------------------------------------------------------------------------------
 */

static void show_rest(struct mpiq_page *page, size_t shown, size_t count)
{
    if (shown < count)
        mpiq_print(page, 2, "and %zu more, which --all shows", count - shown);
}

static void show_delays(struct mpiq_page *page, const struct mpiq_late_report *report)
{
    static const struct mpiq_column columns[] = {{"RANK", true},   {"LATE BY", true}, {"COSTS", true},
                                                 {"SHARE", true},  {"AT ONCE", true}, {"LATER", true},
                                                 {"DOING", false}, {"AT", false}};
    struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
        mpiq_columns_create(page, columns, sizeof columns / sizeof *columns);
    size_t count = 0;
    while (count < report->delay_count &&
           (page->options->all ||
            (count < ROWS_MOST && cost_of(&report->delays[count]) >= least_share * report->waiting)))
        count++;
    mpiq_print_heading(page, "Who was late");
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_lateness *delay = &report->delays[i];
        struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
        mpiq_columns_row(table, MPIQ_STYLE_NONE);
        mpiq_buffer_unsigned(&cell, delay->rank);
        mpiq_columns_set(table, 0, &cell);
        put_time(&cell, delay->late);
        mpiq_columns_set(table, 1, &cell);
        put_time(&cell, cost_of(delay));
        mpiq_columns_set(table, 2, &cell);
        put_share(&cell, cost_of(delay), report->waiting);
        mpiq_columns_set(table, 3, &cell);
        put_time(&cell, delay->direct);
        mpiq_columns_set(table, 4, &cell);
        if (delay->further > 0)
            put_time(&cell, delay->further);
        mpiq_columns_set(table, 5, &cell);
        mpiq_columns_set_string(table, 6, delay->site.call ? delay->site.call : "");
        put_place_of(&cell, &delay->site);
        if (cell.length == 0)
            mpiq_buffer_string(&cell, "outside any region");
        mpiq_columns_set(table, 7, &cell);
    }
    mpiq_columns_print(table, 2, true);
    show_rest(page, count, report->delay_count);
}

/* Ranks that waited in the same way at the same place are one row. */
static bool alike(const struct mpiq_late_waiting *a, const struct mpiq_late_waiting *b)
{
    return a->kind == b->kind && mpiq_late_compare_sites(&a->site, &b->site) == 0;
}

static void show_wait_row(struct mpiq_page *page, struct mpiq_columns *table,
                          const struct mpiq_late_report *report, const struct mpiq_late_row *row)
{
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    mpiq_columns_row(table, MPIQ_STYLE_NONE);
    mpiq_columns_set_string(table, 0, mpiq_late_name((enum mpiq_late_kind)row->first->kind));
    put_time(&cell, row->seconds);
    mpiq_columns_set(table, 1, &cell);
    put_share(&cell, row->seconds, report->waiting);
    mpiq_columns_set(table, 2, &cell);
    mpiq_buffer_unsigned(&cell, row->count);
    mpiq_columns_set(table, 3, &cell);
    put_time(&cell, row->longest);
    mpiq_columns_set(table, 4, &cell);
    mpiq_put_ranks(&cell, &row->ranks, MPIQ_MOST_RANGES);
    mpiq_columns_set(table, 5, &cell);
    mpiq_columns_set_string(table, 6, row->first->site.call ? row->first->site.call : "");
    put_place_of(&cell, &row->first->site);
    mpiq_columns_set(table, 7, &cell);
}

static int compare_rows(const void *left, const void *right)
{
    const struct mpiq_late_row *a = left;
    const struct mpiq_late_row *b = right;
    return a->seconds > b->seconds ? -1 : a->seconds < b->seconds;
}

static void show_waits(struct mpiq_page *page, const struct mpiq_late_report *report)
{
    static const struct mpiq_column columns[] = {{"WAIT STATE", false}, {"IN ALL", true},  {"SHARE", true},
                                                 {"TIMES", true},       {"LONGEST", true}, {"RANKS", false},
                                                 {"CALL", false},       {"AT", false}};
    struct mpiq_late_row *rows _cleanup_free_ = calloc(report->wait_count + 1, sizeof *rows);
    size_t count = 0;
    if (!rows) {
        page->out.failed = true;
        return;
    }
    for (size_t i = 0; i < report->wait_count; i++) {
        const struct mpiq_late_waiting *wait = &report->waits[i];
        struct mpiq_late_row *row = count > 0 ? &rows[count - 1] : NULL;
        if (!row || !alike(row->first, wait)) {
            row = &rows[count++];
            row->first = wait;
        }
        row->seconds += wait->seconds;
        row->count += wait->count;
        row->longest = wait->longest > row->longest ? wait->longest : row->longest;
        if (!mpiq_rank_set_add(&row->ranks, 0, wait->rank))
            page->out.failed = true;
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
        mpiq_columns_create(page, columns, sizeof columns / sizeof *columns);
    size_t shown = !page->options->all && count > ROWS_MOST ? ROWS_MOST : count;
    mpiq_print_heading(page, "Where the time was lost");
    for (size_t i = 0; i < shown; i++)
        show_wait_row(page, table, report, &rows[i]);
    mpiq_columns_print(table, 2, true);
    show_rest(page, shown, count);
    for (size_t i = 0; i < count; i++)
        mpiq_rank_set_deinit(&rows[i].ranks);
}

/* ---- notes ----------------------------------------------------------------------------------------------
 */

static void show_note(struct mpiq_page *page, bool *headed, const char *text)
{
    if (!*headed)
        mpiq_print_heading(page, "Notes");
    *headed = true;
    mpiq_print(page, 2, "%s", text);
}

static void show_notes(struct mpiq_page *page, const struct mpiq_late_report *report)
{
    bool headed = false;
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    if (report->broken > 0) {
        mpiq_buffer_string(&text, "the events of ");
        mpiq_put_count(&text, report->broken, "rank");
        mpiq_buffer_string(&text, " are missing or cut short: mpiq report says which");
        show_note(page, &headed, mpiq_buffer_text(&text));
        text.length = 0;
    }
    if (report->contradictions + report->backwards > 0) {
        mpiq_put_count(&text, report->contradictions + report->backwards, "time");
        mpiq_buffer_string(&text, " contradicted another (clocks that do not agree), and no waiting was "
                                  "computed from them");
        show_note(page, &headed, mpiq_buffer_text(&text));
        text.length = 0;
    }
    if (report->wrong_orders > 0) {
        put_time(&text, report->wrong_order);
        mpiq_buffer_string(&text, " of Late Sender is for messages that were received in another order than "
                                  "they were sent");
        show_note(page, &headed, mpiq_buffer_text(&text));
        text.length = 0;
    }
    if (report->barrier_completion + report->nxn_completion > 0.01 * report->seconds) {
        mpiq_buffer_string(&text, "after the first rank had left: ");
        put_time(&text, report->barrier_completion);
        mpiq_buffer_string(&text, " of Barrier Completion, ");
        put_time(&text, report->nxn_completion);
        mpiq_buffer_string(&text, " of N x N Completion");
        show_note(page, &headed, mpiq_buffer_text(&text));
        text.length = 0;
    }
    if (report->unattributed > 0.05 * report->waiting) {
        put_time(&text, report->unattributed);
        mpiq_buffer_string(&text,
                           " of waiting is for no delay of another rank: the late one had done no more "
                           "than the one that waited");
        show_note(page, &headed, mpiq_buffer_text(&text));
    }
}

void mpiq_show_late(struct mpiq_page *page, const struct mpiq_late_report *report)
{
    show_total(page, report);
    bool matters = report->waiting >= least_share * report->seconds * (double)report->ranks;
    if (matters && report->delay_count > 0)
        mpiq_print_gap(page);
    for (size_t i = 0; matters && i < report->delay_count && i < SENTENCES_MOST; i++) {
        if (cost_of(&report->delays[i]) >= least_share * report->waiting)
            show_sentence(page, report, i + 1, &report->delays[i]);
    }
    if (report->delay_count > 0)
        show_delays(page, report);
    if (report->wait_count > 0)
        show_waits(page, report);
    show_notes(page, report);
}
