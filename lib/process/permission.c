/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/permission.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"

struct mpiq_error *mpiq_permission_gone(pid_t pid)
{
    struct mpiq_proc_stat stat_line;
    struct mpiq_error *error = mpiq_proc_stat(pid, 0, &stat_line);
    if (error) {
        mpiq_error_destroy(error);
        return mpiq_error_create(MPIQ_ERROR_GONE, "process %d has ended", (int)pid);
    }
    if (stat_line.state != 'Z' && stat_line.state != 'X')
        return NULL;
    struct mpiq_proc_stat parent;
    error = mpiq_proc_stat(stat_line.parent, 0, &parent);
    if (error) {
        mpiq_error_destroy(error);
        return mpiq_error_create(MPIQ_ERROR_GONE, "process %d has ended (a zombie)", (int)pid);
    }
    return mpiq_error_create(MPIQ_ERROR_GONE,
                             "process %d has ended (a zombie that %s, process %d, has not collected)",
                             (int)pid, parent.name, (int)stat_line.parent);
}

static void user_name(uid_t uid, char *text, size_t size)
{
    char buffer[1024];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(uid, &entry, buffer, sizeof buffer, &found) == 0 && found)
        snprintf(text, size, "%s", entry.pw_name);
    else
        snprintf(text, size, "user %u", (unsigned)uid);
}

const char *mpiq_permission_yama = "/proc/sys/kernel/yama/ptrace_scope";

/* Yama's setting, or -1 where the kernel has no Yama. */
static int ptrace_scope(void)
{
    _cleanup_free_ char *text = NULL;
    size_t size;
    struct mpiq_error *error = mpiq_proc_read(mpiq_permission_yama, &text, &size);
    if (error) {
        mpiq_error_destroy(error);
        return -1;
    }
    return atoi(text);
}

/* A process that may not dump core (setuid, file capabilities, prctl) belongs to root in /proc, whoever runs
 * it. */
static bool is_undumpable(pid_t pid, uid_t owner)
{
    char path[64];
    struct stat file;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    return stat(path, &file) == 0 && file.st_uid != owner;
}

static struct mpiq_error *forbidden(pid_t pid, int errnum)
{
    long owner = mpiq_proc_status_number(pid, "Uid");
    if (geteuid() != 0 && owner >= 0 && (uid_t)owner != geteuid()) {
        char name[64];
        user_name((uid_t)owner, name, sizeof name);
        if (owner == 0)
            return mpiq_error_create(MPIQ_ERROR_PERMISSION, "process %d belongs to root: run mpiq as root",
                                     (int)pid);
        return mpiq_error_create(MPIQ_ERROR_PERMISSION, "process %d belongs to %s: run mpiq as %s or as root",
                                 (int)pid, name, name);
    }
    if (geteuid() != 0 && owner >= 0 && is_undumpable(pid, (uid_t)owner)) {
        return mpiq_error_create(
            MPIQ_ERROR_PERMISSION,
            "process %d may not be looked at because it runs with privileges (setuid, file "
            "capabilities, or prctl PR_SET_DUMPABLE 0): run mpiq as root",
            (int)pid);
    }
    switch (ptrace_scope()) {
    case 1:
        return mpiq_error_create(
            MPIQ_ERROR_PERMISSION,
            "Yama does not allow looking at process %d (/proc/sys/kernel/yama/ptrace_scope is 1): run "
            "mpiq as root, set ptrace_scope to 0, or start the job with "
            "--mca mpi_mqs_allow_ptrace 1",
            (int)pid);
    case 2:
        return mpiq_error_create(
            MPIQ_ERROR_PERMISSION,
            "Yama lets only root look at process %d (/proc/sys/kernel/yama/ptrace_scope is 2): "
            "run mpiq as root, or set ptrace_scope to 0",
            (int)pid);
    case 3:
        return mpiq_error_create(
            MPIQ_ERROR_PERMISSION,
            "Yama does not allow looking at any process until the next boot "
            "(/proc/sys/kernel/yama/ptrace_scope is 3): have process %d write a core file "
            "(kill -ABRT ends it) and give that to mpiq",
            (int)pid);
    default:
        break;
    }
    if (mpiq_proc_status_number(getpid(), "Seccomp") == 2) {
        return mpiq_error_create(
            MPIQ_ERROR_PERMISSION,
            "a seccomp filter (most likely a container's) does not allow looking at process %d: run mpiq "
            "outside the container, or start the container with --cap-add=SYS_PTRACE",
            (int)pid);
    }
    return mpiq_error_create_os(
        errnum,
        "process %d may not be looked at (another container or user namespace, or a security "
        "module): run mpiq as root on the host",
        (int)pid);
}

struct mpiq_error *mpiq_permission_error(pid_t pid, int errnum)
{
    struct mpiq_error *gone = mpiq_permission_gone(pid);
    if (gone)
        return gone;
    if (errnum == EPERM || errnum == EACCES || errnum == ENOSYS)
        return forbidden(pid, errnum);
    return mpiq_error_create_os(errnum, "cannot look at process %d", (int)pid);
}

struct mpiq_error *mpiq_permission_trace_error(pid_t pid, pid_t tid, int errnum)
{
    struct mpiq_error *gone = mpiq_permission_gone(pid);
    if (gone)
        return gone;
    if (errnum == ESRCH)
        return mpiq_error_create(MPIQ_ERROR_GONE, "thread %d of process %d has ended", (int)tid, (int)pid);
    long tracer = mpiq_proc_status_number(tid, "TracerPid");
    if (tracer == getpid()) {
        return mpiq_error_create(MPIQ_ERROR_PERMISSION,
                                 "thread %d of process %d is already stopped by this program", (int)tid,
                                 (int)pid);
    }
    if (tracer > 0) {
        struct mpiq_proc_stat stat_line;
        struct mpiq_error *error = mpiq_proc_stat((pid_t)tracer, 0, &stat_line);
        const char *name = error ? "another program" : stat_line.name;
        struct mpiq_error *traced = mpiq_error_create(
            MPIQ_ERROR_PERMISSION,
            "process %d is traced by %s (process %ld), and only one program at a time can: its memory "
            "can be read, its stacks only once that one detaches",
            (int)pid, name, tracer);
        mpiq_error_destroy(error);
        return traced;
    }
    return mpiq_permission_error(pid, errnum);
}
