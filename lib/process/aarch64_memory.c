/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions of 64-bit Arm that load and store. */
#include "process/aarch64_private.h"

/* What moves the base of an address on, before or after it is used. */
static void read_writeback(const cs_insn *from, int memory, struct mpiq_instruction *ret)
{
    const cs_arm64 *arm = &from->detail->arm64;
    const cs_arm64_op *operand = &arm->operands[memory];
    bool after = arm->op_count > memory + 1;
    uint8_t width;
    int base = mpiq_arm_number(operand->mem.base, &width);
    if ((!arm->writeback && !after) || base < 0 || base == MPIQ_ARM_ZERO)
        return;
    struct mpiq_operand by = after ? mpiq_arm_operand(from, memory + 1)
                                   : mpiq_operand_number((uint64_t)(int64_t)operand->mem.disp);
    ret->writes |= MPIQ_ARM_BIT(base);
    if (base == MPIQ_ARM_SP) {
        ret->loses_stack = by.kind != MPIQ_OPERAND_NUMBER;
        ret->stack_move = ret->loses_stack ? 0 : (int64_t)by.value;
    }
    if (ret->effect_count == MPIQ_EFFECTS_MOST)
        return;
    ret->effects[ret->effect_count++] = (struct mpiq_effect){.operation = MPIQ_ADD,
                                                             .width = 8,
                                                             .reg = (int8_t)base,
                                                             .a = mpiq_operand_register(base, 8),
                                                             .b = by,
                                                             .c = mpiq_arm_unknown()};
}

/* Bytes of a register of whatever kind; 0: nobody knows. */
static unsigned register_bytes(unsigned reg)
{
    static const struct {
        uint16_t first, last;
        uint8_t bytes;
    } rows[] = {{ARM64_REG_B0, ARM64_REG_B31, 1},
                {ARM64_REG_H0, ARM64_REG_H31, 2},
                {ARM64_REG_S0, ARM64_REG_S31, 4},
                {ARM64_REG_D0, ARM64_REG_D31, 8},
                {ARM64_REG_Q0, ARM64_REG_Q31, 16}};
    uint8_t width;
    if (mpiq_arm_number(reg, &width) >= 0)
        return width;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (reg >= rows[i].first && reg <= rows[i].last)
            return rows[i].bytes;
    }
    return 0;
}

struct access {
    uint16_t id;
    uint8_t registers;
    uint8_t bytes; /* of each; 0: as many as the register has */
    bool is_signed;
};

static const struct access *find_access(const struct access *rows, size_t count, unsigned id)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i].id == id)
            return &rows[i];
    }
    return NULL;
}

#define FIND(rows, id) find_access(rows, sizeof(rows) / sizeof *(rows), id)

/* What a register is loaded from: the second of two lies behind the first. */
static struct mpiq_operand loaded_from(const cs_insn *from, const struct access *access, int which)
{
    const cs_arm64_op *memory = &from->detail->arm64.operands[access->registers];
    unsigned bytes = access->bytes ? access->bytes : register_bytes(from->detail->arm64.operands[0].reg);
    if (memory->type == ARM64_OP_IMM) { /* near the code */
        struct mpiq_operand fixed = mpiq_operand_number((uint64_t)memory->imm);
        fixed.kind = MPIQ_OPERAND_MEMORY;
        fixed.width = (uint8_t)bytes;
        return fixed;
    }
    if (memory->type != ARM64_OP_MEM)
        return mpiq_arm_unknown();
    struct mpiq_operand result = mpiq_arm_memory(memory, bytes);
    bool after = from->detail->arm64.op_count > access->registers + 1;
    result.value = (after ? 0 : result.value) + (uint64_t)which * bytes;
    return result;
}

bool mpiq_arm_read_load(const cs_insn *from, struct mpiq_instruction *ret)
{
    static const struct access rows[] = {
        {ARM64_INS_LDR, 1, 0, false},   {ARM64_INS_LDUR, 1, 0, false},  {ARM64_INS_LDRB, 1, 1, false},
        {ARM64_INS_LDURB, 1, 1, false}, {ARM64_INS_LDRH, 1, 2, false},  {ARM64_INS_LDURH, 1, 2, false},
        {ARM64_INS_LDRSB, 1, 1, true},  {ARM64_INS_LDURSB, 1, 1, true}, {ARM64_INS_LDRSH, 1, 2, true},
        {ARM64_INS_LDURSH, 1, 2, true}, {ARM64_INS_LDRSW, 1, 4, true},  {ARM64_INS_LDURSW, 1, 4, true},
        {ARM64_INS_LDP, 2, 0, false},   {ARM64_INS_LDNP, 2, 0, false},  {ARM64_INS_LDPSW, 2, 4, true},
        {ARM64_INS_LDAR, 1, 0, false},  {ARM64_INS_LDARB, 1, 1, false}, {ARM64_INS_LDARH, 1, 2, false}};
    const struct access *access = FIND(rows, from->id);
    if (!access || from->detail->arm64.op_count <= access->registers)
        return false;
    for (int i = 0; i < access->registers; i++) {
        struct mpiq_effect *effect =
            mpiq_arm_add_effect(from, i, access->is_signed ? MPIQ_EXTEND : MPIQ_MOVE, ret);
        if (effect)
            effect->a = loaded_from(from, access, i);
    }
    if (from->detail->arm64.operands[access->registers].type == ARM64_OP_MEM)
        read_writeback(from, access->registers, ret);
    return true;
}

bool mpiq_arm_read_store(const cs_insn *from, struct mpiq_instruction *ret)
{
    static const struct access rows[] = {
        {ARM64_INS_STR, 1, 0, false},   {ARM64_INS_STUR, 1, 0, false}, {ARM64_INS_STRB, 1, 1, false},
        {ARM64_INS_STURB, 1, 1, false}, {ARM64_INS_STRH, 1, 2, false}, {ARM64_INS_STURH, 1, 2, false},
        {ARM64_INS_STP, 2, 0, false},   {ARM64_INS_STNP, 2, 0, false}, {ARM64_INS_STLR, 1, 0, false},
        {ARM64_INS_STLRB, 1, 1, false}, {ARM64_INS_STLRH, 1, 2, false}};
    const struct access *access = FIND(rows, from->id);
    const cs_arm64 *arm = &from->detail->arm64;
    if (!access || arm->op_count <= access->registers ||
        arm->operands[access->registers].type != ARM64_OP_MEM)
        return false;
    ret->store = MPIQ_STORES_AT;
    ret->to = loaded_from(from, access, 0);
    ret->to.width = (uint8_t)(ret->to.width * access->registers);
    ret->stored_count = access->registers;
    for (int i = 0; i < access->registers; i++)
        ret->stored[i] = mpiq_arm_operand(from, i);
    read_writeback(from, access->registers, ret);
    return true;
}
