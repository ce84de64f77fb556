/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proc_usage - signs of work in a live process that its own processor time does not show: programs that it
 * runs, bytes that it reads and writes, and the system call that a thread sleeps in.
 *
 * It reads /proc and decides nothing: unknown values are marked as unknown.
 */
#ifndef MPIQ_PROC_USAGE_H
#define MPIQ_PROC_USAGE_H

#include "process/target.h"

/* Processor time of the process's descendants, and bytes that it and they have read and written through
   read and write calls (-1: /proc/PID/io may not be read).  Never decreases as long as the kernel tells of
   the same processes. */
void mpiq_proc_usage(pid_t pid, uint64_t *children_cpu_ns, int64_t *io_bytes);

/* Fills in sleep, system_call, file and lock_holder of a thread whose state is 'S'; of any other, none. */
void mpiq_proc_sleep(pid_t pid, struct mpiq_target_thread *thread);

#endif
