/* SPDX-License-Identifier: BSD-3-Clause */
/* place - where in the source something was done. */
#ifndef MPIQ_PLACE_H
#define MPIQ_PLACE_H

#include <stdint.h>

/* A place in the source, by the debug information; strings interned, NULL and 0 not known. */
struct mpiq_place {
    const char *function;
    const char *file;
    int32_t line;
};

#endif
