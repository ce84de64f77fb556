/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history_end - what the words of a history are in the process: the state before the call that has not
 * returned (history_state.h) says of what they were made, the process's registers and memory what that is.
 */
#ifndef MPIQ_HISTORY_END_H
#define MPIQ_HISTORY_END_H

#include "process/history_state.h"

/* The state before the call that has not returned, with what the process holds now. */
struct mpiq_history_end {
    const struct mpiq_history_state *state;
    struct mpiq_modules *modules;
    const struct mpiq_frame_registers *registers;
    bool frame_known;
    uint64_t frame;                               /* the stack pointer at the function's entry */
    uint64_t top;                                 /* the stack pointer at the call; 0: not known */
    int argument_of[MPIQ_HISTORY_REGISTERS];      /* which argument came in a register; -1 */
    struct mpiq_call_word entry[MPIQ_CALL_WORDS]; /* what the function was given */
};

void mpiq_history_end(struct mpiq_history_end *end, const struct mpiq_history_state *state,
                      struct mpiq_modules *modules, const struct mpiq_frame_registers *frames,
                      size_t frame_count, const struct mpiq_architecture *architecture);

/* The value of a word. */
struct mpiq_call_word mpiq_history_value(const struct mpiq_history_end *end,
                                         const struct mpiq_history_word *word);

/* The address of the call that made the word at an address, and what it was given; 0: not known. */
uint64_t mpiq_history_made(const struct mpiq_history_end *end, uint64_t address,
                           const struct mpiq_history_word **words);

/* Whether a call that makes words, one of those before the end, may have made one in an array. */
bool mpiq_history_may_make(const struct mpiq_history_end *end, const struct mpiq_history_call *call,
                           uint64_t start, uint64_t size);

/* Whether a word in the array may have been made by anything but such calls: that cannot be only in the
   function's own frame. */
bool mpiq_history_may_be_of_others(const struct mpiq_history_end *end, uint64_t start, uint64_t size);

#endif
