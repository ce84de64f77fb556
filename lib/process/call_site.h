/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_site - what a call that has not returned was given: its arguments as machine words, from outside.
 *
 * The caller's code put them where the calling convention wants them (System V x86-64: rdi rsi rdx rcx r8 r9,
 * then the stack), and the callee has long used those registers for something else.  But the instructions
 * that led to the call are known (code.h), and so are the registers that a callee preserves (the unwinder
 * restores them) and the caller's frame in memory.  So each word is computed backwards from the last
 * instruction that wrote it.  What cannot be followed is not known; nothing is guessed.
 *
 * A word that came from memory is what that memory holds now.  Whether the callee may have written there, the
 * user of this module has to judge by where it came from.
 */
#ifndef MPIQ_CALL_SITE_H
#define MPIQ_CALL_SITE_H

#include "process/module.h"

/*
 * The first `count` words that a call was given.  frames[0] is the caller's; frames[1 …] the callers of that,
 * for what it was itself given and passed on; callee_pc is where the called function is now.  All not known
 * where the call did not go to the function that holds callee_pc (a tail call came between).
 */
void mpiq_call_site_read(struct mpiq_modules *modules, const struct mpiq_frame_registers *frames,
                         size_t frame_count, uint64_t callee_pc, size_t count,
                         struct mpiq_call_word words[MPIQ_CALL_WORDS]);

#endif
