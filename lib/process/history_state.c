/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/history_state_private.h"

#include <string.h>

#include "process/call_site.h"
#include "process/call_word.h"

/* Bytes above the stack pointer that may be arguments of a call, for its callee to use. */
enum { STACK_ARGUMENTS = 64 };

static bool has_base_of(const struct mpiq_history_word *a, const struct mpiq_history_word *b)
{
    return a->kind == b->kind && a->symbol == b->symbol;
}

/* ---- memory ---- */

/* The words in the frame, or all others, may have been written. */
static void forget(struct mpiq_history_state *state, bool of_frame, bool keep_made)
{
    for (size_t i = state->slot_count; i-- > 0;) {
        if ((state->slots[i].base.kind == MPIQ_HISTORY_FRAME) == of_frame &&
            !(keep_made && mpiq_history_is_made(&state->slots[i].value)))
            mpiq_history_drop_slot(state, i);
    }
}

/* So many bytes at an address may have been written. */
static void forget_at(struct mpiq_history_state *state, const struct mpiq_history_word *address,
                      uint64_t size, bool keep_made)
{
    bool known = address->kind != MPIQ_HISTORY_UNKNOWN && !address->narrow && size <= 1 << 24;
    if (!known) {
        forget(state, false, keep_made);
        if (mpiq_history_is_frame(address))
            forget(state, true, keep_made);
        return;
    }
    for (size_t i = state->slot_count; i-- > 0;) {
        const struct mpiq_history_slot *slot = &state->slots[i];
        uint64_t distance = slot->base.value - address->value;
        bool same = has_base_of(&slot->base, address);
        bool meets = distance < size || 0 - distance < slot->size;
        /* The frame is met by what may be an address of it. */
        bool either = slot->base.kind == MPIQ_HISTORY_FRAME ? mpiq_history_is_frame(address)
                      : address->kind == MPIQ_HISTORY_FRAME ? slot->base.frame
                                                            : true;
        if ((same ? meets : either) && !(keep_made && mpiq_history_is_made(&slot->value)))
            mpiq_history_drop_slot(state, i);
    }
}

static void remember(struct mpiq_history_state *state, const struct mpiq_history_word *address, uint64_t size,
                     const struct mpiq_history_word *value)
{
    if (state->slot_count == MPIQ_HISTORY_SLOTS || address->kind == MPIQ_HISTORY_UNKNOWN || address->narrow ||
        (size != 4 && size != 8))
        return;
    struct mpiq_history_slot *slot = &state->slots[state->slot_count++];
    *slot = (struct mpiq_history_slot){.base = *address, .size = (uint8_t)size, .value = *value};
    slot->value.narrow = slot->value.narrow || size == 4;
}

/* A name is given anew: whatever had it is not known any more. */
static struct mpiq_history_word name(struct mpiq_history_state *state, uint64_t symbol, bool frame)
{
    for (size_t i = 0; i < MPIQ_HISTORY_REGISTERS; i++) {
        struct mpiq_history_word *word = &state->registers[i];
        if (word->kind == MPIQ_HISTORY_NAMED && word->symbol == symbol)
            *word = mpiq_history_unknown(word->frame);
    }
    for (size_t i = state->slot_count; i-- > 0;) {
        const struct mpiq_history_slot *slot = &state->slots[i];
        if ((slot->base.kind == MPIQ_HISTORY_NAMED && slot->base.symbol == symbol) ||
            (slot->value.kind == MPIQ_HISTORY_NAMED && slot->value.symbol == symbol))
            mpiq_history_drop_slot(state, i);
    }
    for (size_t i = 0; i < state->call_count; i++) {
        for (size_t j = 0; j < MPIQ_CALL_WORDS; j++) {
            struct mpiq_history_word *word = &state->calls[i].words[j];
            if (word->kind == MPIQ_HISTORY_NAMED && word->symbol == symbol)
                *word = mpiq_history_unknown(word->frame);
        }
    }
    return (struct mpiq_history_word){.kind = MPIQ_HISTORY_NAMED, .frame = frame, .symbol = symbol};
}

/* ---- words that instructions store ---- */

enum { WORD_SIZE = 4, FRAME_BYTES = MPIQ_HISTORY_FRAME_WORDS * WORD_SIZE };

/* So many bytes at an address were stored, which may be a word that a call made. */
static void mark_stored(struct mpiq_history_state *state, const struct mpiq_history_word *address,
                        uint64_t size)
{
    if (address->kind != MPIQ_HISTORY_FRAME) {
        state->others = state->others || mpiq_history_is_frame(address);
        return;
    }
    uint64_t first = address->value + FRAME_BYTES;
    if (first >= FRAME_BYTES || size > FRAME_BYTES - first) {
        state->others = true;
        return;
    }
    for (uint64_t at = first / WORD_SIZE; at * WORD_SIZE < first + size; at++)
        state->stored[at / 32] |= UINT32_C(1) << at % 32;
}

bool mpiq_history_is_stored(const struct mpiq_history_state *state, uint64_t distance, uint64_t size)
{
    uint64_t first = distance + FRAME_BYTES;
    if (first >= FRAME_BYTES || size > FRAME_BYTES - first)
        return true;
    for (uint64_t at = first / WORD_SIZE; at * WORD_SIZE < first + size; at++) {
        if (state->stored[at / 32] >> at % 32 & 1)
            return true;
    }
    return false;
}

/* ---- the beginning ---- */

void mpiq_history_begin(struct mpiq_history_state *state, const struct mpiq_architecture *architecture)
{
    memset(state, 0, sizeof *state);
    for (int i = 0; i < MPIQ_HISTORY_REGISTERS; i++)
        state->registers[i] =
            (struct mpiq_history_word){.kind = MPIQ_HISTORY_NAMED, .symbol = mpiq_history_entry_symbol(i)};
    state->registers[architecture->stack] = (struct mpiq_history_word){.kind = MPIQ_HISTORY_FRAME};
}

void mpiq_history_anything(struct mpiq_history_state *state)
{
    memset(state, 0, sizeof *state);
    for (int i = 0; i < MPIQ_HISTORY_REGISTERS; i++)
        state->registers[i] = mpiq_history_unknown(true);
    state->spilled = state->escaped = state->owed = state->others = true;
}

/* ---- operands ---- */

/* The lower 32 bits, the rest zero. */
static struct mpiq_history_word lower(struct mpiq_history_word word)
{
    if (word.kind == MPIQ_HISTORY_NUMBER)
        word.value = mpiq_word_cut(word.value, 4);
    else if (word.kind == MPIQ_HISTORY_FRAME)
        word = mpiq_history_unknown(true);
    word.narrow = word.kind == MPIQ_HISTORY_NAMED;
    return word;
}

/* A register; one that is not known gets a name, so that it may be known in the end. */
static struct mpiq_history_word read_register(struct mpiq_history_state *state,
                                              const struct mpiq_instruction *instruction, int reg)
{
    struct mpiq_history_word *word = &state->registers[reg];
    if (word->kind == MPIQ_HISTORY_UNKNOWN)
        *word = name(state, mpiq_history_symbol(instruction->address, MPIQ_HISTORY_READ_BEFORE + reg),
                     word->frame);
    return *word;
}

static struct mpiq_history_word sum(const struct mpiq_history_word *a, const struct mpiq_history_word *b)
{
    const struct mpiq_history_word *base = b->kind == MPIQ_HISTORY_NUMBER ? a : b;
    const struct mpiq_history_word *more = base == a ? b : a;
    if (more->kind != MPIQ_HISTORY_NUMBER || base->kind == MPIQ_HISTORY_UNKNOWN)
        return mpiq_history_unknown(mpiq_history_is_frame(a) || mpiq_history_is_frame(b));
    struct mpiq_history_word result = *base;
    result.value += more->value;
    return result;
}

static struct mpiq_history_word address_of(struct mpiq_history_state *state,
                                           const struct mpiq_instruction *instruction,
                                           const struct mpiq_operand *operand)
{
    if (operand->unfollowed)
        return mpiq_history_unknown(true);
    struct mpiq_history_word address = mpiq_history_number(operand->value);
    if (operand->reg >= 0) {
        const struct mpiq_history_word base = read_register(state, instruction, operand->reg);
        address = sum(&address, &base);
    }
    if (operand->index >= 0) {
        struct mpiq_history_word index = read_register(state, instruction, operand->index);
        if (index.kind == MPIQ_HISTORY_NUMBER)
            index.value *= operand->scale;
        else if (operand->scale != 1)
            index = mpiq_history_unknown(mpiq_history_is_frame(&index));
        address = sum(&address, &index);
    }
    return address.narrow ? mpiq_history_unknown(mpiq_history_is_frame(&address)) : address;
}

static struct mpiq_history_word load(struct mpiq_history_state *state,
                                     const struct mpiq_instruction *instruction,
                                     const struct mpiq_operand *operand)
{
    const struct mpiq_history_word address = address_of(state, instruction, operand);
    bool frame = state->escaped || (state->spilled && mpiq_history_is_frame(&address));
    if (operand->width != 4 && operand->width != 8)
        return mpiq_history_unknown(frame && operand->width > 8);
    const size_t at = mpiq_history_find_slot(state, &address, operand->width);
    if (at < state->slot_count) {
        state->slots[at].doubted = false;
        return state->slots[at].value;
    }
    uint64_t symbol = mpiq_history_symbol(instruction->address, MPIQ_HISTORY_LOADED);
    struct mpiq_history_word value = name(state, symbol, frame);
    value.narrow = operand->width == 4;
    if (address.kind != MPIQ_HISTORY_NAMED || address.symbol != symbol)
        remember(state, &address, operand->width, &value);
    return value;
}

static struct mpiq_history_word operand_of(struct mpiq_history_state *state,
                                           const struct mpiq_instruction *instruction,
                                           const struct mpiq_operand *operand)
{
    struct mpiq_history_word word;
    switch (operand->kind) {
    case MPIQ_OPERAND_NUMBER:
        return mpiq_history_number(operand->value);
    case MPIQ_OPERAND_MEMORY:
        return load(state, instruction, operand);
    case MPIQ_OPERAND_REGISTER:
        word = read_register(state, instruction, operand->reg);
        if (operand->width == 8)
            return word;
        if (operand->width == 4)
            return lower(word);
        if (word.kind == MPIQ_HISTORY_NUMBER)
            return mpiq_history_number(mpiq_word_cut(word.value, operand->width));
        return mpiq_history_unknown(mpiq_history_is_frame(&word));
    default:
        return mpiq_history_unknown(state->spilled || state->escaped);
    }
}

/* ---- instructions ---- */

static struct mpiq_history_word computed(int operation, const struct mpiq_history_word *a,
                                         const struct mpiq_history_word *b)
{
    bool numbers = a->kind == MPIQ_HISTORY_NUMBER && b->kind == MPIQ_HISTORY_NUMBER;
    struct mpiq_history_word minus = *b;
    switch (operation) {
    case MPIQ_ADD:
        return sum(a, b);
    case MPIQ_SUBTRACT:
        minus.value = 0 - minus.value;
        return b->kind == MPIQ_HISTORY_NUMBER
                   ? sum(a, &minus)
                   : mpiq_history_unknown(mpiq_history_is_frame(a) || mpiq_history_is_frame(b));
    case MPIQ_AND:
        return numbers ? mpiq_history_number(a->value & b->value)
                       : mpiq_history_unknown(mpiq_history_is_frame(a) || mpiq_history_is_frame(b));
    case MPIQ_OR:
        return numbers ? mpiq_history_number(a->value | b->value)
                       : mpiq_history_unknown(mpiq_history_is_frame(a) || mpiq_history_is_frame(b));
    case MPIQ_XOR:
        return numbers ? mpiq_history_number(a->value ^ b->value)
                       : mpiq_history_unknown(mpiq_history_is_frame(a) || mpiq_history_is_frame(b));
    case MPIQ_MULTIPLY:
        return numbers ? mpiq_history_number(a->value * b->value)
                       : mpiq_history_unknown(mpiq_history_is_frame(a) || mpiq_history_is_frame(b));
    default:
        return mpiq_history_unknown(mpiq_history_is_frame(a) || mpiq_history_is_frame(b));
    }
}

static struct mpiq_history_word effect_of(struct mpiq_history_state *state,
                                          const struct mpiq_instruction *instruction,
                                          const struct mpiq_effect *effect)
{
    struct mpiq_history_word a, b;
    if (effect->operation == MPIQ_ADDRESS) {
        a = address_of(state, instruction, &effect->a);
    } else {
        a = operand_of(state, instruction, &effect->a);
        switch (effect->operation) {
        case MPIQ_MOVE:
            break;
        case MPIQ_EXTEND:
            if (a.kind == MPIQ_HISTORY_NUMBER)
                a.value = mpiq_word_extend(a.value, effect->a.width);
            break;
        case MPIQ_CHOOSE:
            b = operand_of(state, instruction, &effect->b);
            if (!mpiq_history_is_same(&a, &b))
                a = mpiq_history_unknown(mpiq_history_is_frame(&a) || mpiq_history_is_frame(&b));
            break;
        default:
            b = operand_of(state, instruction, &effect->b);
            a = computed(effect->operation, &a, &b);
            b = operand_of(state, instruction, &effect->c);
            a.frame = a.frame || (effect->c.kind != MPIQ_OPERAND_UNKNOWN && mpiq_history_is_frame(&b));
            break;
        }
    }
    return effect->width == 8 ? a : lower(a);
}

static void store(struct mpiq_history_state *state, const struct mpiq_architecture *architecture,
                  const struct mpiq_instruction *instruction, bool sources_frame)
{
    const struct mpiq_history_word eight = mpiq_history_number((uint64_t)-8);
    struct mpiq_history_word address, value;
    uint64_t size = 8;
    switch (instruction->store) {
    case MPIQ_STORES_NOTHING:
        return;
    case MPIQ_STORES_PUSHED:
        address = sum(&state->registers[architecture->stack], &eight);
        break;
    case MPIQ_STORES_AT:
        address = address_of(state, instruction, &instruction->to);
        size = instruction->to.width ? instruction->to.width : UINT64_MAX;
        break;
    default:
        state->escaped = state->escaped || state->spilled;
        state->others = true;
        forget(state, true, false);
        forget(state, false, false);
        return;
    }
    forget_at(state, &address, size, false);
    const uint64_t part = instruction->stored_count ? size / instruction->stored_count : size;
    for (unsigned i = 0; i < instruction->stored_count || i == 0; i++) {
        bool told = i < instruction->stored_count && instruction->stored[i].kind != MPIQ_OPERAND_UNKNOWN;
        value = told ? operand_of(state, instruction, &instruction->stored[i])
                     : mpiq_history_unknown(sources_frame || state->escaped || state->spilled);
        if (mpiq_history_is_frame(&value)) {
            state->spilled = state->spilled || mpiq_history_is_frame(&address);
            state->escaped = state->escaped || address.kind != MPIQ_HISTORY_FRAME;
        }
        if (value.kind != MPIQ_HISTORY_NUMBER)
            mark_stored(state, &address, part);
        if (value.kind != MPIQ_HISTORY_UNKNOWN)
            remember(state, &address, part, &value);
        address.value += part;
    }
}

void mpiq_history_step(struct mpiq_history_state *state, const struct mpiq_architecture *architecture,
                       const struct mpiq_instruction *instruction)
{
    struct mpiq_history_word made[MPIQ_EFFECTS_MOST];
    uint32_t with_effect = 0;
    bool sources_frame = false;
    for (int i = 0; i < MPIQ_HISTORY_REGISTERS; i++)
        sources_frame =
            sources_frame || (instruction->sources >> i & 1 && mpiq_history_is_frame(&state->registers[i]));
    for (int i = 0; i < instruction->effect_count; i++) {
        made[i] = effect_of(state, instruction, &instruction->effects[i]);
        with_effect |= UINT32_C(1) << instruction->effects[i].reg;
    }
    store(state, architecture, instruction, sources_frame);
    if (instruction->opaque && sources_frame)
        state->escaped = true; /* a vector may carry it to anywhere */
    for (int i = 0; i < MPIQ_HISTORY_REGISTERS; i++) {
        if (!(instruction->writes >> i & 1) || with_effect >> i & 1 || i == architecture->stack)
            continue;
        bool frame = sources_frame || state->spilled || state->escaped;
        state->registers[i] = name(state, mpiq_history_symbol(instruction->address, i), frame);
    }
    for (int i = 0; i < instruction->effect_count; i++) {
        int reg = instruction->effects[i].reg;
        if (made[i].kind == MPIQ_HISTORY_UNKNOWN)
            made[i] = name(state, mpiq_history_symbol(instruction->address, reg), made[i].frame);
        state->registers[reg] = made[i];
    }
    if (with_effect >> architecture->stack & 1)
        return;
    struct mpiq_history_word *top = &state->registers[architecture->stack];
    const struct mpiq_history_word move = mpiq_history_number((uint64_t)instruction->stack_move);
    *top = instruction->loses_stack ? mpiq_history_unknown(true) : sum(top, &move);
}

/* ---- calls ---- */

void mpiq_history_arguments(const struct mpiq_history_state *state,
                            const struct mpiq_architecture *architecture,
                            struct mpiq_history_word words[MPIQ_CALL_WORDS])
{
    const struct mpiq_history_word *top = &state->registers[architecture->stack];
    for (size_t i = 0; i < MPIQ_CALL_WORDS; i++) {
        words[i] = mpiq_history_unknown(false);
        if (i < architecture->argument_count) {
            words[i] = state->registers[architecture->arguments[i]];
            continue;
        }
        const struct mpiq_history_word offset = mpiq_history_number(8 * (i - architecture->argument_count));
        const struct mpiq_history_word address = sum(top, &offset);
        size_t at = mpiq_history_find_slot(state, &address, 8);
        at = at < state->slot_count ? at : mpiq_history_find_slot(state, &address, 4);
        words[i] = at < state->slot_count ? state->slots[at].value
                                          : mpiq_history_unknown(state->spilled || state->escaped);
    }
}

/* The callee has what is below the stack pointer, and what it was given above it.  How much that is, nobody
   says of an unknown function: but no function reads again what it has given away. */
static void forget_stack(struct mpiq_history_state *state, const struct mpiq_architecture *architecture,
                         const struct mpiq_call_effect *effect)
{
    const struct mpiq_history_word *top = &state->registers[architecture->stack];
    const size_t in_registers = architecture->argument_count;
    const size_t pushed = effect->arguments > in_registers ? effect->arguments - in_registers : 0;
    for (size_t i = state->slot_count; i-- > 0;) {
        struct mpiq_history_slot *slot = &state->slots[i];
        int64_t above = (int64_t)(slot->base.value - top->value);
        if (slot->base.kind != MPIQ_HISTORY_FRAME)
            continue;
        if (top->kind != MPIQ_HISTORY_FRAME || above < 0 || (effect->known && above < (int64_t)pushed * 8))
            mpiq_history_drop_slot(state, i);
        else if (!effect->known && above < STACK_ARGUMENTS && !mpiq_history_is_made(&slot->value))
            slot->doubted = true;
    }
}

/* Memory after a call of which it is known what it does. */
static void write_known(struct mpiq_history_state *state, const struct mpiq_call_effect *effect,
                        const struct mpiq_history_word words[MPIQ_CALL_WORDS])
{
    if (effect->later) {
        forget(state, false, true);
        if (state->owed)
            forget(state, true, true);
    }
    for (size_t i = 0; i < MPIQ_CALL_WORDS; i++) {
        if (effect->writes[i] == 0 || (int)i == effect->made)
            continue;
        forget_at(state, &words[i], effect->writes[i], true);
        state->owed = state->owed || (effect->made >= 0 && mpiq_history_is_frame(&words[i]));
    }
}

/* Whether a function may be given an address of the frame. */
static bool passes_frame(const struct mpiq_history_state *state, const struct mpiq_architecture *architecture,
                         const struct mpiq_history_word words[MPIQ_CALL_WORDS])
{
    const struct mpiq_history_word *top = &state->registers[architecture->stack];
    for (size_t i = 0; i < architecture->argument_count; i++) {
        if (mpiq_history_is_frame(&words[i]))
            return true;
    }
    for (size_t i = 0; i < state->slot_count; i++) {
        const struct mpiq_history_slot *slot = &state->slots[i];
        int64_t above = (int64_t)(slot->base.value - top->value);
        if (slot->base.kind == MPIQ_HISTORY_FRAME && mpiq_history_is_frame(&slot->value) &&
            (top->kind != MPIQ_HISTORY_FRAME || (above >= 0 && above < STACK_ARGUMENTS)))
            return true;
    }
    return false;
}

static void remember_call(struct mpiq_history_state *state, uint64_t address, int made,
                          const struct mpiq_history_word words[MPIQ_CALL_WORDS])
{
    size_t at = 0;
    while (at < state->call_count && state->calls[at].address != address)
        at++;
    if (at == MPIQ_HISTORY_CALLS) {
        state->others = true;
        return;
    }
    state->call_count += at == state->call_count;
    state->calls[at].address = address;
    state->calls[at].made = made;
    memcpy(state->calls[at].words, words, sizeof state->calls[at].words);
}

void mpiq_history_call(struct mpiq_history_state *state, const struct mpiq_architecture *architecture,
                       uint64_t address, const struct mpiq_call_effect *effect,
                       const struct mpiq_history_word words[MPIQ_CALL_WORDS], uint64_t preserved)
{
    bool passes = !effect->known && passes_frame(state, architecture, words);
    state->escaped = state->escaped || passes;
    forget_stack(state, architecture, effect);
    if (effect->known) {
        write_known(state, effect, words);
    } else {
        forget(state, false, false);
        if (state->escaped)
            forget(state, true, false);
        state->others = state->others || state->escaped;
    }
    if (effect->known && effect->made >= 0) {
        const struct mpiq_history_word *to = &words[effect->made];
        struct mpiq_history_word value = name(state, mpiq_history_symbol(address, MPIQ_HISTORY_MADE), false);
        forget_at(state, to, effect->made_size, false);
        remember_call(state, address, effect->made, words);
        remember(state, to, effect->made_size, &value);
    }
    for (int i = 0; i < MPIQ_HISTORY_REGISTERS; i++) {
        if (i != architecture->stack && !(preserved >> i & 1))
            state->registers[i] = mpiq_history_unknown(state->escaped);
    }
}
