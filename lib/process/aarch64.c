/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/aarch64.h"

/* DWARF numbers: x0 … x30 have their own. */
enum { X16 = 16, X17 = 17, LR = 30, SP = 31, ZERO = 32 };

#define BIT(number) (UINT32_C(1) << (number))

/* ---- operands ---- */

/* DWARF number of a general register, ZERO of that which is always 0, and its width in bytes; -1. */
static int number_of(unsigned reg, uint8_t *width)
{
    *width = 8;
    if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
        return (int)(reg - ARM64_REG_X0);
    switch (reg) {
    case ARM64_REG_X29:
        return 29;
    case ARM64_REG_X30:
        return LR;
    case ARM64_REG_SP:
        return SP;
    case ARM64_REG_XZR:
        return ZERO;
    default:
        break;
    }
    *width = 4;
    if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
        return (int)(reg - ARM64_REG_W0);
    return reg == ARM64_REG_WSP ? SP : reg == ARM64_REG_WZR ? ZERO : -1;
}

static struct mpiq_operand unknown_operand(void)
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
        return unknown_operand();
    }
    return result;
}

static struct mpiq_operand operand_of(const cs_insn *from, int index)
{
    const cs_arm64 *arm = &from->detail->arm64;
    const cs_arm64_op *operand = &arm->operands[index];
    uint8_t width;
    if (index >= arm->op_count)
        return unknown_operand();
    if (operand->type == ARM64_OP_IMM) {
        bool shifted = operand->shift.type == ARM64_SFT_LSL;
        if (operand->shift.type != ARM64_SFT_INVALID && !shifted)
            return unknown_operand();
        return mpiq_operand_number((uint64_t)operand->imm << (shifted ? operand->shift.value & 63 : 0));
    }
    int number = operand->type == ARM64_OP_REG ? number_of(operand->reg, &width) : -1;
    if (number == ZERO)
        return mpiq_operand_number(0);
    return number < 0 ? unknown_operand() : adapted_register(operand, number, width);
}

/* The same, turned. */
static struct mpiq_operand turned(const cs_insn *from, int index, enum mpiq_turn turn)
{
    struct mpiq_operand operand = operand_of(from, index);
    operand.turn = (uint8_t)turn;
    if (operand.kind != MPIQ_OPERAND_NUMBER)
        return operand;
    uint64_t value = operand.value;
    return mpiq_operand_number(turn == MPIQ_TURN_INVERT   ? ~value
                               : turn == MPIQ_TURN_NEGATE ? 0 - value
                                                          : value + (turn == MPIQ_TURN_INCREMENT));
}

/* The lower half of a register, as long as it is one. */
static struct mpiq_operand half_of(const cs_insn *from, int index, uint8_t width, bool is_signed)
{
    struct mpiq_operand operand = operand_of(from, index);
    if (operand.kind == MPIQ_OPERAND_REGISTER) {
        operand.width = width;
        operand.is_signed = is_signed;
    }
    return operand;
}

static bool read_index(const cs_arm64_op *operand, struct mpiq_operand *ret)
{
    uint8_t width;
    int number = operand->mem.index == ARM64_REG_INVALID ? -1 : number_of(operand->mem.index, &width);
    if (operand->mem.index == ARM64_REG_INVALID || number == ZERO)
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

static struct mpiq_operand memory_operand(const cs_arm64_op *operand, unsigned width)
{
    struct mpiq_operand result = {.kind = MPIQ_OPERAND_MEMORY,
                                  .width = (uint8_t)width,
                                  .scale = 1,
                                  .reg = -1,
                                  .index = -1,
                                  .value = (uint64_t)(int64_t)operand->mem.disp};
    uint8_t base_width;
    int base = number_of(operand->mem.base, &base_width);
    result.reg = (int8_t)base;
    result.unfollowed = base < 0 || base == ZERO || base_width != 8 || !read_index(operand, &result);
    return result;
}

/* ---- effects ---- */

/* An effect on the register that the operand at index names; NULL: there is none, or it cannot be said. */
static struct mpiq_effect *add_effect(const cs_insn *from, int index, enum mpiq_operation operation,
                                      struct mpiq_instruction *ret)
{
    uint8_t width;
    const cs_arm64_op *operand = &from->detail->arm64.operands[index];
    int number = operand->type == ARM64_OP_REG ? number_of(operand->reg, &width) : -1;
    if (number < 0 || number == ZERO)
        return NULL;
    ret->writes |= BIT(number);
    if (ret->effect_count == MPIQ_EFFECTS_MOST)
        return NULL;
    struct mpiq_effect *effect = &ret->effects[ret->effect_count++];
    *effect = (struct mpiq_effect){.operation = (uint8_t)operation, .width = width, .reg = (int8_t)number};
    effect->a = effect->b = effect->c = unknown_operand();
    return effect;
}

static void add_one(const cs_insn *from, enum mpiq_operation operation, struct mpiq_operand a,
                    struct mpiq_instruction *ret)
{
    struct mpiq_effect *effect = add_effect(from, 0, operation, ret);
    if (effect)
        effect->a = a;
}

static void add_two(const cs_insn *from, enum mpiq_operation operation, struct mpiq_operand a,
                    struct mpiq_operand b, struct mpiq_instruction *ret)
{
    struct mpiq_effect *effect = add_effect(from, 0, operation, ret);
    if (effect) {
        effect->a = a;
        effect->b = b;
    }
}

static void add_three(const cs_insn *from, enum mpiq_operation operation, struct mpiq_operand a,
                      struct mpiq_operand b, struct mpiq_operand c, struct mpiq_instruction *ret)
{
    struct mpiq_effect *effect = add_effect(from, 0, operation, ret);
    if (effect) {
        effect->a = a;
        effect->b = b;
        effect->c = c;
    }
}

static uint64_t ones(uint64_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* Fields of bits: the third operand says where they begin (or are put), the fourth how many they are. */
static void read_bits(const cs_insn *from, struct mpiq_instruction *ret)
{
    struct mpiq_operand source = operand_of(from, 1), at = operand_of(from, 2), count = operand_of(from, 3);
    bool good = source.kind == MPIQ_OPERAND_REGISTER && at.kind == MPIQ_OPERAND_NUMBER && at.value < 64 &&
                count.kind == MPIQ_OPERAND_NUMBER && count.value <= 64;
    bool to_left = from->id == ARM64_INS_UBFIZ || from->id == ARM64_INS_BFI || from->id == ARM64_INS_SBFIZ;
    source.shift = to_left ? MPIQ_SHIFT_LEFT : MPIQ_SHIFT_RIGHT;
    source.shift_by = (uint8_t)at.value;
    source = good ? source : unknown_operand();
    uint64_t field = good ? ones(count.value) : 0;
    switch (from->id) {
    case ARM64_INS_UBFX:
        add_two(from, MPIQ_AND, source, mpiq_operand_number(field), ret);
        break;
    case ARM64_INS_UBFIZ:
        add_two(from, MPIQ_AND, source, mpiq_operand_number(field << source.shift_by), ret);
        break;
    case ARM64_INS_BFI:
        add_three(from, MPIQ_INSERT, operand_of(from, 0), source,
                  mpiq_operand_number(field << source.shift_by), ret);
        break;
    case ARM64_INS_BFXIL:
        add_three(from, MPIQ_INSERT, operand_of(from, 0), source, mpiq_operand_number(field), ret);
        break;
    default: /* with a sign: only of whole bytes */
        good = good && to_left && (count.value == 8 || count.value == 16 || count.value == 32);
        source.width = (uint8_t)(good ? count.value / 8 : 0);
        source.is_signed = true;
        add_one(from, MPIQ_MOVE, good ? source : unknown_operand(), ret);
        break;
    }
}

static enum mpiq_condition condition_of(arm64_cc condition)
{
    static const uint8_t rows[] = {[ARM64_CC_EQ] = MPIQ_IF_EQUAL,     [ARM64_CC_NE] = MPIQ_IF_NOT_EQUAL,
                                   [ARM64_CC_HS] = MPIQ_IF_NOT_BELOW, [ARM64_CC_LO] = MPIQ_IF_BELOW,
                                   [ARM64_CC_MI] = MPIQ_IF_NEGATIVE,  [ARM64_CC_PL] = MPIQ_IF_NOT_NEGATIVE,
                                   [ARM64_CC_HI] = MPIQ_IF_ABOVE,     [ARM64_CC_LS] = MPIQ_IF_BELOW_OR_EQUAL,
                                   [ARM64_CC_GE] = MPIQ_IF_NOT_LESS,  [ARM64_CC_LT] = MPIQ_IF_LESS,
                                   [ARM64_CC_GT] = MPIQ_IF_GREATER,   [ARM64_CC_LE] = MPIQ_IF_LESS_OR_EQUAL,
                                   [ARM64_CC_VS] = MPIQ_CONDITIONS,   [ARM64_CC_VC] = MPIQ_CONDITIONS};
    bool known = condition != ARM64_CC_INVALID && (size_t)condition < sizeof rows;
    return known ? (enum mpiq_condition)rows[condition] : MPIQ_CONDITIONS;
}

/* What depends on a condition; false: another instruction. */
static bool read_choice(const cs_insn *from, struct mpiq_instruction *ret)
{
    static const struct {
        uint16_t id;
        uint8_t turn; /* of the one that is taken if the condition does not hold */
    } rows[] = {{ARM64_INS_CSEL, MPIQ_TURN_NONE},
                {ARM64_INS_CSINC, MPIQ_TURN_INCREMENT},
                {ARM64_INS_CSINV, MPIQ_TURN_INVERT},
                {ARM64_INS_CSNEG, MPIQ_TURN_NEGATE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].id != from->id)
            continue;
        add_two(from, MPIQ_CHOOSE, turned(from, 2, (enum mpiq_turn)rows[i].turn), operand_of(from, 1), ret);
        return true;
    }
    switch (from->id) {
    case ARM64_INS_CSET:
        add_two(from, MPIQ_CHOOSE, mpiq_operand_number(0), mpiq_operand_number(1), ret);
        return true;
    case ARM64_INS_CSETM:
        add_two(from, MPIQ_CHOOSE, mpiq_operand_number(0), mpiq_operand_number(UINT64_MAX), ret);
        return true;
    case ARM64_INS_CINC:
        add_two(from, MPIQ_CHOOSE, operand_of(from, 1), turned(from, 1, MPIQ_TURN_INCREMENT), ret);
        return true;
    case ARM64_INS_CINV:
        add_two(from, MPIQ_CHOOSE, operand_of(from, 1), turned(from, 1, MPIQ_TURN_INVERT), ret);
        return true;
    case ARM64_INS_CNEG:
        add_two(from, MPIQ_CHOOSE, operand_of(from, 1), turned(from, 1, MPIQ_TURN_NEGATE), ret);
        return true;
    default:
        return false;
    }
}

/* Of one operand; false: another instruction. */
static bool read_moved(const cs_insn *from, struct mpiq_instruction *ret)
{
    struct mpiq_operand first = operand_of(from, 1);
    switch (from->id) {
    case ARM64_INS_MOV:
    case ARM64_INS_MOVZ:
    case ARM64_INS_ADR:
    case ARM64_INS_ADRP:
        add_one(from, MPIQ_MOVE, first, ret);
        return true;
    case ARM64_INS_MOVN:
    case ARM64_INS_MVN:
        add_one(from, MPIQ_MOVE, turned(from, 1, MPIQ_TURN_INVERT), ret);
        return true;
    case ARM64_INS_NEG:
    case ARM64_INS_NEGS:
        add_one(from, MPIQ_MOVE, turned(from, 1, MPIQ_TURN_NEGATE), ret);
        return true;
    case ARM64_INS_MOVK:
        add_three(from, MPIQ_INSERT, operand_of(from, 0), first,
                  mpiq_operand_number(UINT64_C(0xffff) << (from->detail->arm64.operands[1].shift.value & 63)),
                  ret);
        return true;
    case ARM64_INS_SXTB:
    case ARM64_INS_UXTB:
        add_one(from, MPIQ_MOVE, half_of(from, 1, 1, from->id == ARM64_INS_SXTB), ret);
        return true;
    case ARM64_INS_SXTH:
    case ARM64_INS_UXTH:
        add_one(from, MPIQ_MOVE, half_of(from, 1, 2, from->id == ARM64_INS_SXTH), ret);
        return true;
    case ARM64_INS_SXTW:
    case ARM64_INS_UXTW:
        add_one(from, MPIQ_MOVE, half_of(from, 1, 4, from->id == ARM64_INS_SXTW), ret);
        return true;
    default:
        return false;
    }
}

/* Of two operands; false: another instruction. */
static bool read_computed(const cs_insn *from, struct mpiq_instruction *ret)
{
    static const struct {
        uint16_t id;
        uint8_t operation, turn;
    } rows[] = {{ARM64_INS_ADD, MPIQ_ADD, 0},
                {ARM64_INS_SUB, MPIQ_SUBTRACT, 0},
                {ARM64_INS_AND, MPIQ_AND, 0},
                {ARM64_INS_ORR, MPIQ_OR, 0},
                {ARM64_INS_EOR, MPIQ_XOR, 0},
                {ARM64_INS_BIC, MPIQ_AND, MPIQ_TURN_INVERT},
                {ARM64_INS_ORN, MPIQ_OR, MPIQ_TURN_INVERT},
                {ARM64_INS_EON, MPIQ_XOR, MPIQ_TURN_INVERT},
                {ARM64_INS_LSL, MPIQ_SHIFT_LEFT, 0},
                {ARM64_INS_LSR, MPIQ_SHIFT_RIGHT, 0},
                {ARM64_INS_ASR, MPIQ_SHIFT_SIGNED, 0},
                {ARM64_INS_MUL, MPIQ_MULTIPLY, 0},
                {ARM64_INS_UDIV, MPIQ_DIVIDE, 0},
                {ARM64_INS_SDIV, MPIQ_DIVIDE_SIGNED, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].id != from->id)
            continue;
        add_two(from, (enum mpiq_operation)rows[i].operation, operand_of(from, 1),
                turned(from, 2, (enum mpiq_turn)rows[i].turn), ret);
        return true;
    }
    return false;
}

/* Products; false: another instruction. */
static bool read_product(const cs_insn *from, struct mpiq_instruction *ret)
{
    struct mpiq_operand first = operand_of(from, 1), second = operand_of(from, 2);
    switch (from->id) {
    case ARM64_INS_MADD:
        add_three(from, MPIQ_ADD_PRODUCT, first, second, operand_of(from, 3), ret);
        return true;
    case ARM64_INS_MSUB:
        add_three(from, MPIQ_SUBTRACT_PRODUCT, first, second, operand_of(from, 3), ret);
        return true;
    case ARM64_INS_MNEG:
        add_three(from, MPIQ_SUBTRACT_PRODUCT, first, second, mpiq_operand_number(0), ret);
        return true;
    case ARM64_INS_SMULL:
    case ARM64_INS_UMULL:
        add_two(from, MPIQ_MULTIPLY, half_of(from, 1, 4, from->id == ARM64_INS_SMULL),
                half_of(from, 2, 4, from->id == ARM64_INS_SMULL), ret);
        return true;
    case ARM64_INS_SMADDL:
    case ARM64_INS_UMADDL:
        add_three(from, MPIQ_ADD_PRODUCT, half_of(from, 1, 4, from->id == ARM64_INS_SMADDL),
                  half_of(from, 2, 4, from->id == ARM64_INS_SMADDL), operand_of(from, 3), ret);
        return true;
    default:
        return false;
    }
}

/* ---- memory ---- */

/* What moves the base of an address on, before or after it is used. */
static void read_writeback(const cs_insn *from, int memory, struct mpiq_instruction *ret)
{
    const cs_arm64 *arm = &from->detail->arm64;
    const cs_arm64_op *operand = &arm->operands[memory];
    bool after = arm->op_count > memory + 1;
    uint8_t width;
    int base = number_of(operand->mem.base, &width);
    if ((!arm->writeback && !after) || base < 0 || base == ZERO)
        return;
    struct mpiq_operand by =
        after ? operand_of(from, memory + 1) : mpiq_operand_number((uint64_t)(int64_t)operand->mem.disp);
    ret->writes |= BIT(base);
    if (base == SP) {
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
                                                             .c = unknown_operand()};
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
    if (number_of(reg, &width) >= 0)
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
        return unknown_operand();
    struct mpiq_operand result = memory_operand(memory, bytes);
    bool after = from->detail->arm64.op_count > access->registers + 1;
    result.value = (after ? 0 : result.value) + (uint64_t)which * bytes;
    return result;
}

/* False: another instruction. */
static bool read_load(const cs_insn *from, struct mpiq_instruction *ret)
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
        struct mpiq_effect *effect = add_effect(from, i, access->is_signed ? MPIQ_EXTEND : MPIQ_MOVE, ret);
        if (effect)
            effect->a = loaded_from(from, access, i);
    }
    if (from->detail->arm64.operands[access->registers].type == ARM64_OP_MEM)
        read_writeback(from, access->registers, ret);
    return true;
}

/* False: another instruction. */
static bool read_store(const cs_insn *from, struct mpiq_instruction *ret)
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
        ret->stored[i] = operand_of(from, i);
    read_writeback(from, access->registers, ret);
    return true;
}

/* ---- flow, flags ---- */

static void read_flow(const cs_insn *from, struct mpiq_instruction *ret)
{
    const cs_arm64 *arm = &from->detail->arm64;
    int target = 0;
    switch (from->id) {
    case ARM64_INS_BL:
    case ARM64_INS_BLR:
        ret->flow = MPIQ_FLOW_CALL;
        ret->writes |= BIT(LR);
        break;
    case ARM64_INS_B:
        ret->flow = arm->cc == ARM64_CC_INVALID ? MPIQ_FLOW_JUMP : MPIQ_FLOW_MAY_JUMP;
        break;
    case ARM64_INS_BR:
        ret->flow = MPIQ_FLOW_JUMP;
        break;
    case ARM64_INS_CBZ:
    case ARM64_INS_CBNZ:
        ret->flow = MPIQ_FLOW_MAY_JUMP;
        ret->comparison = MPIQ_COMPARES;
        ret->left = operand_of(from, 0);
        ret->right = mpiq_operand_number(0);
        ret->condition = from->id == ARM64_INS_CBZ ? MPIQ_IF_EQUAL : MPIQ_IF_NOT_EQUAL;
        target = 1;
        break;
    case ARM64_INS_TBZ:
    case ARM64_INS_TBNZ:
        ret->flow = MPIQ_FLOW_MAY_JUMP;
        ret->comparison = MPIQ_COMPARES_BITS;
        ret->left = operand_of(from, 0);
        ret->right = mpiq_operand_number(UINT64_C(1) << (operand_of(from, 1).value & 63));
        ret->condition = from->id == ARM64_INS_TBZ ? MPIQ_IF_EQUAL : MPIQ_IF_NOT_EQUAL;
        target = 2;
        break;
    case ARM64_INS_RET:
    case ARM64_INS_ERET:
    case ARM64_INS_DRPS:
    case ARM64_INS_BRK:
        ret->flow = MPIQ_FLOW_ENDS;
        return;
    default:
        return;
    }
    ret->target = operand_of(from, target);
}

/* Whether an instruction only compares; of those that do and leave a result, too, the operands. */
static bool read_comparison(const cs_insn *from, struct mpiq_instruction *ret)
{
    int first = 0;
    bool only = false;
    switch (from->id) {
    case ARM64_INS_CMP:
    case ARM64_INS_CMN:
    case ARM64_INS_TST:
        only = true;
        break;
    case ARM64_INS_CCMP:
    case ARM64_INS_CCMN:
        return true;
    case ARM64_INS_SUB:
    case ARM64_INS_AND:
        first = 1;
        break;
    default:
        return false;
    }
    if (!only && !from->detail->arm64.update_flags)
        return false;
    ret->left = operand_of(from, first);
    ret->right = operand_of(from, first + 1);
    ret->comparison =
        from->id == ARM64_INS_TST || from->id == ARM64_INS_AND ? MPIQ_COMPARES_BITS : MPIQ_COMPARES;
    if (from->id == ARM64_INS_CMN) {
        /* With a register, or 0, the carry would be another one. */
        if (ret->right.kind == MPIQ_OPERAND_NUMBER && ret->right.value != 0)
            ret->right.value = 0 - ret->right.value;
        else
            ret->comparison = MPIQ_COMPARES_NOTHING;
    }
    return only;
}

/* The stack pointer, where an instruction computes it. */
static void read_stack(struct mpiq_instruction *ret)
{
    const struct mpiq_effect *effect = &ret->effects[0];
    if (!(ret->writes & BIT(SP)) || ret->stack_move || ret->loses_stack)
        return;
    ret->loses_stack = ret->effect_count != 1 || effect->reg != SP || effect->width != 8 ||
                       (effect->operation != MPIQ_ADD && effect->operation != MPIQ_SUBTRACT) ||
                       effect->a.kind != MPIQ_OPERAND_REGISTER || effect->a.reg != SP || effect->a.shift ||
                       effect->b.kind != MPIQ_OPERAND_NUMBER;
    if (!ret->loses_stack)
        ret->stack_move = (int64_t)(effect->operation == MPIQ_ADD ? effect->b.value : 0 - effect->b.value);
}

/* Whether an instruction neither writes general registers nor memory. */
static bool does_nothing(unsigned id)
{
    return id == ARM64_INS_NOP || id == ARM64_INS_YIELD || id == ARM64_INS_SEV || id == ARM64_INS_SEVL ||
           id == ARM64_INS_WFE || id == ARM64_INS_WFI || id == ARM64_INS_PRFM || id == ARM64_INS_PRFUM ||
           id == ARM64_INS_DMB || id == ARM64_INS_DSB || id == ARM64_INS_ISB || id == ARM64_INS_CLREX;
}

/* Any other: a result in its first operand; with memory, in all registers that it names. */
static void read_other(const cs_insn *from, struct mpiq_instruction *ret)
{
    const cs_arm64 *arm = &from->detail->arm64;
    bool memory = false, general = false;
    uint8_t width;
    for (int i = 0; i < arm->op_count; i++) {
        const cs_arm64_op *operand = &arm->operands[i];
        memory = memory || operand->type == ARM64_OP_MEM;
        int number = operand->type == ARM64_OP_MEM   ? number_of(operand->mem.base, &width)
                     : operand->type == ARM64_OP_REG ? number_of(operand->reg, &width)
                                                     : -1;
        general = general || (i == 0 && number >= 0);
        if (number >= 0 && number != ZERO)
            ret->writes |= BIT(number);
    }
    if (!memory && arm->op_count > 0 && arm->operands[0].type == ARM64_OP_REG) {
        int number = number_of(arm->operands[0].reg, &width);
        ret->writes = general && number != ZERO ? BIT(number) : 0;
    }
    ret->writes_flags = true;
    ret->store = memory ? MPIQ_STORES_ANYWHERE : MPIQ_STORES_NOTHING;
    if (from->id == ARM64_INS_HINT) /* some of them sign or strip addresses in these */
        ret->writes |= BIT(X16) | BIT(X17) | BIT(LR);
    if (from->id == ARM64_INS_SVC || from->id == ARM64_INS_SYS || from->id == ARM64_INS_DC ||
        from->id == ARM64_INS_HVC || from->id == ARM64_INS_SMC) {
        ret->store = MPIQ_STORES_ANYWHERE;
        ret->writes |= BIT(0);
    }
}

/* What this decoder does not know: nobody knows what it does, but whether it may jump. */
static void read_unknown(const cs_insn *from, struct mpiq_instruction *ret)
{
    uint32_t word = 0;
    for (int i = 0; i < from->size && i < 4; i++)
        word |= (uint32_t)from->bytes[i] << 8 * i;
    ret->writes = UINT32_MAX;
    ret->writes_flags = true;
    ret->loses_stack = true;
    ret->store = MPIQ_STORES_ANYWHERE;
    if (from->size != 4) {
        ret->flow = MPIQ_FLOW_JUMP;
    } else if ((word & 0xfffffbff) == 0xd65f0bff) { /* returns, having checked a signed address */
        ret->flow = MPIQ_FLOW_ENDS;
    } else if ((word & 0xfefff800) == 0xd63f0800) { /* calls through one */
        ret->flow = MPIQ_FLOW_CALL;
        ret->target = mpiq_operand_register((int)(word >> 5 & 31), 8);
    } else if ((word >> 26 & 7) == 5) { /* branches, exceptions, the system */
        ret->flow = MPIQ_FLOW_JUMP;
    }
}

static void read_instruction(csh decoder, const cs_insn *from, struct mpiq_instruction *ret)
{
    (void)decoder;
    *ret = (struct mpiq_instruction){.address = from->address,
                                     .size = (uint8_t)from->size,
                                     .condition = MPIQ_CONDITIONS,
                                     .target = unknown_operand()};
    if (from->id == ARM64_INS_INVALID) {
        read_unknown(from, ret);
        return;
    }
    ret->condition = (uint8_t)condition_of(from->detail->arm64.cc);
    read_flow(from, ret);
    if (ret->flow != MPIQ_FLOW_ON)
        return;
    ret->writes_flags = from->detail->arm64.update_flags;
    if (read_comparison(from, ret)) {
        ret->writes_flags = true;
        return;
    }
    if (does_nothing(from->id))
        return;
    switch (from->id) {
    case ARM64_INS_UBFX:
    case ARM64_INS_UBFIZ:
    case ARM64_INS_SBFIZ:
    case ARM64_INS_SBFX:
    case ARM64_INS_BFI:
    case ARM64_INS_BFXIL:
        read_bits(from, ret);
        break;
    default:
        if (!read_choice(from, ret) && !read_moved(from, ret) && !read_computed(from, ret) &&
            !read_product(from, ret) && !read_load(from, ret) && !read_store(from, ret))
            read_other(from, ret);
        break;
    }
    read_stack(ret);
}

static const int arguments[] = {0, 1, 2, 3, 4, 5, 6, 7};

const struct mpiq_architecture mpiq_aarch64 = {.decoder = CS_ARCH_ARM64,
                                               .mode = CS_MODE_LITTLE_ENDIAN,
                                               .instruction_size = 4,
                                               .stack = SP,
                                               .arguments = arguments,
                                               .argument_count = sizeof arguments / sizeof *arguments,
                                               .scratch = BIT(X16) | BIT(X17),
                                               .read = read_instruction};
