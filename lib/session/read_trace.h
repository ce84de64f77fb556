/* SPDX-License-Identifier: BSD-3-Clause */
/* read_trace - reads an OTF2 archive; a reader of traces opens and parses it, because it is untrusted. */
#ifndef MPIQ_SESSION_READ_TRACE_H
#define MPIQ_SESSION_READ_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "state/snapshot.h"

/* Whether the file is the anchor file of an OTF2 archive, by its name. */
bool mpiq_is_trace(const char *path);

/* The states of all ranks at that time after the archive's start (-1: at its end), as look 1. */
struct mpiq_error *mpiq_read_trace(const char *path, int64_t at_ns, mpiq_snapshot_callback *callback,
                                   void *context);

/* Each line that a reader of traces answers to "late"; it is untrusted. */
typedef struct mpiq_error *mpiq_trace_line_callback(void *context, const char *line);
struct mpiq_error *mpiq_read_trace_late(const char *path, mpiq_trace_line_callback *callback, void *context);

#endif
