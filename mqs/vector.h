/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vector - an array that grows, in the debugger's memory.  A zeroed one is empty.
 */
#ifndef MQS_VECTOR_H
#define MQS_VECTOR_H

#include <stddef.h>

struct vector {
    void *items;
    size_t count;
    size_t capacity;
};

/* A zeroed item at the end, or NULL where memory is out or `limit` items are there.  Addresses of items
   are valid until the next call. */
void *vector_add(struct vector *vector, size_t item_size, size_t limit);

void vector_clear(struct vector *vector);

#endif
