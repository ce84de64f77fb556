/* SPDX-License-Identifier: BSD-3-Clause */
/* tell - what was found of the waiting in a trace, as JSON: an object a line, for state/late.h. */
#ifndef MPIQ_TRACE_TELL_H
#define MPIQ_TRACE_TELL_H

#include <stddef.h>

#include "trace/lateness.h"

/* Takes a line without its end; an error ends the telling. */
typedef struct mpiq_error *mpiq_late_callback(void *context, const char *line, size_t length);
struct mpiq_error *mpiq_late_tell(struct mpiq_late *late, mpiq_late_callback *callback, void *context);

#endif
