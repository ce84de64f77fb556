/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/call_history.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "process/call_word.h"
#include "process/code.h"
#include "process/history_end.h"
#include "process/history_state.h"

enum { TRANSFERS_MOST = 20000, INSTRUCTIONS_MOST = 400000 };

struct history {
    struct mpiq_modules *modules;
    struct mpiq_function_code code;
    const struct mpiq_frame_registers *frames;
    size_t frame_count;
    mpiq_call_effect_of *effect_of;
    void *argument;
    struct mpiq_history_state *before; /* of each block */
    bool *reached, *waiting;           /* blocks, and those that are to be gone through */
    uint64_t *called;                  /* of each instruction: the function; 0: not asked, or not known */
    bool *asked;
    bool failed;
    size_t steps; /* instructions gone through */
};

/* ---- one instruction ---- */

/* Where a call goes; 0: not known. */
static uint64_t find_called(struct history *history, size_t index)
{
    const struct mpiq_operand *to = &history->code.instructions[index].target;
    uint64_t address = to->value;
    if (to->kind == MPIQ_OPERAND_MEMORY && !to->unfollowed && to->reg < 0 && to->index < 0) {
        const struct mpiq_call_word place = mpiq_word_constant(to->value);
        struct mpiq_call_word word = mpiq_word_read(history->modules, &place, 8);
        address = word.known ? word.value : 0;
    } else if (to->kind != MPIQ_OPERAND_NUMBER) {
        return 0;
    }
    const struct mpiq_code_line line = {.architecture = history->code.architecture,
                                        .decoder = history->code.decoder};
    return address ? mpiq_code_destination(history->modules, &line, address) : 0;
}

static uint64_t called_by(struct history *history, size_t index)
{
    if (!history->asked[index]) {
        history->asked[index] = true;
        history->called[index] = find_called(history, index);
    }
    return history->called[index];
}

static void take_call(struct history *history, struct mpiq_history_state *state, size_t index)
{
    struct mpiq_history_word words[MPIQ_CALL_WORDS];
    struct mpiq_call_word plain[MPIQ_CALL_WORDS];
    struct mpiq_call_effect effect = {.made = -1};
    uint64_t function = called_by(history, index);
    mpiq_history_arguments(state, history->code.architecture, words);
    for (size_t i = 0; i < MPIQ_CALL_WORDS; i++)
        plain[i] =
            words[i].kind == MPIQ_HISTORY_NUMBER ? mpiq_word_constant(words[i].value) : mpiq_word_unknown;
    if (function)
        history->effect_of(history->argument, function, plain, &effect);
    history->failed = history->failed || effect.again;
    mpiq_history_call(state, history->code.architecture, history->code.instructions[index].address, &effect,
                      words, history->frames[0].known);
}

static void go_through(struct history *history, struct mpiq_history_state *state, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (++history->steps > INSTRUCTIONS_MOST)
            history->failed = true;
        if (history->code.calls[i])
            take_call(history, state, i);
        else
            mpiq_history_step(state, history->code.architecture, &history->code.instructions[i]);
    }
}

/* ---- all ways ---- */

static void reach(struct history *history, int block, const struct mpiq_history_state *state)
{
    if (block == MPIQ_NO_BLOCK)
        return;
    struct mpiq_history_state *before = &history->before[block];
    bool less = !history->reached[block];
    if (less)
        *before = *state;
    else
        less = mpiq_history_join(before, state);
    history->reached[block] = true;
    history->waiting[block] = history->waiting[block] || less;
}

static void follow(struct history *history)
{
    const struct mpiq_function_code *code = &history->code;
    bool more = true;
    for (size_t transfers = 0; more && !history->failed;) {
        more = false;
        for (size_t i = 0; i < code->block_count && !history->failed; i++) {
            if (!history->waiting[i])
                continue;
            more = true;
            history->waiting[i] = false;
            struct mpiq_history_state state = history->before[i];
            go_through(history, &state, code->blocks[i].first, code->blocks[i].first + code->blocks[i].count);
            reach(history, code->blocks[i].next, &state);
            reach(history, code->blocks[i].jump, &state);
            history->failed = history->failed || ++transfers > TRANSFERS_MOST;
        }
    }
}

/* What nothing leads to is entered from elsewhere, as the code that handles an exception is. */
static void follow_all(struct history *history)
{
    struct mpiq_history_state state;
    mpiq_history_begin(&state, history->code.architecture);
    reach(history, history->code.entry, &state);
    follow(history);
    mpiq_history_anything(&state);
    for (size_t i = 0; i < history->code.block_count && !history->failed; i++) {
        if (history->reached[i] || history->code.blocks[i].padding)
            continue;
        reach(history, (int)i, &state);
        follow(history);
    }
}

/* ---- the end ---- */

static int block_of(const struct mpiq_function_code *code, size_t index)
{
    for (size_t i = 0; i < code->block_count; i++) {
        if (index >= code->blocks[i].first && index < code->blocks[i].first + code->blocks[i].count)
            return (int)i;
    }
    return MPIQ_NO_BLOCK;
}

/* The instruction that begins at an address; the number of all: none. */
static size_t index_of(const struct mpiq_function_code *code, uint64_t address)
{
    size_t index = 0;
    while (index < code->count && code->instructions[index].address != address)
        index++;
    return index;
}

/* Answers for an array. */
static void answer_array(struct history *history, const struct mpiq_history_end *end,
                         struct mpiq_array_makers *array)
{
    array->others = mpiq_history_may_be_of_others(end, array->start, array->size);
    for (size_t i = 0; i < end->state->call_count; i++) {
        if (!mpiq_history_may_make(end, &end->state->calls[i], array->start, array->size))
            continue;
        size_t index = index_of(&history->code, end->state->calls[i].address);
        if (index == history->code.count || array->count == MPIQ_MAKERS_MOST) {
            array->others = true;
            continue;
        }
        array->calls[array->count++] =
            (struct mpiq_maker){called_by(history, index), history->code.behind[index]};
    }
}

/* Answers for all addresses, by the state before the call that has not returned. */
static void answer(struct history *history, const struct mpiq_history_state *state, const uint64_t *addresses,
                   size_t count, struct mpiq_earlier_call *ret, struct mpiq_array_makers *array)
{
    struct mpiq_history_end end;
    mpiq_history_end(&end, state, history->modules, history->frames, history->frame_count,
                     history->code.architecture);
    answer_array(history, &end, array);
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_history_word *given;
        uint64_t call = mpiq_history_made(&end, addresses[i], &given);
        size_t index = index_of(&history->code, call);
        if (!call || index == history->code.count)
            continue;
        ret[i].function = called_by(history, index);
        ret[i].back = history->code.behind[index];
        for (size_t j = 0; j < MPIQ_CALL_WORDS; j++)
            ret[i].words[j] = mpiq_history_value(&end, &given[j]);
    }
}

static void close_history(struct history *history)
{
    free(history->before);
    free(history->reached);
    free(history->waiting);
    free(history->called);
    free(history->asked);
    mpiq_function_code_deinit(&history->code);
}

void mpiq_call_history_read(struct mpiq_modules *modules, const struct mpiq_frame_registers *frames,
                            size_t frame_count, mpiq_call_effect_of *effect_of, void *argument,
                            const uint64_t *addresses, size_t count, struct mpiq_earlier_call *ret,
                            struct mpiq_array_makers *array)
{
    memset(ret, 0, count * sizeof *ret);
    array->count = 0;
    struct history history = {.modules = modules,
                              .frames = frames,
                              .frame_count = frame_count,
                              .effect_of = effect_of,
                              .argument = argument};
    struct mpiq_error *error =
        frame_count ? mpiq_function_code_read(modules, frames[0].pc - 1, &history.code) : NULL;
    if (!frame_count || error) {
        mpiq_error_destroy(error);
        return;
    }
    const struct mpiq_function_code *code = &history.code;
    history.before = calloc(code->block_count, sizeof *history.before);
    history.reached = calloc(code->block_count, sizeof *history.reached);
    history.waiting = calloc(code->block_count, sizeof *history.waiting);
    history.called = calloc(code->count, sizeof *history.called);
    history.asked = calloc(code->count, sizeof *history.asked);
    size_t last = mpiq_function_code_before(code, frames[0].pc);
    int block = last == SIZE_MAX ? MPIQ_NO_BLOCK : block_of(code, last);
    if (history.before && history.reached && history.waiting && history.called && history.asked &&
        code->entry >= 0 && block != MPIQ_NO_BLOCK && code->calls[last]) {
        follow_all(&history);
        if (!history.failed && history.reached[block]) {
            struct mpiq_history_state state = history.before[block];
            go_through(&history, &state, code->blocks[block].first, last);
            answer(&history, &state, addresses, count, ret, array);
        }
    }
    close_history(&history);
}
