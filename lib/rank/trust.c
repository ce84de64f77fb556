/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "process/wire.h"

/* ---- the process ------------------------------------------------------------------------------------ */

static struct mpiq_error *distrust(const char *why)
{
    return mpiq_error_create(MPIQ_ERROR_PERMISSION,
                             "the process announces a message-queue library of its own, which is not loaded "
                             "because %s; if you trust the library, name it with --dll",
                             why);
}

static bool same_namespace(pid_t pid, const char *kind)
{
    char path[64];
    struct stat ours;
    struct stat theirs;
    snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    if (stat(path, &ours) < 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pid, kind);
    return stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/* The permitted capabilities as /proc/PID/status has them, in hexadecimal digits; false if it has none. */
static bool read_capabilities(const char *path, uint64_t *ret)
{
    _cleanup_free_ char *text = NULL;
    size_t size = 0;
    struct mpiq_error *error = mpiq_proc_read(path, &text, &size);
    const char *line = error ? NULL : strstr(text, "\nCapPrm:");
    mpiq_error_destroy(error);
    return line && sscanf(line, "\nCapPrm: %" SCNx64, ret) == 1;
}

static bool has_our_capabilities(pid_t pid)
{
    char path[64];
    uint64_t ours = 0;
    uint64_t theirs = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    return read_capabilities("/proc/self/status", &ours) && read_capabilities(path, &theirs) &&
           (ours & ~theirs) == 0;
}

struct mpiq_error *mpiq_trust_process(struct mpiq_target *target)
{
    struct mpiq_target_status status;
    struct mpiq_error *error = mpiq_target_status(target, &status);
    if (error)
        return error;
    bool live = strcmp(target->ops->kind, "live") == 0;
    bool served = strcmp(target->ops->kind, "wire") == 0 && mpiq_target_wire_direct(target) == status.pid;
    if (status.core || status.pid <= 0 || !(live || served))
        return distrust("it is not a live process of this machine");
    /* Asked of the system, whatever the other end of a wire says. */
    if (mpiq_proc_status_number(status.pid, "Uid") != (long)geteuid())
        return distrust("it belongs to another user");
    if (!same_namespace(status.pid, "user") || !same_namespace(status.pid, "mnt") ||
        !same_namespace(status.pid, "pid"))
        return distrust("it runs in a container");
    if (!has_our_capabilities(status.pid))
        return distrust("it has fewer rights than you");
    return NULL;
}

/* ---- the file --------------------------------------------------------------------------------------- */

static bool is_ours(const struct stat *status)
{
    return status->st_uid == 0 || status->st_uid == geteuid();
}

/* The name that the file behind a descriptor has, with no link in it. */
static bool name_of(int fd, char name[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, PATH_MAX - 1);
    if (length <= 0 || name[0] != '/')
        return false;
    name[length] = '\0';
    return true;
}

/* Cuts name up, from its end. */
static bool parents_are_ours(char name[PATH_MAX])
{
    for (char *slash = strrchr(name, '/'); slash; slash = strrchr(name, '/')) {
        struct stat status;
        slash[slash == name] = '\0';
        if (lstat(name, &status) < 0 || !S_ISDIR(status.st_mode) || !is_ours(&status) ||
            (status.st_mode & (S_IWGRP | S_IWOTH) && !(status.st_mode & S_ISVTX)))
            return false;
        if (slash == name)
            return true;
    }
    return false;
}

struct mpiq_error *mpiq_trust_open(const char *path, bool strict, int *ret)
{
    char name[PATH_MAX];
    struct stat status;

    /* Opening a path alone waits for nothing, and nothing happens: not even to a FIFO or a device. */
    _cleanup_close_ int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0 || fstat(place, &status) < 0)
        return mpiq_error_create_os(errno, "the message-queue library %s", path);
    if (!S_ISREG(status.st_mode))
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "the message-queue library %s is not a file", path);
    if (strict && (!is_ours(&status) || status.st_mode & (S_IWGRP | S_IWOTH)))
        return mpiq_error_create(MPIQ_ERROR_PERMISSION,
                                 "the message-queue library %s is not loaded because its owner is neither "
                                 "root nor you, or others can write it; if you trust it, name it with --dll",
                                 path);
    if (strict && (!name_of(place, name) || !parents_are_ours(name)))
        return mpiq_error_create(MPIQ_ERROR_PERMISSION,
                                 "the message-queue library %s is not loaded because others can write a "
                                 "directory above it; if you trust it, name it with --dll",
                                 path);
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", place);
    int fd = open(link, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return mpiq_error_create_os(errno, "the message-queue library %s", path);
    *ret = fd;
    return NULL;
}
