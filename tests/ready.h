/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ready - how a rank of a test's job tells tests/support/job.py that its next call is the one that hangs, or
 * that its loop begins: a line "ready RANK PID" in the fifo that MPIQ_CORPUS_READY names.
 *
 * Line.compile of tests/support/libraries.py has this folder in its include path.
 */
#ifndef MPIQ_TESTS_READY_H
#define MPIQ_TESTS_READY_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Does nothing where the variable is not set: somebody runs the program by hand.  A fifo that cannot be
   written ends the program, for its test would wait for a line that never comes. */
static inline void say_ready(int rank)
{
    const char *path = getenv("MPIQ_CORPUS_READY");
    if (!path)
        return;
    /* One write, so that the lines of ranks do not mix. */
    int fifo = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fifo < 0 || dprintf(fifo, "ready %d %d\n", rank, (int)getpid()) < 0) {
        perror(path);
        abort();
    }
    close(fifo);
}

#endif
