/* SPDX-License-Identifier: BSD-3-Clause */
/* permission - why a process may not be read, as one sentence with the remedy. */
#ifndef MPIQ_PERMISSION_H
#define MPIQ_PERMISSION_H

#include <sys/types.h>

#include "base/error.h"

/* What errnum from a system call that looks at pid means: ended (GONE), a zombie (GONE), or why it is
   forbidden (PERMISSION). */
struct mpiq_error *mpiq_permission_error(pid_t pid, int errnum);

/* The same for PTRACE_SEIZE, which only one tracer at a time can do. */
struct mpiq_error *mpiq_permission_trace_error(pid_t pid, pid_t tid, int errnum);

/* GONE if the process has ended or is a zombie, else NULL. */
struct mpiq_error *mpiq_permission_gone(pid_t pid);

/* The file that holds Yama's setting: for tests on kernels without it. */
extern const char *mpiq_permission_yama;

#endif
