/* SPDX-License-Identifier: BSD-3-Clause */
/* line_table - a unit's line table, decoded once: the file and line of an address.  Locked (object.h). */
#ifndef MPIQ_LINE_TABLE_H
#define MPIQ_LINE_TABLE_H

#include "process/debug_info.h"

struct mpiq_line_table;

/* NULL if the unit has none that can be read. */
struct mpiq_line_table *mpiq_line_table_create(struct mpiq_debug_unit *unit);
void mpiq_line_table_destroy(struct mpiq_line_table *table);

/* The row that holds address: its file's number and its line; false if there is none. */
bool mpiq_line_table_find(const struct mpiq_line_table *table, uint64_t address, uint32_t *file, int *line);

/* The path of a file by its number, absolute if the unit says in which directory it was compiled.  Owned by
   the table; NULL: no such file, or no memory. */
const char *mpiq_line_table_path(struct mpiq_line_table *table, uint64_t file);

#endif
