/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/launcher_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "names/programs.h"

enum { DEPTH_MOST = 64, PATH_TEXT = 64, LINK_TEXT = 4096 };

/* 0 if there is no such process. */
static pid_t parent_of(pid_t pid)
{
    struct mpiq_proc_stat stat = {0};
    mpiq_error_destroy(mpiq_proc_stat(pid, 0, &stat));
    return stat.parent;
}

static bool runs(pid_t pid, const char *launcher)
{
    char path[PATH_TEXT], file[LINK_TEXT];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, file, sizeof file - 1);
    if (length <= 0)
        return false;
    file[length] = '\0';
    return mpiq_program_is_of(file, launcher);
}

pid_t mpiq_launcher_process_above(pid_t pid, const char *launcher)
{
    for (int depth = 0; pid > 1 && depth < DEPTH_MOST; depth++) {
        if (runs(pid, launcher))
            return pid;
        pid = parent_of(pid);
    }
    return 0;
}

struct mpiq_error *mpiq_launcher_process_init(pid_t pid, struct mpiq_launcher_process *ret)
{
    size_t length = 0, count = 0;
    _cleanup_free_ char *text = mpiq_proc_read_of(pid, "cmdline", &length);
    if (!text)
        return mpiq_error_create_os(errno == ENOENT ? ESRCH : errno, "process %d", (int)pid);
    for (size_t i = 0; i < length; i++)
        count += text[i] == '\0';
    struct mpiq_launcher_process process = {.pid = pid, .words = calloc(count + 2, sizeof(char *))};
    if (!process.words)
        return mpiq_error_no_memory();
    for (const char *at = text; at < text + length; at += strlen(at) + 1) {
        process.words[process.count] = strdup(at);
        if (!process.words[process.count++]) {
            mpiq_launcher_process_deinit(&process);
            return mpiq_error_no_memory();
        }
    }
    *ret = process;
    return NULL;
}

void mpiq_launcher_process_deinit(struct mpiq_launcher_process *process)
{
    for (size_t i = 0; i < process->count; i++)
        free(process->words[i]);
    free(process->words);
    *process = (struct mpiq_launcher_process){0};
}

struct mpiq_error *mpiq_launcher_process_is_mine(pid_t pid)
{
    char path[PATH_TEXT];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (stat(path, &status) < 0)
        return mpiq_error_create_os(ESRCH, "process %d", (int)pid);
    if (status.st_uid == geteuid())
        return NULL;
    return mpiq_error_create(MPIQ_ERROR_PERMISSION,
                             "the launcher %d belongs to another user, so the hosts it names cannot be "
                             "trusted: run mpiq as that user, or name the hosts with --hosts n1,n2",
                             (int)pid);
}

struct mpiq_error *mpiq_launcher_process_children(pid_t pid, pid_t **ret, size_t *count)
{
    pid_t *processes = NULL;
    size_t all, found = 0;
    struct mpiq_error *error = mpiq_proc_processes(&processes, &all);
    if (error)
        return error;
    for (size_t i = 0; i < all; i++) {
        if (parent_of(processes[i]) == pid)
            processes[found++] = processes[i];
    }
    *ret = processes;
    *count = found;
    return NULL;
}

char *mpiq_launcher_process_variable(pid_t pid, const char *name)
{
    size_t length = 0;
    _cleanup_free_ char *text = mpiq_proc_read_of(pid, "environ", &length);
    const char *value = text ? mpiq_proc_variable(text, length, name) : NULL;
    return value ? strdup(value) : NULL;
}

/* As a shell hands it on: Hydra and mpirun quote words for the shell on the other host. */
static bool is_called(const char *word, const char *name)
{
    const char *slash = strrchr(word, '/');
    const char *start = slash ? slash + 1 : word + (word[0] == '"');
    size_t length = strlen(start);
    if (length > 0 && start[length - 1] == '"')
        length--;
    return length == strlen(name) && strncmp(start, name, length) == 0;
}

size_t mpiq_launcher_process_find_word(const struct mpiq_launcher_process *process, size_t first,
                                       const char *name)
{
    size_t at = first;
    while (at < process->count && !is_called(process->words[at], name))
        at++;
    return at;
}
