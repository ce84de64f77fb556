/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/aarch64.h"
#include "process/aarch64_private.h"

static void add_one(const cs_insn *from, enum mpiq_operation operation, struct mpiq_operand a,
                    struct mpiq_instruction *ret)
{
    struct mpiq_effect *effect = mpiq_arm_add_effect(from, 0, operation, ret);
    if (effect)
        effect->a = a;
}

static void add_two(const cs_insn *from, enum mpiq_operation operation, struct mpiq_operand a,
                    struct mpiq_operand b, struct mpiq_instruction *ret)
{
    struct mpiq_effect *effect = mpiq_arm_add_effect(from, 0, operation, ret);
    if (effect) {
        effect->a = a;
        effect->b = b;
    }
}

static void add_three(const cs_insn *from, enum mpiq_operation operation, struct mpiq_operand a,
                      struct mpiq_operand b, struct mpiq_operand c, struct mpiq_instruction *ret)
{
    struct mpiq_effect *effect = mpiq_arm_add_effect(from, 0, operation, ret);
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
    struct mpiq_operand source = mpiq_arm_operand(from, 1), at = mpiq_arm_operand(from, 2),
                        count = mpiq_arm_operand(from, 3);
    bool good = source.kind == MPIQ_OPERAND_REGISTER && at.kind == MPIQ_OPERAND_NUMBER && at.value < 64 &&
                count.kind == MPIQ_OPERAND_NUMBER && count.value <= 64;
    bool to_left = from->id == ARM64_INS_UBFIZ || from->id == ARM64_INS_BFI || from->id == ARM64_INS_SBFIZ;
    source.shift = to_left ? MPIQ_SHIFT_LEFT : MPIQ_SHIFT_RIGHT;
    source.shift_by = (uint8_t)at.value;
    source = good ? source : mpiq_arm_unknown();
    uint64_t field = good ? ones(count.value) : 0;
    switch (from->id) {
    case ARM64_INS_UBFX:
        add_two(from, MPIQ_AND, source, mpiq_operand_number(field), ret);
        break;
    case ARM64_INS_UBFIZ:
        add_two(from, MPIQ_AND, source, mpiq_operand_number(field << source.shift_by), ret);
        break;
    case ARM64_INS_BFI:
        add_three(from, MPIQ_INSERT, mpiq_arm_operand(from, 0), source,
                  mpiq_operand_number(field << source.shift_by), ret);
        break;
    case ARM64_INS_BFXIL:
        add_three(from, MPIQ_INSERT, mpiq_arm_operand(from, 0), source, mpiq_operand_number(field), ret);
        break;
    default: /* with a sign: only of whole bytes */
        good = good && to_left && (count.value == 8 || count.value == 16 || count.value == 32);
        source.width = (uint8_t)(good ? count.value / 8 : 0);
        source.is_signed = true;
        add_one(from, MPIQ_MOVE, good ? source : mpiq_arm_unknown(), ret);
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
        add_two(from, MPIQ_CHOOSE, mpiq_arm_turned(from, 2, (enum mpiq_turn)rows[i].turn),
                mpiq_arm_operand(from, 1), ret);
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
        add_two(from, MPIQ_CHOOSE, mpiq_arm_operand(from, 1), mpiq_arm_turned(from, 1, MPIQ_TURN_INCREMENT),
                ret);
        return true;
    case ARM64_INS_CINV:
        add_two(from, MPIQ_CHOOSE, mpiq_arm_operand(from, 1), mpiq_arm_turned(from, 1, MPIQ_TURN_INVERT),
                ret);
        return true;
    case ARM64_INS_CNEG:
        add_two(from, MPIQ_CHOOSE, mpiq_arm_operand(from, 1), mpiq_arm_turned(from, 1, MPIQ_TURN_NEGATE),
                ret);
        return true;
    default:
        return false;
    }
}

/* Of one operand; false: another instruction. */
static bool read_moved(const cs_insn *from, struct mpiq_instruction *ret)
{
    struct mpiq_operand first = mpiq_arm_operand(from, 1);
    switch (from->id) {
    case ARM64_INS_MOV:
    case ARM64_INS_MOVZ:
    case ARM64_INS_ADR:
    case ARM64_INS_ADRP:
        add_one(from, MPIQ_MOVE, first, ret);
        return true;
    case ARM64_INS_MOVN:
    case ARM64_INS_MVN:
        add_one(from, MPIQ_MOVE, mpiq_arm_turned(from, 1, MPIQ_TURN_INVERT), ret);
        return true;
    case ARM64_INS_NEG:
    case ARM64_INS_NEGS:
        add_one(from, MPIQ_MOVE, mpiq_arm_turned(from, 1, MPIQ_TURN_NEGATE), ret);
        return true;
    case ARM64_INS_MOVK:
        add_three(from, MPIQ_INSERT, mpiq_arm_operand(from, 0), first,
                  mpiq_operand_number(UINT64_C(0xffff) << (from->detail->arm64.operands[1].shift.value & 63)),
                  ret);
        return true;
    case ARM64_INS_SXTB:
    case ARM64_INS_UXTB:
        add_one(from, MPIQ_MOVE, mpiq_arm_half(from, 1, 1, from->id == ARM64_INS_SXTB), ret);
        return true;
    case ARM64_INS_SXTH:
    case ARM64_INS_UXTH:
        add_one(from, MPIQ_MOVE, mpiq_arm_half(from, 1, 2, from->id == ARM64_INS_SXTH), ret);
        return true;
    case ARM64_INS_SXTW:
    case ARM64_INS_UXTW:
        add_one(from, MPIQ_MOVE, mpiq_arm_half(from, 1, 4, from->id == ARM64_INS_SXTW), ret);
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
        add_two(from, (enum mpiq_operation)rows[i].operation, mpiq_arm_operand(from, 1),
                mpiq_arm_turned(from, 2, (enum mpiq_turn)rows[i].turn), ret);
        return true;
    }
    return false;
}

/* Products; false: another instruction. */
static bool read_product(const cs_insn *from, struct mpiq_instruction *ret)
{
    struct mpiq_operand first = mpiq_arm_operand(from, 1), second = mpiq_arm_operand(from, 2);
    switch (from->id) {
    case ARM64_INS_MADD:
        add_three(from, MPIQ_ADD_PRODUCT, first, second, mpiq_arm_operand(from, 3), ret);
        return true;
    case ARM64_INS_MSUB:
        add_three(from, MPIQ_SUBTRACT_PRODUCT, first, second, mpiq_arm_operand(from, 3), ret);
        return true;
    case ARM64_INS_MNEG:
        add_three(from, MPIQ_SUBTRACT_PRODUCT, first, second, mpiq_operand_number(0), ret);
        return true;
    case ARM64_INS_SMULL:
    case ARM64_INS_UMULL:
        add_two(from, MPIQ_MULTIPLY, mpiq_arm_half(from, 1, 4, from->id == ARM64_INS_SMULL),
                mpiq_arm_half(from, 2, 4, from->id == ARM64_INS_SMULL), ret);
        return true;
    case ARM64_INS_SMADDL:
    case ARM64_INS_UMADDL:
        add_three(from, MPIQ_ADD_PRODUCT, mpiq_arm_half(from, 1, 4, from->id == ARM64_INS_SMADDL),
                  mpiq_arm_half(from, 2, 4, from->id == ARM64_INS_SMADDL), mpiq_arm_operand(from, 3), ret);
        return true;
    default:
        return false;
    }
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
        ret->writes |= MPIQ_ARM_BIT(MPIQ_ARM_LR);
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
        ret->left = mpiq_arm_operand(from, 0);
        ret->right = mpiq_operand_number(0);
        ret->condition = from->id == ARM64_INS_CBZ ? MPIQ_IF_EQUAL : MPIQ_IF_NOT_EQUAL;
        target = 1;
        break;
    case ARM64_INS_TBZ:
    case ARM64_INS_TBNZ:
        ret->flow = MPIQ_FLOW_MAY_JUMP;
        ret->comparison = MPIQ_COMPARES_BITS;
        ret->left = mpiq_arm_operand(from, 0);
        ret->right = mpiq_operand_number(UINT64_C(1) << (mpiq_arm_operand(from, 1).value & 63));
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
    ret->target = mpiq_arm_operand(from, target);
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
    ret->left = mpiq_arm_operand(from, first);
    ret->right = mpiq_arm_operand(from, first + 1);
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
    if (!(ret->writes & MPIQ_ARM_BIT(MPIQ_ARM_SP)) || ret->stack_move || ret->loses_stack)
        return;
    ret->loses_stack = ret->effect_count != 1 || effect->reg != MPIQ_ARM_SP || effect->width != 8 ||
                       (effect->operation != MPIQ_ADD && effect->operation != MPIQ_SUBTRACT) ||
                       effect->a.kind != MPIQ_OPERAND_REGISTER || effect->a.reg != MPIQ_ARM_SP ||
                       effect->a.shift || effect->b.kind != MPIQ_OPERAND_NUMBER;
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
        int number = operand->type == ARM64_OP_MEM   ? mpiq_arm_number(operand->mem.base, &width)
                     : operand->type == ARM64_OP_REG ? mpiq_arm_number(operand->reg, &width)
                                                     : -1;
        general = general || (i == 0 && number >= 0);
        if (number >= 0 && number != MPIQ_ARM_ZERO)
            ret->writes |= MPIQ_ARM_BIT(number);
    }
    if (!memory && arm->op_count > 0 && arm->operands[0].type == ARM64_OP_REG) {
        int number = mpiq_arm_number(arm->operands[0].reg, &width);
        ret->writes = general && number != MPIQ_ARM_ZERO ? MPIQ_ARM_BIT(number) : 0;
    }
    ret->writes_flags = true;
    ret->store = memory ? MPIQ_STORES_ANYWHERE : MPIQ_STORES_NOTHING;
    if (from->id == ARM64_INS_HINT) /* some of them sign or strip addresses in these */
        ret->writes |= MPIQ_ARM_BIT(MPIQ_ARM_X16) | MPIQ_ARM_BIT(MPIQ_ARM_X17) | MPIQ_ARM_BIT(MPIQ_ARM_LR);
    if (from->id == ARM64_INS_SVC || from->id == ARM64_INS_SYS || from->id == ARM64_INS_DC ||
        from->id == ARM64_INS_HVC || from->id == ARM64_INS_SMC) {
        ret->store = MPIQ_STORES_ANYWHERE;
        ret->writes |= MPIQ_ARM_BIT(0);
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
                                     .target = mpiq_arm_unknown()};
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
            !read_product(from, ret) && !mpiq_arm_read_load(from, ret) && !mpiq_arm_read_store(from, ret))
            read_other(from, ret);
        break;
    }
    read_stack(ret);
}

static const int arguments[] = {0, 1, 2, 3, 4, 5, 6, 7};

const struct mpiq_architecture mpiq_aarch64 = {.decoder = CS_ARCH_ARM64,
                                               .mode = CS_MODE_LITTLE_ENDIAN,
                                               .instruction_size = 4,
                                               .stack = MPIQ_ARM_SP,
                                               .arguments = arguments,
                                               .argument_count = sizeof arguments / sizeof *arguments,
                                               .scratch =
                                                   MPIQ_ARM_BIT(MPIQ_ARM_X16) | MPIQ_ARM_BIT(MPIQ_ARM_X17),
                                               .read = read_instruction};
