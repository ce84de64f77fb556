/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limit - how long one input may compute: the process's own processor time, so that a busy machine changes
 * nothing.  libFuzzer's -timeout is wall-clock time, and only for what waits for ever.
 */
#ifndef FUZZ_LIMIT_H
#define FUZZ_LIMIT_H

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define LIMIT_SECONDS 1

static void limit_passed(int signal_number)
{
    static const char text[] = "fuzz: one input computes for more than a second\n";

    (void)signal_number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    abort();
}

static void limit_set(int seconds)
{
    struct itimerval limit = {{0, 0}, {seconds, 0}};

    signal(SIGPROF, limit_passed);
    setitimer(ITIMER_PROF, &limit, NULL);
}

/* From here on the program ends after LIMIT_SECONDS, with the stack of where it is ... */
static inline void limit_begin(void)
{
    limit_set(LIMIT_SECONDS);
}

/* ... unless this comes first. */
static inline void limit_end(void)
{
    limit_set(0);
}

#endif
