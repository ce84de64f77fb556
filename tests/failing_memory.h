/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failing_memory - allocations that fail, in all of the program that includes it (once): the C library's own
 * (strdup, asprintf) and other libraries' included.  Not with a sanitizer, whose allocations are its own.
 */
#ifndef MPIQ_TESTS_FAILING_MEMORY_H
#define MPIQ_TESTS_FAILING_MEMORY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "rank/confine.h"

static unsigned long fail_at; /* 1: the next one; 0: none does */
static bool fail_once;        /* this one alone; else all after it, too */

#if !MPIQ_SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *reallocarray(void *memory, size_t count, size_t size);

static bool fails(void)
{
    bool now = fail_at == 1;
    if (fail_at > 1 || (now && fail_once))
        fail_at--;
    if (now)
        errno = ENOMEM;
    return now;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}

void *reallocarray(void *memory, size_t count, size_t size)
{
    size_t all = 0;
    return __builtin_mul_overflow(count, size, &all) ? NULL : realloc(memory, all);
}
#endif

#endif
