/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory - whether an allocation has failed, for those who must not give a shorter list instead.
 *
 * What is read of a rank is made of thousands of small allocations, by functions that return NULL and by a
 * message-queue library.  Each that fails is counted here, in the thread that made it; whoever began the work
 * compares the count at its end.
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
