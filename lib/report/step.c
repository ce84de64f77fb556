/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/step.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/print.h"
#include "report/step_data.h"
#include "words/put.h"

enum { PICTURE_MOST = 16, COLUMNS = 5 };

/* ---- the call --------------------------------------------------------------------------------------------
 */

static void put_rank(struct mpiq_buffer *text, int32_t rank)
{
    if (rank >= 0)
        mpiq_buffer_signed(text, rank);
    else
        mpiq_buffer_string(text, rank == MPIQ_STEP_ANY    ? "MPI_ANY_SOURCE"
                                 : rank == MPIQ_STEP_NULL ? "MPI_PROC_NULL"
                                 : rank == MPIQ_STEP_ROOT ? "MPI_ROOT"
                                                          : "a rank that is not known");
}

/* "to 1 tag 7", "from MPI_ANY_SOURCE any tag" */
static void put_peer(struct mpiq_buffer *text, const struct mpiq_step_peer *peer)
{
    if (peer->call[0]) {
        mpiq_put_plain(text, peer->call);
        if (!peer->collective)
            mpiq_buffer_char(text, ' ');
    }
    if (peer->collective)
        return;
    mpiq_buffer_string(text, peer->window ? "at " : peer->receives ? "from " : "to ");
    put_rank(text, peer->rank);
    if (peer->tag >= 0)
        mpiq_buffer_printf(text, " tag %" PRId32, peer->tag);
    else if (peer->tag == MPIQ_STEP_ANY)
        mpiq_buffer_string(text, " any tag");
}

static void put_peers(struct mpiq_buffer *text, const struct mpiq_step_row *row)
{
    enum { MOST = 3 };
    uint32_t count = row->peer_count < MOST ? row->peer_count : MOST;
    for (uint32_t i = 0; i < count; i++) {
        mpiq_buffer_string(text, i == 0 && !row->peers[i].call[0] ? " " : i == 0 ? " for " : " and ");
        put_peer(text, &row->peers[i]);
    }
    if (row->requests > count && count > 0)
        mpiq_buffer_printf(text, " (%" PRIu64 " requests)", row->requests);
    else if (row->requests > 0 && count == 0)
        mpiq_buffer_printf(text, " for %" PRIu64 " request%s", row->requests, row->requests > 1 ? "s" : "");
}

static void put_call(struct mpiq_buffer *text, const struct mpiq_step_row *row)
{
    mpiq_put_plain(text, row->call);
    put_peers(text, row);
    if (row->root != MPIQ_STEP_NONE) {
        mpiq_buffer_string(text, " root ");
        put_rank(text, row->root);
    }
    if (row->op[0]) {
        mpiq_buffer_char(text, ' ');
        mpiq_put_plain(text, row->op);
    }
    if (row->comm_size > 0) {
        mpiq_buffer_string(text, " on ");
        mpiq_put_plain(text, row->comm[0] ? row->comm : "a communicator");
        if (!row->comm[0])
            mpiq_buffer_printf(text, " of %" PRId32, row->comm_size);
    }
    if (row->repeats > 0)
        mpiq_buffer_printf(text, ", %" PRIu64 " times", row->repeats + 1);
    if (row->broke > 0 && row->state == MPIQ_STEP_HELD)
        mpiq_buffer_printf(text, " [breakpoint %" PRIu32 "]", row->broke);
}

/* ---- the picture -----------------------------------------------------------------------------------------
 */

/* Ranks that it waits for, or that the call is about; a bit each. */
static uint32_t targets_of(const struct mpiq_step_row *row, int32_t ranks)
{
    uint32_t all = ranks >= 32 ? UINT32_MAX : (1u << ranks) - 1, ret = 0;
    bool any = false;
    for (uint32_t i = 0; i < row->peer_count; i++) {
        any = any || (row->peers[i].rank == MPIQ_STEP_ANY && row->peers[i].receives);
        if (row->peers[i].rank >= 0 && row->peers[i].rank < ranks && !row->peers[i].collective)
            ret |= 1u << row->peers[i].rank;
    }
    for (uint32_t i = 0; i < row->missing_count; i++)
        ret |= row->missing[i] < (uint32_t)ranks ? 1u << row->missing[i] : 0;
    return any ? all : ret;
}

/*
 * "[0]---------->3": a fixed picture, as no message moves while a rank waits.  Each rank has its place.  What
 * a rank waits for that is in its call has a line, what one that is held is about to do has dots.
 */
static void put_picture(struct mpiq_buffer *text, const struct mpiq_step_row *row, int32_t ranks)
{
    enum { CELL = 5 };
    char line[PICTURE_MOST * CELL + 1];
    bool inside = row->state == MPIQ_STEP_INSIDE;
    uint32_t targets = inside || row->state == MPIQ_STEP_HELD ? targets_of(row, ranks) : 0;
    int32_t own = row->rank, first = own, last = own;
    for (int32_t i = 0; i < ranks; i++) {
        if (targets >> i & 1) {
            first = i < first ? i : first;
            last = i > last ? i : last;
        }
    }
    memset(line, ' ', sizeof line - 1);
    if (last > first)
        memset(line + first * CELL + 2, inside ? '-' : '.', (size_t)(last - first) * CELL);
    for (int32_t i = 0; i < ranks; i++) {
        char number[12];
        int length = snprintf(number, sizeof number, "%" PRId32, i);
        char *cell = line + i * CELL;
        bool target = i != own && targets >> i & 1;
        if (i != own && !target) {
            cell[2] = i > first && i < last ? cell[2] : ' ';
            continue;
        }
        memcpy(cell + 2, number, (size_t)length);
        if (i == own) {
            cell[1] = '[';
            cell[2 + length] = ']';
        } else if (i > own) {
            cell[1] = '>';
            if (i == last)
                cell[2 + length] = ' ';
        } else {
            cell[2 + length] = '<';
            if (i == first)
                cell[1] = ' ';
        }
    }
    size_t length = (size_t)ranks * CELL;
    line[length] = '\0';
    while (length > 0 && line[length - 1] == ' ')
        line[--length] = '\0';
    mpiq_buffer_string(text, line);
}

/* The same of many ranks: "-> 3,7". */
static void put_targets(struct mpiq_buffer *text, const struct mpiq_step_row *row)
{
    struct mpiq_rank_set ranks _cleanup_(mpiq_rank_set_deinit) = {0};
    bool any = false;
    if (row->state != MPIQ_STEP_INSIDE && row->state != MPIQ_STEP_HELD)
        return;
    for (uint32_t i = 0; i < row->peer_count; i++) {
        any = any || (row->peers[i].rank == MPIQ_STEP_ANY && row->peers[i].receives);
        if (row->peers[i].rank >= 0 && !mpiq_rank_set_add(&ranks, 0, (uint32_t)row->peers[i].rank))
            mpiq_buffer_fail(text);
    }
    for (uint32_t i = 0; i < row->missing_count; i++) {
        if (!mpiq_rank_set_add(&ranks, 0, row->missing[i]))
            mpiq_buffer_fail(text);
    }
    if (!any && ranks.size == 0)
        return;
    mpiq_buffer_string(text, row->state == MPIQ_STEP_INSIDE ? "-> " : "..> ");
    if (any)
        mpiq_buffer_string(text, "any");
    else
        mpiq_put_ranks(text, &ranks, 4);
}

/* ---- the table -------------------------------------------------------------------------------------------
 */

static const char *word_of(enum mpiq_step_state state)
{
    static const char *const words[] = {
        [MPIQ_STEP_STARTING] = "starting", [MPIQ_STEP_OUTSIDE] = "outside",     [MPIQ_STEP_HELD] = "held",
        [MPIQ_STEP_INSIDE] = "in",         [MPIQ_STEP_FINALIZED] = "finalized", [MPIQ_STEP_ENDED] = "ended"};
    return words[state];
}

void mpiq_step_put_name(struct mpiq_buffer *text, const struct mpiq_step_row *row)
{
    if (row->world > 0)
        mpiq_buffer_printf(text, "w%" PRIu32 ":", row->world);
    mpiq_buffer_signed(text, row->rank);
    if (row->thread > 0)
        mpiq_buffer_printf(text, "/%" PRId32, row->thread);
}

static void put_cell(struct mpiq_buffer *text, const struct mpiq_step_view *view,
                     const struct mpiq_step_row *row, int column)
{
    bool busy = row->state == MPIQ_STEP_HELD || row->state == MPIQ_STEP_INSIDE;
    switch (column) {
    case 0:
        mpiq_step_put_name(text, row);
        break;
    case 1:
        mpiq_buffer_string(text, word_of(row->state));
        break;
    case 2:
        if (row->world == 0 && view->world_size > 0 && view->world_size <= PICTURE_MOST && row->rank >= 0 &&
            (uint32_t)row->rank < view->world_size)
            put_picture(text, row, (int32_t)view->world_size);
        else
            put_targets(text, row);
        break;
    case 3:
        if (busy)
            put_call(text, row);
        break;
    default:
        if (busy)
            mpiq_put_plain(text, row->place);
        break;
    }
}

static void pad(struct mpiq_buffer *text, size_t count)
{
    while (count-- > 0)
        mpiq_buffer_char(text, ' ');
}

/* The cells of one row, in one buffer. */
struct cells {
    struct mpiq_buffer text[COLUMNS];
};

static void cells_deinit(struct cells *cells)
{
    for (int i = 0; i < COLUMNS; i++)
        mpiq_buffer_deinit(&cells->text[i]);
}

static void fill(struct cells *cells, struct mpiq_buffer *out, const struct mpiq_step_view *view,
                 const struct mpiq_step_row *row)
{
    for (int i = 0; i < COLUMNS; i++) {
        cells->text[i] = mpiq_buffer_part(out);
        put_cell(&cells->text[i], view, row, i);
    }
}

static const char *const headings[COLUMNS] = {"RANK", "STATE", "WAITS FOR", "CALL", "AT"};

static void measure(struct mpiq_buffer *out, const struct mpiq_step_view *view, size_t widths[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++)
        widths[i] = strlen(headings[i]);
    for (size_t i = 0; i < view->count; i++) {
        struct cells cells _cleanup_(cells_deinit) = {0};
        fill(&cells, out, view, &view->rows[i]);
        for (int column = 0; column < COLUMNS; column++) {
            if (cells.text[column].length > widths[column])
                widths[column] = cells.text[column].length;
        }
    }
}

static void put_headings(struct mpiq_buffer *out, const size_t widths[COLUMNS])
{
    mpiq_buffer_string(out, "  ");
    for (int i = 0; i < COLUMNS; i++) {
        pad(out, i == 0 ? widths[0] - strlen(headings[0]) : 0);
        mpiq_buffer_string(out, headings[i]);
        if (i + 1 < COLUMNS)
            pad(out, (i == 0 ? 0 : widths[i] - strlen(headings[i])) + 2);
    }
    mpiq_buffer_char(out, '\n');
}

static const char *color_of(const struct mpiq_step_row *row, bool color)
{
    if (!color)
        return "";
    return row->state == MPIQ_STEP_HELD ? "\033[1m" : row->state == MPIQ_STEP_INSIDE ? "\033[38;5;214m" : "";
}

static void put_row(struct mpiq_buffer *out, const struct mpiq_step_view *view, size_t index,
                    const size_t widths[COLUMNS], bool color)
{
    struct cells cells _cleanup_(cells_deinit) = {0};
    const struct mpiq_step_row *row = &view->rows[index];
    const char *style = color_of(row, color);
    fill(&cells, out, view, row);
    mpiq_buffer_string(out, index == view->selected ? "> " : "  ");
    for (int i = 0; i < COLUMNS; i++) {
        size_t length = cells.text[i].length;
        pad(out, i == 0 ? widths[0] - length : 0);
        mpiq_buffer_string(out, style);
        mpiq_buffer_string(out, mpiq_buffer_text(&cells.text[i]));
        mpiq_buffer_string(out, style[0] ? "\033[0m" : "");
        if (i + 1 < COLUMNS)
            pad(out, (i == 0 ? 0 : widths[i] - length) + 2);
    }
    mpiq_buffer_char(out, '\n');
    if (row->state != MPIQ_STEP_HELD && row->state != MPIQ_STEP_INSIDE)
        return;
    struct mpiq_buffer data _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(out);
    mpiq_step_put_data(&data, row);
    if (data.length == 0)
        return;
    pad(out, 2 + widths[0] + 2 + widths[1] + 2 + widths[2] + 2);
    mpiq_buffer_string(out, mpiq_buffer_text(&data));
    mpiq_buffer_char(out, '\n');
}

static size_t lines_in(const struct mpiq_buffer *text)
{
    size_t count = 0;
    for (size_t i = 0; i < text->length; i++)
        count += text->bytes[i] == '\n';
    return count;
}

static void put_summary(struct mpiq_buffer *out, const struct mpiq_step_view *view)
{
    size_t held = 0, inside = 0;
    for (size_t i = 0; i < view->count; i++) {
        held += view->rows[i].state == MPIQ_STEP_HELD;
        inside += view->rows[i].state == MPIQ_STEP_INSIDE;
    }
    if (view->count == 0) {
        mpiq_buffer_string(out, "no rank has come to MPI_Init yet\n");
        return;
    }
    bool threads = false;
    for (size_t i = 0; i < view->count; i++)
        threads = threads || view->rows[i].thread > 0;
    if (threads)
        mpiq_buffer_printf(out, "%zu ranks and threads", view->count);
    else
        mpiq_put_count(out, view->count, "rank");
    if (!threads && view->world_size > view->count)
        mpiq_buffer_printf(out, " of %" PRIu32 " (those on other hosts are not held)", view->world_size);
    mpiq_buffer_printf(out, ": %zu held before a call, %zu in a call\n", held, inside);
}

struct mpiq_error *mpiq_step_text(const struct mpiq_step_view *view,
                                  const struct mpiq_render_options *options, size_t *line, char **ret)
{
    struct mpiq_buffer out = {0};
    size_t widths[COLUMNS];
    put_summary(&out, view);
    mpiq_put_plain(&out, view->verdict);
    mpiq_buffer_char(&out, '\n');
    if (view->breaks[0]) {
        mpiq_buffer_string(&out, "breakpoints: ");
        mpiq_put_plain(&out, view->breaks);
        mpiq_buffer_char(&out, '\n');
    }
    mpiq_buffer_char(&out, '\n');
    measure(&out, view, widths);
    if (view->count > 0)
        put_headings(&out, widths);
    for (size_t i = 0; i < view->count; i++) {
        if (i == view->selected)
            *line = lines_in(&out);
        put_row(&out, view, i, widths, options->color);
    }
    return mpiq_buffer_end(&out, ret);
}
