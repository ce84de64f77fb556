/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_values - what registers and memory held on the line of code that leads to a call (code.h), computed
 * backwards from what the callee preserves, from the caller's memory and from constants.  The same for all
 * architectures.
 *
 * It leaves to others: what one instruction does (instruction.h), callers and debug information
 * (call_site.h).
 */
#ifndef MPIQ_CALL_VALUES_H
#define MPIQ_CALL_VALUES_H

#include "process/call_word.h"
#include "process/code.h"

/* Expressions within each other: the depth to begin with. */
enum { MPIQ_VALUES_DEPTH = 48 };

struct mpiq_call_values {
    struct mpiq_modules *modules;
    const struct mpiq_frame_registers *registers; /* at the call */
    struct mpiq_code_line line;
    /* Of each instruction of the line, of the first of a block: whether it has run, once asked; zeroes, as
       many as the line has instructions. */
    uint8_t *states;
    struct mpiq_call_word control; /* a word from where those answers came */
    int *steps;                    /* that may still be made */
    /* What the function of the line was itself given in a register of arguments. */
    struct mpiq_call_word (*given)(const void *argument, int number, int depth);
    const void *argument;
};

/* A register's value before an instruction of the line; one on the stack counts back from the call. */
struct mpiq_call_word mpiq_values_register(struct mpiq_call_values *values, size_t index, int number,
                                           int depth);

/* An operand's value there, in its own width, the rest zero. */
struct mpiq_call_word mpiq_values_operand(struct mpiq_call_values *values, size_t index,
                                          const struct mpiq_operand *operand, int depth);

/* The argument at a position on the stack, by the instruction that put it there: the callee may use its place
   as it likes. */
struct mpiq_call_word mpiq_values_pushed(struct mpiq_call_values *values, size_t position);

/* Whether arguments are given in that register. */
bool mpiq_values_is_argument(const struct mpiq_call_values *values, int number);

#endif
