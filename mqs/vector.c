/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "callbacks.h"
#include "vector.h"

#define FIRST_CAPACITY 16

void *vector_add(struct vector *vector, size_t item_size, size_t limit)
{
    if (vector->count >= limit) {
        return NULL;
    }
    if (vector->count == vector->capacity) {
        size_t capacity = vector->capacity == 0 ? FIRST_CAPACITY : vector->capacity * 2;
        void *items = heap_allocate(capacity, item_size);

        if (items == NULL) {
            return NULL;
        }
        if (vector->count > 0) {
            memcpy(items, vector->items, vector->count * item_size);
        }
        heap_free(vector->items);
        vector->items = items;
        vector->capacity = capacity;
    }
    vector->count++;
    return (char *)vector->items + (vector->count - 1) * item_size;
}

void vector_clear(struct vector *vector)
{
    heap_free(vector->items);
    memset(vector, 0, sizeof *vector);
}
