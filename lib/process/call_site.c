/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/call_site.h"

#include <stdlib.h>
#include <string.h>

#include "process/call_parameters.h"
#include "process/call_word.h"
#include "process/code.h"

/* A chain of wrappers that pass on what they were given; expressions; steps for all words of one call. */
enum { LEVELS_MOST = 4, DEPTH_MOST = 48, STEPS_MOST = 100000 };

/* Words of one call on the stack; bytes below the stack pointer that its callees have. */
enum { POSITIONS_MOST = 64, STACK_BELOW = 1 << 20 };

/* DWARF numbers of x86-64. */
enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15, RIP };

/* Whether an instruction that jumps may skip has run. */
enum state { NOT_ASKED, RAN, DID_NOT_RUN, NOBODY_KNOWS };

struct site {
    struct mpiq_modules *modules;
    const struct mpiq_frame_registers *frames;
    size_t frame_count;
    struct mpiq_code_line line;
    const struct mpiq_call_parameters *parameters; /* NULL: the debug information says nothing */
    uint64_t bias;                                 /* of the file that has it */
    /* Of each instruction of the line, of the first of a block: whether it has run (enum state),
     * once asked.
     */
    uint8_t *states;
    struct mpiq_call_word *control; /* a word from where the answers came from */
    int64_t stack_words;            /* that the call was given on the stack, at least */
    int level;
    int *steps;
};

/* Those that hold arguments, in their order. */
static const int argument_registers[] = {RDI, RSI, RDX, RCX, R8, R9};
#define ARGUMENT_REGISTERS (sizeof argument_registers / sizeof *argument_registers)

static struct mpiq_call_word register_before(const struct site *site, size_t index, int number, int depth);
static struct mpiq_call_word stack_before(const struct site *site, size_t index);
static struct mpiq_call_word address_before(const struct site *site, size_t index, const cs_x86_op *operand,
                                            int depth);
static struct mpiq_call_word memory_before(const struct site *site, size_t index, const cs_x86_op *operand,
                                           int depth);
static bool is_kept(const struct site *site, size_t index, uint64_t address, uint64_t size, int depth);
static bool has_condition(unsigned id);
static struct mpiq_call_word condition_before(const struct site *site, size_t index, int depth);
static enum state has_run(const struct site *site, size_t index, int depth);
static struct mpiq_call_word given(const struct site *site, int number, int depth);

/* ---- registers ---- */

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

/* Whether an instruction writes any part of a register. */
static bool writes(const struct site *site, size_t index, int number)
{
    cs_regs read, written;
    uint8_t read_count = 0, written_count = 0;
    const cs_insn *instruction = &site->line.instructions[index];
    if (instruction->id == X86_INS_TEST) /* of which capstone says that it writes rax */
        return false;
    if (cs_regs_access(site->line.decoder, instruction, read, &read_count, written, &written_count) !=
        CS_ERR_OK)
        return true;
    for (uint8_t i = 0; i < written_count; i++) {
        int width;
        bool second;
        if (number_of(written[i], &width, &second) == number)
            return true;
    }
    return false;
}

static bool writes_flags(const struct site *site, size_t index)
{
    cs_regs read, written;
    uint8_t read_count = 0, written_count = 0;
    if (cs_regs_access(site->line.decoder, &site->line.instructions[index], read, &read_count, written,
                       &written_count) != CS_ERR_OK)
        return true;
    for (uint8_t i = 0; i < written_count; i++) {
        if (written[i] == X86_REG_EFLAGS)
            return true;
    }
    return false;
}

static struct mpiq_call_word byte_before(const struct site *site, size_t index, int number, int depth);

/* An operand's value, in its own width, the rest zero. */
static struct mpiq_call_word operand_before(const struct site *site, size_t index, const cs_x86_op *operand,
                                            int depth)
{
    struct mpiq_call_word word = mpiq_word_unknown;
    if (operand->type == X86_OP_IMM)
        return mpiq_word_constant(mpiq_word_cut((uint64_t)operand->imm, operand->size));
    if (operand->type == X86_OP_MEM)
        return memory_before(site, index, operand, depth);
    if (operand->type != X86_OP_REG)
        return mpiq_word_unknown;
    int width = 0;
    bool second;
    int number = number_of(operand->reg, &width, &second);
    if (number < 0 || second)
        return mpiq_word_unknown;
    if (width == 1)
        return byte_before(site, index, number, depth);
    word = register_before(site, index, number, depth);
    if (word.narrow && width > 4)
        return mpiq_word_unknown;
    word.narrow = false;
    word.value = mpiq_word_cut(word.value, width);
    return word;
}

static uint64_t shifted(unsigned id, uint64_t value, unsigned by, int width)
{
    by &= width == 8 ? 63 : 31;
    if (id == X86_INS_SHR)
        return value >> by;
    return id == X86_INS_SAR ? (uint64_t)((int64_t)mpiq_word_extend(value, width) >> by) : value << by;
}

/* What an instruction with a destination register and a source makes of both. */
static struct mpiq_call_word computed(const struct site *site, size_t index, int depth)
{
    const cs_insn *instruction = &site->line.instructions[index];
    const cs_x86_op *operands = instruction->detail->x86.operands;
    const uint8_t count = instruction->detail->x86.op_count;
    int width = operands[0].size;
    struct mpiq_call_word a = operand_before(site, index, &operands[0], depth), b = mpiq_word_constant(1),
                          word;
    if (count > 1)
        b = operand_before(site, index, &operands[1], depth);
    if (count > 1 && operands[1].type == X86_OP_IMM)
        b = mpiq_word_constant((uint64_t)operands[1].imm);
    switch (instruction->id) {
    case X86_INS_ADD:
    case X86_INS_INC:
        word = mpiq_word_combined(&a, &b, a.value + b.value);
        break;
    case X86_INS_SUB:
    case X86_INS_DEC:
        word = mpiq_word_combined(&a, &b, a.value - b.value);
        break;
    case X86_INS_AND:
        word = mpiq_word_combined(&a, &b, a.value & b.value);
        break;
    case X86_INS_OR:
        word = mpiq_word_combined(&a, &b, a.value | b.value);
        break;
    case X86_INS_XOR:
        word = mpiq_word_combined(&a, &b, a.value ^ b.value);
        break;
    case X86_INS_SHL:
    case X86_INS_SHR:
    case X86_INS_SAR:
        word = mpiq_word_combined(&a, &b, shifted(instruction->id, a.value, (unsigned)b.value, width));
        break;
    case X86_INS_NEG:
        word = mpiq_word_changed(&a, 0 - a.value);
        break;
    case X86_INS_NOT:
        word = mpiq_word_changed(&a, ~a.value);
        break;
    case X86_INS_IMUL:
        if (count == 3) {
            a = b;
            b = mpiq_word_constant((uint64_t)operands[2].imm);
        }
        word = count > 1 ? mpiq_word_combined(&a, &b, a.value * b.value) : mpiq_word_unknown;
        break;
    default:
        return mpiq_word_unknown;
    }
    word.value = mpiq_word_cut(word.value, width);
    return word;
}

/* idiv: the quotient or the remainder of edx:eax by its operand. */
static struct mpiq_call_word divided(const struct site *site, size_t index, int number, int depth)
{
    const cs_x86_op *operand = &site->line.instructions[index].detail->x86.operands[0];
    if (operand->size != 4)
        return mpiq_word_unknown;
    struct mpiq_call_word low = register_before(site, index, RAX, depth);
    struct mpiq_call_word high = register_before(site, index, RDX, depth);
    struct mpiq_call_word by = operand_before(site, index, operand, depth);
    struct mpiq_call_word both = mpiq_word_combined(&low, &high, 0);
    int64_t divisor = (int32_t)by.value;
    int64_t dividend = (int64_t)(mpiq_word_cut(high.value, 4) << 32 | mpiq_word_cut(low.value, 4));
    /* A quotient that does not fit would have been a fault. */
    if (!both.known || !by.known || divisor == 0 || dividend < INT32_MIN || dividend > INT32_MAX)
        return mpiq_word_unknown;
    uint64_t value = (uint64_t)(number == RAX ? dividend / divisor : dividend % divisor);
    return mpiq_word_combined(&both, &by, mpiq_word_cut(value, 4));
}

/* setcc: the lowest byte of a register is 0 or 1. */
static bool sets_byte(const struct site *site, size_t index, int number)
{
    const cs_insn *instruction = &site->line.instructions[index];
    const cs_x86 *x86 = &instruction->detail->x86;
    int width = 0;
    bool second = false;
    return x86->op_count == 1 && x86->operands[0].type == X86_OP_REG &&
           number_of(x86->operands[0].reg, &width, &second) == number && width == 1 && !second &&
           has_condition(instruction->id);
}

/* The lowest byte of a register. */
static struct mpiq_call_word byte_before(const struct site *site, size_t index, int number, int depth)
{
    for (size_t i = index; depth > 0 && i-- > 0;) {
        if (--*site->steps < 0)
            break;
        if (!writes(site, i, number))
            continue;
        if (!sets_byte(site, i, number) || !mpiq_code_has_run(&site->line, i, index))
            break;
        return condition_before(site, i, depth - 1);
    }
    struct mpiq_call_word word = register_before(site, index, number, depth);
    return mpiq_word_changed(&word, mpiq_word_cut(word.value, 1));
}

/* cmov. */
static struct mpiq_call_word chosen(const struct site *site, size_t index, int depth)
{
    const cs_x86_op *operands = site->line.instructions[index].detail->x86.operands;
    struct mpiq_call_word condition = condition_before(site, index, depth);
    if (!condition.known)
        return mpiq_word_unknown;
    struct mpiq_call_word word = operand_before(site, index, &operands[condition.value ? 1 : 0], depth);
    return mpiq_word_combined(&word, &condition, word.value);
}

/* What an instruction that writes a register leaves in it. */
static struct mpiq_call_word written(const struct site *site, size_t index, int number, int depth)
{
    const cs_insn *instruction = &site->line.instructions[index];
    const cs_x86 *x86 = &instruction->detail->x86;
    const cs_x86_op *operands = x86->operands;
    struct mpiq_call_word word;
    switch (instruction->id) {
    case X86_INS_IDIV:
        return number == RAX || number == RDX ? divided(site, index, number, depth) : mpiq_word_unknown;
    case X86_INS_CDQ:
        word = register_before(site, index, RAX, depth);
        if (number != RDX) /* capstone counts rax among what it writes */
            return number == RAX ? word : mpiq_word_unknown;
        return mpiq_word_changed(&word, mpiq_word_cut(mpiq_word_extend(word.value, 4) >> 32, 4));
    case X86_INS_CDQE:
        if (number != RAX)
            return mpiq_word_unknown;
        word = register_before(site, index, RAX, depth);
        word.narrow = false;
        return mpiq_word_changed(&word, mpiq_word_extend(word.value, 4));
    default:
        break;
    }
    int width = 0;
    bool second;
    if (sets_byte(site, index, number)) {
        struct mpiq_call_word byte = condition_before(site, index, depth);
        word = register_before(site, index, number, depth);
        return mpiq_word_combined(&word, &byte, (word.value & ~UINT64_C(0xff)) | byte.value);
    }
    if (x86->op_count < 1 || operands[0].type != X86_OP_REG ||
        number_of(operands[0].reg, &width, &second) != number || width < 4)
        return mpiq_word_unknown;
    switch (instruction->id) {
    case X86_INS_MOV:
    case X86_INS_MOVABS:
        if (operands[1].type == X86_OP_IMM)
            return mpiq_word_constant(mpiq_word_cut((uint64_t)operands[1].imm, width));
        return operand_before(site, index, &operands[1], depth);
    case X86_INS_MOVZX:
        return operand_before(site, index, &operands[1], depth);
    case X86_INS_MOVSX:
    case X86_INS_MOVSXD:
        word = operand_before(site, index, &operands[1], depth);
        return mpiq_word_changed(&word, mpiq_word_cut(mpiq_word_extend(word.value, operands[1].size), width));
    case X86_INS_LEA:
        word = address_before(site, index, &operands[1], depth);
        word.narrow = word.narrow && width > 4;
        return mpiq_word_changed(&word, mpiq_word_cut(word.value, width));
    case X86_INS_XOR:
    case X86_INS_SUB:
        if (operands[1].type == X86_OP_REG && operands[1].reg == operands[0].reg)
            return mpiq_word_constant(0);
        return computed(site, index, depth);
    default:
        if (x86->op_count == 2 && has_condition(instruction->id))
            return chosen(site, index, depth);
        return computed(site, index, depth);
    }
}

/* What the frame's function was given in a register, unless it may have written since where that came from:
   the word is what that memory holds now. */
static struct mpiq_call_word given_and_kept(const struct site *site, int number, int depth)
{
    struct mpiq_call_word word = given(site, number, depth);
    for (size_t i = 0; i < word.origin_count; i++) {
        if (!is_kept(site, 0, word.origins[i].address, word.origins[i].size, depth))
            return mpiq_word_unknown;
    }
    return word;
}

static bool is_argument(int number)
{
    for (size_t i = 0; i < ARGUMENT_REGISTERS; i++) {
        if (argument_registers[i] == number)
            return true;
    }
    return false;
}

/* What an instruction adds to a register, as a counter is moved on; false: it does something else. */
static bool adds(const struct site *site, size_t index, int number, uint64_t *added, int *width)
{
    const cs_insn *instruction = &site->line.instructions[index];
    const cs_x86 *x86 = &instruction->detail->x86;
    const cs_x86_op *to = &x86->operands[0], *from = &x86->operands[1];
    int from_width;
    bool second;
    if (x86->op_count < 1 || to->type != X86_OP_REG || number_of(to->reg, width, &second) != number ||
        *width < 4)
        return false;
    switch (instruction->id) {
    case X86_INS_INC:
        *added = 1;
        return true;
    case X86_INS_DEC:
        *added = UINT64_MAX;
        return true;
    case X86_INS_ADD:
    case X86_INS_SUB:
        *added = instruction->id == X86_INS_ADD ? (uint64_t)from->imm : 0 - (uint64_t)from->imm;
        return from->type == X86_OP_IMM;
    case X86_INS_LEA:
        *added = (uint64_t)from->mem.disp;
        return from->mem.index == X86_REG_INVALID && from->mem.segment == X86_REG_INVALID &&
               number_of(from->mem.base, &from_width, &second) == number;
    default:
        return false;
    }
}

/* A register that the callee preserves, from what it is at the call: what has been added since is taken away.
 */
static struct mpiq_call_word undone(const struct site *site, size_t index, int number)
{
    struct mpiq_call_word word = mpiq_word_constant(site->frames[0].value[number]);
    if (!(site->frames[0].known >> number & 1))
        return mpiq_word_unknown;
    for (size_t i = site->line.count - 1; i-- > index;) {
        uint64_t added = 0;
        int width = 0;
        if (!writes(site, i, number))
            continue;
        if (!mpiq_code_has_run(&site->line, i, index) || !adds(site, i, number, &added, &width))
            return mpiq_word_unknown;
        word.value -= added;
        word.narrow = word.narrow || width == 4;
    }
    word.value = word.narrow ? mpiq_word_cut(word.value, 4) : word.value;
    return word;
}

/* A register's value before an instruction of the line. */
static struct mpiq_call_word register_before(const struct site *site, size_t index, int number, int depth)
{
    if (depth == 0 || --*site->steps < 0)
        return mpiq_word_unknown;
    if (number == RSP)
        return stack_before(site, index);
    /* The callee preserves it, and nothing has written it since. */
    bool preserved = site->frames[0].known >> number & 1;
    for (size_t i = index; preserved && i + 1 < site->line.count; i++)
        preserved = !writes(site, i, number);
    if (preserved)
        return mpiq_word_constant(site->frames[0].value[number]);
    bool decided = false;
    struct mpiq_call_word word = mpiq_word_unknown;
    size_t i = index;
    while (i-- > 0) {
        --*site->steps;
        if (!writes(site, i, number))
            continue;
        enum state state = mpiq_code_has_run(&site->line, i, index) ? RAN : has_run(site, i, depth - 1);
        decided = decided || !mpiq_code_has_run(&site->line, i, index);
        if (state == RAN)
            word = written(site, i, number, depth - 1);
        if (state != DID_NOT_RUN)
            break;
    }
    /* Not written before: what it was at the line's beginning. */
    if (i == SIZE_MAX && site->line.from_entry && is_argument(number))
        word = given_and_kept(site, number, depth - 1);
    if (!word.known)
        return undone(site, index, number);
    /* What decided is as much as what was computed from. */
    return decided ? mpiq_word_combined(&word, site->control, word.value) : word;
}

/* ---- memory ---- */

/* By how much an instruction moves the stack pointer; false: not known. */
static bool stack_moves(const struct site *site, size_t index, int64_t *ret)
{
    const cs_insn *instruction = &site->line.instructions[index];
    const cs_x86 *x86 = &instruction->detail->x86;
    bool immediate = x86->op_count == 2 && x86->operands[1].type == X86_OP_IMM;
    *ret = 0;
    switch (instruction->id) {
    case X86_INS_PUSH:
        *ret = -(int64_t)x86->operands[0].size;
        /* An immediate is pushed as a word. */
        if (x86->operands[0].type == X86_OP_IMM)
            *ret = -8;
        return *ret == -8;
    case X86_INS_POP:
        *ret = x86->operands[0].size;
        return *ret == 8 && x86->operands[0].reg != X86_REG_RSP;
    case X86_INS_SUB:
    case X86_INS_ADD:
        if (!writes(site, index, RSP))
            return true;
        if (x86->operands[0].type == X86_OP_REG && x86->operands[0].reg == X86_REG_RSP && immediate) {
            *ret = instruction->id == X86_INS_ADD ? x86->operands[1].imm : -x86->operands[1].imm;
            return true;
        }
        return false;
    default:
        return !writes(site, index, RSP);
    }
}

/* The stack pointer before an instruction, counted back from the call. */
static struct mpiq_call_word stack_before(const struct site *site, size_t index)
{
    if (!(site->frames[0].known >> RSP & 1))
        return mpiq_word_unknown;
    uint64_t value = site->frames[0].value[RSP];
    for (size_t i = site->line.count - 1; i-- > index;) {
        int64_t moved;
        if (!stack_moves(site, i, &moved) || (moved && !mpiq_code_has_run(&site->line, i, index)))
            return mpiq_word_unknown;
        value -= (uint64_t)moved;
    }
    return mpiq_word_constant(value);
}

static struct mpiq_call_word address_before(const struct site *site, size_t index, const cs_x86_op *operand,
                                            int depth)
{
    const x86_op_mem *memory = &operand->mem;
    const cs_insn *instruction = &site->line.instructions[index];
    if (memory->segment != X86_REG_INVALID)
        return mpiq_word_unknown;
    struct mpiq_call_word sum = mpiq_word_constant((uint64_t)memory->disp);
    const unsigned registers[] = {memory->base, memory->index};
    for (int i = 0; i < 2; i++) {
        if (registers[i] == X86_REG_INVALID || registers[i] == X86_REG_RIZ)
            continue;
        struct mpiq_call_word part;
        int width = 8;
        bool second;
        int number = number_of(registers[i], &width, &second);
        if (registers[i] == X86_REG_RIP)
            part = mpiq_word_constant(instruction->address + instruction->size);
        else
            part = number < 0 || width != 8 ? mpiq_word_unknown : register_before(site, index, number, depth);
        bool narrow = sum.narrow || part.narrow;
        sum = mpiq_word_combined(&sum, &part, sum.value + part.value * (i ? (uint64_t)memory->scale : 1));
        sum.narrow = narrow;
    }
    return sum;
}

/* Where an instruction writes memory: 0 nowhere, 1 at *address (size bytes), -1 nobody knows where. */
static int stores(const struct site *site, size_t index, uint64_t *address, uint64_t *size, int depth)
{
    const cs_insn *instruction = &site->line.instructions[index];
    const cs_x86 *x86 = &instruction->detail->x86;
    if (instruction->id == X86_INS_PUSH || cs_insn_group(site->line.decoder, instruction, CS_GRP_CALL)) {
        struct mpiq_call_word top = stack_before(site, index);
        *address = top.value - 8;
        *size = 8;
        return top.known ? 1 : -1;
    }
    if (x86->prefix[0] == X86_PREFIX_REP || x86->prefix[0] == X86_PREFIX_REPNE)
        return -1;
    for (uint8_t i = 0; i < x86->op_count; i++) {
        const cs_x86_op *operand = &x86->operands[i];
        if (operand->type != X86_OP_MEM || instruction->id == X86_INS_LEA || instruction->id == X86_INS_NOP)
            continue;
        /* What writes a register reads its other operands; of the rest, capstone has to say that it only
         * reads. */
        bool to_register = i > 0 && x86->operands[0].type == X86_OP_REG && instruction->id != X86_INS_XCHG &&
                           instruction->id != X86_INS_XADD;
        if (operand->access == CS_AC_READ || to_register)
            continue;
        struct mpiq_call_word to = address_before(site, index, operand, depth);
        *address = to.value;
        *size = operand->size;
        return to.known && !to.narrow && *size ? 1 : -1;
    }
    return 0;
}

/* Whether nothing from an instruction on, up to the call, may have written those bytes. */
static bool is_kept(const struct site *site, size_t index, uint64_t address, uint64_t size, int depth)
{
    for (size_t i = index; i < site->line.count; i++) {
        uint64_t at = 0, bytes = 0;
        int stored = stores(site, i, &at, &bytes, depth);
        if (stored < 0 || (stored > 0 && at < address + size && address < at + bytes))
            return false;
    }
    return true;
}

static struct mpiq_call_word memory_before(const struct site *site, size_t index, const cs_x86_op *operand,
                                           int depth)
{
    struct mpiq_call_word address = address_before(site, index, operand, depth);
    bool kept = address.known && !address.narrow && is_kept(site, index, address.value, operand->size, depth);
    return kept ? mpiq_word_read(site->modules, &address, operand->size) : mpiq_word_unknown;
}

/* An argument on the stack, by the instruction that put it there: the callee may use its place as it likes.
 */
static struct mpiq_call_word pushed(const struct site *site, size_t position)
{
    size_t call = site->line.count - 1;
    struct mpiq_call_word top = stack_before(site, call);
    if (!top.known)
        return mpiq_word_unknown;
    uint64_t address = top.value + position * 8;
    for (size_t i = call; i-- > 0;) {
        uint64_t at = 0, size = 0;
        int stored = stores(site, i, &at, &size, DEPTH_MOST);
        if (stored < 0)
            return mpiq_word_unknown;
        if (stored == 0 || at >= address + 8 || at + size <= address)
            continue;
        const cs_insn *instruction = &site->line.instructions[i];
        const cs_x86_op *operands = instruction->detail->x86.operands;
        const cs_x86_op *from = instruction->id == X86_INS_PUSH ? &operands[0] : &operands[1];
        if (at != address || (size != 8 && size != 4) || !mpiq_code_has_run(&site->line, i, call) ||
            (instruction->id != X86_INS_PUSH && instruction->id != X86_INS_MOV))
            return mpiq_word_unknown;
        struct mpiq_call_word word = from->type == X86_OP_IMM ? mpiq_word_constant((uint64_t)from->imm)
                                                              : operand_before(site, i, from, DEPTH_MOST);
        word.narrow = word.narrow || size == 4;
        return word;
    }
    return mpiq_word_unknown;
}

static bool goes_to(const struct site *site, uint64_t callee_pc, int depth)
{
    const cs_insn *call = &site->line.instructions[site->line.count - 1];
    const cs_x86_op *to = &call->detail->x86.operands[0];
    struct mpiq_call_word target;
    if (to->type == X86_OP_MEM && to->mem.base == X86_REG_RIP) {
        /* A pointer of the linker's, which nobody else writes. */
        target = memory_before(site, site->line.count - 1, to, depth);
    } else {
        target = operand_before(site, site->line.count - 1, to, depth);
    }
    uint64_t start, end;
    if (!target.known)
        return false;
    uint64_t address = mpiq_code_destination(site->modules, site->line.decoder, target.value);
    return mpiq_code_bounds(site->modules, address, &start, &end) && callee_pc > start && callee_pc < end;
}

/* ---- conditions ---- */

/* ---- conditions ---- */

enum condition {
    EQUAL,
    NOT_EQUAL,
    LESS,
    NOT_LESS,
    LESS_OR_EQUAL,
    GREATER,
    BELOW,
    NOT_BELOW,
    BELOW_OR_EQUAL,
    ABOVE,
    NEGATIVE,
    NOT_NEGATIVE,
    CONDITIONS
};

/* What a conditional instruction asks; CONDITIONS: it is none, or asks for something else. */
static enum condition condition_of(unsigned id)
{
    static const uint16_t instructions[CONDITIONS][3] = {
        [EQUAL] = {X86_INS_JE, X86_INS_SETE, X86_INS_CMOVE},
        [NOT_EQUAL] = {X86_INS_JNE, X86_INS_SETNE, X86_INS_CMOVNE},
        [LESS] = {X86_INS_JL, X86_INS_SETL, X86_INS_CMOVL},
        [NOT_LESS] = {X86_INS_JGE, X86_INS_SETGE, X86_INS_CMOVGE},
        [LESS_OR_EQUAL] = {X86_INS_JLE, X86_INS_SETLE, X86_INS_CMOVLE},
        [GREATER] = {X86_INS_JG, X86_INS_SETG, X86_INS_CMOVG},
        [BELOW] = {X86_INS_JB, X86_INS_SETB, X86_INS_CMOVB},
        [NOT_BELOW] = {X86_INS_JAE, X86_INS_SETAE, X86_INS_CMOVAE},
        [BELOW_OR_EQUAL] = {X86_INS_JBE, X86_INS_SETBE, X86_INS_CMOVBE},
        [ABOVE] = {X86_INS_JA, X86_INS_SETA, X86_INS_CMOVA},
        [NEGATIVE] = {X86_INS_JS, X86_INS_SETS, X86_INS_CMOVS},
        [NOT_NEGATIVE] = {X86_INS_JNS, X86_INS_SETNS, X86_INS_CMOVNS},
    };
    for (int i = 0; i < CONDITIONS; i++) {
        for (int j = 0; j < 3; j++) {
            if (instructions[i][j] == id)
                return (enum condition)i;
        }
    }
    return CONDITIONS;
}

static bool has_condition(unsigned id)
{
    return condition_of(id) != CONDITIONS;
}

static bool holds(enum condition condition, uint64_t a, uint64_t b, int width)
{
    int64_t left = (int64_t)mpiq_word_extend(a, width), right = (int64_t)mpiq_word_extend(b, width);
    switch (condition) {
    case EQUAL:
        return a == b;
    case NOT_EQUAL:
        return a != b;
    case LESS:
        return left < right;
    case NOT_LESS:
        return left >= right;
    case LESS_OR_EQUAL:
        return left <= right;
    case GREATER:
        return left > right;
    case BELOW:
        return a < b;
    case NOT_BELOW:
        return a >= b;
    case BELOW_OR_EQUAL:
        return a <= b;
    case ABOVE:
        return a > b;
    default:
        return ((int64_t)mpiq_word_extend(a - b, width) < 0) == (condition == NEGATIVE);
    }
}

/* What the comparison at index says of a condition: a word that is 0 or 1. */
static struct mpiq_call_word compared(const struct site *site, size_t index, enum condition condition,
                                      int depth)
{
    const cs_insn *instruction = &site->line.instructions[index];
    const cs_x86_op *operands = instruction->detail->x86.operands;
    const unsigned id = instruction->id;
    if (condition == CONDITIONS ||
        (id != X86_INS_CMP && id != X86_INS_SUB && id != X86_INS_TEST && id != X86_INS_AND))
        return mpiq_word_unknown;
    int width = operands[0].size;
    struct mpiq_call_word a = operand_before(site, index, &operands[0], depth);
    struct mpiq_call_word b = operands[1].type == X86_OP_IMM
                                  ? mpiq_word_constant(mpiq_word_cut((uint64_t)operands[1].imm, width))
                                  : operand_before(site, index, &operands[1], depth);
    uint64_t left = mpiq_word_cut(a.value, width), right = mpiq_word_cut(b.value, width);
    if (id == X86_INS_TEST || id == X86_INS_AND) {
        left &= right;
        right = 0;
    }
    return mpiq_word_combined(&a, &b, holds(condition, left, right, width));
}

/* Whether the condition of an instruction holds there. */
static struct mpiq_call_word condition_before(const struct site *site, size_t index, int depth)
{
    const enum condition condition = condition_of(site->line.instructions[index].id);
    for (size_t i = index; depth > 0 && i-- > 0;) {
        if (--*site->steps < 0)
            break;
        if (writes_flags(site, i))
            return mpiq_code_has_run(&site->line, i, index) ? compared(site, i, condition, depth - 1)
                                                            : mpiq_word_unknown;
    }
    return mpiq_word_unknown;
}

/* Notes where a decision came from; false: from too many places. */
static bool note_control(const struct site *site, const struct mpiq_call_word *word)
{
    *site->control = mpiq_word_combined(site->control, word, 0);
    return site->control->known;
}

/* Whether code has gone from the instruction at index to the next (or, taken, to where it jumps). */
static enum state has_gone(const struct site *site, size_t index, bool taken, int depth)
{
    const cs_insn *instruction = &site->line.instructions[index];
    enum state state = has_run(site, index, depth);
    bool jumps = cs_insn_group(site->line.decoder, instruction, CS_GRP_JUMP);
    if (cs_insn_group(site->line.decoder, instruction, CS_GRP_RET) || instruction->id == X86_INS_JMP)
        return taken ? state : DID_NOT_RUN;
    if (state == DID_NOT_RUN || !jumps)
        return state;
    struct mpiq_call_word condition = condition_before(site, index, depth);
    if (!condition.known || !note_control(site, &condition))
        return NOBODY_KNOWS;
    return (condition.value != 0) == taken ? state : DID_NOT_RUN;
}

/* Of two ways to a place. */
static enum state either(enum state a, enum state b)
{
    if (a == RAN || b == RAN)
        return RAN;
    return a == DID_NOT_RUN && b == DID_NOT_RUN ? DID_NOT_RUN : NOBODY_KNOWS;
}

static enum state decide(const struct site *site, size_t first, int depth)
{
    const cs_insn *instructions = site->line.instructions;
    enum state state = first ? has_gone(site, first - 1, false, depth) : NOBODY_KNOWS;
    for (size_t i = 0; i < first && state != RAN; i++) {
        const cs_x86_op *to = &instructions[i].detail->x86.operands[0];
        if (cs_insn_group(site->line.decoder, &instructions[i], CS_GRP_JUMP) && to->type == X86_OP_IMM &&
            (uint64_t)to->imm == instructions[first].address)
            state = either(state, has_gone(site, i, true, depth));
    }
    return state;
}

/* Whether an instruction has run, which is decided by the conditions of the jumps before it. */
static enum state has_run(const struct site *site, size_t index, int depth)
{
    const struct mpiq_code_place *places = site->line.places;
    size_t first = index;
    if (!places[index].skipped)
        return RAN;
    if (depth <= 0 || --*site->steps < 0)
        return NOBODY_KNOWS;
    while (first > 0 && places[first - 1].block == places[index].block)
        first--;
    if (site->states[first] == NOT_ASKED)
        site->states[first] = (uint8_t)decide(site, first, depth - 1);
    return site->control->known ? site->states[first] : NOBODY_KNOWS;
}

/* ---- the frame ---- */

static struct mpiq_call_word argument_in(struct site *site, int number, int depth);

static void close_site(struct site *site)
{
    free(site->states);
    mpiq_code_line_deinit(&site->line);
}

/* Reads what is known of the call of the first frame, for close_site; false: nothing, or it did not go to
   where callee_pc is. */
static bool open_site(struct site *site, uint64_t callee_pc, int depth)
{
    uint64_t pc = site->frames[0].pc;
    struct mpiq_module *module = mpiq_modules_at(site->modules, pc - 1);
    struct mpiq_object *object = module ? mpiq_module_object(site->modules, module) : NULL;
    struct mpiq_error *error = mpiq_code_line_read(site->modules, pc, &site->line);
    if (error) {
        mpiq_error_destroy(error);
        return false;
    }
    site->states = calloc(site->line.count, sizeof *site->states);
    if (!site->states || !goes_to(site, callee_pc, depth)) {
        close_site(site);
        return false;
    }
    mpiq_object_lock();
    site->parameters = object ? mpiq_call_parameters_find(object, pc - module->bias) : NULL;
    mpiq_object_unlock();
    site->bias = object ? module->bias : 0;
    return true;
}

/* What the frame's function was itself given in a register. */
static struct mpiq_call_word given(const struct site *site, int number, int depth)
{
    if (site->level + 1 >= LEVELS_MOST || site->frame_count < 2 || depth <= 0)
        return mpiq_word_unknown;
    struct mpiq_call_word control = mpiq_word_constant(0);
    struct site outer = {.control = &control,
                         .modules = site->modules,
                         .frames = site->frames + 1,
                         .frame_count = site->frame_count - 1,
                         .level = site->level + 1,
                         .steps = site->steps};
    struct mpiq_call_word word = mpiq_word_unknown;
    if (open_site(&outer, site->frames[0].pc, depth)) {
        word = argument_in(&outer, number, depth);
        close_site(&outer);
    }
    return word;
}

/* ---- what the debug information says ---- */

/* A register that an expression names. */
static struct mpiq_call_word at_call(void *argument, uint64_t number)
{
    const struct site *site = argument;
    bool known = site->parameters->as_at_call && number < MPIQ_FRAME_REGISTERS &&
                 (site->frames[0].known >> number & 1);
    return known ? mpiq_word_constant(site->frames[0].value[number]) : mpiq_word_unknown;
}

static struct mpiq_call_word at_entry(void *argument, uint64_t number)
{
    const struct site *site = argument;
    struct mpiq_call_word word = mpiq_word_unknown;
    if (number < MPIQ_FRAME_REGISTERS && is_argument((int)number))
        word = given(site, (int)number, DEPTH_MOST);
    /* The function may have written there since, at any place. */
    return word.origin_count ? mpiq_word_unknown : word;
}

/* The stack pointer of the frame's caller. */
static struct mpiq_call_word frame_address(void *argument)
{
    const struct site *site = argument;
    bool known = site->frame_count > 1 && (site->frames[1].known >> RSP & 1);
    return known ? mpiq_word_constant(site->frames[1].value[RSP]) : mpiq_word_unknown;
}

static struct mpiq_call_word evaluate(struct site *site, const struct mpiq_expression *expression)
{
    const struct mpiq_expression_frame frame = {.modules = site->modules,
                                                .unit = site->parameters->unit,
                                                .bias = site->bias,
                                                .frame_base = site->parameters->frame_base,
                                                .argument = site,
                                                .reg = at_call,
                                                .entry = at_entry,
                                                .cfa = frame_address,
                                                .steps = site->steps};
    return mpiq_expression_evaluate(expression, &frame);
}

/* The position of an argument on the stack; -1: it is in a register, or nobody knows where. */
static int64_t position_of(struct site *site, const struct mpiq_expression *place)
{
    struct mpiq_call_word top = at_call(site, RSP);
    if (mpiq_expression_register(place) >= 0)
        return -1;
    struct mpiq_call_word address = evaluate(site, place);
    uint64_t offset = address.value - top.value;
    bool good = address.known && !address.narrow && !address.origin_count && top.known && offset % 8 == 0;
    return good && offset < POSITIONS_MOST * 8 ? (int64_t)(offset / 8) : -1;
}

/* Whether a word came from memory that the callee may use as it likes: its own, and that of arguments. */
static bool is_of_callee(struct site *site, const struct mpiq_call_word *word)
{
    struct mpiq_call_word top = at_call(site, RSP);
    int64_t words = site->stack_words;
    for (size_t i = 0; word->origin_count && i < site->parameters->count; i++) {
        int64_t position = position_of(site, &site->parameters->items[i].place);
        words = position >= words ? position + 1 : words;
    }
    for (size_t i = 0; i < word->origin_count; i++) {
        uint64_t offset = word->origins[i].address - (top.value - STACK_BELOW);
        if (!top.known || offset < STACK_BELOW + (uint64_t)words * 8)
            return true;
    }
    return false;
}

/* What the debug information says of the argument in a register, or at a position on the stack (number -1).
 */
static struct mpiq_call_word described(struct site *site, int number, int64_t position)
{
    struct mpiq_call_word word = mpiq_word_unknown;
    bool found = false;
    mpiq_object_lock();
    for (size_t i = 0; site->parameters && !found && i < site->parameters->count; i++) {
        const struct mpiq_call_parameter *parameter = &site->parameters->items[i];
        found = number >= 0 ? mpiq_expression_register(&parameter->place) == number
                            : position_of(site, &parameter->place) == position;
        if (found)
            word = evaluate(site, &parameter->value);
    }
    if (word.known && is_of_callee(site, &word))
        word = mpiq_word_unknown;
    mpiq_object_unlock();
    return word;
}

/* Of what the code and the debug information say. */
static struct mpiq_call_word agreed(const struct mpiq_call_word *code, const struct mpiq_call_word *info)
{
    if (!code->known || !info->known)
        return code->known ? *code : *info;
    /* Of what is an int the debug information leaves the upper half open. */
    if ((uint32_t)code->value != (uint32_t)info->value)
        return mpiq_word_unknown;
    return code->narrow && !info->narrow ? *info : *code;
}

static struct mpiq_call_word argument_in(struct site *site, int number, int depth)
{
    struct mpiq_call_word code = register_before(site, site->line.count - 1, number, depth);
    struct mpiq_call_word info = described(site, number, -1);
    return agreed(&code, &info);
}

void mpiq_call_site_read(struct mpiq_modules *modules, const struct mpiq_frame_registers *frames,
                         size_t frame_count, uint64_t callee_pc, size_t count,
                         struct mpiq_call_word words[MPIQ_CALL_WORDS])
{
    memset(words, 0, MPIQ_CALL_WORDS * sizeof *words);
    int steps = STEPS_MOST;
    struct mpiq_call_word control = mpiq_word_constant(0);
    struct site site = {.control = &control,
                        .modules = modules,
                        .frames = frames,
                        .frame_count = frame_count,
                        .steps = &steps};
    if (!frame_count || !open_site(&site, callee_pc, DEPTH_MOST))
        return;
    site.stack_words = count > ARGUMENT_REGISTERS ? (int64_t)(count - ARGUMENT_REGISTERS) : 0;
    for (size_t i = 0; i < count && i < MPIQ_CALL_WORDS; i++) {
        if (i < ARGUMENT_REGISTERS) {
            words[i] = argument_in(&site, argument_registers[i], DEPTH_MOST);
            continue;
        }
        size_t position = i - ARGUMENT_REGISTERS;
        struct mpiq_call_word code = pushed(&site, position);
        struct mpiq_call_word info = described(&site, -1, (int64_t)position);
        words[i] = agreed(&code, &info);
    }
    close_site(&site);
}
