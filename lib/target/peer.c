/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/peer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "target/proc.h"

enum { PATIENCE_MS = 200 };

static bool read_name(pid_t pid, char name[17])
{
    struct mpiq_proc_stat stat;
    struct mpiq_error *error = mpiq_proc_stat(pid, 0, &stat);
    mpiq_error_destroy(error);
    if (!error)
        memcpy(name, stat.name, sizeof stat.name);
    return !error;
}

bool mpiq_peer_is(pid_t tracer)
{
    char ours[17], its[17], path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d", (int)tracer);
    return access(path, F_OK) != 0 && read_name(getpid(), ours) && read_name(tracer, its) &&
           strcmp(ours, its) == 0;
}

bool mpiq_peer_await(pid_t tid)
{
    for (int i = 0; i < PATIENCE_MS; i++) {
        long tracer = mpiq_proc_status_number(tid, "TracerPid");
        if (tracer <= 0)
            return true;
        if (!mpiq_peer_is((pid_t)tracer))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return true;
}
