/* SPDX-License-Identifier: BSD-3-Clause */
/* progress - one progress line on stderr, if that is a terminal and the work takes more than a second. */
#ifndef MPIQ_CLI_PROGRESS_H
#define MPIQ_CLI_PROGRESS_H

#include <stdbool.h>
#include <time.h>

struct progress {
    struct timespec started;
    bool terminal; /* stderr is one */
    bool shown;    /* a line stands there */
};

void progress_start(struct progress *progress);
/* As mpiq_options.progress; argument is the struct progress. */
void progress_show(void *argument, const char *text);
/* Wipes the line. */
void progress_end(struct progress *progress);

#endif
