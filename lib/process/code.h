/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * code - the machine code that leads to a call: which instructions may have run before it, one after the
 * other, and which of them are certain to have.
 *
 * That is the line from the last place where the code may be entered from elsewhere (a branch target, what
 * follows a call, the function's beginning) to the call.  Within the line code only jumps forward, over
 * instructions that are then not certain.  Branch targets are those of the whole function,
 * its cold part and its jump tables included; where one cannot be known, there is no line.
 *
 * It leaves to others: what the instructions computed (call_values.h).
 */
#ifndef MPIQ_CODE_H
#define MPIQ_CODE_H

#include "process/instruction.h"
#include "process/module.h"

/* Where an instruction stands. */
struct mpiq_code_place {
    uint16_t block; /* all of a block's instructions run, or none; of one line */
    bool skipped;   /* by some way to the call */
};

struct mpiq_code_line {
    const struct mpiq_architecture *architecture;
    csh decoder;
    struct mpiq_instruction *instructions; /* the last one is the call */
    struct mpiq_code_place *places;
    size_t count;
    uint64_t function; /* where the function begins */
    bool from_entry;   /* the line begins there, and nothing jumps back to it */
};

/*
 * The line to the call that returns to `address`; the caller calls mpiq_code_line_deinit.  Errors:
 * UNSUPPORTED (another architecture, a jump that leads nobody knows where, a function too large), CORRUPT (no
 * call ends there), those of reading.
 */
struct mpiq_error *mpiq_code_line_read(struct mpiq_modules *modules, uint64_t address,
                                       struct mpiq_code_line *ret);
void mpiq_code_line_deinit(struct mpiq_code_line *line);

/* Whether an instruction has run if a later one has. */
static inline bool mpiq_code_has_run(const struct mpiq_code_line *line, size_t earlier, size_t later)
{
    return !line->places[earlier].skipped || line->places[earlier].block == line->places[later].block;
}

/* Where code that begins at address goes if it does nothing but jump (a PLT entry), as often as it does so;
   else address itself.  Of the architecture of that line. */
uint64_t mpiq_code_destination(struct mpiq_modules *modules, const struct mpiq_code_line *line,
                               uint64_t address);

#endif
