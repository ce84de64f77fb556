/* SPDX-License-Identifier: BSD-3-Clause */
/* cleanup - guards that free what a scope owns, and a way to hand over ownership. */
#ifndef MPIQ_CLEANUP_H
#define MPIQ_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(function) __attribute__((cleanup(function)))

static inline void mpiq_free_pointer(void *pointer)
{
    free(*(void **)pointer);
}

static inline void mpiq_close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline void mpiq_close_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

#define _cleanup_free_ _cleanup_(mpiq_free_pointer)
#define _cleanup_close_ _cleanup_(mpiq_close_fd)
#define _cleanup_fclose_ _cleanup_(mpiq_close_file)

/* The value of a pointer, which becomes NULL: ownership goes to the receiver. */
#define mpiq_steal(pointer)                      \
    ({                                           \
        __typeof__(pointer) stolen_ = (pointer); \
        (pointer) = NULL;                        \
        stolen_;                                 \
    })

#endif
