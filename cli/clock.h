/* SPDX-License-Identifier: BSD-3-Clause */
/* clock - the time that intervals are measured by. */
#ifndef MPIQ_CLI_CLOCK_H
#define MPIQ_CLI_CLOCK_H

#include <time.h>

/* Seconds of CLOCK_MONOTONIC. */
static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

#endif
