/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers, numbers and places in memory, as instructions of 64-bit Arm name them. */
#include "process/aarch64_private.h"

int mpiq_arm_number(unsigned reg, uint8_t *width)
{
    *width = 8;
    if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
        return (int)(reg - ARM64_REG_X0);
    switch (reg) {
    case ARM64_REG_X29:
        return 29;
    case ARM64_REG_X30:
        return MPIQ_ARM_LR;
    case ARM64_REG_SP:
        return MPIQ_ARM_SP;
    case ARM64_REG_XZR:
        return MPIQ_ARM_ZERO;
    default:
        break;
    }
    *width = 4;
    if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
        return (int)(reg - ARM64_REG_W0);
    return reg == ARM64_REG_WSP ? MPIQ_ARM_SP : reg == ARM64_REG_WZR ? MPIQ_ARM_ZERO : -1;
}

struct mpiq_operand mpiq_arm_unknown(void)
{
    return (struct mpiq_operand){.reg = -1, .index = -1};
}

/* A register's value is extended and shifted before it is used. */
static struct mpiq_operand adapted_register(const cs_arm64_op *operand, int number, uint8_t width)
{
    struct mpiq_operand result = mpiq_operand_register(number, width);
    switch (operand->ext) {
    case ARM64_EXT_UXTB:
    case ARM64_EXT_SXTB:
        result.width = 1;
        break;
    case ARM64_EXT_UXTH:
    case ARM64_EXT_SXTH:
        result.width = 2;
        break;
    case ARM64_EXT_UXTW:
    case ARM64_EXT_SXTW:
        result.width = 4;
        break;
    default:
        break;
    }
    result.is_signed =
        operand->ext == ARM64_EXT_SXTB || operand->ext == ARM64_EXT_SXTH || operand->ext == ARM64_EXT_SXTW;
    result.shift_by = (uint8_t)operand->shift.value;
    switch (operand->shift.type) {
    case ARM64_SFT_INVALID:
        break;
    case ARM64_SFT_LSL:
        result.shift = MPIQ_SHIFT_LEFT;
        break;
    case ARM64_SFT_LSR:
        result.shift = MPIQ_SHIFT_RIGHT;
        break;
    case ARM64_SFT_ASR:
        result.shift = MPIQ_SHIFT_SIGNED;
        break;
    default:
        return mpiq_arm_unknown();
    }
    return result;
}

struct mpiq_operand mpiq_arm_operand(const cs_insn *from, int index)
{
    const cs_arm64 *arm = &from->detail->arm64;
    const cs_arm64_op *operand = &arm->operands[index];
    uint8_t width;
    if (index >= arm->op_count)
        return mpiq_arm_unknown();
    if (operand->type == ARM64_OP_IMM) {
        bool shifted = operand->shift.type == ARM64_SFT_LSL;
        if (operand->shift.type != ARM64_SFT_INVALID && !shifted)
            return mpiq_arm_unknown();
        return mpiq_operand_number((uint64_t)operand->imm << (shifted ? operand->shift.value & 63 : 0));
    }
    int number = operand->type == ARM64_OP_REG ? mpiq_arm_number(operand->reg, &width) : -1;
    if (number == MPIQ_ARM_ZERO)
        return mpiq_operand_number(0);
    return number < 0 ? mpiq_arm_unknown() : adapted_register(operand, number, width);
}

/* The same, mpiq_arm_turned. */
struct mpiq_operand mpiq_arm_turned(const cs_insn *from, int index, enum mpiq_turn turn)
{
    struct mpiq_operand operand = mpiq_arm_operand(from, index);
    operand.turn = (uint8_t)turn;
    if (operand.kind != MPIQ_OPERAND_NUMBER)
        return operand;
    uint64_t value = operand.value;
    return mpiq_operand_number(turn == MPIQ_TURN_INVERT   ? ~value
                               : turn == MPIQ_TURN_NEGATE ? 0 - value
                                                          : value + (turn == MPIQ_TURN_INCREMENT));
}

struct mpiq_operand mpiq_arm_half(const cs_insn *from, int index, uint8_t width, bool is_signed)
{
    struct mpiq_operand operand = mpiq_arm_operand(from, index);
    if (operand.kind == MPIQ_OPERAND_REGISTER) {
        operand.width = width;
        operand.is_signed = is_signed;
    }
    return operand;
}

static bool read_index(const cs_arm64_op *operand, struct mpiq_operand *ret)
{
    uint8_t width;
    int number = operand->mem.index == ARM64_REG_INVALID ? -1 : mpiq_arm_number(operand->mem.index, &width);
    if (operand->mem.index == ARM64_REG_INVALID || number == MPIQ_ARM_ZERO)
        return true;
    ret->index = (int8_t)number;
    ret->scale = (uint8_t)(1U << (operand->shift.value & 7));
    ret->index_part = operand->ext == ARM64_EXT_UXTW   ? MPIQ_INDEX_LOW
                      : operand->ext == ARM64_EXT_SXTW ? MPIQ_INDEX_LOW_SIGNED
                                                       : MPIQ_INDEX_WHOLE;
    return number >= 0 &&
           (operand->shift.type == ARM64_SFT_INVALID || operand->shift.type == ARM64_SFT_LSL) &&
           (width == 8 || ret->index_part != MPIQ_INDEX_WHOLE);
}

struct mpiq_operand mpiq_arm_memory(const cs_arm64_op *operand, unsigned width)
{
    struct mpiq_operand result = {.kind = MPIQ_OPERAND_MEMORY,
                                  .width = (uint8_t)width,
                                  .scale = 1,
                                  .reg = -1,
                                  .index = -1,
                                  .value = (uint64_t)(int64_t)operand->mem.disp};
    uint8_t base_width;
    int base = mpiq_arm_number(operand->mem.base, &base_width);
    result.reg = (int8_t)base;
    result.unfollowed = base < 0 || base == MPIQ_ARM_ZERO || base_width != 8 || !read_index(operand, &result);
    return result;
}

struct mpiq_effect *mpiq_arm_add_effect(const cs_insn *from, int index, enum mpiq_operation operation,
                                        struct mpiq_instruction *ret)
{
    uint8_t width;
    const cs_arm64_op *operand = &from->detail->arm64.operands[index];
    int number = operand->type == ARM64_OP_REG ? mpiq_arm_number(operand->reg, &width) : -1;
    if (number < 0 || number == MPIQ_ARM_ZERO)
        return NULL;
    ret->writes |= MPIQ_ARM_BIT(number);
    if (ret->effect_count == MPIQ_EFFECTS_MOST)
        return NULL;
    struct mpiq_effect *effect = &ret->effects[ret->effect_count++];
    *effect = (struct mpiq_effect){.operation = (uint8_t)operation, .width = width, .reg = (int8_t)number};
    effect->a = effect->b = effect->c = mpiq_arm_unknown();
    return effect;
}
