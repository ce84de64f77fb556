/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_process - a launcher's process on this machine as /proc shows it: who it is, its arguments, its
 * children.
 *
 * The owner controls all of this.  Anything derived from it (a host's name, an agent to start) counts only
 * if the owner is also the one who runs mpiq: see mpiq_launcher_process_is_mine.
 */
#ifndef MPIQ_LAUNCHER_PROCESS_H
#define MPIQ_LAUNCHER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct mpiq_launcher_process {
    pid_t pid;
    char **words; /* its command line, ended by NULL */
    size_t count;
};

/* The nearest of pid and its parents that runs a program of that launcher (names/programs.h): by the file it
   runs, whatever it is called; 0: none does. */
pid_t mpiq_launcher_process_above(pid_t pid, const char *launcher);

/* GONE, or PERMISSION.  The caller calls mpiq_launcher_process_deinit. */
struct mpiq_error *mpiq_launcher_process_init(pid_t pid, struct mpiq_launcher_process *ret);
void mpiq_launcher_process_deinit(struct mpiq_launcher_process *process);

/* NULL if the process is ours; else PERMISSION, with what else the user may do: as anybody else, root too, we
   start nothing that the process names. */
struct mpiq_error *mpiq_launcher_process_is_mine(pid_t pid);

/* Its children: an array of *count pids, which the caller frees. */
struct mpiq_error *mpiq_launcher_process_children(pid_t pid, pid_t **ret, size_t *count);

/* A variable of the process's environment as it was started; NULL: it has none, or it cannot be read.  The
   caller frees it. */
char *mpiq_launcher_process_variable(pid_t pid, const char *name);

/* The first of those words from `first` on whose last path component, without quotes, is name; count: none.
 */
size_t mpiq_launcher_process_find_word(const struct mpiq_launcher_process *process, size_t first,
                                       const char *name);

#endif
