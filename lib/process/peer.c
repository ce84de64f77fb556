/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/peer.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"

/* For one thread, and for all that is waited for in one look. */
enum { PATIENCE_MS = 200, LOOK_MS = 1000 };

static atomic_int left_ms = LOOK_MS;

static bool read_name(pid_t pid, char name[17])
{
    struct mpiq_proc_stat stat;
    struct mpiq_error *error = mpiq_proc_stat(pid, 0, &stat);
    mpiq_error_destroy(error);
    if (!error)
        memcpy(name, stat.name, sizeof stat.name);
    return !error;
}

static bool has_our_name(pid_t tracer)
{
    char ours[17], its[17];
    return read_name(getpid(), ours) && read_name(tracer, its) && strcmp(ours, its) == 0;
}

bool mpiq_peer_is(pid_t tracer)
{
    char path[64];
    struct stat ours, its;
    snprintf(path, sizeof path, "/proc/self/task/%d", (int)tracer);
    if (access(path, F_OK) == 0)
        return false;
    /* Any program can take our name, none our file. */
    snprintf(path, sizeof path, "/proc/%d/exe", (int)tracer);
    if (stat("/proc/self/exe", &ours) == 0 && stat(path, &its) == 0)
        return ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
    /* Which file root's is, root alone sees. */
    return mpiq_proc_status_number(tracer, "Uid") == 0 && has_our_name(tracer);
}

/* Whether it has no program any more: it is gone, or about to be, and its stops with it. */
static bool has_ended(pid_t tracer)
{
    char path[64], program[1];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)tracer);
    return readlink(path, program, sizeof program) < 0 && (errno == ENOENT || errno == ESRCH);
}

void mpiq_peer_begin_look(void)
{
    left_ms = LOOK_MS;
}

bool mpiq_peer_await(pid_t tid)
{
    for (int i = 0; i < PATIENCE_MS; i++) {
        long tracer = mpiq_proc_status_number(tid, "TracerPid");
        if (tracer <= 0)
            return true;
        if (!mpiq_peer_is((pid_t)tracer) && !has_ended((pid_t)tracer))
            return false;
        if (atomic_fetch_sub(&left_ms, 1) <= 0)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return true;
}
