/* SPDX-License-Identifier: BSD-3-Clause */
/* clock - relates the processor's cycle counter to the time of day. */
#include <time.h>

#include "recorder.h"

uint64_t clock_ns(void);

uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void clock_note(struct mpiq_record_moment *moment)
{
    moment->cycles = clock_cycles();
    moment->ns = clock_ns();
}
