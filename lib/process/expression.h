/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * expression - evaluates a DWARF expression of integers and addresses: what the debug information says that
 * an argument of a call, or a frame's base, is computed from.
 *
 * It asks its user for registers and for what the frame's function was itself given (DW_OP_entry_value).
 * Whatever it does not understand makes the result unknown: floating point, thread-local memory, parts of
 * values, calls of other expressions.  An expression may be hostile: its operations are counted.  Locked
 * (object.h).
 */
#ifndef MPIQ_EXPRESSION_H
#define MPIQ_EXPRESSION_H

#include "process/call_word.h"
#include "process/debug_info.h"

struct mpiq_expression {
    const unsigned char *bytes; /* within a section of the unit's file */
    size_t size;
};

/* Where an expression is evaluated. */
struct mpiq_expression_frame {
    struct mpiq_modules *modules;
    const struct mpiq_debug_unit *unit;
    uint64_t bias;                     /* of the unit's file */
    struct mpiq_expression frame_base; /* of the function; of size 0: it has none */
    void *argument;                    /* of the functions below */
    /* A register at the call, by DWARF number. */
    struct mpiq_call_word (*reg)(void *argument, uint64_t number);
    /* The same register where the function was entered. */
    struct mpiq_call_word (*entry)(void *argument, uint64_t number);
    /* The canonical frame address. */
    struct mpiq_call_word (*cfa)(void *argument);
    int *steps; /* operations that may still be done */
};

/* The value that it leaves; not known if that cannot be told. */
struct mpiq_call_word mpiq_expression_evaluate(const struct mpiq_expression *expression,
                                               const struct mpiq_expression_frame *frame);

/* The register that the expression names and nothing else; -1. */
int mpiq_expression_register(const struct mpiq_expression *expression);

#endif
