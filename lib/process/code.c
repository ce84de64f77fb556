/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "process/symbols.h"
#include "process/x86_64.h"

enum {
    FUNCTION_MOST = 1 << 18, /* bytes of one function */
    LINE_MOST = 512,         /* instructions */
    OTHERS_MOST = 32,        /* functions that this one jumps to: its cold parts and tail calls */
    TABLES_MOST = 64,        /* addresses that may be those of jump tables */
    TABLE_ENTRIES_MOST = 4096,
    INSTRUCTION_MOST = 16, /* bytes */
    HOPS_MOST = 4,
    /* Encodings of .eh_frame_hdr that every linker writes. */
    ENCODED_UDATA4 = 0x03,
    ENCODED_DATAREL_SDATA4 = 0x3b,
};

static uint64_t number_at(struct mpiq_modules *modules, uint64_t address, int size, bool *good)
{
    unsigned char bytes[8];
    struct mpiq_error *error = mpiq_target_read(modules->target, address, (size_t)size, bytes);
    *good = *good && !error;
    mpiq_error_destroy(error);
    const struct mpiq_words words = {.size = modules->word_size, .big_endian = modules->big_endian};
    return error ? 0 : mpiq_word_sized(&words, bytes, size);
}

static int64_t offset_at(struct mpiq_modules *modules, uint64_t address, bool *good)
{
    return (int32_t)number_at(modules, address, 4, good);
}

static bool find_header(const struct mpiq_object *object, uint64_t *address, uint64_t *size)
{
    size_t count = 0;
    bool found = false;
    mpiq_object_lock();
    if (elf_getphdrnum(object->elf, &count) == 0) {
        GElf_Phdr header;
        for (size_t i = 0; i < count && !found; i++) {
            found = gelf_getphdr(object->elf, (int)i, &header) && header.p_type == PT_GNU_EH_FRAME;
            if (found) {
                *address = header.p_vaddr;
                *size = header.p_memsz;
            }
        }
    }
    mpiq_object_unlock();
    return found;
}

/* A static program has no .eh_frame_hdr; its symbols may tell. */
static bool bounds_by_symbol(const struct mpiq_module *module, struct mpiq_object *object, uint64_t address,
                             uint64_t *start, uint64_t *end)
{
    uint64_t first, behind;
    mpiq_object_lock();
    bool found = mpiq_symbols_bounds(object, address - module->bias, &first, &behind);
    mpiq_object_unlock();
    if (!found || behind - first > FUNCTION_MOST)
        return false;
    *start = first + module->bias;
    *end = behind + module->bias;
    return true;
}

bool mpiq_code_bounds(struct mpiq_modules *modules, uint64_t address, uint64_t *start, uint64_t *end)
{
    struct mpiq_module *module = mpiq_modules_at(modules, address);
    struct mpiq_object *object = module ? mpiq_module_object(modules, module) : NULL;
    uint64_t header, size;
    if (!object)
        return false;
    if (!find_header(object, &header, &size))
        return bounds_by_symbol(module, object, address, start, end);
    header += module->bias;
    bool good = true;
    uint64_t encodings = number_at(modules, header, 4, &good);
    uint64_t count = number_at(modules, header + 8, 4, &good);
    if (!good || (encodings >> 16 & 0xff) != ENCODED_UDATA4 || encodings >> 24 != ENCODED_DATAREL_SDATA4 ||
        count == 0 || size < 12 || count > (size - 12) / 8)
        return false;
    /* The last entry that begins at or before the address. */
    uint64_t low = 0, high = count;
    while (high - low > 1 && good) {
        uint64_t middle = low + (high - low) / 2;
        if (header + (uint64_t)offset_at(modules, header + 12 + middle * 8, &good) <= address)
            low = middle;
        else
            high = middle;
    }
    uint64_t first = header + (uint64_t)offset_at(modules, header + 12 + low * 8, &good);
    uint64_t next = module->end;
    if (low + 1 < count)
        next = header + (uint64_t)offset_at(modules, header + 12 + (low + 1) * 8, &good);
    if (!good || first > address || next <= address || next - first > FUNCTION_MOST)
        return false;
    *start = first;
    *end = next;
    return true;
}

/* An instruction begins there; code is entered there from nobody knows where, or from behind; what may be a
   jump table says so; only jumps from before lead there; nothing falls through to there. */
enum { INSTRUCTION = 1, ENTERED = 2, MAYBE_ENTERED = 4, JUMPED_TO = 8, BEHIND_JUMP = 16 };

/* What a walk through a function learns about the line that leads to `call`. */
struct walk {
    struct mpiq_modules *modules;
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

static bool is_in(const cs_insn *instruction, csh decoder, unsigned group)
{
    return cs_insn_group(decoder, instruction, group);
}

/* own: of the function with the call, whose jumps to elsewhere are followed. */
static void take_jump(struct walk *walk, const cs_insn *instruction, bool own)
{
    const cs_x86 *x86 = &instruction->detail->x86;
    const cs_x86_op *to = x86->op_count ? &x86->operands[0] : NULL;
    if (to && to->type == X86_OP_IMM) {
        uint64_t target = (uint64_t)to->imm;
        mark_jump(walk, instruction->address, target, own);
        if (own && (target < walk->start || target >= walk->end))
            add_once(walk, walk->others, OTHERS_MOST, &walk->other_count, target);
        return;
    }
    /* Through a pointer at a fixed place: a call of another function that needs no return. */
    if (to && to->type == X86_OP_MEM && to->mem.base == X86_REG_RIP && to->mem.index == X86_REG_INVALID)
        return;
    walk->jumps_by_table = true;
    if (to && to->type == X86_OP_MEM && to->mem.base == X86_REG_INVALID && to->mem.index != X86_REG_INVALID)
        add_once(walk, walk->tables, TABLES_MOST, &walk->table_count, (uint64_t)to->mem.disp);
}

static void take_table_address(struct walk *walk, const cs_insn *instruction)
{
    const cs_x86_op *from = &instruction->detail->x86.operands[1];
    if (instruction->id == X86_INS_LEA && instruction->detail->x86.op_count == 2 &&
        from->mem.base == X86_REG_RIP && from->mem.index == X86_REG_INVALID)
        add_once(walk, walk->tables, TABLES_MOST, &walk->table_count,
                 instruction->address + instruction->size + (uint64_t)from->mem.disp);
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
    cs_insn *instruction = cs_malloc(walk->decoder);
    if (!instruction)
        return false;
    const uint8_t *at = bytes;
    uint64_t address = start;
    while (size && cs_disasm_iter(walk->decoder, &at, &size, &address, instruction)) {
        uint64_t behind = instruction->address + instruction->size;
        if (own)
            mark(walk, instruction->address, INSTRUCTION);
        bool is_call = is_in(instruction, walk->decoder, CS_GRP_CALL);
        if (own && is_call && behind == walk->site)
            walk->call = instruction->address;
        bool is_jump = is_in(instruction, walk->decoder, CS_GRP_JUMP);
        if (is_jump)
            take_jump(walk, instruction, own);
        else if (own)
            take_table_address(walk, instruction);
        /* What follows is reached from elsewhere, or with other registers. */
        if (own && is_call)
            mark(walk, behind, ENTERED);
        if (own && (instruction->id == X86_INS_JMP || is_in(instruction, walk->decoder, CS_GRP_RET)))
            mark(walk, behind, BEHIND_JUMP);
    }
    cs_free(instruction, 1);
    /* Padding at the end may be anything; before the call everything has to be understood. */
    return !own || address >= walk->site;
}

/* The destinations in what may be a jump table: of offsets to its own address, or of addresses. */
static bool take_table(struct walk *walk, uint64_t table)
{
    size_t found = 0;
    for (int size = 4; size <= 8; size += 4) {
        for (size_t i = 0; i < TABLE_ENTRIES_MOST; i++) {
            bool good = true;
            uint64_t entry = number_at(walk->modules, table + i * (size_t)size, size, &good);
            uint64_t target = size == 4 ? table + (uint64_t)(int64_t)(int32_t)entry : entry;
            if (!good || target < walk->start || target >= walk->end)
                break;
            mark(walk, target, MAYBE_ENTERED);
            found++;
        }
    }
    return found > 0;
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
        if (!mpiq_code_bounds(walk->modules, walk->others[i], &start, &end))
            continue; /* a PLT entry */
        if (!walk_code(walk, start, end, false))
            walk->lost = true;
    }
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
static bool find_certain(const struct walk *walk, const cs_insn *instructions, struct mpiq_code_line *line)
{
    line->places = calloc(line->count, sizeof *line->places);
    if (!line->places)
        return false;
    uint16_t block = 0;
    bool behind_jump = false;
    for (size_t i = 0; i < line->count; i++) {
        const cs_insn *instruction = &instructions[i];
        block += behind_jump || walk->marks[instruction->address - walk->start] & JUMPED_TO;
        line->places[i].block = block;
        behind_jump = is_in(instruction, walk->decoder, CS_GRP_JUMP);
        const cs_x86_op *to = &instruction->detail->x86.operands[0];
        if (!behind_jump || to->type != X86_OP_IMM || (uint64_t)to->imm > walk->call)
            continue;
        for (size_t j = i + 1; j < line->count && instructions[j].address < (uint64_t)to->imm; j++)
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
    else if (!find_certain(walk, instructions, line) || !read_instructions(instructions, line))
        error = mpiq_error_no_memory();
    if (instructions)
        cs_free(instructions, line->count);
    return error;
}

struct mpiq_error *mpiq_code_line_read(struct mpiq_modules *modules, uint64_t address,
                                       struct mpiq_code_line *ret)
{
    const struct mpiq_architecture *architecture = modules->machine == EM_X86_64 ? &mpiq_x86_64 : NULL;
    if (!architecture)
        return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                 "code of this architecture (ELF machine %u) is not read", modules->machine);
    struct walk walk = {.modules = modules, .site = address};
    if (!address || !mpiq_code_bounds(modules, address - 1, &walk.start, &walk.end))
        return mpiq_error_create_address(MPIQ_ERROR_NOT_FOUND, address, "no function is known at 0x%llx",
                                         (unsigned long long)address);
    const size_t size = (size_t)(walk.end - walk.start);
    _cleanup_free_ uint8_t *marks = calloc(size, sizeof *marks);
    _cleanup_free_ uint32_t *jump = calloc(size, sizeof *jump);
    struct mpiq_code_line line = {.architecture = architecture, .function = walk.start};
    if (!marks || !jump || cs_open(architecture->decoder, architecture->mode, &line.decoder) != CS_ERR_OK)
        return mpiq_error_no_memory();
    cs_option(line.decoder, CS_OPT_DETAIL, CS_OPT_ON);
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

uint64_t mpiq_code_destination(struct mpiq_modules *modules, const struct mpiq_code_line *line,
                               uint64_t address)
{
    const csh decoder = line->decoder;
    cs_insn *instruction = cs_malloc(decoder);
    for (int hop = 0; instruction && hop < HOPS_MOST; hop++) {
        uint8_t bytes[2 * INSTRUCTION_MOST];
        struct mpiq_error *error = mpiq_target_read(modules->target, address, sizeof bytes, bytes);
        if (error) {
            mpiq_error_destroy(error);
            break;
        }
        const uint8_t *at = bytes;
        size_t size = sizeof bytes;
        uint64_t next = address;
        bool decoded = cs_disasm_iter(decoder, &at, &size, &next, instruction);
        if (decoded && instruction->id == X86_INS_ENDBR64)
            decoded = cs_disasm_iter(decoder, &at, &size, &next, instruction);
        if (!decoded || instruction->id != X86_INS_JMP)
            break;
        const cs_x86_op *to = &instruction->detail->x86.operands[0];
        bool good = to->type == X86_OP_IMM || (to->type == X86_OP_MEM && to->mem.base == X86_REG_RIP &&
                                               to->mem.index == X86_REG_INVALID);
        uint64_t target = (uint64_t)to->imm;
        if (good && to->type == X86_OP_MEM)
            target = number_at(modules, next + (uint64_t)to->mem.disp, 8, &good);
        if (!good)
            break;
        address = target;
    }
    if (instruction)
        cs_free(instruction, 1);
    return address;
}
