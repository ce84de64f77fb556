/* SPDX-License-Identifier: BSD-3-Clause */
/* grow - arrays that double. */
#ifndef MPIQ_REPORT_GROW_H
#define MPIQ_REPORT_GROW_H

#include <stdlib.h>

/* Room for one more in an array of count elements that only grew by this: its room is the power of two at or
   above its count.  NULL without memory, and then the array is as it was. */
static inline void *mpiq_grown(void *array, size_t count, size_t size)
{
    return count & (count - 1) ? array : realloc(array, (count ? 2 * count : 1) * size);
}

#endif
