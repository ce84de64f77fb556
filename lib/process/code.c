/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "process/aarch64.h"
#include "process/function_bounds.h"
#include "process/jump_table.h"
#include "process/x86_64.h"

enum {
    LINE_MOST = 512,       /* instructions */
    OTHERS_MOST = 32,      /* functions that this one jumps to: its cold parts and tail calls */
    TABLES_MOST = 64,      /* addresses that may be those of jump tables */
    TABLE_JUMPS_MOST = 64, /* jumps by a table that is found from the code before them */
    TABLE_ENTRIES_MOST = 4096,
    INSTRUCTION_MOST = 16, /* bytes */
    HOPS_MOST = 4,
    HOP_INSTRUCTIONS_MOST = 5,
    REGISTERS_MOST = 32,
};

/* An instruction begins there; code is entered there from nobody knows where, or from behind; what may be a
   jump table says so; only jumps from before lead there; nothing falls through to there. */
enum { INSTRUCTION = 1, ENTERED = 2, MAYBE_ENTERED = 4, JUMPED_TO = 8, BEHIND_JUMP = 16 };

/* What a walk through a function learns about the line that leads to `call`. */
struct walk {
    struct mpiq_modules *modules;
    const struct mpiq_architecture *architecture;
    csh decoder;
    uint64_t start, end; /* of the function with the call */
    uint64_t site;       /* where the call returns to */
    uint64_t call;       /* its address; 0: not seen yet */
    uint8_t *marks;      /* of each byte of [start, site) */
    uint32_t *jump;      /* where the first jump is that leads there from before, less start */
    bool jumps_by_table; /* where to, tables say */
    bool lost;           /* a jump leads nobody knows where */
    uint64_t others[OTHERS_MOST];
    size_t other_count;
    uint64_t tables[TABLES_MOST];
    size_t table_count;
    uint64_t table_jumps[TABLE_JUMPS_MOST];
    size_t table_jump_count;
};

static void add_once(struct walk *walk, uint64_t *items, size_t most, size_t *count, uint64_t item)
{
    for (size_t i = 0; i < *count; i++) {
        if (items[i] == item)
            return;
    }
    if (*count == most)
        walk->lost = true;
    else
        items[(*count)++] = item;
}

static void mark(struct walk *walk, uint64_t address, uint8_t as)
{
    if (address >= walk->start && address < walk->site)
        walk->marks[address - walk->start] |= as;
}

static void mark_jump(struct walk *walk, uint64_t from, uint64_t target, bool own)
{
    if (target < walk->start || target >= walk->site)
        return;
    if (!own || from >= target) {
        mark(walk, target, ENTERED);
        return;
    }
    uint32_t *jump = &walk->jump[target - walk->start], offset = (uint32_t)(from - walk->start);
    if (!(walk->marks[target - walk->start] & JUMPED_TO) || offset < *jump)
        *jump = offset;
    mark(walk, target, JUMPED_TO);
}

static bool is_fixed(const struct mpiq_operand *operand)
{
    return operand->kind == MPIQ_OPERAND_MEMORY && operand->reg < 0 && operand->index < 0;
}

/* own: of the function with the call, whose jumps to elsewhere are followed. */
static void take_jump(struct walk *walk, const struct mpiq_instruction *instruction, bool own)
{
    const struct mpiq_operand *to = &instruction->target;
    if (to->kind == MPIQ_OPERAND_NUMBER) {
        mark_jump(walk, instruction->address, to->value, own);
        if (own && (to->value < walk->start || to->value >= walk->end))
            add_once(walk, walk->others, OTHERS_MOST, &walk->other_count, to->value);
        return;
    }
    /* Through a pointer at a fixed place: a call of another function that needs no return. */
    if (is_fixed(to) && !to->unfollowed)
        return;
    if (to->kind == MPIQ_OPERAND_REGISTER && walk->architecture->instruction_size) {
        if (own)
            add_once(walk, walk->table_jumps, TABLE_JUMPS_MOST, &walk->table_jump_count,
                     instruction->address);
        return;
    }
    walk->jumps_by_table = true;
    if (to->kind == MPIQ_OPERAND_MEMORY && to->reg < 0 && to->index >= 0)
        add_once(walk, walk->tables, TABLES_MOST, &walk->table_count, to->value);
}

static void take_table_address(struct walk *walk, const struct mpiq_instruction *instruction)
{
    for (int i = 0; i < instruction->effect_count; i++) {
        const struct mpiq_effect *effect = &instruction->effects[i];
        if (effect->operation == MPIQ_ADDRESS && is_fixed(&effect->a))
            add_once(walk, walk->tables, TABLES_MOST, &walk->table_count, effect->a.value);
    }
}

static void take_instruction(struct walk *walk, const struct mpiq_instruction *instruction, bool own)
{
    uint64_t behind = instruction->address + instruction->size;
    bool jumps = instruction->flow == MPIQ_FLOW_JUMP || instruction->flow == MPIQ_FLOW_MAY_JUMP;
    if (jumps)
        take_jump(walk, instruction, own);
    if (!own)
        return;
    mark(walk, instruction->address, INSTRUCTION);
    if (!jumps)
        take_table_address(walk, instruction);
    if (instruction->flow == MPIQ_FLOW_CALL) {
        if (behind == walk->site)
            walk->call = instruction->address;
        /* What follows is reached from elsewhere, or with other registers. */
        mark(walk, behind, ENTERED);
    }
    if (instruction->flow == MPIQ_FLOW_JUMP || instruction->flow == MPIQ_FLOW_ENDS)
        mark(walk, behind, BEHIND_JUMP);
}

/* Goes through [start, end); false if something there is no instruction. */
static bool walk_code(struct walk *walk, uint64_t start, uint64_t end, bool own)
{
    size_t size = (size_t)(end - start);
    _cleanup_free_ uint8_t *bytes = malloc(size);
    struct mpiq_error *error = bytes ? mpiq_target_read(walk->modules->target, start, size, bytes) : NULL;
    if (!bytes || error) {
        mpiq_error_destroy(error);
        return false;
    }
    cs_insn *decoded = cs_malloc(walk->decoder);
    if (!decoded)
        return false;
    const uint8_t *at = bytes;
    uint64_t address = start;
    while (size && cs_disasm_iter(walk->decoder, &at, &size, &address, decoded)) {
        struct mpiq_instruction instruction;
        walk->architecture->read(walk->decoder, decoded, &instruction);
        take_instruction(walk, &instruction, own);
    }
    cs_free(decoded, 1);
    /* Padding at the end may be anything; before the call everything has to be understood. */
    return !own || address >= walk->site;
}

/* The destinations in what may be a jump table: of offsets to its own address, or of addresses.  Some may lie
   in the function's cold part. */
static bool take_table(struct walk *walk, uint64_t table)
{
    const struct mpiq_module *module = mpiq_modules_at(walk->modules, walk->start);
    size_t found = 0;
    for (int size = 4; size <= 8; size += 4) {
        for (size_t i = 0; i < TABLE_ENTRIES_MOST; i++) {
            bool good = true;
            uint64_t entry = mpiq_code_number(walk->modules, table + i * (size_t)size, size, &good);
            uint64_t target = size == 4 ? table + (uint64_t)(int64_t)(int32_t)entry : entry;
            if (!good || !module || target < module->start || target >= module->end)
                break;
            found += target >= walk->start && target < walk->end;
            mark(walk, target, MAYBE_ENTERED);
        }
    }
    return found > 0;
}

/* The destinations of a jump whose table the code before it shows; false: that is something else, or entered
   elsewhere. */
static bool take_table_jump(struct walk *walk, uint64_t jump)
{
    struct mpiq_jump_table table;
    if (!mpiq_jump_table_find(walk->modules, walk->decoder, walk->architecture, walk->start, jump, &table))
        return false;
    for (uint64_t at = table.first + 1; at <= jump && at < walk->site; at++) {
        if (walk->marks[at - walk->start] & (ENTERED | MAYBE_ENTERED | JUMPED_TO))
            return false;
    }
    bool good = true;
    for (uint64_t i = 0; i < table.count; i++) {
        uint64_t target = mpiq_jump_table_entry(walk->modules, &table, i, &good);
        if (!good)
            break;
        mark(walk, target, MAYBE_ENTERED);
    }
    return good || table.count == TABLE_ENTRIES_MOST;
}

static struct mpiq_error *find_line(struct walk *walk)
{
    if (!walk_code(walk, walk->start, walk->end, true))
        return mpiq_error_create_address(MPIQ_ERROR_CORRUPT, walk->start,
                                         "the function at 0x%llx cannot be decoded",
                                         (unsigned long long)walk->start);
    bool by_table = walk->jumps_by_table;
    for (size_t i = 0; i < walk->other_count && !walk->lost; i++) {
        uint64_t start, end;
        walk->jumps_by_table = false;
        if (!mpiq_function_bounds(walk->modules, walk->others[i], &start, &end))
            continue; /* a PLT entry */
        if (!walk_code(walk, start, end, false))
            walk->lost = true;
    }
    for (size_t i = 0; i < walk->table_jump_count && !walk->lost; i++)
        walk->lost = !take_table_jump(walk, walk->table_jumps[i]);
    bool tables = false;
    for (size_t i = 0; by_table && i < walk->table_count; i++)
        tables = take_table(walk, walk->tables[i]) || tables;
    if (walk->lost || (by_table && !tables))
        return mpiq_error_create_address(MPIQ_ERROR_UNSUPPORTED, walk->start,
                                         "the function at 0x%llx has jumps to unknown places",
                                         (unsigned long long)walk->start);
    if (!walk->call)
        return mpiq_error_create_address(MPIQ_ERROR_CORRUPT, walk->site, "no call ends at 0x%llx",
                                         (unsigned long long)walk->site);
    return NULL;
}

/* Whether code jumps into the middle of an instruction: then it was not decoded as it runs. */
static bool is_misread(const struct walk *walk)
{
    for (uint64_t at = walk->start; at <= walk->call; at++) {
        uint8_t marks = walk->marks[at - walk->start];
        if (!(marks & INSTRUCTION) && marks & (ENTERED | JUMPED_TO))
            return true;
    }
    return false;
}

/* Where the line begins: as far before the call as nothing that follows is entered but from the line. */
static uint64_t find_begin(const struct walk *walk)
{
    uint64_t begin = walk->call, first = UINT64_MAX;
    for (size_t i = (size_t)(walk->call - walk->start) + 1, count = 0; i-- > 0;) {
        uint8_t marks = walk->marks[i];
        if (!(marks & INSTRUCTION))
            continue;
        if (first >= i)
            begin = walk->start + i;
        if (marks & (ENTERED | MAYBE_ENTERED) || (marks & BEHIND_JUMP && !(marks & JUMPED_TO)) ||
            ++count == LINE_MOST)
            break;
        if (marks & JUMPED_TO && walk->jump[i] < first)
            first = walk->jump[i];
    }
    return begin;
}

/* Says of each instruction of the line whether all ways to the call lead through it. */
static bool find_certain(const struct walk *walk, struct mpiq_code_line *line)
{
    line->places = calloc(line->count, sizeof *line->places);
    if (!line->places)
        return false;
    uint16_t block = 0;
    bool behind_jump = false;
    for (size_t i = 0; i < line->count; i++) {
        const struct mpiq_instruction *instruction = &line->instructions[i];
        block += behind_jump || walk->marks[instruction->address - walk->start] & JUMPED_TO;
        line->places[i].block = block;
        behind_jump = instruction->flow == MPIQ_FLOW_JUMP || instruction->flow == MPIQ_FLOW_MAY_JUMP;
        const struct mpiq_operand *to = &instruction->target;
        if (!behind_jump || to->kind != MPIQ_OPERAND_NUMBER || to->value > walk->call)
            continue;
        for (size_t j = i + 1; j < line->count && line->instructions[j].address < to->value; j++)
            line->places[j].skipped = true;
    }
    return true;
}

static bool read_instructions(const cs_insn *instructions, struct mpiq_code_line *line)
{
    line->instructions = calloc(line->count, sizeof *line->instructions);
    for (size_t i = 0; line->instructions && i < line->count; i++)
        line->architecture->read(line->decoder, &instructions[i], &line->instructions[i]);
    return line->instructions;
}

static struct mpiq_error *decode_line(const struct walk *walk, uint64_t begin, struct mpiq_code_line *line)
{
    size_t size = (size_t)(walk->site - begin);
    _cleanup_free_ uint8_t *bytes = malloc(size);
    if (!bytes)
        return mpiq_error_no_memory();
    struct mpiq_error *error = mpiq_target_read(walk->modules->target, begin, size, bytes);
    if (error)
        return error;
    cs_insn *instructions = NULL;
    line->count = cs_disasm(walk->decoder, bytes, size, begin, 0, &instructions);
    const cs_insn *last = line->count ? &instructions[line->count - 1] : NULL;
    if (!last || last->address != walk->call || line->count > LINE_MOST)
        error = mpiq_error_create_address(MPIQ_ERROR_UNSUPPORTED, begin,
                                          "the code from 0x%llx to 0x%llx cannot be followed",
                                          (unsigned long long)begin, (unsigned long long)walk->site);
    else if (!read_instructions(instructions, line) || !find_certain(walk, line))
        error = mpiq_error_no_memory();
    if (instructions)
        cs_free(instructions, line->count);
    return error;
}

static const struct mpiq_architecture *architecture_of(unsigned machine)
{
    if (machine == EM_X86_64)
        return &mpiq_x86_64;
    return machine == EM_AARCH64 ? &mpiq_aarch64 : NULL;
}

struct mpiq_error *mpiq_code_line_read(struct mpiq_modules *modules, uint64_t address,
                                       struct mpiq_code_line *ret)
{
    const struct mpiq_architecture *architecture = architecture_of(modules->machine);
    if (!architecture)
        return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                 "code of this architecture (ELF machine %u) is not read", modules->machine);
    struct walk walk = {.modules = modules, .architecture = architecture, .site = address};
    if (!address || !mpiq_function_bounds(modules, address - 1, &walk.start, &walk.end))
        return mpiq_error_create_address(MPIQ_ERROR_NOT_FOUND, address, "no function is known at 0x%llx",
                                         (unsigned long long)address);
    const size_t size = (size_t)(walk.end - walk.start);
    _cleanup_free_ uint8_t *marks = calloc(size, sizeof *marks);
    _cleanup_free_ uint32_t *jump = calloc(size, sizeof *jump);
    struct mpiq_code_line line = {.architecture = architecture, .function = walk.start};
    if (!marks || !jump || cs_open(architecture->decoder, architecture->mode, &line.decoder) != CS_ERR_OK)
        return mpiq_error_no_memory();
    cs_option(line.decoder, CS_OPT_DETAIL, CS_OPT_ON);
    if (architecture->instruction_size)
        cs_option(line.decoder, CS_OPT_SKIPDATA, CS_OPT_ON);
    walk.decoder = line.decoder;
    walk.marks = marks;
    walk.jump = jump;
    struct mpiq_error *error = find_line(&walk);
    if (!error && is_misread(&walk))
        error = mpiq_error_create_address(MPIQ_ERROR_CORRUPT, walk.start,
                                          "the function at 0x%llx jumps into its own instructions",
                                          (unsigned long long)walk.start);
    uint64_t begin = error ? 0 : find_begin(&walk);
    if (!error)
        error = decode_line(&walk, begin, &line);
    if (error) {
        mpiq_code_line_deinit(&line);
        return error;
    }
    line.from_entry = begin == walk.start && !(marks[0] & (ENTERED | MAYBE_ENTERED));
    *ret = line;
    return NULL;
}

void mpiq_code_line_deinit(struct mpiq_code_line *line)
{
    free(line->places);
    free(line->instructions);
    if (line->decoder)
        cs_close(&line->decoder);
    *line = (struct mpiq_code_line){0};
}

/* Registers that code on its way to a function has filled. */
struct hop {
    struct mpiq_modules *modules;
    const struct mpiq_architecture *architecture;
    uint64_t value[REGISTERS_MOST];
    uint32_t known;
};

/* A number, a register that is filled, or what such memory holds. */
static bool hop_value(const struct hop *hop, const struct mpiq_operand *operand, uint64_t *ret)
{
    bool based = operand->reg >= 0 && hop->known >> operand->reg & 1, good = true;
    uint64_t base = based ? hop->value[operand->reg] : 0;
    switch (operand->kind) {
    case MPIQ_OPERAND_NUMBER:
        *ret = operand->value;
        return true;
    case MPIQ_OPERAND_REGISTER:
        *ret = base;
        return based && operand->width == 8 && !operand->is_signed && !operand->shift && !operand->turn;
    case MPIQ_OPERAND_MEMORY:
        if ((operand->reg >= 0 && !based) || operand->index >= 0 || operand->unfollowed ||
            operand->width != 8)
            return false;
        *ret = mpiq_code_number(hop->modules, base + operand->value, 8, &good);
        return good;
    default:
        return false;
    }
}

/* Whether an instruction does no more than fill registers that nobody else uses. */
static bool hop_over(struct hop *hop, const struct mpiq_instruction *instruction)
{
    const struct mpiq_effect *effect = &instruction->effects[0];
    uint64_t a = 0, b = 0;
    if (instruction->flow != MPIQ_FLOW_ON || instruction->store || instruction->loses_stack ||
        instruction->stack_move || instruction->writes & ~hop->architecture->scratch)
        return false;
    if (!instruction->writes)
        return true;
    hop->known &= ~instruction->writes;
    bool adds = effect->operation == MPIQ_ADD;
    if (instruction->effect_count != 1 || effect->width != 8 || (!adds && effect->operation != MPIQ_MOVE) ||
        !hop_value(hop, &effect->a, &a) || (adds && !hop_value(hop, &effect->b, &b)))
        return true;
    hop->value[effect->reg] = a + b;
    hop->known |= UINT32_C(1) << effect->reg;
    return true;
}

/* Where the jump leads that is all there is at an address but for what prepares it; false: there is more. */
static bool hop_from(struct mpiq_modules *modules, const struct mpiq_code_line *line, uint64_t address,
                     uint64_t *ret)
{
    struct hop hop = {.modules = modules, .architecture = line->architecture};
    uint8_t bytes[2 * INSTRUCTION_MOST];
    struct mpiq_error *error = mpiq_target_read(modules->target, address, sizeof bytes, bytes);
    cs_insn *decoded = error ? NULL : cs_malloc(line->decoder);
    const uint8_t *at = bytes;
    size_t size = sizeof bytes;
    bool leads = false;
    for (int i = 0; decoded && i < HOP_INSTRUCTIONS_MOST; i++) {
        struct mpiq_instruction instruction;
        if (!cs_disasm_iter(line->decoder, &at, &size, &address, decoded))
            break;
        line->architecture->read(line->decoder, decoded, &instruction);
        leads = instruction.flow == MPIQ_FLOW_JUMP && hop_value(&hop, &instruction.target, ret);
        if (leads || !hop_over(&hop, &instruction))
            break;
    }
    if (decoded)
        cs_free(decoded, 1);
    mpiq_error_destroy(error);
    return leads;
}

uint64_t mpiq_code_destination(struct mpiq_modules *modules, const struct mpiq_code_line *line,
                               uint64_t address)
{
    for (int hop = 0; hop < HOPS_MOST && hop_from(modules, line, address, &address); hop++)
        ;
    return address;
}
