/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <string.h>

#include "callbacks.h"

static const mqs_basic_callbacks *basic;

void callbacks_set(const mqs_basic_callbacks *callbacks)
{
    basic = callbacks;
}

const mqs_basic_callbacks *callbacks_basic(void)
{
    return basic;
}

void *heap_allocate(size_t count, size_t size)
{
    void *memory;

    if (basic == NULL || count == 0 || size == 0 || count > SIZE_MAX / size) {
        return NULL;
    }
    memory = basic->mqs_malloc_fp(count * size);
    if (memory != NULL) {
        memset(memory, 0, count * size);
    }
    return memory;
}

void heap_free(void *memory)
{
    if (basic != NULL && memory != NULL) {
        basic->mqs_free_fp(memory);
    }
}
