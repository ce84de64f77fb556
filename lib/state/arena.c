/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { BLOCK = 64 * 1024, ALIGNMENT = 16 };

struct block {
    struct block *next;
    size_t used;
    size_t size;
    _Alignas(ALIGNMENT) char bytes[];
};

struct mpiq_arena {
    struct block *blocks;
};

struct mpiq_arena *mpiq_arena_create(void)
{
    return calloc(1, sizeof(struct mpiq_arena));
}

void mpiq_arena_destroy(struct mpiq_arena *arena)
{
    if (!arena)
        return;
    while (arena->blocks) {
        struct block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    free(arena);
}

void *mpiq_arena_alloc(struct mpiq_arena *arena, size_t size)
{
    size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (rounded < size)
        return NULL;
    struct block *block = arena->blocks;
    if (!block || block->size - block->used < rounded) {
        size_t room = rounded > BLOCK ? rounded : BLOCK;
        block = mpiq_memory_checked(calloc(1, sizeof *block + room));
        if (!block)
            return NULL;
        block->size = room;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *memory = block->bytes + block->used;
    block->used += rounded;
    return memory;
}

const char *mpiq_arena_string(struct mpiq_arena *arena, const char *string)
{
    return string ? mpiq_arena_printf(arena, "%s", string) : NULL;
}

const char *mpiq_arena_printf(struct mpiq_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        return NULL;
    char *text = mpiq_arena_alloc(arena, (size_t)length + 1);
    if (!text)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}
