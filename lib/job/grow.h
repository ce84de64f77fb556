/* SPDX-License-Identifier: BSD-3-Clause */
/* grow - room for one more in an array; private to lib/job. */
#ifndef MPIQ_JOB_GROW_H
#define MPIQ_JOB_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Makes *array hold more than count elements of that size; false without memory, and then it is as before. */
static inline bool mpiq_grow(void **array, uint32_t *capacity, uint32_t count, size_t size)
{
    if (count < *capacity)
        return true;
    uint32_t larger = *capacity + *capacity / 2 + 64;
    void *memory = larger > *capacity ? realloc(*array, larger * size) : NULL;
    if (!memory)
        return false;
    *array = memory;
    *capacity = larger;
    return true;
}

#endif
