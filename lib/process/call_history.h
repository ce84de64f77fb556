/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_history - which earlier call of the same function has left a word in memory that a call which has not
 * returned now waits with, and what that earlier call was given: MPI_Irecv's request, in MPI_Wait.
 *
 * The caller's whole function is followed from its beginning, on all ways at once, up to the call that has
 * not returned.  What is known at a place is what all ways to there agree on.  A value that no number stands
 * for has the name of the instruction that made it; it is known in the end if the callee preserves a register
 * that still has that name, or if the frame's memory does.  Memory is trusted for as long as nothing may have
 * written it: any called function writes what it may know the address of, unless its user says what it does
 * (struct mpiq_call_effect).  Nothing is guessed; a function with a jump table is not followed.
 *
 * It leaves to others: what the functions are, and whether the word is what they left (the rank's reader).
 */
#ifndef MPIQ_CALL_HISTORY_H
#define MPIQ_CALL_HISTORY_H

#include "process/module.h"

/*
 * For each of `count` words at `addresses` finds the call that made it, and for an array, which may be filled
 * in a loop, all calls that may have made some of its words.  frames[0] is the frame of the caller, frames[1
 * …] those of its callers.  ret[i].function 0: not known.
 */
void mpiq_call_history_read(struct mpiq_modules *modules, const struct mpiq_frame_registers *frames,
                            size_t frame_count, mpiq_call_effect_of *effect_of, void *argument,
                            const uint64_t *addresses, size_t count, struct mpiq_earlier_call *ret,
                            struct mpiq_array_makers *array);

#endif
