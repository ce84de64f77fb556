/* SPDX-License-Identifier: BSD-3-Clause */
/* step_breaks - the breakpoints of mpiq run --step, as they are typed. */
#ifndef MPIQ_SESSION_STEP_BREAKS_H
#define MPIQ_SESSION_STEP_BREAKS_H

#include "base/buffer.h"
#include "mpiq_record.h"
#include "state/rank_set.h"

struct mpiq_step_break {
    bool used;
    char *text; /* as it was typed */
    struct mpiq_record_break record;
    struct mpiq_rank_set ranks; /* empty: all */
    char file[256];             /* last part of the path; "": no line is named */
    unsigned line;
};

/* "MPI_Bcast", "comm=rows", "rank=3" or "rank=0-3", "ring.c:20", or several of these with commas between.
   USAGE with a sentence if it is none. */
struct mpiq_error *mpiq_step_break_parse(const char *text, struct mpiq_step_break *ret);
void mpiq_step_break_deinit(struct mpiq_step_break *one);

/* Whether it names that line of that file, which may have a path. */
bool mpiq_step_break_is_at(const struct mpiq_step_break *one, const char *file, int line);

/* "1 MPI_Bcast  2 ring.c:20,rank=3" */
void mpiq_step_break_list(const struct mpiq_step_break *all, size_t count, struct mpiq_buffer *text);

#endif
