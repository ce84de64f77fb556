/* SPDX-License-Identifier: BSD-3-Clause */
/* arena - strings and small arrays that live and die together.  What it finds no memory for is counted
   (base/memory.h). */
#ifndef MPIQ_ARENA_H
#define MPIQ_ARENA_H

#include <stddef.h>

struct mpiq_arena;

/* NULL without memory. */
struct mpiq_arena *mpiq_arena_create(void);
/* Frees all that came from it; NULL is fine. */
void mpiq_arena_destroy(struct mpiq_arena *arena);

/* Zeroed memory, aligned for anything; NULL without memory. */
void *mpiq_arena_alloc(struct mpiq_arena *arena, size_t size);
/* A copy; NULL for NULL and without memory. */
const char *mpiq_arena_string(struct mpiq_arena *arena, const char *string);
/* NULL without memory. */
const char *mpiq_arena_printf(struct mpiq_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
