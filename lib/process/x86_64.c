/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/x86_64.h"

/* DWARF numbers of x86-64. */
enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15, RIP };

/* DWARF number of a general register of whatever width, its width in bytes and whether it is the second byte
   of one; -1. */
static int number_of(unsigned reg, int *width, bool *second)
{
    static const struct {
        uint16_t name[4]; /* of 8, 4, 2 and 1 bytes */
    } rows[] = {
        [RAX] = {{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL}},
        [RDX] = {{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL}},
        [RCX] = {{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL}},
        [RBX] = {{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL}},
        [RSI] = {{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL}},
        [RDI] = {{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL}},
        [RBP] = {{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL}},
        [RSP] = {{X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL}},
        [R8] = {{X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B}},
        [R9] = {{X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B}},
        [R10] = {{X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B}},
        [R11] = {{X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B}},
        [R12] = {{X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B}},
        [R13] = {{X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B}},
        [R14] = {{X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B}},
        [R15] = {{X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B}},
    };
    static const uint16_t seconds[] = {X86_REG_AH, X86_REG_DH, X86_REG_CH, X86_REG_BH};
    *second = false;
    for (int i = 0; reg && i < RIP; i++) {
        for (int j = 0; j < 4; j++) {
            if (rows[i].name[j] == reg) {
                *width = 8 >> j;
                return i;
            }
        }
        if (i < 4 && seconds[i] == reg) {
            *width = 1;
            *second = true;
            return i;
        }
    }
    return -1;
}

static bool is_register(const cs_x86_op *operand, int number)
{
    int width;
    bool second;
    return operand->type == X86_OP_REG && number_of(operand->reg, &width, &second) == number;
}

/* A register of an address: 8 bytes wide, or none; false: it cannot be followed. */
static bool part_of_address(unsigned reg, int8_t *ret)
{
    int width = 0;
    bool second;
    *ret = -1;
    if (reg == X86_REG_INVALID || reg == X86_REG_RIZ)
        return true;
    *ret = (int8_t)number_of(reg, &width, &second);
    return *ret >= 0 && width == 8;
}

static struct mpiq_operand memory_operand(const cs_insn *from, const cs_x86_op *operand)
{
    const x86_op_mem *memory = &operand->mem;
    struct mpiq_operand result = {.kind = MPIQ_OPERAND_MEMORY,
                                  .width = operand->size,
                                  .scale = (uint8_t)memory->scale,
                                  .reg = -1,
                                  .index = -1,
                                  .value = (uint64_t)memory->disp};
    bool relative = memory->base == X86_REG_RIP;
    if (relative)
        result.value += from->address + from->size;
    bool followed = part_of_address(relative ? X86_REG_INVALID : memory->base, &result.reg);
    followed = part_of_address(memory->index, &result.index) && followed;
    result.unfollowed = !followed || memory->segment != X86_REG_INVALID;
    return result;
}

static struct mpiq_operand operand_of(const cs_insn *from, const cs_x86_op *operand)
{
    int width = 0;
    bool second = false;
    if (operand->type == X86_OP_IMM)
        return mpiq_operand_number((uint64_t)operand->imm);
    if (operand->type == X86_OP_MEM)
        return memory_operand(from, operand);
    int number = operand->type == X86_OP_REG ? number_of(operand->reg, &width, &second) : -1;
    return number < 0 || second ? (struct mpiq_operand){.reg = -1, .index = -1}
                                : mpiq_operand_register(number, (uint8_t)width);
}

static enum mpiq_condition condition_of(unsigned id)
{
    static const uint16_t instructions[MPIQ_CONDITIONS][3] = {
        [MPIQ_IF_EQUAL] = {X86_INS_JE, X86_INS_SETE, X86_INS_CMOVE},
        [MPIQ_IF_NOT_EQUAL] = {X86_INS_JNE, X86_INS_SETNE, X86_INS_CMOVNE},
        [MPIQ_IF_LESS] = {X86_INS_JL, X86_INS_SETL, X86_INS_CMOVL},
        [MPIQ_IF_NOT_LESS] = {X86_INS_JGE, X86_INS_SETGE, X86_INS_CMOVGE},
        [MPIQ_IF_LESS_OR_EQUAL] = {X86_INS_JLE, X86_INS_SETLE, X86_INS_CMOVLE},
        [MPIQ_IF_GREATER] = {X86_INS_JG, X86_INS_SETG, X86_INS_CMOVG},
        [MPIQ_IF_BELOW] = {X86_INS_JB, X86_INS_SETB, X86_INS_CMOVB},
        [MPIQ_IF_NOT_BELOW] = {X86_INS_JAE, X86_INS_SETAE, X86_INS_CMOVAE},
        [MPIQ_IF_BELOW_OR_EQUAL] = {X86_INS_JBE, X86_INS_SETBE, X86_INS_CMOVBE},
        [MPIQ_IF_ABOVE] = {X86_INS_JA, X86_INS_SETA, X86_INS_CMOVA},
        [MPIQ_IF_NEGATIVE] = {X86_INS_JS, X86_INS_SETS, X86_INS_CMOVS},
        [MPIQ_IF_NOT_NEGATIVE] = {X86_INS_JNS, X86_INS_SETNS, X86_INS_CMOVNS},
    };
    for (int i = 0; i < MPIQ_CONDITIONS; i++) {
        for (int j = 0; j < 3; j++) {
            if (instructions[i][j] == id)
                return (enum mpiq_condition)i;
        }
    }
    return MPIQ_CONDITIONS;
}

/* What Capstone does not say that instructions write. */
static void read_hidden(const cs_insn *from, struct mpiq_instruction *ret)
{
    switch (from->id) {
    case X86_INS_SYSCALL:
    case X86_INS_SYSENTER:
    case X86_INS_INT:
        ret->writes |= UINT32_C(1) << RAX | UINT32_C(1) << RCX | UINT32_C(1) << R11;
        ret->writes_flags = true;
        break;
    case X86_INS_CMPXCHG:
        ret->writes |= UINT32_C(1) << RAX;
        ret->writes_flags = true;
        break;
    case X86_INS_XLATB:
        ret->writes |= UINT32_C(1) << RAX;
        break;
    case X86_INS_ENTER:
        ret->writes |= UINT32_C(1) << RBP | UINT32_C(1) << RSP;
        break;
    case X86_INS_XADD:
        ret->writes_flags = true;
        break;
    default:
        break;
    }
}

static void read_written(csh decoder, const cs_insn *from, struct mpiq_instruction *ret)
{
    cs_regs read, written;
    uint8_t read_count = 0, written_count = 0;
    if (cs_regs_access(decoder, from, read, &read_count, written, &written_count) != CS_ERR_OK) {
        ret->writes = UINT32_MAX;
        ret->writes_flags = true;
        return;
    }
    for (uint8_t i = 0; i < written_count; i++) {
        int width;
        bool second;
        int number = number_of(written[i], &width, &second);
        if (number >= 0)
            ret->writes |= UINT32_C(1) << number;
        ret->writes_flags = ret->writes_flags || written[i] == X86_REG_EFLAGS;
    }
    /* Capstone says that they write rax. */
    if (from->id == X86_INS_TEST)
        ret->writes = 0;
    if (from->id == X86_INS_CDQ)
        ret->writes &= ~(UINT32_C(1) << RAX);
    read_hidden(from, ret);
}

static void read_flow(csh decoder, const cs_insn *from, struct mpiq_instruction *ret)
{
    bool jumps = cs_insn_group(decoder, from, CS_GRP_JUMP);
    if (cs_insn_group(decoder, from, CS_GRP_RET))
        ret->flow = MPIQ_FLOW_ENDS;
    else if (cs_insn_group(decoder, from, CS_GRP_CALL))
        ret->flow = MPIQ_FLOW_CALL;
    else if (jumps)
        ret->flow = from->id == X86_INS_JMP ? MPIQ_FLOW_JUMP : MPIQ_FLOW_MAY_JUMP;
    if ((jumps || ret->flow == MPIQ_FLOW_CALL) && from->detail->x86.op_count)
        ret->target = operand_of(from, &from->detail->x86.operands[0]);
}

static void read_stack(const cs_insn *from, struct mpiq_instruction *ret)
{
    const cs_x86 *x86 = &from->detail->x86;
    const cs_x86_op *to = &x86->operands[0];
    bool writes_stack = ret->writes >> RSP & 1;
    switch (from->id) {
    case X86_INS_PUSH:
        /* An immediate is pushed as a word. */
        ret->stack_move = -8;
        ret->loses_stack = to->type != X86_OP_IMM && to->size != 8;
        break;
    case X86_INS_POP:
        ret->stack_move = 8;
        ret->loses_stack = to->size != 8 || is_register(to, RSP);
        break;
    case X86_INS_SUB:
    case X86_INS_ADD:
        if (!writes_stack)
            break;
        ret->loses_stack = x86->op_count != 2 || to->type != X86_OP_REG || to->reg != X86_REG_RSP ||
                           x86->operands[1].type != X86_OP_IMM;
        if (!ret->loses_stack)
            ret->stack_move = from->id == X86_INS_ADD ? x86->operands[1].imm : -x86->operands[1].imm;
        break;
    default:
        ret->loses_stack = writes_stack;
        break;
    }
}

static void set_stored(struct mpiq_instruction *ret, struct mpiq_operand operand)
{
    ret->stored[0] = operand;
    ret->stored_count = 1;
}

/* Of instructions whose first operand is memory: whether they only read it.  Capstone calls many that write
   it readers, and says nothing of stores of vectors. */
static bool only_reads(unsigned id)
{
    switch (id) {
    case X86_INS_CMP:
    case X86_INS_TEST:
    case X86_INS_BT:
    case X86_INS_MUL:
    case X86_INS_IMUL:
    case X86_INS_DIV:
    case X86_INS_IDIV:
    case X86_INS_JMP:
    case X86_INS_NOP:
    case X86_INS_LEA:
    case X86_INS_FLD:
    case X86_INS_FILD:
    case X86_INS_FLDCW:
    case X86_INS_LDMXCSR:
    case X86_INS_PREFETCHT0:
    case X86_INS_PREFETCHT1:
    case X86_INS_PREFETCHT2:
    case X86_INS_PREFETCHNTA:
    case X86_INS_PREFETCHW:
        return true;
    default:
        return false;
    }
}

/* Of stores of a part of a vector register. */
static bool is_scalar(unsigned id)
{
    static const uint16_t ids[] = {X86_INS_MOVSD,   X86_INS_MOVSS,   X86_INS_MOVQ,    X86_INS_MOVD,
                                   X86_INS_MOVHPD,  X86_INS_MOVHPS,  X86_INS_MOVLPD,  X86_INS_MOVLPS,
                                   X86_INS_VMOVSD,  X86_INS_VMOVSS,  X86_INS_VMOVQ,   X86_INS_VMOVD,
                                   X86_INS_VMOVHPD, X86_INS_VMOVHPS, X86_INS_VMOVLPD, X86_INS_VMOVLPS};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

/* Bytes that an instruction stores in its memory operand, at most; 0: nobody knows. */
static uint8_t stored_bytes(const cs_insn *from, const struct mpiq_instruction *ret)
{
    const cs_x86 *x86 = &from->detail->x86;
    const cs_x86_op *second = &x86->operands[1];
    if (x86->op_count > 1 && is_scalar(from->id))
        return x86->operands[0].size;
    if (x86->op_count > 1)
        return second->type == X86_OP_REG && second->size > x86->operands[0].size ? second->size
                                                                                  : x86->operands[0].size;
    switch (from->id) {
    case X86_INS_INC:
    case X86_INS_DEC:
    case X86_INS_NEG:
    case X86_INS_NOT:
    case X86_INS_FST:
    case X86_INS_FSTP:
    case X86_INS_FIST:
    case X86_INS_FISTP:
    case X86_INS_FISTTP:
    case X86_INS_FNSTCW:
    case X86_INS_STMXCSR:
        return x86->operands[0].size;
    default:
        return ret->condition != MPIQ_CONDITIONS ? 1 : 0; /* setcc */
    }
}

/* What stores without an operand that says where. */
static bool stores_anywhere(const cs_insn *from)
{
    const uint8_t prefix = from->detail->x86.prefix[0];
    switch (from->id) {
    case X86_INS_SYSCALL:
    case X86_INS_SYSENTER:
    case X86_INS_INT:
    case X86_INS_ENTER:
    case X86_INS_MASKMOVDQU:
    case X86_INS_MASKMOVQ:
    case X86_INS_VMASKMOVDQU:
    case X86_INS_PUSHF:
    case X86_INS_PUSHFQ:
    case X86_INS_VPSCATTERDD: /* Capstone takes a vector's register for a general one */
    case X86_INS_VPSCATTERDQ:
    case X86_INS_VPSCATTERQD:
    case X86_INS_VPSCATTERQQ:
    case X86_INS_VSCATTERDPD:
    case X86_INS_VSCATTERDPS:
    case X86_INS_VSCATTERQPD:
    case X86_INS_VSCATTERQPS:
        return true;
    default:
        return prefix == X86_PREFIX_REP || prefix == X86_PREFIX_REPNE;
    }
}

static void read_store(const cs_insn *from, struct mpiq_instruction *ret)
{
    const cs_x86 *x86 = &from->detail->x86;
    if (from->id == X86_INS_PUSH || ret->flow == MPIQ_FLOW_CALL) {
        ret->store = MPIQ_STORES_PUSHED;
        if (from->id == X86_INS_PUSH)
            set_stored(ret, operand_of(from, &x86->operands[0]));
        return;
    }
    if (stores_anywhere(from)) {
        ret->store = MPIQ_STORES_ANYWHERE;
        return;
    }
    for (uint8_t i = 0; i < x86->op_count && !only_reads(from->id); i++) {
        const cs_x86_op *operand = &x86->operands[i];
        /* What writes a register reads its other operands. */
        bool to_register = i > 0 && x86->operands[0].type == X86_OP_REG && from->id != X86_INS_XCHG &&
                           from->id != X86_INS_XADD;
        if (operand->type != X86_OP_MEM || to_register)
            continue;
        ret->to = memory_operand(from, operand);
        ret->to.width = i == 0 ? stored_bytes(from, ret) : operand->size;
        ret->store = ret->to.width ? MPIQ_STORES_AT : MPIQ_STORES_ANYWHERE;
        if (from->id == X86_INS_MOV && i == 0)
            set_stored(ret, operand_of(from, &x86->operands[1]));
        return;
    }
}

/* Which registers it reads by name, and whether it has to do with others than those that have a number. */
static void read_sources(const cs_insn *from, struct mpiq_instruction *ret)
{
    const cs_x86 *x86 = &from->detail->x86;
    for (uint8_t i = 0; i < x86->op_count; i++) {
        int width;
        bool second;
        if (x86->operands[i].type != X86_OP_REG)
            continue;
        int number = number_of(x86->operands[i].reg, &width, &second);
        if (number < 0)
            ret->opaque = true;
        else if (i > 0 || x86->operands[i].access != CS_AC_WRITE)
            ret->sources |= UINT32_C(1) << number;
    }
}

static void read_comparison(const cs_insn *from, struct mpiq_instruction *ret)
{
    const cs_x86 *x86 = &from->detail->x86;
    if (x86->op_count < 2)
        return;
    if (from->id == X86_INS_CMP || from->id == X86_INS_SUB)
        ret->comparison = MPIQ_COMPARES;
    else if (from->id == X86_INS_TEST || from->id == X86_INS_AND)
        ret->comparison = MPIQ_COMPARES_BITS;
    else
        return;
    ret->left = operand_of(from, &x86->operands[0]);
    ret->right = operand_of(from, &x86->operands[1]);
}

/* Of an instruction that computes its first operand, a register, from that and others; false: another one. */
static bool read_computed(const cs_insn *from, struct mpiq_effect *effect)
{
    static const struct {
        uint16_t id;
        uint8_t operation;
    } rows[] = {
        {X86_INS_ADD, MPIQ_ADD},          {X86_INS_INC, MPIQ_ADD},        {X86_INS_SUB, MPIQ_SUBTRACT},
        {X86_INS_DEC, MPIQ_SUBTRACT},     {X86_INS_AND, MPIQ_AND},        {X86_INS_OR, MPIQ_OR},
        {X86_INS_XOR, MPIQ_XOR},          {X86_INS_SHL, MPIQ_SHIFT_LEFT}, {X86_INS_SHR, MPIQ_SHIFT_RIGHT},
        {X86_INS_SAR, MPIQ_SHIFT_SIGNED}, {X86_INS_NEG, MPIQ_NEGATE},     {X86_INS_NOT, MPIQ_INVERT},
        {X86_INS_IMUL, MPIQ_MULTIPLY}};
    const cs_x86 *x86 = &from->detail->x86;
    const uint8_t count = x86->op_count;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].id != from->id)
            continue;
        effect->operation = rows[i].operation;
        effect->a = operand_of(from, &x86->operands[count == 3 ? 1 : 0]);
        effect->b = count > 1 ? operand_of(from, &x86->operands[count - 1]) : mpiq_operand_number(1);
        /* One operand: it writes two registers. */
        return from->id != X86_INS_IMUL || count > 1;
    }
    return false;
}

/* What an instruction leaves in its first operand, a register of 4 bytes or more; false: nobody knows. */
static bool read_first(const cs_insn *from, const struct mpiq_instruction *ret, struct mpiq_effect *effect)
{
    const cs_x86 *x86 = &from->detail->x86;
    const cs_x86_op *operands = x86->operands;
    if (x86->op_count > 1) {
        effect->a = operand_of(from, &operands[1]);
        switch (from->id) {
        case X86_INS_MOV:
        case X86_INS_MOVABS:
        case X86_INS_MOVZX:
            effect->operation = MPIQ_MOVE;
            return true;
        case X86_INS_MOVSX:
        case X86_INS_MOVSXD:
            effect->operation = MPIQ_EXTEND;
            return true;
        case X86_INS_LEA:
            effect->operation = MPIQ_ADDRESS;
            return true;
        case X86_INS_XOR:
        case X86_INS_SUB:
            if (operands[1].type != X86_OP_REG || operands[1].reg != operands[0].reg)
                break;
            effect->operation = MPIQ_MOVE;
            effect->a = mpiq_operand_number(0);
            return true;
        default:
            break;
        }
    }
    if (x86->op_count == 2 && ret->condition != MPIQ_CONDITIONS) { /* cmov */
        effect->operation = MPIQ_CHOOSE;
        effect->a = operand_of(from, &operands[0]);
        effect->b = operand_of(from, &operands[1]);
        return true;
    }
    return read_computed(from, effect);
}

static void add_effect(struct mpiq_instruction *ret, const struct mpiq_effect *effect)
{
    ret->effects[ret->effect_count++] = *effect;
}

static void read_effects(const cs_insn *from, struct mpiq_instruction *ret)
{
    const cs_x86 *x86 = &from->detail->x86;
    const cs_x86_op *first = &x86->operands[0];
    struct mpiq_effect effect = {.width = 4};
    int width = 0;
    bool second = false;
    switch (from->id) {
    case X86_INS_IDIV:
        if (first->size != 4)
            return;
        effect.a = mpiq_operand_register(RAX, 4);
        effect.b = operand_of(from, first);
        effect.c = mpiq_operand_register(RDX, 4);
        effect.operation = MPIQ_QUOTIENT;
        effect.reg = RAX;
        add_effect(ret, &effect);
        effect.operation = MPIQ_REMAINDER;
        effect.reg = RDX;
        add_effect(ret, &effect);
        return;
    case X86_INS_CDQ:
    case X86_INS_CDQE:
        effect.a = mpiq_operand_register(RAX, 4);
        effect.operation = from->id == X86_INS_CDQ ? MPIQ_EXTENSION : MPIQ_EXTEND;
        effect.reg = from->id == X86_INS_CDQ ? RDX : RAX;
        effect.width = from->id == X86_INS_CDQ ? 4 : 8;
        add_effect(ret, &effect);
        return;
    default:
        break;
    }
    int number = x86->op_count && first->type == X86_OP_REG ? number_of(first->reg, &width, &second) : -1;
    if (number < 0)
        return;
    effect.reg = (int8_t)number;
    effect.width = (uint8_t)width;
    if (x86->op_count == 1 && width == 1 && !second && ret->condition != MPIQ_CONDITIONS) { /* setcc */
        effect.operation = MPIQ_SET_BYTE;
        effect.width = 8;
        add_effect(ret, &effect);
    } else if (width >= 4 && read_first(from, ret, &effect)) {
        add_effect(ret, &effect);
    }
}

static void read_instruction(csh decoder, const cs_insn *from, struct mpiq_instruction *ret)
{
    *ret = (struct mpiq_instruction){
        .address = from->address, .size = (uint8_t)from->size, .condition = (uint8_t)condition_of(from->id)};
    read_written(decoder, from, ret);
    read_flow(decoder, from, ret);
    read_stack(from, ret);
    read_store(from, ret);
    read_sources(from, ret);
    read_comparison(from, ret);
    read_effects(from, ret);
}

static const int arguments[] = {RDI, RSI, RDX, RCX, R8, R9};

const struct mpiq_architecture mpiq_x86_64 = {.decoder = CS_ARCH_X86,
                                              .mode = CS_MODE_64,
                                              .stack = RSP,
                                              .arguments = arguments,
                                              .argument_count = sizeof arguments / sizeof *arguments,
                                              .read = read_instruction};
