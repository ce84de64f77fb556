/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * freezer - whether the freezer of a control group holds a process: "docker pause", "podman pause" and
 * Slurm's "scontrol suspend" use it.
 *
 * Its threads then do not run, take no signal and, under version 1, are never stopped by ptrace.  They look
 * asleep: in state D under version 1, in state S under version 2.  The files of the group say what it is.
 */
#ifndef MPIQ_FREEZER_H
#define MPIQ_FREEZER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Whether a process whose main thread is in that state (as in its stat) is frozen; before: it was when it was
   read last, since when ptrace may have stopped it.  *ret is then the file that thaws it: "…/freezer.state",
   to which THAWED is to be written, or "…/cgroup.freeze", to which 0 is; "" if that is not known, or longer
   than size. */
bool mpiq_freezer_holds(pid_t pid, char state, bool before, char *ret, size_t size);

/* The same from the texts of /proc/PID/cgroup and /proc/self/mountinfo, and the files of the groups that they
   name. */
bool mpiq_freezer_find(const char *groups, const char *mounts, char *ret, size_t size);

#endif
