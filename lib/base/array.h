/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * array - growable arrays.
 *
 * The owner keeps the array, its count and (for mpiq_array_reserve) its capacity in members of its own, of
 * any unsigned type.  On failure the array is unchanged.
 */
#ifndef MPIQ_ARRAY_H
#define MPIQ_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ensures that *array has room for `wanted` elements of `size` bytes; grows by half.  Never more than `most`
   elements: false then, and on allocation failure. */
bool mpiq_array_grow(void **array, size_t *capacity, size_t wanted, size_t size, size_t most);

/* Room for one more element in an array that only grows this way: its capacity is the power of two at or
   above count.  Returns where the array is now, or NULL on allocation failure. */
void *mpiq_array_grown(void *array, size_t count, size_t size);

/* Appends an element of `size` bytes, with undefined contents, to such an array.  Returns the element, or
 * NULL on allocation failure. */
void *mpiq_array_append(void **array, size_t *count, size_t size);

/* mpiq_array_grow for a typed array: mpiq_array_reserve(&list->items, &list->capacity, list->count + 1). */
#define mpiq_array_reserve(array, capacity, wanted)                                       \
    ({                                                                                    \
        void *memory_ = *(array);                                                         \
        size_t capacity_ = *(capacity);                                                   \
        size_t wanted_ = (wanted);                                                        \
        bool good_ = wanted_ <= capacity_;                                                \
        if (!good_) {                                                                     \
            good_ = mpiq_array_grow(&memory_, &capacity_, wanted_, sizeof **(array),      \
                                    (size_t)((__typeof__(*(capacity)))~UINT64_C(0)) - 1); \
            *(array) = memory_;                                                           \
            *(capacity) = (__typeof__(*(capacity)))capacity_;                             \
        }                                                                                 \
        good_;                                                                            \
    })

#endif
