/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

void progress_start(struct progress *progress)
{
    *progress = (struct progress){.terminal = isatty(STDERR_FILENO)};
    clock_gettime(CLOCK_MONOTONIC, &progress->started);
}

void progress_show(void *argument, const char *text)
{
    struct progress *progress = argument;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)(now.tv_sec - progress->started.tv_sec) +
                     (double)(now.tv_nsec - progress->started.tv_nsec) / 1e9;
    if (!progress->terminal || seconds < 1)
        return;
    fprintf(stderr, "\r\033[Kmpiq: %s", text);
    progress->shown = true;
}

void progress_end(struct progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
