/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report - a diagnosed job for people and programs: text, JSON (docs/report.schema.json), HTML.
 *
 * It only renders: verdict, findings and chains come from lib/job, everything else from the job state.  The
 * text begins with the most important thing, ranks that do the same share a line, and the report fits a
 * screen of MPIQ_REPORT_LINES for any number of ranks, unless the terminal is so narrow that all lines wrap.
 * Names and paths from the processes never reach a terminal with control characters in them.
 *
 * The same job, diagnosis and options give the same bytes.
 */
#ifndef MPIQ_REPORT_H
#define MPIQ_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "mpiq.h"
#include "state/finding.h"
#include "state/job_state.h"
#include "state/rank_set.h"
#include "state/stack_tree.h"

/* Lines of a report, for whatever job. */
#define MPIQ_REPORT_LINES 50

/* Some lines of a source file. */
struct mpiq_excerpt {
    int32_t first; /* number of the first one */
    char *text;    /* each ends in a line break; the caller frees it */
};
/* The lines around `line` of a file that `process` was built from; false where they may not be read. */
typedef bool mpiq_excerpt_callback(void *context, uint32_t process, const char *file, int32_t line,
                                   struct mpiq_excerpt *ret);

/* All zeros is a plain text report of all ranks. */
struct mpiq_report_options {
    enum mpiq_format format;             /* HTML: a page with the whole report, whatever the view */
    bool color;                          /* text with the terminal's escape sequences */
    bool utf8;                           /* text with characters beyond ASCII */
    bool all;                            /* internal messages and communicators too */
    int width;                           /* of the terminal in columns; 0: as wide as it gets */
    int height;                          /* of MPIQ_VIEW_SCREEN in lines; 0: as high as it gets */
    const struct mpiq_job_state *before; /* an earlier look, for calls a second; NULL */
    const struct mpiq_rank_set *ranks;   /* only these; NULL: all.  Verdict and findings stay whole */
    const struct mpiq_rank_set *history; /* whose history MPIQ_VIEW_HISTORY shows, which needs it */
    const char *user;                    /* a page: whose processes they are; NULL: not known */
    mpiq_excerpt_callback *excerpt;      /* a page: source lines; NULL: they are not to be had */
    void *excerpt_context;
    const struct mpiq_stack_tree *stacks; /* what MPIQ_VIEW_STACKS shows */
    const uint32_t *past_messages;        /* as mpiq_past_messages says; NULL: not asked for */
    const char *comm;                     /* only communicators of that name or number; NULL: all */
};

/* Renders a view.  job is finished, diagnosis is of job; chain is what mpiq_why said for the rank asked for
   and is used by MPIQ_VIEW_WHY alone, which needs it.  *ret ends in a line break; the caller frees it.
   Fails without memory, and with MPIQ_ERROR_USAGE if the chain is missing. */
struct mpiq_error *mpiq_report_render(const struct mpiq_job_state *job,
                                      const struct mpiq_diagnosis *diagnosis, enum mpiq_view view,
                                      const struct mpiq_chain *chain,
                                      const struct mpiq_report_options *options, char **ret);

/* As above, written to out piece by piece: for JSON that is larger than it should be in memory.  Fails also
   if out does (MPIQ_ERROR_IO). */
struct mpiq_error *mpiq_report_write(const struct mpiq_job_state *job, const struct mpiq_diagnosis *diagnosis,
                                     enum mpiq_view view, const struct mpiq_chain *chain,
                                     const struct mpiq_report_options *options, FILE *out);

#endif
