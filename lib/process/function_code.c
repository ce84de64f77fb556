/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/function_code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "process/function_bounds.h"
#include "process/x86_64.h"

enum { BYTES_MOST = 1 << 16, PARTS_MOST = 8, BLOCKS_MOST = 1024 };

/* A run of code: the function's own, and the cold parts that it jumps to. */
struct part {
    uint64_t start, end;
};

struct reading {
    struct mpiq_modules *modules;
    struct mpiq_function_code code;
    struct part parts[PARTS_MOST];
    size_t part_count;
    size_t capacity;
};

static struct mpiq_error *not_followed(uint64_t address, const char *why)
{
    return mpiq_error_create_address(MPIQ_ERROR_UNSUPPORTED, address, "the function at 0x%llx %s",
                                     (unsigned long long)address, why);
}

static bool is_read(const struct reading *reading, uint64_t address)
{
    for (size_t i = 0; i < reading->part_count; i++) {
        if (address >= reading->parts[i].start && address < reading->parts[i].end)
            return true;
    }
    return false;
}

/* Another part of the function, if an address that it jumps to is not in one yet; false: too many. */
static bool add_part(struct reading *reading, uint64_t address)
{
    struct part part;
    if (is_read(reading, address) || !mpiq_function_bounds(reading->modules, address, &part.start, &part.end))
        return true;
    if (reading->part_count == PARTS_MOST || part.end - part.start > BYTES_MOST)
        return false;
    reading->parts[reading->part_count++] = part;
    return true;
}

static bool reserve(struct reading *reading)
{
    struct mpiq_function_code *code = &reading->code;
    if (code->count < reading->capacity)
        return true;
    size_t capacity = reading->capacity ? reading->capacity * 2 : 512;
    struct mpiq_instruction *instructions =
        reallocarray(code->instructions, capacity, sizeof *code->instructions);
    code->instructions = instructions ? instructions : code->instructions;
    uint64_t *behind = reallocarray(code->behind, capacity, sizeof *code->behind);
    code->behind = behind ? behind : code->behind;
    bool *calls = reallocarray(code->calls, capacity, sizeof *code->calls);
    code->calls = calls ? calls : code->calls;
    reading->capacity = instructions && behind && calls ? capacity : reading->capacity;
    return instructions && behind && calls;
}

/* A jump whose destination is not part of it: another function, which returns to our caller. */
static bool leaves(const struct mpiq_instruction *jump)
{
    const struct mpiq_operand *to = &jump->target;
    return to->kind == MPIQ_OPERAND_NUMBER ||
           (to->kind == MPIQ_OPERAND_MEMORY && !to->unfollowed && to->reg < 0 && to->index < 0);
}

static struct mpiq_error *add_instruction(struct reading *reading, const cs_insn *from)
{
    struct mpiq_function_code *code = &reading->code;
    if (!reserve(reading))
        return mpiq_error_no_memory();
    struct mpiq_instruction *instruction = &code->instructions[code->count];
    code->architecture->read(code->decoder, from, instruction);
    code->behind[code->count] = from->address + from->size;
    code->calls[code->count++] = instruction->flow == MPIQ_FLOW_CALL;
    if (instruction->flow != MPIQ_FLOW_MAY_JUMP && instruction->flow != MPIQ_FLOW_JUMP)
        return NULL;
    if (!leaves(instruction))
        return not_followed(reading->parts[0].start, "has jumps to unknown places");
    if (instruction->target.kind == MPIQ_OPERAND_NUMBER && !add_part(reading, instruction->target.value))
        return not_followed(reading->parts[0].start, "is in too many parts");
    return NULL;
}

static struct mpiq_error *read_part(struct reading *reading, struct part part)
{
    size_t size = (size_t)(part.end - part.start);
    _cleanup_free_ uint8_t *bytes = malloc(size);
    if (!bytes)
        return mpiq_error_no_memory();
    struct mpiq_error *error = mpiq_target_read(reading->modules->target, part.start, size, bytes);
    cs_insn *instruction = error ? NULL : cs_malloc(reading->code.decoder);
    if (!instruction)
        return error ? error : mpiq_error_no_memory();
    const uint8_t *at = bytes;
    uint64_t address = part.start;
    while (!error && size && cs_disasm_iter(reading->code.decoder, &at, &size, &address, instruction))
        error = add_instruction(reading, instruction);
    cs_free(instruction, 1);
    return error;
}

static int compare_instructions(const void *key, const void *item)
{
    uint64_t address = *(const uint64_t *)key;
    const struct mpiq_instruction *instruction = item;
    return address < instruction->address ? -1 : address > instruction->address;
}

/* The instruction at an address; SIZE_MAX: none begins there. */
static size_t at(const struct mpiq_function_code *code, uint64_t address)
{
    const struct mpiq_instruction *found =
        bsearch(&address, code->instructions, code->count, sizeof *code->instructions, compare_instructions);
    return found ? (size_t)(found - code->instructions) : SIZE_MAX;
}

size_t mpiq_function_code_before(const struct mpiq_function_code *code, uint64_t address)
{
    for (size_t i = 0; i < code->count; i++) {
        if (code->behind[i] == address)
            return i;
    }
    return SIZE_MAX;
}

static bool does_nothing(const struct mpiq_instruction *instruction)
{
    return instruction->flow == MPIQ_FLOW_ON && instruction->writes == 0 && !instruction->writes_flags &&
           instruction->store == MPIQ_STORES_NOTHING && instruction->target.kind == MPIQ_OPERAND_UNKNOWN &&
           instruction->comparison == MPIQ_COMPARES_NOTHING;
}

/* Parts were added as they were found. */
static struct mpiq_error *sort(struct reading *reading)
{
    struct mpiq_function_code *code = &reading->code;
    for (size_t i = 1; i < code->count; i++) {
        if (code->instructions[i].address < code->behind[i - 1])
            return not_followed(reading->parts[0].start, "has a part before it");
    }
    return NULL;
}

static bool jumps_to_number(const struct mpiq_instruction *instruction)
{
    return (instruction->flow == MPIQ_FLOW_MAY_JUMP || instruction->flow == MPIQ_FLOW_JUMP) &&
           instruction->target.kind == MPIQ_OPERAND_NUMBER;
}

static void set_ends(const struct mpiq_function_code *code, const int *block_of,
                     struct mpiq_code_block *block)
{
    const size_t last = block->first + block->count - 1;
    const struct mpiq_instruction *instruction = &code->instructions[last];
    block->next = block->jump = MPIQ_NO_BLOCK;
    bool stops = instruction->flow == MPIQ_FLOW_JUMP || instruction->flow == MPIQ_FLOW_ENDS;
    if (!stops && last + 1 < code->count && code->instructions[last + 1].address == code->behind[last])
        block->next = block_of[last + 1];
    if (jumps_to_number(instruction)) {
        size_t to = at(code, instruction->target.value);
        block->jump = to == SIZE_MAX ? MPIQ_NO_BLOCK : block_of[to];
    }
}

/* Whether a jump within the parts leads into the middle of an instruction: it was not decoded as it runs. */
static bool is_misread(const struct reading *reading)
{
    const struct mpiq_function_code *code = &reading->code;
    for (size_t i = 0; i < code->count; i++) {
        const struct mpiq_instruction *from = &code->instructions[i];
        if (jumps_to_number(from) && is_read(reading, from->target.value) &&
            at(code, from->target.value) == SIZE_MAX)
            return true;
    }
    return false;
}

static struct mpiq_error *make_blocks(struct reading *reading)
{
    struct mpiq_function_code *code = &reading->code;
    _cleanup_free_ bool *begins = calloc(code->count + 1, sizeof *begins);
    _cleanup_free_ int *block_of = calloc(code->count + 1, sizeof *block_of);
    if (!begins || !block_of)
        return mpiq_error_no_memory();
    for (size_t i = 0; i < code->count; i++) {
        const struct mpiq_instruction *from = &code->instructions[i];
        if (i == 0 || code->behind[i - 1] != from->address || does_nothing(from) ||
            (i > 0 && does_nothing(from - 1)))
            begins[i] = true;
        if (from->flow == MPIQ_FLOW_ON || from->flow == MPIQ_FLOW_CALL)
            continue;
        begins[i + 1] = true;
        size_t to = jumps_to_number(from) ? at(code, from->target.value) : SIZE_MAX;
        if (to != SIZE_MAX)
            begins[to] = true;
    }
    size_t count = 0;
    for (size_t i = 0; i < code->count; i++) {
        count += begins[i];
        block_of[i] = (int)count - 1;
    }
    if (count == 0 || count > BLOCKS_MOST)
        return not_followed(reading->parts[0].start, "has too many parts to follow");
    code->blocks = calloc(count, sizeof *code->blocks);
    if (!code->blocks)
        return mpiq_error_no_memory();
    code->block_count = count;
    for (size_t i = 0; i < code->count; i++) {
        struct mpiq_code_block *block = &code->blocks[block_of[i]];
        if (begins[i])
            block->first = i;
        block->count++;
        block->padding = (begins[i] || block->padding) && does_nothing(&code->instructions[i]);
    }
    for (size_t i = 0; i < count; i++)
        set_ends(code, block_of, &code->blocks[i]);
    size_t entry = at(code, reading->parts[0].start);
    code->entry = entry == SIZE_MAX ? MPIQ_NO_BLOCK : block_of[entry];
    return NULL;
}

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left;
    const struct part *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* Finds all parts first: the instructions shall stand by address. */
static struct mpiq_error *read_parts(struct reading *reading)
{
    struct mpiq_error *error = NULL;
    for (size_t i = 0; !error && i < reading->part_count; i++)
        error = read_part(reading, reading->parts[i]);
    if (error || reading->part_count == 1)
        return error;
    struct part parts[PARTS_MOST];
    size_t count = reading->part_count;
    memcpy(parts, reading->parts, sizeof parts);
    qsort(parts, count, sizeof *parts, compare_parts);
    reading->code.count = 0;
    for (size_t i = 0; !error && i < count; i++)
        error = read_part(reading, parts[i]);
    return error;
}

struct mpiq_error *mpiq_function_code_read(struct mpiq_modules *modules, uint64_t address,
                                           struct mpiq_function_code *ret)
{
    const struct mpiq_architecture *architecture = modules->machine == EM_X86_64 ? &mpiq_x86_64 : NULL;
    struct reading reading = {.modules = modules, .code = {.architecture = architecture}};
    if (!architecture)
        return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                 "code of this architecture (ELF machine %u) is not read", modules->machine);
    if (!add_part(&reading, address) || reading.part_count == 0)
        return not_followed(address, "has no known bounds");
    if (cs_open(architecture->decoder, architecture->mode, &reading.code.decoder) != CS_ERR_OK)
        return mpiq_error_no_memory();
    cs_option(reading.code.decoder, CS_OPT_DETAIL, CS_OPT_ON);
    struct mpiq_error *error = read_parts(&reading);
    if (!error)
        error = sort(&reading);
    if (!error && is_misread(&reading))
        error = not_followed(reading.parts[0].start, "jumps into its own instructions");
    if (!error)
        error = make_blocks(&reading);
    if (error) {
        mpiq_function_code_deinit(&reading.code);
        return error;
    }
    *ret = reading.code;
    return NULL;
}

void mpiq_function_code_deinit(struct mpiq_function_code *code)
{
    free(code->instructions);
    free(code->behind);
    free(code->calls);
    free(code->blocks);
    if (code->decoder)
        cs_close(&code->decoder);
    *code = (struct mpiq_function_code){.entry = MPIQ_NO_BLOCK};
}
