/* SPDX-License-Identifier: BSD-3-Clause */
/* `mpiq watch`: one look as one line, and as a screen. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "report/behaviour.h"
#include "report/call_counts.h"
#include "report/columns.h"
#include "report/rank_cells.h"
#include "report/views.h"

/* ---- calls a second --------------------------------------------------------------------------------------
 */

/* What all ranks together have counted. */
struct totals {
    uint64_t calls;
    uint64_t messages;
    int64_t taken_ns; /* when the last of them was read; 0 not known */
};

static struct totals totals_of(const struct mpiq_job_state *job)
{
    struct totals totals = {0};
    for (uint32_t i = 0; i < job->count_count; i++)
        totals.calls += job->counts[i].count;
    for (uint32_t i = 0; i < job->channel_count; i++)
        totals.messages += job->channels[i].sent;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        if (job->ranks[i].taken_ns > totals.taken_ns)
            totals.taken_ns = job->ranks[i].taken_ns;
    }
    return totals;
}

/* "120 collective calls/s": counts go with the communicators that are freed, and less than before says
   nothing. */
static bool put_rate(struct mpiq_buffer *text, uint64_t before, uint64_t now, double seconds,
                     const char *what)
{
    if (now == 0 || now < before)
        return false;
    double rate = (double)(now - before) / seconds;
    mpiq_buffer_printf(text, "%s%.*f %s/s", text->length > 0 ? ", " : "", rate > 0 && rate < 10 ? 1 : 0, rate,
                       what);
    return true;
}

static void put_rates(const struct mpiq_page *page, struct mpiq_buffer *text)
{
    struct mpiq_buffer rates _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(text);
    if (!page->options->before)
        return;
    struct totals before = totals_of(page->options->before), now = totals_of(page->job);
    double seconds = (double)(now.taken_ns - before.taken_ns) / 1e9;
    if (before.taken_ns <= 0 || seconds <= 0)
        return;
    put_rate(&rates, before.calls, now.calls, seconds, "collective calls");
    put_rate(&rates, before.messages, now.messages, seconds, "messages");
    mpiq_buffer_string(text, mpiq_buffer_text(&rates));
}

/* ---- in one line -----------------------------------------------------------------------------------------
 */

/* "14:03:22", where the ranks' time is known. */
static void put_time(const struct mpiq_page *page, struct mpiq_buffer *text)
{
    time_t seconds = (time_t)(totals_of(page->job).taken_ns / 1000000000);
    struct tm local;
    char digits[16];
    if (seconds > 0 && localtime_r(&seconds, &local) &&
        strftime(digits, sizeof digits, "%H:%M:%S", &local) > 0)
        mpiq_buffer_string(text, digits);
    else
        mpiq_buffer_string(text, "--:--:--");
}

/* The kind with most ranks of those that are not told yet. */
static const struct mpiq_rank_cell *next_kind(const struct mpiq_rank_cells *cells,
                                              const struct mpiq_rank_cell *last)
{
    const struct mpiq_rank_cell *best = NULL;
    for (size_t i = 0; i < cells->kind_count; i++) {
        const struct mpiq_rank_cell *kind = &cells->kinds[i];
        bool later = !last || kind->count < last->count || (kind->count == last->count && kind > last);
        if (later && (!best || kind->count > best->count))
            best = kind;
    }
    return best;
}

void mpiq_show_line(struct mpiq_page *page)
{
    struct mpiq_rank_cells cells _cleanup_(mpiq_rank_cells_deinit) = {0};
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    const struct mpiq_diagnosis *diagnosis = page->diagnosis;
    const char *join = ": ";
    if (!mpiq_rank_cells_collect(page, &cells)) {
        page->out.failed = true;
        return;
    }
    put_time(page, &page->out);
    mpiq_buffer_char(&page->out, ' ');
    mpiq_buffer_char(&text, ' ');
    mpiq_put_count(&text, diagnosis->rank_count, "rank");
    for (const struct mpiq_rank_cell *kind = next_kind(&cells, NULL); kind; kind = next_kind(&cells, kind)) {
        mpiq_buffer_printf(&text, "%s%" PRIu64 " %s", join, kind->count, kind->word);
        join = ", ";
    }
    size_t before = text.length;
    mpiq_buffer_string(&text, "; ");
    put_rates(page, &text);
    if (text.length == before + 2)
        text.length = before;
    if (diagnosis->verdict != MPIQ_VERDICT_RUNNING && diagnosis->text) {
        mpiq_buffer_string(&text, "; ");
        mpiq_buffer_string(&text, diagnosis->text);
    }
    struct mpiq_paragraph line = {.lead = mpiq_verdict_word(diagnosis->verdict),
                                  .lead_style = mpiq_verdict_style(diagnosis->verdict)};
    struct mpiq_report_options unwrapped = *page->options;
    unwrapped.width = 0; /* one look is one line, however long */
    const struct mpiq_report_options *given = page->options;
    page->options = &unwrapped;
    mpiq_print_line(page, line, mpiq_buffer_text(&text));
    page->options = given;
}

/* ---- the grid --------------------------------------------------------------------------------------------
 */

enum { GROUP = 10, LEAST_WIDTH = 20, LABEL = 7 };

struct grid {
    uint32_t columns; /* cells a line */
    uint32_t fold;    /* ranks a cell */
};

static struct grid choose_grid(const struct mpiq_page *page, uint32_t count)
{
    uint32_t width = page->options->width > LEAST_WIDTH ? (uint32_t)page->options->width : 80;
    uint32_t height = page->options->height > 12 ? (uint32_t)page->options->height / 3 : 4;
    struct grid grid = {.columns = (width - LABEL) / (GROUP + 1) * GROUP, .fold = 1};
    if (grid.columns == 0)
        grid.columns = width - LABEL;
    while ((uint64_t)grid.columns * height * grid.fold < count)
        grid.fold *= 2;
    return grid;
}

/* Of the ranks of one cell what the fewest ranks of the job do: what is unlike all others must not be hidden
   by them.  One that is stuck counts before those that are not. */
static const struct mpiq_rank_cell *folded(const struct mpiq_page *page, const struct mpiq_rank_cells *cells,
                                           uint32_t first, uint32_t end, bool *suspect,
                                           const struct mpiq_rank_set *suspects)
{
    const struct mpiq_rank_cell *best = NULL;
    *suspect = false;
    for (uint32_t i = first; i < end; i++) {
        struct mpiq_world_rank name = mpiq_job_world_rank(page->job, i);
        bool suspected = mpiq_rank_set_contains(suspects, name.world, name.rank);
        if (cells->kind_of[i] == MPIQ_NONE || (*suspect && !suspected))
            continue;
        const struct mpiq_rank_cell *kind = &cells->kinds[cells->kind_of[i]];
        if (!best || (suspected && !*suspect) || kind->count < best->count)
            best = kind;
        *suspect |= suspected;
    }
    return best;
}

static void put_cell(struct mpiq_page *page, const struct mpiq_rank_cell *kind, bool suspect)
{
    const char *sequence = kind ? mpiq_style_sequence(page, suspect ? MPIQ_STYLE_SUSPECT : kind->style) : "";
    bool styled = *sequence && (suspect || kind->style != MPIQ_STYLE_NONE);
    mpiq_buffer_string(&page->out, styled ? sequence : "");
    mpiq_buffer_char(&page->out, kind ? kind->letter : ' ');
    mpiq_buffer_string(&page->out, styled ? mpiq_style_sequence(page, MPIQ_STYLE_NONE) : "");
}

static void put_world(struct mpiq_page *page, const struct mpiq_rank_cells *cells, uint32_t world,
                      struct grid grid, const struct mpiq_rank_set *suspects)
{
    struct mpiq_buffer label _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    uint32_t first = page->job->worlds[world].first, end = first + page->job->worlds[world].size;
    uint32_t column = 0;
    for (uint32_t at = first; at < end; column++) {
        uint32_t next = end - at > grid.fold ? at + grid.fold : end;
        if (column % grid.columns == 0) {
            label.length = 0;
            mpiq_put_process(page->job, &label, at);
            mpiq_buffer_printf(&page->out, "%s%*s", at > first ? "\n" : "", LABEL - 1,
                               mpiq_buffer_text(&label));
        }
        if (column % grid.columns % GROUP == 0)
            mpiq_buffer_char(&page->out, ' ');
        bool suspect;
        const struct mpiq_rank_cell *kind = folded(page, cells, at, next, &suspect, suspects);
        put_cell(page, kind, suspect);
        at = next;
    }
    mpiq_buffer_char(&page->out, '\n');
}

static void put_legend(struct mpiq_page *page, const struct mpiq_rank_cells *cells, struct grid grid,
                       bool suspects)
{
    size_t width = page->options->width > LEAST_WIDTH ? (size_t)page->options->width : 80, column = 0;
    for (const struct mpiq_rank_cell *kind = next_kind(cells, NULL); kind; kind = next_kind(cells, kind)) {
        char count[24];
        snprintf(count, sizeof count, " %" PRIu64, kind->count);
        size_t length = 4 + strlen(kind->word) + strlen(count);
        if (column > 0 && column + length > width) {
            mpiq_buffer_char(&page->out, '\n');
            column = 0;
        }
        mpiq_buffer_string(&page->out, "  ");
        put_cell(page, kind, false);
        mpiq_buffer_char(&page->out, ' ');
        mpiq_put_plain(&page->out, kind->word);
        mpiq_buffer_string(&page->out, count);
        column += length;
    }
    mpiq_buffer_char(&page->out, '\n');
    if (suspects && page->options->color) {
        mpiq_buffer_string(&page->out, "  ");
        mpiq_buffer_printf(&page->out, "%s%s%s: look there first\n",
                           mpiq_style_sequence(page, MPIQ_STYLE_SUSPECT), "suspect",
                           mpiq_style_sequence(page, MPIQ_STYLE_NONE));
    }
    if (grid.fold > 1)
        mpiq_print(page, 2, "Each cell is %" PRIu32 " ranks and shows what the fewest ranks do.", grid.fold);
}

/* ---- communicators ---------------------------------------------------------------------------------------
 */

/* Who is in which collective there, and how often all have called them. */
static bool put_communicator(struct mpiq_page *page, struct mpiq_columns *table, uint32_t comm)
{
    struct mpiq_rank_set members _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_call_counts counts _cleanup_(mpiq_call_counts_deinit) = {0};
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    bool good = mpiq_job_communicator_members(page->job, comm, &members) &&
                mpiq_call_counts_collect(page, comm, &counts);
    if (!good)
        return false;
    mpiq_columns_row(table, MPIQ_STYLE_NONE);
    mpiq_columns_set_string(table, 0, mpiq_job_communicator_name(page->job, comm));
    mpiq_buffer_unsigned(&cell, page->job->communicators[comm].flags & MPIQ_COMM_SELF ? 1 : members.size);
    mpiq_columns_set(table, 1, &cell);
    if (counts.number_count > 0)
        mpiq_buffer_printf(&cell, "%" PRId64, counts.numbers[0].number);
    mpiq_columns_set(table, 2, &cell);
    for (size_t i = 0; i < counts.row_count; i++) {
        if (!counts.rows[i].active)
            continue;
        mpiq_buffer_printf(&cell, "%s%s: ", cell.length > 0 ? "; " : "", counts.rows[i].collective);
        mpiq_put_who(&cell, &counts.rows[i].ranks, 4);
    }
    mpiq_columns_set(table, 3, &cell);
    return true;
}

/* Those where somebody is in a collective come first. */
static bool has_active(const struct mpiq_job_state *job, uint32_t comm)
{
    const struct mpiq_job_communicator *row = &job->communicators[comm];
    for (uint32_t i = 0; i < row->member_count; i++) {
        const struct mpiq_job_member *member = &job->members[row->first_member + i];
        for (uint32_t k = 0; k < member->count_count; k++) {
            if (job->counts[member->first_count + k].active)
                return true;
        }
    }
    return false;
}

static void put_communicators(struct mpiq_page *page, size_t most)
{
    static const struct mpiq_column headings[] = {
        {.heading = "COMMUNICATOR"},
        {.heading = "RANKS", .number = true},
        {.heading = "CALLS", .number = true},
        {.heading = "IN IT NOW"},
    };
    struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
        mpiq_columns_create(page, headings, sizeof headings / sizeof *headings);
    size_t wanted = 0, shown = 0;
    for (int active = 1; active >= 0; active--) {
        for (uint32_t comm = 0; comm < page->job->communicator_count; comm++) {
            if (!mpiq_page_wants_communicator(page, comm) ||
                page->job->communicators[comm].flags & MPIQ_COMM_SELF ||
                has_active(page->job, comm) != (active == 1))
                continue;
            wanted++;
            if (shown == most)
                continue;
            page->out.failed |= !put_communicator(page, table, comm);
            shown++;
        }
    }
    if (shown == 0)
        return;
    mpiq_print_gap(page);
    mpiq_columns_print(table, 2, true);
    if (shown < wanted)
        mpiq_print(page, 2, "%zu more communicators (mpiq comms)", wanted - shown);
}

void mpiq_show_screen(struct mpiq_page *page)
{
    enum { COMMUNICATORS = 4, NOTES = 2, LEAST_LINES = 3 };
    struct mpiq_rank_cells cells _cleanup_(mpiq_rank_cells_deinit) = {0};
    struct mpiq_rank_set suspects _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_behaviours all _cleanup_(mpiq_behaviours_deinit) = {0};
    struct mpiq_buffer rates _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    if (!mpiq_rank_cells_collect(page, &cells) || !mpiq_page_suspects(page, &suspects) ||
        !mpiq_behaviours_collect(page, NULL, &all)) {
        page->out.failed = true;
        return;
    }
    struct grid grid = choose_grid(page, page->diagnosis->rank_count);
    mpiq_print_gap(page);
    for (uint32_t i = 0; i < page->job->world_count; i++)
        put_world(page, &cells, i, grid, &suspects);
    put_legend(page, &cells, grid, suspects.size > 0);
    put_rates(page, &rates);
    if (rates.length > 0)
        mpiq_print(page, 2, "%s", mpiq_buffer_text(&rates));
    size_t used = mpiq_lines_of(&page->out) + COMMUNICATORS + 3;
    size_t height = page->options->height > 0 ? (size_t)page->options->height : SIZE_MAX;
    size_t left = height > used + 3 ? height - used - 3 : LEAST_LINES;
    mpiq_put_behaviours(page, &all, "Who waits for whom", left > LEAST_LINES ? left : LEAST_LINES);
    put_communicators(page, COMMUNICATORS);
    mpiq_put_notes(page, "What could not be read", page->diagnosis->notes, page->diagnosis->note_count,
                   NOTES);
}
