/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Seconds before anything is shown. */
enum { QUIET = 1 };

/* One line of the terminal: a longer one would wrap, and only its end be wiped. */
static void put(const char *text)
{
    struct winsize size;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 8 ? size.ws_col : 80;
    fprintf(stderr, "\r\033[Kmpiq: %.*s", columns - 7, text);
    fflush(stderr);
}

static void *work(void *argument)
{
    struct progress *progress = argument;
    char shown[sizeof progress->text] = "";
    struct timespec begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    begin.tv_sec += QUIET;
    pthread_mutex_lock(&progress->lock);
    while (!progress->ends && pthread_cond_timedwait(&progress->changed, &progress->lock, &begin) == 0)
        ;
    while (!progress->ends) {
        if (strcmp(shown, progress->text) != 0) {
            memcpy(shown, progress->text, sizeof shown);
            put(shown);
        }
        pthread_cond_wait(&progress->changed, &progress->lock);
    }
    pthread_mutex_unlock(&progress->lock);
    if (shown[0])
        fputs("\r\033[K", stderr);
    return NULL;
}

void progress_start(struct progress *progress)
{
    pthread_condattr_t attributes;
    sigset_t all, before;
    *progress = (struct progress){.lock = PTHREAD_MUTEX_INITIALIZER};
    if (!isatty(STDERR_FILENO))
        return;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&progress->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all); /* signals are for those who work */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    progress->runs = pthread_create(&progress->thread, NULL, work, progress) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_show(void *argument, const char *text)
{
    struct progress *progress = argument;
    if (!progress->runs)
        return;
    pthread_mutex_lock(&progress->lock);
    snprintf(progress->text, sizeof progress->text, "%s", text);
    for (char *at = progress->text; *at; at++) {
        if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f)
            *at = '?';
    }
    pthread_cond_signal(&progress->changed);
    pthread_mutex_unlock(&progress->lock);
}

void progress_end(struct progress *progress)
{
    if (!progress->runs)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->ends = true;
    pthread_cond_signal(&progress->changed);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    progress->runs = false;
}
