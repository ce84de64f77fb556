/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partner - the other process that a system call waits for: the child whose end is awaited, or the parent,
 * child or sibling at the other end of a pipe, pseudo-terminal or connection, or the one that has a mutex.
 *
 * Of those at another end only a process's ancestors, their children and its own are looked at: a launcher
 * that reads what its ranks print, another rank, a tool that a rank has started.
 */
#ifndef MPIQ_PARTNER_H
#define MPIQ_PARTNER_H

#include <sys/types.h>

#include "process/target.h"

/* Fills `partner` of a thread that waits in wait4 for that pid (0 or less: for any child, of which there is
   just one). */
void mpiq_partner_child(pid_t pid, int32_t child, struct mpiq_target_thread *thread);

/* The same of a thread that reads or writes its `file`, if that is a pipe or a pseudo-terminal. */
void mpiq_partner_pipe(pid_t pid, bool writes, struct mpiq_target_thread *thread);

/* The same where its `file` is a socket with that inode; a TCP socket's file becomes "tcp:ADDRESS:PORT" of
   the other end, or "listen:PORT", that of a local one with a name "unix:PATH". */
void mpiq_partner_socket(pid_t pid, uint64_t inode, struct mpiq_target_thread *thread);

/* The same of a thread that wants a mutex which is shared with other processes and which that thread has; its
   state is 'X' if it has ended. */
void mpiq_partner_owner(pid_t pid, pid_t owner, struct mpiq_target_thread *thread);

#endif
