/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracer - stops threads of a process of this machine, for as short as it goes, and leaves no trace.
 *
 * All of ptrace happens here, in a thread of its own per process: whatever is left when that thread ends, in
 * whichever way (a timeout, a crash, SIGKILL), the kernel detaches and lets run.  PTRACE_SEIZE and
 * PTRACE_INTERRUPT send no signal; events are looked at without being consumed (WNOWAIT), so that a signal
 * that arrives in that very moment is delivered even if we are killed before we hand it back.
 *
 * A system call that the kernel never restarts (epoll_wait and its like, signal(7)) returns EINTR in a thread
 * that was stopped in it: there is no way around that.
 *
 * Threads: a tracer may be used from any thread, by one at a time.
 */
#ifndef MPIQ_TRACER_H
#define MPIQ_TRACER_H

#include "target/thread_copy.h"

struct mpiq_tracer;

/* freeze: all threads of the process stand still from here until destroy, those born meanwhile too; one in
   uninterruptible sleep stops before it runs again.  Errors: PERMISSION, GONE, NO_MEMORY. */
struct mpiq_error *mpiq_tracer_create(pid_t pid, bool freeze, struct mpiq_tracer **ret);

/* Copies a thread's registers and stack; layout says where the stack pointer is.  Unless it is frozen, the
   thread stands still only meanwhile.  Errors: those of create; TIMEOUT (it does not stop: in uninterruptible
   sleep). */
struct mpiq_error *mpiq_tracer_copy(struct mpiq_tracer *tracer, pid_t tid,
                                    const struct mpiq_register_layout *layout, struct mpiq_thread_copy *ret);

/* Lets everything run on.  NULL is fine. */
void mpiq_tracer_destroy(struct mpiq_tracer *tracer);

#endif
