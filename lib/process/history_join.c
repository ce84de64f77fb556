/* SPDX-License-Identifier: BSD-3-Clause */
/* history_join - what is known at a place to which several ways lead. */
#include "process/history_state_private.h"

static bool join_word(struct mpiq_history_word *word, const struct mpiq_history_word *other)
{
    struct mpiq_history_word both = *word;
    if (!mpiq_history_is_same(word, other))
        both = mpiq_history_unknown(mpiq_history_is_frame(word) || mpiq_history_is_frame(other));
    bool less = !mpiq_history_is_same(word, &both);
    *word = both;
    return less;
}

static bool join_flag(bool *flag, bool other)
{
    bool less = other && !*flag;
    *flag = *flag || other;
    return less;
}

static bool join_calls(struct mpiq_history_state *state, const struct mpiq_history_state *other)
{
    bool less = false;
    for (size_t i = 0; i < other->call_count; i++) {
        size_t at = 0;
        while (at < state->call_count && state->calls[at].address != other->calls[i].address)
            at++;
        if (at == state->call_count) {
            /* Made on one way only: then no word is left of it, but for what comes later. */
            if (at == MPIQ_HISTORY_CALLS) {
                less = join_flag(&state->others, true) || less;
                continue;
            }
            state->calls[state->call_count++] = other->calls[i];
            less = true;
            continue;
        }
        for (size_t j = 0; j < MPIQ_CALL_WORDS; j++)
            less = join_word(&state->calls[at].words[j], &other->calls[i].words[j]) || less;
    }
    return less;
}

bool mpiq_history_join(struct mpiq_history_state *state, const struct mpiq_history_state *other)
{
    bool less = false;
    for (size_t i = 0; i < MPIQ_HISTORY_REGISTERS; i++)
        less = join_word(&state->registers[i], &other->registers[i]) || less;
    for (size_t i = state->slot_count; i-- > 0;) {
        struct mpiq_history_slot *slot = &state->slots[i];
        const size_t at = mpiq_history_find_slot(other, &slot->base, slot->size);
        const struct mpiq_history_slot *same = at < other->slot_count ? &other->slots[at] : NULL;
        if (same && mpiq_history_is_same(&same->value, &slot->value)) {
            less = join_flag(&slot->doubted, same->doubted) || less;
            continue;
        }
        /* Its value may still be an address of the frame. */
        less = true;
        if (mpiq_history_is_frame(&slot->value) || (same && mpiq_history_is_frame(&same->value)))
            state->spilled = true;
        mpiq_history_drop_slot(state, i);
    }
    less = join_calls(state, other) || less;
    less = join_flag(&state->spilled, other->spilled) || less;
    less = join_flag(&state->escaped, other->escaped) || less;
    less = join_flag(&state->others, other->others) || less;
    for (size_t i = 0; i < sizeof state->stored / sizeof *state->stored; i++) {
        less = less || (other->stored[i] & ~state->stored[i]);
        state->stored[i] |= other->stored[i];
    }
    return join_flag(&state->owed, other->owed) || less;
}
