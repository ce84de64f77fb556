/* SPDX-License-Identifier: BSD-3-Clause */
/* thread_copy - a thread's registers and stack at one moment, for an unwinder. */
#ifndef MPIQ_THREAD_COPY_H
#define MPIQ_THREAD_COPY_H

#include <stdlib.h>
#include <sys/types.h>

#include "process/registers.h"

/* More than most stacks hold: what lies beyond is read later, from frames that do not change. */
#define MPIQ_STACK_COPY ((size_t)256 << 10)

struct mpiq_thread_copy {
    pid_t tid;
    struct mpiq_registers registers;
    uint32_t unknown;     /* bit n: the value of DWARF register n is not among them */
    uint64_t stack_start; /* address of stack[0] */
    size_t stack_size;
    unsigned char *stack; /* malloc'ed, or NULL */
};

static inline void mpiq_thread_copy_deinit(struct mpiq_thread_copy *copy)
{
    free(copy->stack);
    *copy = (struct mpiq_thread_copy){0};
}

#endif
