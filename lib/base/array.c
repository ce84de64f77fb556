/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

bool mpiq_array_grow(void **array, size_t *capacity, size_t wanted, size_t size, size_t most)
{
    if (wanted <= *capacity)
        return true;
    if (wanted > most || wanted > SIZE_MAX / size)
        return false;
    size_t larger = *capacity + *capacity / 2 + 4;
    if (larger < wanted)
        larger = wanted;
    if (larger > most || larger > SIZE_MAX / size)
        larger = wanted;
    void *memory = mpiq_memory_checked(reallocarray(*array, larger, size));
    if (!memory)
        return false;
    *array = memory;
    *capacity = larger;
    return true;
}

void *mpiq_array_grown(void *array, size_t count, size_t size)
{
    if (count & (count - 1))
        return array;
    return mpiq_memory_checked(reallocarray(array, count ? 2 * count : 1, size));
}

void *mpiq_array_append(void **array, size_t *count, size_t size)
{
    void *memory = mpiq_array_grown(*array, *count, size);
    if (!memory)
        return NULL;
    *array = memory;
    return (char *)memory + (*count)++ * size;
}
