/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/partner.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"

/* Processes with a pipe to one of ours are a few steps away: a launcher, its daemon, a shell. */
enum { ANCESTOR_LIMIT = 4, CHILD_LIMIT = 16 };

static bool parent_of(pid_t pid, pid_t *ret)
{
    struct mpiq_proc_stat line;
    struct mpiq_error *error = mpiq_proc_stat(pid, 0, &line);
    bool known = !error && line.parent > 1;
    mpiq_error_destroy(error);
    if (known)
        *ret = line.parent;
    return known;
}

static void name_partner(pid_t partner, struct mpiq_target_thread *thread)
{
    struct mpiq_proc_stat line;
    struct mpiq_error *error = mpiq_proc_stat(partner, 0, &line);
    if (!error) {
        thread->partner = partner;
        thread->partner_state = line.state;
        memcpy(thread->partner_name, line.name, sizeof thread->partner_name);
    }
    mpiq_error_destroy(error);
}

void mpiq_partner_child(pid_t pid, int32_t child, struct mpiq_target_thread *thread)
{
    pid_t parent;
    if (child <= 0) {
        _cleanup_free_ pid_t *children = NULL;
        size_t count = 0;
        mpiq_error_destroy(mpiq_proc_children(pid, 0, &children, &count));
        if (count != 1)
            return;
        child = children[0];
    }
    if (parent_of(child, &parent) && parent == pid)
        name_partner(child, thread);
}

/* Of which terminal a process's file is the other side, "/dev/ptmx"; -1: of none. */
static int terminal_of(pid_t pid, const char *descriptor)
{
    char path[96], text[512];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%.20s", (int)pid, descriptor);
    struct mpiq_error *error = mpiq_proc_read_line(path, text, sizeof text);
    const char *at = error ? NULL : strstr(text, "tty-index:");
    int index = -1;
    if (at && sscanf(at, "tty-index: %d", &index) != 1)
        index = -1;
    mpiq_error_destroy(error);
    return index;
}

/* Whether one of the files that a process has open is the other end of that pipe or terminal. */
static bool has_end(pid_t pid, const char *pipe, int terminal)
{
    char path[64], file[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *directory = opendir(path);
    bool found = false;
    for (struct dirent *entry; directory && !found && (entry = readdir(directory));) {
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, file, sizeof file - 1);
        file[length > 0 ? length : 0] = '\0';
        const char *name = strrchr(file, '/');
        found = terminal < 0
                    ? strcmp(file, pipe) == 0
                    : name && strcmp(name, "/ptmx") == 0 && terminal_of(pid, entry->d_name) == terminal;
    }
    if (directory)
        closedir(directory);
    return found;
}

void mpiq_partner_pipe(pid_t pid, struct mpiq_target_thread *thread)
{
    int terminal = -1;
    if (strncmp(thread->file, "pipe:", strlen("pipe:")) != 0 &&
        sscanf(thread->file, "/dev/pts/%d", &terminal) != 1)
        return;
    _cleanup_free_ pid_t *children = NULL;
    size_t count = 0;
    mpiq_error_destroy(mpiq_proc_children(pid, 0, &children, &count));
    for (size_t i = 0; i < count && i < CHILD_LIMIT; i++) {
        if (has_end(children[i], thread->file, terminal)) {
            name_partner(children[i], thread);
            return;
        }
    }
    pid_t ancestor = pid;
    for (int steps = 0; steps < ANCESTOR_LIMIT && parent_of(ancestor, &ancestor); steps++) {
        if (has_end(ancestor, thread->file, terminal)) {
            name_partner(ancestor, thread);
            return;
        }
    }
}
