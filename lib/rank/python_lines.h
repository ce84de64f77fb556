/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * python_lines - the line of an instruction, from the tables that CPython's compiler stores with the code.
 *
 * The tables are bytes from another process: whatever they contain, nothing is read beyond their end.
 */
#ifndef MPIQ_RANK_PYTHON_LINES_H
#define MPIQ_RANK_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

enum mpiq_python_table {
    MPIQ_PYTHON_LNOTAB,    /* CPython 3.6 to 3.9: Objects/lnotab_notes.txt of 3.9 */
    MPIQ_PYTHON_LINETABLE, /* 3.10: Objects/lnotab_notes.txt of 3.10 */
    MPIQ_PYTHON_LOCATIONS  /* 3.11 and later: Objects/locations.md */
};

/* The line of the instruction at that offset, in bytes, of the code whose first line is first_line.
   0: the table does not say. */
int mpiq_python_line(enum mpiq_python_table kind, const unsigned char *table, size_t size, int first_line,
                     uint64_t offset);

#endif
