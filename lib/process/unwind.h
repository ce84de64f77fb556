/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unwind - unwinds a thread from a copy of its registers and stack, using libdwfl.
 *
 * Call frame information comes from the objects that all processes share; each process only has a list of
 * their addresses.  Memory outside the copy is read from the target.
 */
#ifndef MPIQ_UNWIND_H
#define MPIQ_UNWIND_H

#include "process/module.h"
#include "process/thread_copy.h"

struct mpiq_unwinder;

/* For a process with those modules, which outlive it. */
struct mpiq_error *mpiq_unwinder_create(struct mpiq_modules *modules, struct mpiq_unwinder **ret);

/* Frames with functions, files and lines, inlined ones included.  A stack that cannot be followed to its end
   is no error: it is truncated, and says why. */
struct mpiq_error *mpiq_unwind(struct mpiq_unwinder *unwinder, const struct mpiq_thread_copy *copy,
                               struct mpiq_target_stack *ret);

/* The target's slot `place`. */
struct mpiq_error *mpiq_modules_place(struct mpiq_modules *modules, uint64_t address,
                                      struct mpiq_target_stack *ret);

void mpiq_unwinder_destroy(struct mpiq_unwinder *unwinder);

#endif
