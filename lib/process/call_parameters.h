/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_parameters - what the debug information says about a call: where each argument was put, and what it
 * was computed from (DW_TAG_call_site, and DW_TAG_GNU_call_site of DWARF 4).
 *
 * It leaves to others: the values (call_site.h).  Remembered per address.
 */
#ifndef MPIQ_CALL_PARAMETERS_H
#define MPIQ_CALL_PARAMETERS_H

#include "process/expression.h"
#include "process/object.h"

/* More arguments nobody asks for. */
#define MPIQ_PARAMETERS_MOST 32

struct mpiq_call_parameter {
    struct mpiq_expression place, value;
};

struct mpiq_call_parameters {
    const struct mpiq_debug_unit *unit; /* whose the expressions are */
    struct mpiq_expression frame_base;  /* of the function; of size 0: none */
    /* Registers and memory that the expressions name are what they are at the call.  clang's expressions name
       what an argument was copied from, though it may have been overwritten since. */
    bool as_at_call;
    size_t count;
    struct mpiq_call_parameter items[MPIQ_PARAMETERS_MOST];
};

/* Of the call that returns to an address of the object's own; NULL: nothing is said of it.  The object's.
   Locked. */
const struct mpiq_call_parameters *mpiq_call_parameters_find(struct mpiq_object *object, uint64_t address);

#endif
