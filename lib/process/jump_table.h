/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jump_table - where a jump leads whose destination the code computes from a table, as compilers do it for a
 * switch: a number of the table, times 1 or 4, and a fixed address.
 *
 * Only of architectures whose instructions are all of one size, so that code can be read backwards.
 */
#ifndef MPIQ_JUMP_TABLE_H
#define MPIQ_JUMP_TABLE_H

#include "process/instruction.h"
#include "process/module.h"

struct mpiq_jump_table {
    uint64_t first; /* instruction of those that decide, the jump the last: code may not be entered between */
    uint64_t table;
    uint64_t base; /* what is added to each number */
    uint64_t count;
    uint8_t size, width; /* bytes of a number, and of them that count */
    uint8_t shift;
    bool is_signed;
};

/* Follows the jump at `jump` back, no further than to `start`; false: it does something else. */
bool mpiq_jump_table_find(struct mpiq_modules *modules, csh decoder,
                          const struct mpiq_architecture *architecture, uint64_t start, uint64_t jump,
                          struct mpiq_jump_table *ret);

/* The destination that is number `index` of the table; *good becomes false if it cannot be read. */
uint64_t mpiq_jump_table_entry(struct mpiq_modules *modules, const struct mpiq_jump_table *table,
                               uint64_t index, bool *good);

#endif
