/* SPDX-License-Identifier: BSD-3-Clause */
/* history_state_private - words and the list of memory, for history_state.c and history_join.c. */
#ifndef MPIQ_HISTORY_STATE_PRIVATE_H
#define MPIQ_HISTORY_STATE_PRIVATE_H

#include "process/history_state.h"

static inline struct mpiq_history_word mpiq_history_unknown(bool frame)
{
    return (struct mpiq_history_word){.kind = MPIQ_HISTORY_UNKNOWN, .frame = frame};
}

static inline struct mpiq_history_word mpiq_history_number(uint64_t value)
{
    return (struct mpiq_history_word){.kind = MPIQ_HISTORY_NUMBER, .value = value};
}

static inline bool mpiq_history_is_frame(const struct mpiq_history_word *word)
{
    return word->kind == MPIQ_HISTORY_FRAME || word->frame;
}

static inline bool mpiq_history_is_same(const struct mpiq_history_word *a, const struct mpiq_history_word *b)
{
    return a->kind == b->kind && a->frame == b->frame && a->narrow == b->narrow && a->symbol == b->symbol &&
           a->value == b->value;
}

static inline void mpiq_history_drop_slot(struct mpiq_history_state *state, size_t index)
{
    state->slots[index] = state->slots[--state->slot_count];
}

static inline size_t mpiq_history_find_slot(const struct mpiq_history_state *state,
                                            const struct mpiq_history_word *base, uint64_t size)
{
    size_t i = 0;
    while (i < state->slot_count &&
           !(state->slots[i].size == size && mpiq_history_is_same(&state->slots[i].base, base)))
        i++;
    return i;
}

#endif
