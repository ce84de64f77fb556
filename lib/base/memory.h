/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory - tells whether an allocation has failed, for code that must not return a shorter list instead.
 *
 * Reading a rank makes thousands of small allocations, in functions that return NULL and in a message-queue
 * library.  Each failure is counted here, per thread; the code that began the work compares the count at its
 * end.
 */
#ifndef MPIQ_BASE_MEMORY_H
#define MPIQ_BASE_MEMORY_H

/* Allocations that have failed in this thread, as far as anybody told. */
unsigned mpiq_memory_missed(void);

/* Counts one. */
void mpiq_memory_miss(void);

/* Counts one if memory is NULL; returns it. */
#define mpiq_memory_checked(memory)   \
    ({                                \
        void *checked_ = (memory);    \
        if (!checked_)                \
            mpiq_memory_miss();       \
        (__typeof__(memory))checked_; \
    })

#endif
