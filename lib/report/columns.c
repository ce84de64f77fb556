/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/columns.h"

#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct mpiq_columns {
    struct mpiq_page *page;
    struct libscols_table *table;
    struct libscols_line *line; /* begun last; the table's */
    size_t count;
    bool *used; /* by column: it has a value */
};

static void fail(struct mpiq_columns *columns)
{
    columns->page->out.failed = true;
}

static bool add_columns(struct libscols_table *table, const struct mpiq_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int flags = (columns[i].number ? SCOLS_FL_RIGHT : 0) | (columns[i].wrap ? SCOLS_FL_WRAP : 0);
        if (!scols_table_new_column(table, columns[i].heading, 0, flags))
            return false;
    }
    return true;
}

struct mpiq_columns *mpiq_columns_create(struct mpiq_page *page, const struct mpiq_column *columns,
                                         size_t count)
{
    struct mpiq_columns *made = calloc(1, sizeof *made);
    if (!made) {
        page->out.failed = true;
        return NULL;
    }
    made->page = page;
    made->count = count;
    made->used = calloc(count, sizeof *made->used);
    made->table = scols_new_table();
    if (!made->used || !made->table || !add_columns(made->table, columns, count)) {
        page->out.failed = true;
        mpiq_columns_destroy(made);
        return NULL;
    }
    scols_table_enable_colors(made->table, page->options->color);
    scols_table_enable_noencoding(made->table, 1);
    scols_table_set_column_separator(made->table, "  ");
    return made;
}

void mpiq_columns_destroy(struct mpiq_columns *columns)
{
    if (!columns)
        return;
    scols_unref_table(columns->table);
    free(columns->used);
    free(columns);
}

void mpiq_columns_row(struct mpiq_columns *columns, enum mpiq_style style)
{
    if (!columns)
        return;
    columns->line = scols_table_new_line(columns->table, NULL);
    if (!columns->line) {
        fail(columns);
        return;
    }
    scols_line_set_userdata(columns->line, (void *)mpiq_style_class(style));
    const char *sequence = style == MPIQ_STYLE_NONE ? "" : mpiq_style_sequence(columns->page, style);
    bool colored = true;
    if (*sequence)
        colored = scols_line_set_color(columns->line, sequence) == 0;
    if (!colored)
        fail(columns);
}

void mpiq_columns_set_string(struct mpiq_columns *columns, size_t column, const char *text)
{
    if (!columns || !columns->line || !text || !*text)
        return;
    struct mpiq_buffer plain _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&columns->page->out);
    mpiq_put_plain(&plain, text);
    const char *cell = mpiq_buffer_text(&plain);
    columns->used[column] = true;
    if (scols_line_set_data(columns->line, column, cell) != 0)
        fail(columns);
}

void mpiq_columns_set(struct mpiq_columns *columns, size_t column, struct mpiq_buffer *text)
{
    mpiq_columns_set_string(columns, column, mpiq_buffer_text(text));
    if (columns && text->failed)
        fail(columns);
    text->length = 0;
}

/* Adds line without the blanks at its end. */
static void add_line(struct mpiq_buffer *out, size_t indent, const char *line, size_t length)
{
    while (length > 0 && line[length - 1] == ' ')
        length--;
    if (length > 0)
        mpiq_buffer_printf(out, "%*s", (int)indent, "");
    mpiq_buffer_add(out, line, length);
    mpiq_buffer_char(out, '\n');
}

static void free_iterator(struct libscols_iter **iterator)
{
    scols_free_iter(*iterator);
}

static void put_html_cell(struct mpiq_columns *columns, size_t i, const char *tag, struct libscols_cell *cell)
{
    struct mpiq_buffer *out = &columns->page->out;
    if (!columns->used[i])
        return;
    bool number = scols_column_is_right(scols_table_get_column(columns->table, i));
    mpiq_buffer_printf(out, "<%s%s>", tag, number ? " class=\"number\"" : "");
    mpiq_put_html(out, cell ? scols_cell_get_data(cell) : NULL);
    mpiq_buffer_printf(out, "</%s>", tag);
}

static void print_html(struct mpiq_columns *columns, bool heading)
{
    struct mpiq_buffer *out = &columns->page->out;
    struct libscols_line *line = NULL;
    struct libscols_iter *iterator _cleanup_(free_iterator) = scols_new_iter(SCOLS_ITER_FORWARD);
    if (!iterator) {
        fail(columns);
        return;
    }
    mpiq_buffer_string(out, "<table>\n");
    if (heading) {
        mpiq_buffer_string(out, "<tr>");
        for (size_t i = 0; i < columns->count; i++)
            put_html_cell(columns, i, "th",
                          scols_column_get_header(scols_table_get_column(columns->table, i)));
        mpiq_buffer_string(out, "</tr>\n");
    }
    while (scols_table_next_line(columns->table, iterator, &line) == 0) {
        mpiq_buffer_printf(out, "<tr%s>", (const char *)scols_line_get_userdata(line));
        for (size_t i = 0; i < columns->count; i++)
            put_html_cell(columns, i, "td", scols_line_get_cell(line, i));
        mpiq_buffer_string(out, "</tr>\n");
    }
    mpiq_buffer_string(out, "</table>\n");
}

void mpiq_columns_print(struct mpiq_columns *columns, size_t indent, bool heading)
{
    char *text _cleanup_free_ = NULL;
    if (!columns || columns->page->out.failed || scols_table_is_empty(columns->table))
        return;
    if (columns->page->options->format == MPIQ_FORMAT_HTML) {
        print_html(columns, heading);
        return;
    }
    int width = columns->page->options->width;
    for (size_t i = 0; i < columns->count; i++) {
        struct libscols_column *column = scols_table_get_column(columns->table, i);
        if (!columns->used[i])
            scols_column_set_flags(column, scols_column_get_flags(column) | SCOLS_FL_HIDDEN);
    }
    scols_table_enable_noheadings(columns->table, !heading);
    scols_table_set_termforce(columns->table, width > 0 ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
    if (width > 0)
        scols_table_set_termwidth(columns->table, (size_t)width > indent ? (size_t)width - indent : 1);
    if (scols_print_table_to_string(columns->table, &text) != 0 || !text) {
        fail(columns);
        return;
    }
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        add_line(&columns->page->out, indent, at, length);
        at += length + (at[length] == '\n');
    }
}
