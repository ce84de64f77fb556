/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sleeper - a thread asleep in a system call, copied without being stopped.
 *
 * A stop ends some system calls with EINTR: those that the kernel does not begin again (epoll_wait, semop,
 * sigtimedwait, a read of a socket with a timeout, signal(7)).  A program that does not expect it would go on
 * from there.  So a thread in any call that is not known to be begun again is read as it sleeps.  The kernel
 * then tells two of its registers, the stack pointer and the pc: what the others hold, arguments of calls for
 * example, is known only where it is on the stack.
 */
#ifndef MPIQ_SLEEPER_H
#define MPIQ_SLEEPER_H

#include "process/module.h"
#include "process/target.h"
#include "process/thread_copy.h"

/* Copies the stack of a thread that sleeps in such a call, and those registers.  False: it does not sleep in
   one, it moved meanwhile, or its architecture is another one. */
bool mpiq_sleeper_copy(pid_t pid, pid_t tid, const struct mpiq_register_layout *layout,
                       struct mpiq_thread_copy *ret);

/* Where unwinding such a copy came to a function that finds its frame by the frame pointer: works that
   pointer out from how the function begins, and adds it to the copy.  False: it cannot be known. */
bool mpiq_sleeper_add_frame_pointer(struct mpiq_modules *modules, const struct mpiq_target_stack *stack,
                                    struct mpiq_thread_copy *copy);

#endif
