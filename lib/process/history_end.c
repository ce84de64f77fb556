/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/history_end.h"

#include <string.h>

#include "process/call_site.h"
#include "process/call_word.h"

void mpiq_history_end(struct mpiq_history_end *end, const struct mpiq_history_state *state,
                      struct mpiq_modules *modules, const struct mpiq_frame_registers *frames,
                      size_t frame_count, const struct mpiq_architecture *architecture)
{
    memset(end, 0, sizeof *end);
    end->state = state;
    end->modules = modules;
    end->registers = frames;
    if (frames->known >> architecture->stack & 1)
        end->top = frames->value[architecture->stack];
    for (int i = 0; i < MPIQ_FRAME_REGISTERS && !end->frame_known; i++) {
        end->frame_known = state->registers[i].kind == MPIQ_HISTORY_FRAME && (frames->known >> i & 1);
        if (end->frame_known)
            end->frame = frames->value[i] - state->registers[i].value;
    }
    for (int i = 0; i < MPIQ_HISTORY_REGISTERS; i++)
        end->argument_of[i] = -1;
    for (size_t i = 0; i < architecture->argument_count; i++)
        end->argument_of[architecture->arguments[i]] = (int)i;
    if (frame_count > 1)
        mpiq_call_site_read(modules, frames + 1, frame_count - 1, frames[0].pc, architecture->argument_count,
                            end->entry);
}

/* A word whose value differs from another's by what the two add to the same name. */
static struct mpiq_call_word moved(struct mpiq_call_word word, const struct mpiq_history_word *from,
                                   const struct mpiq_history_word *to)
{
    word.value += to->value - from->value;
    word.narrow = word.narrow || from->narrow || to->narrow;
    if (word.narrow)
        word.value = mpiq_word_cut(word.value, 4);
    return word;
}

static bool has_name(const struct mpiq_history_word *word, uint64_t symbol)
{
    return word->kind == MPIQ_HISTORY_NAMED && word->symbol == symbol;
}

/* Of something that has a name: in a register that the callee preserves. */
static struct mpiq_call_word in_register(const struct mpiq_history_end *end,
                                         const struct mpiq_history_word *word)
{
    for (int i = 0; i < MPIQ_FRAME_REGISTERS; i++) {
        const struct mpiq_history_word *reg = &end->state->registers[i];
        if ((end->registers->known >> i & 1) && has_name(reg, word->symbol))
            return moved(mpiq_word_constant(end->registers->value[i]), reg, word);
    }
    /* What the function was given, if that is no memory, which may have been written since. */
    for (int i = 0; i < MPIQ_HISTORY_REGISTERS; i++) {
        int argument = end->argument_of[i];
        if (argument < 0 || word->symbol != mpiq_history_entry_symbol(i))
            continue;
        const struct mpiq_history_word at_entry = {.kind = MPIQ_HISTORY_NAMED, .symbol = word->symbol};
        const struct mpiq_call_word *given = &end->entry[argument];
        if (given->known && given->origin_count == 0)
            return moved(*given, &at_entry, word);
    }
    return mpiq_word_unknown;
}

/* An address that needs no other memory to be known. */
static struct mpiq_call_word plain_address(const struct mpiq_history_end *end,
                                           const struct mpiq_history_word *word)
{
    switch (word->kind) {
    case MPIQ_HISTORY_NUMBER:
        return mpiq_word_constant(word->value);
    case MPIQ_HISTORY_FRAME:
        return end->frame_known ? mpiq_word_constant(end->frame + word->value) : mpiq_word_unknown;
    case MPIQ_HISTORY_NAMED:
        return in_register(end, word);
    default:
        return mpiq_word_unknown;
    }
}

struct mpiq_call_word mpiq_history_value(const struct mpiq_history_end *end,
                                         const struct mpiq_history_word *word)
{
    struct mpiq_call_word value = plain_address(end, word);
    value.narrow = value.narrow || (word->narrow && value.known);
    for (size_t i = 0; !value.known && word->kind == MPIQ_HISTORY_NAMED && i < end->state->slot_count; i++) {
        const struct mpiq_history_slot *slot = &end->state->slots[i];
        struct mpiq_call_word address = plain_address(end, &slot->base);
        if (slot->doubted || !has_name(&slot->value, word->symbol) || !address.known || address.narrow)
            continue;
        value = mpiq_word_read(end->modules, &address, slot->size);
        if (value.known)
            value = moved(value, &slot->value, word);
    }
    return value;
}

uint64_t mpiq_history_made(const struct mpiq_history_end *end, uint64_t address,
                           const struct mpiq_history_word **words)
{
    for (size_t i = 0; i < end->state->slot_count; i++) {
        const struct mpiq_history_slot *slot = &end->state->slots[i];
        if (!mpiq_history_is_made(&slot->value))
            continue;
        struct mpiq_call_word place = mpiq_history_value(end, &slot->base);
        if (!place.known || place.narrow || place.value != address)
            continue;
        for (size_t j = 0; j < end->state->call_count; j++) {
            if (mpiq_history_symbol(end->state->calls[j].address, MPIQ_HISTORY_MADE) == slot->value.symbol) {
                *words = end->state->calls[j].words;
                return end->state->calls[j].address;
            }
        }
    }
    return 0;
}

/* Whether an array is in the function's own frame. */
static bool is_in_frame(const struct mpiq_history_end *end, uint64_t start, uint64_t size)
{
    return end->frame_known && end->top > 0 && start >= end->top && start < end->frame &&
           size <= end->frame - start;
}

bool mpiq_history_may_make(const struct mpiq_history_end *end, const struct mpiq_history_call *call,
                           uint64_t start, uint64_t size)
{
    const struct mpiq_history_word *to = &call->words[call->made];
    const bool fixed = to->kind == MPIQ_HISTORY_NUMBER || to->kind == MPIQ_HISTORY_FRAME;
    /* A value that has a name is another one each time: here it is the last one's. */
    if (!fixed)
        return to->frame || !is_in_frame(end, start, size);
    struct mpiq_call_word place = plain_address(end, to);
    return !place.known || place.value - start < size;
}

bool mpiq_history_may_be_of_others(const struct mpiq_history_end *end, uint64_t start, uint64_t size)
{
    if (end->state->others || !is_in_frame(end, start, size))
        return true;
    return mpiq_history_is_stored(end->state, start - end->frame, size);
}
