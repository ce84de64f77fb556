/* SPDX-License-Identifier: BSD-3-Clause */
/* step_back - leaves the processors to those who look: many jobs run at once, and a rank that hangs spins. */
#ifndef STEP_BACK_H
#define STEP_BACK_H

#include <sys/resource.h>

static inline void step_back(void)
{
    setpriority(PRIO_PROCESS, 0, 10);
}

#endif
