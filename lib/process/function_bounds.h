/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * function_bounds - where the function begins and ends that holds an address: from .eh_frame_hdr, which a
 * stripped program has as any other, or else from symbols.
 */
#ifndef MPIQ_FUNCTION_BOUNDS_H
#define MPIQ_FUNCTION_BOUNDS_H

#include "process/module.h"

/* The bounds of the function that holds address, in the process: [*start, *end), *end perhaps some padding
   later.  False: not known. */
bool mpiq_function_bounds(struct mpiq_modules *modules, uint64_t address, uint64_t *start, uint64_t *end);

/* A number of the process's memory, size bytes (1, 2, 4 or 8), the rest zero; *good becomes false, and the
   number 0, if it cannot be read. */
uint64_t mpiq_code_number(struct mpiq_modules *modules, uint64_t address, int size, bool *good);

#endif
