/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * python_layout - which CPython a process runs, and where the members of its records lie.
 *
 * Up to 3.12 each release has its own rows here.  From 3.13 on the process carries a table itself
 * (_Py_DebugOffsets, Include/internal/pycore_debug_offsets.h), and these rows only say where in that table a
 * member is.  Only 64-bit little-endian processes with the global interpreter lock are supported.
 */
#ifndef MPIQ_RANK_PYTHON_LAYOUT_H
#define MPIQ_RANK_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "rank/python_lines.h"
#include "process/target.h"

enum mpiq_python_member {
    MPIQ_PYTHON_INTERPRETERS, /* of _PyRuntimeState: the first interpreter */
    MPIQ_PYTHON_NEXT,         /* of PyInterpreterState */
    MPIQ_PYTHON_THREADS,      /* the first thread */
    MPIQ_PYTHON_THREAD_NEXT,  /* of PyThreadState */
    MPIQ_PYTHON_THREAD_ID,
    MPIQ_PYTHON_FRAME, /* the innermost frame, or what leads to it */
    MPIQ_PYTHON_CODE,  /* of the frame */
    MPIQ_PYTHON_PREVIOUS,
    MPIQ_PYTHON_INSTRUCTION,
    MPIQ_PYTHON_FIRST_LINE, /* of PyCodeObject */
    MPIQ_PYTHON_FILE,
    MPIQ_PYTHON_NAME,
    MPIQ_PYTHON_TABLE,
    MPIQ_PYTHON_INSTRUCTIONS,
    MPIQ_PYTHON_TEXT, /* the letters of a str of ASCII alone */
    MPIQ_PYTHON_MEMBERS
};

struct mpiq_python_layout {
    uint32_t release;                 /* 0x030b: 3.11 */
    uint64_t at[MPIQ_PYTHON_MEMBERS]; /* bytes from the record's start */
    enum mpiq_python_table table;
    int cframe;    /* of _PyCFrame, to which FRAME leads: the innermost frame; -1: FRAME itself does */
    uint16_t main; /* of _PyRuntimeState: the number of the main thread, where THREAD_ID is not the
                      system's; 0: it is */
    uint64_t
        locked; /* of PyInterpreterState: whether a thread has its lock (an int), and the record of that */
    uint64_t holder; /* thread; 0: not known */
};

/* false: the process runs no CPython, or one whose records are not known. */
bool mpiq_python_layout(struct mpiq_target *target, struct mpiq_python_layout *ret);

/* The address of a symbol of the process's. 0: it has none. */
uint64_t mpiq_python_symbol(struct mpiq_target *target, const char *name);

#endif
