/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress - one progress line on stderr, if that is a terminal and the work takes more than a second.
 *
 * A thread of its own shows what was said last, so that work that says what it does once, as it begins, is
 * seen for as long as it lasts.  Without a terminal there is no thread, and nothing is shown.
 */
#ifndef MPIQ_CLI_PROGRESS_H
#define MPIQ_CLI_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

struct progress {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool runs; /* the thread does */
    bool ends; /* it shall end */
    char text[200];
};

void progress_start(struct progress *progress);
/* As mpiq_options.progress; argument is the struct progress.  Control characters are not shown. */
void progress_show(void *argument, const char *text);
/* Wipes the line.  Once it has ended, it may be ended again. */
void progress_end(struct progress *progress);

#endif
