/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/jump_table.h"

#include "process/call_word.h"
#include "process/function_bounds.h"
#include "process/registers.h"

/* Instructions to go back for what decides, and for a fixed address that was computed before a loop; moves of
   one from register to register; destinations. */
enum { NEAR_MOST = 32, BACK_MOST = 4096, MOVES_MOST = 4, ENTRIES_MOST = 4096 };

struct search {
    struct mpiq_modules *modules;
    csh decoder;
    const struct mpiq_architecture *architecture;
    uint64_t start;
    uint64_t preserved; /* bit n: by calls, register n */
};

static bool read_at(const struct search *search, uint64_t address, struct mpiq_instruction *ret)
{
    uint8_t bytes[8];
    const uint8_t *at = bytes;
    size_t size = (size_t)search->architecture->instruction_size;
    struct mpiq_error *error =
        size <= sizeof bytes ? mpiq_target_read(search->modules->target, address, size, bytes) : NULL;
    cs_insn *instruction = error || size > sizeof bytes ? NULL : cs_malloc(search->decoder);
    bool read = instruction && cs_disasm_iter(search->decoder, &at, &size, &address, instruction);
    if (read)
        search->architecture->read(search->decoder, instruction, ret);
    if (instruction)
        cs_free(instruction, 1);
    mpiq_error_destroy(error);
    return read;
}

/* The instruction before `address` that last wrote a register, at most so far back. */
static bool find_writer(const struct search *search, uint64_t address, int number, int most,
                        struct mpiq_instruction *ret)
{
    const uint64_t size = (uint64_t)search->architecture->instruction_size;
    for (int i = 0; i < most && address >= search->start + size; i++) {
        address -= size;
        if (!read_at(search, address, ret))
            return false;
        if (ret->flow == MPIQ_FLOW_CALL && !(search->preserved >> number & 1))
            return false;
        if (ret->writes >> number & 1)
            return ret->effect_count == 1 && ret->effects[0].reg == number;
    }
    return false;
}

static bool is_plain(const struct mpiq_operand *operand)
{
    return operand->kind == MPIQ_OPERAND_REGISTER && operand->width == 8 && !operand->shift &&
           !operand->turn && !operand->is_signed;
}

/* The fixed address that a register holds before an instruction. */
static bool find_fixed(const struct search *search, uint64_t address, int number, uint64_t *ret)
{
    uint64_t sum = 0;
    struct mpiq_instruction writer;
    for (int i = 0; i < MOVES_MOST && find_writer(search, address, number, BACK_MOST, &writer); i++) {
        const struct mpiq_effect *effect = &writer.effects[0];
        const struct mpiq_operand *a = &effect->a, *b = &effect->b;
        if (effect->width != 8)
            return false;
        if (effect->operation == MPIQ_MOVE && a->kind == MPIQ_OPERAND_NUMBER) {
            *ret = a->value + sum;
            return true;
        }
        bool adds = effect->operation == MPIQ_ADD && b->kind == MPIQ_OPERAND_NUMBER;
        if (!is_plain(a) || !(adds || effect->operation == MPIQ_MOVE))
            return false;
        sum += adds ? b->value : 0;
        number = a->reg;
        address = writer.address;
    }
    return false;
}

/* How many destinations there are: what would be more has jumped elsewhere, right before.  A register's name
   may be that of its lower half there. */
static uint64_t find_count(const struct search *search, uint64_t address, int index, uint64_t *first)
{
    const uint64_t size = (uint64_t)search->architecture->instruction_size;
    struct mpiq_instruction one;
    bool jumped = false;
    for (int i = 0; i < NEAR_MOST && address >= search->start + size; i++) {
        address -= size;
        if (!read_at(search, address, &one))
            break;
        if (jumped && one.writes_flags) {
            if (one.comparison != MPIQ_COMPARES || one.left.kind != MPIQ_OPERAND_REGISTER ||
                one.left.reg != index || one.left.shift || one.left.is_signed || one.left.width < 4 ||
                one.right.kind != MPIQ_OPERAND_NUMBER || one.right.value >= ENTRIES_MOST)
                break;
            *first = address;
            return one.right.value + 1;
        }
        if (one.writes >> index & 1 || (!jumped && one.writes_flags))
            break;
        if (one.flow == MPIQ_FLOW_ON)
            continue;
        if (jumped || one.flow != MPIQ_FLOW_MAY_JUMP || one.condition != MPIQ_IF_ABOVE)
            break;
        jumped = true;
    }
    return ENTRIES_MOST;
}

/* Of a sum of a number of a table and a fixed address. */
static bool take_sum(const struct search *search, const struct mpiq_instruction *sum,
                     const struct mpiq_operand *fixed, const struct mpiq_operand *number,
                     struct mpiq_jump_table *ret)
{
    struct mpiq_instruction load;
    if (!is_plain(fixed) || number->kind != MPIQ_OPERAND_REGISTER || number->turn || number->shift_by > 3 ||
        (number->shift && number->shift != MPIQ_SHIFT_LEFT) ||
        !find_writer(search, sum->address, number->reg, NEAR_MOST, &load))
        return false;
    const struct mpiq_effect *effect = &load.effects[0];
    const struct mpiq_operand *from = &effect->a;
    bool extends = effect->operation == MPIQ_EXTEND;
    if ((!extends && effect->operation != MPIQ_MOVE) || from->kind != MPIQ_OPERAND_MEMORY ||
        from->unfollowed || from->reg < 0 || from->index < 0 || from->scale != from->width || from->value ||
        from->width > 4)
        return false;
    *ret =
        (struct mpiq_jump_table){.first = load.address,
                                 .size = from->width,
                                 .width = number->width < from->width ? number->width : from->width,
                                 .shift = number->shift_by,
                                 .is_signed = extends || (number->is_signed && number->width <= from->width)};
    if (!find_fixed(search, sum->address, fixed->reg, &ret->base) ||
        !find_fixed(search, load.address, from->reg, &ret->table))
        return false;
    ret->count = find_count(search, load.address, from->index, &ret->first);
    return true;
}

bool mpiq_jump_table_find(struct mpiq_modules *modules, csh decoder,
                          const struct mpiq_architecture *architecture, uint64_t start, uint64_t jump,
                          struct mpiq_jump_table *ret)
{
    const struct mpiq_register_layout *layout = mpiq_register_layout(modules->machine);
    const struct search search = {modules, decoder, architecture, start, layout ? layout->preserved : 0};
    struct mpiq_instruction at, sum;
    if (!architecture->instruction_size || !read_at(&search, jump, &at) || !is_plain(&at.target) ||
        !find_writer(&search, jump, at.target.reg, NEAR_MOST, &sum))
        return false;
    const struct mpiq_effect *effect = &sum.effects[0];
    return effect->operation == MPIQ_ADD && effect->width == 8 &&
           (take_sum(&search, &sum, &effect->a, &effect->b, ret) ||
            take_sum(&search, &sum, &effect->b, &effect->a, ret));
}

uint64_t mpiq_jump_table_entry(struct mpiq_modules *modules, const struct mpiq_jump_table *table,
                               uint64_t index, bool *good)
{
    uint64_t entry = mpiq_code_number(modules, table->table + index * table->size, table->size, good);
    entry = table->is_signed ? mpiq_word_extend(entry, table->width) : mpiq_word_cut(entry, table->width);
    return table->base + (entry << table->shift);
}
