/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * columns - a table on a page, by libsmartcols: a heading, rows, columns as wide as they need.
 *
 * A column without a single value is left out.  On a terminal (a width is set) columns that may wrap do so.
 */
#ifndef MPIQ_REPORT_COLUMNS_H
#define MPIQ_REPORT_COLUMNS_H

#include "report/print.h"

struct mpiq_column {
    const char *heading;
    bool number; /* right-aligned */
    bool wrap;   /* gives way where the terminal is narrow */
};

struct mpiq_columns;

/* Never NULL for the caller's purposes: without memory it is NULL, which all below take, and the page's
   buffer is failed. */
struct mpiq_columns *mpiq_columns_create(struct mpiq_page *page, const struct mpiq_column *columns,
                                         size_t count);
void mpiq_columns_destroy(struct mpiq_columns *columns);
static inline void mpiq_columns_cleanup(struct mpiq_columns **columns)
{
    mpiq_columns_destroy(*columns);
}

/* Begins a row, in a style. */
void mpiq_columns_row(struct mpiq_columns *columns, enum mpiq_style style);
/* Sets a cell of the row begun last: text is emptied for the next one.  It is put through mpiq_put_plain. */
void mpiq_columns_set(struct mpiq_columns *columns, size_t column, struct mpiq_buffer *text);
void mpiq_columns_set_string(struct mpiq_columns *columns, size_t column, const char *text);

/* Adds the table to the page, each line after `indent` spaces; heading or not. */
void mpiq_columns_print(struct mpiq_columns *columns, size_t indent, bool heading);

#endif
