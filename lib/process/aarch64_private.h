/* SPDX-License-Identifier: BSD-3-Clause */
/* aarch64_private - what the files about 64-bit Arm share. */
#ifndef MPIQ_AARCH64_PRIVATE_H
#define MPIQ_AARCH64_PRIVATE_H

#include "process/instruction.h"

/* DWARF numbers: x0 … x30 have their own. */
enum { MPIQ_ARM_X16 = 16, MPIQ_ARM_X17 = 17, MPIQ_ARM_LR = 30, MPIQ_ARM_SP = 31, MPIQ_ARM_ZERO = 32 };

#define MPIQ_ARM_BIT(number) (UINT32_C(1) << (number))

/* aarch64_operand.c */

/* DWARF number of a general register, MPIQ_ARM_ZERO of that which is always 0, and its width in bytes; -1. */
int mpiq_arm_number(unsigned reg, uint8_t *width);
struct mpiq_operand mpiq_arm_unknown(void);
/* The operand at index; unknown where there is none. */
struct mpiq_operand mpiq_arm_operand(const cs_insn *from, int index);
/* The same, turned. */
struct mpiq_operand mpiq_arm_turned(const cs_insn *from, int index, enum mpiq_turn turn);
/* The lower part of a register, as long as it is one. */
struct mpiq_operand mpiq_arm_half(const cs_insn *from, int index, uint8_t width, bool is_signed);
/* So many bytes of memory. */
struct mpiq_operand mpiq_arm_memory(const cs_arm64_op *operand, unsigned width);
/* An effect on the register that the operand at index names; NULL: there is none, or it cannot be said. */
struct mpiq_effect *mpiq_arm_add_effect(const cs_insn *from, int index, enum mpiq_operation operation,
                                        struct mpiq_instruction *ret);

/* aarch64_memory.c.  False: another instruction. */

bool mpiq_arm_read_load(const cs_insn *from, struct mpiq_instruction *ret);
bool mpiq_arm_read_store(const cs_insn *from, struct mpiq_instruction *ret);

#endif
