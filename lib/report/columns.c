/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define GAP 2

/* Below so many columns of text the last column does not wrap beside the others. */
#define LEAST_WRAPPED 30

struct row {
    char **cells; /* NULL: empty */
    enum mpiq_style style;
};

struct mpiq_columns {
    struct mpiq_page *page;
    const struct mpiq_column *columns;
    size_t count;
    size_t *widths; /* by column, without the heading; 0: no value */
    struct row *rows;
    size_t row_count;
};

static void fail(struct mpiq_columns *columns)
{
    columns->page->out.failed = true;
}

struct mpiq_columns *mpiq_columns_create(struct mpiq_page *page, const struct mpiq_column *columns,
                                         size_t count)
{
    struct mpiq_columns *made = calloc(1, sizeof *made);
    size_t *widths = calloc(count, sizeof *widths);
    if (!made || !widths) {
        free(made);
        free(widths);
        page->out.failed = true;
        return NULL;
    }
    *made = (struct mpiq_columns){.page = page, .columns = columns, .count = count, .widths = widths};
    return made;
}

void mpiq_columns_destroy(struct mpiq_columns *columns)
{
    if (!columns)
        return;
    for (size_t i = 0; i < columns->row_count; i++) {
        for (size_t k = 0; k < columns->count; k++)
            free(columns->rows[i].cells[k]);
        free(columns->rows[i].cells);
    }
    free(columns->rows);
    free(columns->widths);
    free(columns);
}

void mpiq_columns_row(struct mpiq_columns *columns, enum mpiq_style style)
{
    if (!columns)
        return;
    struct row *rows = mpiq_array_grown(columns->rows, columns->row_count, sizeof *rows);
    if (rows)
        columns->rows = rows;
    char **cells = rows ? calloc(columns->count, sizeof *cells) : NULL;
    if (!cells) {
        fail(columns);
        return;
    }
    rows[columns->row_count++] = (struct row){.cells = cells, .style = style};
}

/* Columns of a terminal: UTF-8's further bytes of a character take none. */
static size_t width_of_text(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* Takes the escaped text. */
static void set_cell(struct mpiq_columns *columns, size_t column, char *text)
{
    char **cell = &columns->rows[columns->row_count - 1].cells[column];
    size_t width = width_of_text(text);
    free(*cell);
    *cell = text;
    if (width > columns->widths[column])
        columns->widths[column] = width;
}

void mpiq_columns_set_string(struct mpiq_columns *columns, size_t column, const char *text)
{
    if (!columns || columns->row_count == 0 || !text || !*text)
        return;
    char *plain = mpiq_escape_string(MPIQ_ESCAPE_TEXT, text);
    if (plain)
        set_cell(columns, column, plain);
    else
        fail(columns);
}

void mpiq_columns_set_times(struct mpiq_columns *columns, size_t column, struct mpiq_buffer *text,
                            size_t times)
{
    if (!columns || columns->row_count == 0)
        return;
    char *plain _cleanup_free_ = mpiq_escape_string(MPIQ_ESCAPE_TEXT, mpiq_buffer_text(text)), *cell;
    bool sign = columns->page->options->utf8 && columns->page->options->format == MPIQ_FORMAT_TEXT;
    int length = !plain || text->failed ? -1
                 : text->length > 0 ? asprintf(&cell, sign ? "%s \u00d7%zu" : "%s (%zu times)", plain, times)
                                    : asprintf(&cell, sign ? "\u00d7%zu" : "%zu times:", times);
    if (length < 0)
        fail(columns);
    else
        set_cell(columns, column, cell);
    text->length = 0;
}

void mpiq_columns_set(struct mpiq_columns *columns, size_t column, struct mpiq_buffer *text)
{
    mpiq_columns_set_string(columns, column, mpiq_buffer_text(text));
    if (columns && text->failed)
        fail(columns);
    text->length = 0;
}

static void put_html_row(struct mpiq_columns *columns, const char *tag, const char *class, char *const *cells)
{
    struct mpiq_buffer *out = &columns->page->out;
    mpiq_buffer_printf(out, "<tr%s>", class);
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->widths[i] == 0)
            continue;
        mpiq_buffer_printf(out, "<%s%s>", tag, columns->columns[i].number ? " class=\"number\"" : "");
        mpiq_put_html(out, cells ? cells[i] : columns->columns[i].heading);
        mpiq_buffer_printf(out, "</%s>", tag);
    }
    mpiq_buffer_string(out, "</tr>\n");
}

static void print_html(struct mpiq_columns *columns, bool heading)
{
    mpiq_buffer_string(&columns->page->out, "<div class=\"scroll\"><table>\n");
    if (heading)
        put_html_row(columns, "th", "", NULL);
    for (size_t i = 0; i < columns->row_count; i++)
        put_html_row(columns, "td", mpiq_style_class(columns->rows[i].style), columns->rows[i].cells);
    mpiq_buffer_string(&columns->page->out, "</table></div>\n");
}

/* How a table fits the terminal. */
struct fit {
    size_t indent;
    size_t width; /* of the terminal */
    size_t last;  /* the last column with a value */
    size_t
        aligned; /* columns before this one are aligned on a row's first line; those from it on are folded */
    size_t wrapped; /* columns of text for the last column, if that wraps; 0: it does not */
    bool heading;
};

static size_t width_of(const struct mpiq_columns *columns, const struct fit *fit, size_t column)
{
    size_t heading = fit->heading ? strlen(columns->columns[column].heading) : 0;
    return heading > columns->widths[column] ? heading : columns->widths[column];
}

static struct fit fit_of(const struct mpiq_columns *columns, size_t indent, bool heading)
{
    int terminal = columns->page->options->width;
    struct fit fit = {.indent = indent,
                      .width = terminal > 0 ? (size_t)terminal : SIZE_MAX,
                      .aligned = columns->count,
                      .heading = heading};
    size_t used = indent;
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->widths[i] > 0)
            fit.last = i;
    }
    for (size_t i = 0; i <= fit.last; i++) {
        if (columns->widths[i] == 0)
            continue;
        size_t before = used > indent ? used + GAP : used;
        size_t width = width_of(columns, &fit, i);
        if (before + width > fit.width) {
            if (i == fit.last && before + LEAST_WRAPPED <= fit.width)
                fit.wrapped = fit.width - before;
            else
                fit.aligned = i > 0 ? i : 1;
            break;
        }
        used = before + width;
    }
    return fit;
}

/* The first `room` columns of a text at most, up to a blank, else behind a comma; at least one character. */
static size_t piece_of(const char *text, size_t room)
{
    size_t length = strlen(text);
    if (length <= room)
        return length;
    for (size_t i = room; i > 0; i--) {
        if (text[i] == ' ')
            return i;
    }
    for (size_t i = room; i > 0; i--) {
        if (text[i - 1] == ',')
            return i;
    }
    return room > 0 ? room : 1;
}

/* Adds a text that may take several lines, each after the first `hang` columns in. */
static void put_wrapped(struct mpiq_buffer *out, const char *text, size_t room, size_t hang)
{
    for (bool first = true; *text; first = false) {
        size_t length = piece_of(text, room);
        if (!first)
            mpiq_buffer_printf(out, "\n%*s", (int)hang, "");
        mpiq_buffer_add(out, text, length);
        text += length;
        text += strspn(text, " ");
    }
}

/* The columns that did not fit, filled into lines of their own. */
static void put_folded(struct mpiq_columns *columns, const struct fit *fit, char *const *cells)
{
    struct mpiq_buffer *out = &columns->page->out;
    struct mpiq_buffer rest _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(out);
    size_t hang = fit->indent + 4;
    for (size_t i = fit->aligned; i <= fit->last; i++) {
        const char *cell = cells ? cells[i] : columns->columns[i].heading;
        if (columns->widths[i] == 0 || !cell || !*cell)
            continue;
        mpiq_buffer_string(&rest, rest.length > 0 ? "  " : "");
        mpiq_buffer_string(&rest, cell);
    }
    if (rest.length == 0)
        return;
    mpiq_buffer_printf(out, "\n%*s", (int)hang, "");
    put_wrapped(out, mpiq_buffer_text(&rest), fit->width > hang ? fit->width - hang : 1, hang);
}

/* One row, or the heading if cells is NULL. */
static void put_row(struct mpiq_columns *columns, const struct fit *fit, char *const *cells,
                    enum mpiq_style style)
{
    struct mpiq_buffer *out = &columns->page->out;
    const char *sequence = style == MPIQ_STYLE_NONE ? "" : mpiq_style_sequence(columns->page, style);
    size_t column = fit->indent; /* where the text has come to */
    size_t begin = column;       /* where the next cell begins */

    mpiq_buffer_string(out, sequence);
    mpiq_buffer_printf(out, "%*s", (int)fit->indent, "");
    for (size_t i = 0; i <= fit->last && i < fit->aligned; i++) {
        const char *cell = cells ? cells[i] : columns->columns[i].heading;
        size_t width = width_of(columns, fit, i);
        if (columns->widths[i] == 0)
            continue;
        size_t length = cell ? width_of_text(cell) : 0;
        bool wraps = i == fit->last && fit->wrapped > 0;
        if (length > 0) {
            size_t at = begin + (columns->columns[i].number && length < width ? width - length : 0);
            mpiq_buffer_printf(out, "%*s", (int)(at - column), "");
            put_wrapped(out, cell,
                        wraps                       ? fit->wrapped
                        : i == 0 && fit->width > at ? fit->width - at
                                                    : SIZE_MAX,
                        at);
            column = at + length;
        }
        begin += width + GAP;
    }
    put_folded(columns, fit, cells);
    mpiq_buffer_string(out, *sequence ? mpiq_style_sequence(columns->page, MPIQ_STYLE_NONE) : "");
    mpiq_buffer_char(out, '\n');
}

void mpiq_columns_print(struct mpiq_columns *columns, size_t indent, bool heading)
{
    if (!columns || columns->page->out.failed || columns->row_count == 0)
        return;
    if (columns->page->options->format == MPIQ_FORMAT_HTML) {
        print_html(columns, heading);
        return;
    }
    struct fit fit = fit_of(columns, indent, heading);
    if (heading)
        put_row(columns, &fit, NULL, MPIQ_STYLE_NONE);
    for (size_t i = 0; i < columns->row_count; i++)
        put_row(columns, &fit, columns->rows[i].cells, columns->rows[i].style);
}
