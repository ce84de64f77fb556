/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partner - the other process that a system call waits for: the child whose end is awaited, or the parent or
 * child at the other end of a pipe or pseudo-terminal.
 *
 * Only a process's ancestors and its own children are looked at: a launcher that reads what its ranks print,
 * a tool that a rank has started.
 */
#ifndef MPIQ_PARTNER_H
#define MPIQ_PARTNER_H

#include <sys/types.h>

#include "process/target.h"

/* Fills `partner` of a thread that waits in wait4 for that pid (0 or less: for any child, of which there is
   just one). */
void mpiq_partner_child(pid_t pid, int32_t child, struct mpiq_target_thread *thread);

/* The same of a thread that reads or writes its `file`, if that is a pipe or a pseudo-terminal. */
void mpiq_partner_pipe(pid_t pid, struct mpiq_target_thread *thread);

#endif
