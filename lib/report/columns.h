/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * columns - a table on a page: rows of cells, each column as wide as its widest cell.
 *
 * Empty columns are left out.  On a terminal that is too narrow, the last column wraps beside the others if
 * there is room.  Otherwise each row is folded: the first columns stay aligned, and the others follow on
 * separate, indented lines.
 */
#ifndef MPIQ_REPORT_COLUMNS_H
#define MPIQ_REPORT_COLUMNS_H

#include "report/print.h"

struct mpiq_column {
    const char *heading;
    bool number; /* right-aligned */
};

struct mpiq_columns;

/* NULL on allocation failure: all functions below accept that, and the page's buffer is failed. */
struct mpiq_columns *mpiq_columns_create(struct mpiq_page *page, const struct mpiq_column *columns,
                                         size_t count);
void mpiq_columns_destroy(struct mpiq_columns *columns);
static inline void mpiq_columns_cleanup(struct mpiq_columns **columns)
{
    mpiq_columns_destroy(*columns);
}

/* Begins a row, in a style. */
void mpiq_columns_row(struct mpiq_columns *columns, enum mpiq_style style);
/* Sets a cell of the row begun last, and empties text for the next one.  The cell is escaped. */
void mpiq_columns_set(struct mpiq_columns *columns, size_t column, struct mpiq_buffer *text);
void mpiq_columns_set_string(struct mpiq_columns *columns, size_t column, const char *text);
/* "31 times:", or "MPI_Send (31 times)" behind that text; "×31" where there may be more than ASCII. */
void mpiq_columns_set_times(struct mpiq_columns *columns, size_t column, struct mpiq_buffer *text,
                            size_t times);

/* Adds the table to the page, each line after `indent` spaces; heading or not. */
void mpiq_columns_print(struct mpiq_columns *columns, size_t indent, bool heading);

#endif
