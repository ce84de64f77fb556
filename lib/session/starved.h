/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * starved - whether a process is slow because it gets no processor.
 *
 * A clock on the wall says nothing about a reader that waits its turn on a busy machine.
 */
#ifndef MPIQ_SESSION_STARVED_H
#define MPIQ_SESSION_STARVED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What a process and those below it have used of the processor so far, and whether one of their threads wants
   it now. */
struct mpiq_share {
    uint64_t cpu_ns;
    bool wants;
};

/* pid 0: nothing.  below: with the processes that it has started, and those that they have. */
struct mpiq_share mpiq_share_of(pid_t pid, bool below);

/* Whether less than half of the last ns nanoseconds was given to what wants more. */
bool mpiq_is_starved(const struct mpiq_share *before, const struct mpiq_share *now, int64_t ns);

#endif
