/* SPDX-License-Identifier: BSD-3-Clause */
/* reader_lines - the lines that a reader answers one request with, one after another. */
#ifndef MPIQ_READER_LINES_H
#define MPIQ_READER_LINES_H

#include "session/reader_process.h"

typedef struct mpiq_error *mpiq_reader_line_callback(void *context, const char *line);

/* Gives the callback each line of the answer to that request, which has to be the next one that the reader
   answers, and waits for its end, `longest_ns` at the most.  An error names what is read as `what`. */
struct mpiq_error *mpiq_take_reader_lines(struct mpiq_reader_process *process, uint64_t request,
                                          const char *what, int64_t longest_ns,
                                          mpiq_reader_line_callback *callback, void *context);

#endif
