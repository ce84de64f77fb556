/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracer - stops threads of a process on this machine for as short a time as possible, and leaves no trace.
 *
 * All use of ptrace is here, in one dedicated thread per process: however that thread ends (a timeout, a
 * crash, SIGKILL), the kernel detaches whatever is still traced and lets it run.  PTRACE_SEIZE and
 * PTRACE_INTERRUPT send no signal; events are inspected without being consumed (WNOWAIT), so that a signal
 * arriving at that moment is delivered even if we are killed before we pass it on.
 *
 * A system call that the kernel never restarts (epoll_wait and similar ones, signal(7)) returns EINTR in a
 * thread that was stopped in it: sleeper.h reads such a thread without a stop.  Threads: a tracer may be used
 * from any thread, one at a time.
 */
#ifndef MPIQ_TRACER_H
#define MPIQ_TRACER_H

#include "process/thread_copy.h"

struct mpiq_tracer;

/* freeze: all threads of the process are stopped from now until destroy, including threads created
   meanwhile; one in uninterruptible sleep stops before it runs again.  Errors: PERMISSION, GONE, NO_MEMORY.
   */
struct mpiq_error *mpiq_tracer_create(pid_t pid, bool freeze, struct mpiq_tracer **ret);

/* Copies a thread's registers and stack; layout says where the stack pointer is.  Unless it is frozen, the
   thread stands still only meanwhile.  Errors: those of create; TIMEOUT (it does not stop: in uninterruptible
   sleep). */
struct mpiq_error *mpiq_tracer_copy(struct mpiq_tracer *tracer, pid_t tid,
                                    const struct mpiq_register_layout *layout, struct mpiq_thread_copy *ret);

/* Lets everything run on.  NULL is fine. */
void mpiq_tracer_destroy(struct mpiq_tracer *tracer);

#endif
