/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * step - the screen of mpiq run --step: a row for each rank, with the call that it is held before.
 *
 * Where its ranks come from, and how they are let go, is lib/session's.
 */
#ifndef MPIQ_REPORT_STEP_H
#define MPIQ_REPORT_STEP_H

#include "base/buffer.h"
#include "base/error.h"
#include "mpiq.h"
#include "report/step_row.h"

struct mpiq_step_view {
    const struct mpiq_step_row *rows; /* by world, rank and thread */
    size_t count;
    uint32_t world_size; /* of the first world; 0: not known */
    uint32_t selected;   /* row */
    const char *verdict; /* of the last look, a word and a sentence; "" */
    const char *breaks;  /* the breakpoints, in one line; "" */
};

/* "3", "w1:3"; "3/4711": a thread of it. */
void mpiq_step_put_name(struct mpiq_buffer *text, const struct mpiq_step_row *row);

/* The screen as text; the caller frees it.  *line: where the selected row begins. */
struct mpiq_error *mpiq_step_text(const struct mpiq_step_view *view,
                                  const struct mpiq_render_options *options, size_t *line, char **ret);

#endif
