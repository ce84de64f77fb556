/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * function_code - all the code of one function, as blocks: what runs from its first instruction to its last,
 * and where it goes on.
 *
 * A function is read as the process has it in memory, with the cold parts that it jumps to.  One that jumps
 * nobody knows where (through a table) is not read.
 */
#ifndef MPIQ_FUNCTION_CODE_H
#define MPIQ_FUNCTION_CODE_H

#include "process/instruction.h"
#include "process/module.h"

enum { MPIQ_NO_BLOCK = -1 };

struct mpiq_code_block {
    size_t first, count; /* instructions */
    int next, jump;      /* blocks where it goes on, or MPIQ_NO_BLOCK */
    bool padding;        /* its instructions do nothing */
};

struct mpiq_function_code {
    const struct mpiq_architecture *architecture;
    csh decoder;
    struct mpiq_instruction *instructions; /* by address */
    uint64_t *behind;                      /* address after each */
    bool *calls;                           /* whether each is a call */
    size_t count;
    struct mpiq_code_block *blocks;
    size_t block_count;
    int entry; /* the block where the function begins */
};

/* Reads the function that holds an address; the caller calls mpiq_function_code_deinit.  Errors: UNSUPPORTED,
   CORRUPT, those of reading. */
struct mpiq_error *mpiq_function_code_read(struct mpiq_modules *modules, uint64_t address,
                                           struct mpiq_function_code *ret);
void mpiq_function_code_deinit(struct mpiq_function_code *code);

/* The instruction behind which an address is; SIZE_MAX: there is none. */
size_t mpiq_function_code_before(const struct mpiq_function_code *code, uint64_t address);

#endif
