/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/arguments.h"

#include <string.h>

#include "names/parameters.h"
#include "rank/rank.h"

bool mpiq_rank_call_init(struct mpiq_rank_call *call, struct mpiq_target *target,
                         struct mpiq_rank_state *state, const char *name, bool fortran)
{
    *call = (struct mpiq_rank_call){.target = target,
                                    .state = state,
                                    .constants = mpiq_constants_of(state),
                                    .name = name,
                                    .parameters = mpiq_names_parameters(name),
                                    .fortran = fortran};
    call->count = call->parameters ? strlen(call->parameters) : 0;
    return call->constants && call->parameters;
}

/* ---- what the callee may have written by now ---------------------------------------------------------- */

size_t mpiq_rank_call_position(const struct mpiq_rank_call *call, char letter)
{
    const char *at = strchr(call->parameters, letter);
    return at ? (size_t)(at - call->parameters) : SIZE_MAX;
}

bool mpiq_rank_call_plain(const struct mpiq_rank_call *call, char letter, uint64_t *ret)
{
    size_t at = mpiq_rank_call_position(call, letter);
    if (at >= call->count || !call->words[at].known)
        return false;
    *ret = call->words[at].value;
    uint32_t number;
    if (call->fortran) {
        struct mpiq_error *error = mpiq_target_read(call->target, *ret, sizeof number, &number);
        mpiq_error_destroy(error);
        if (error)
            return false;
        *ret = number;
    }
    return true;
}

/* Bytes that a receive buffer has at most; UINT64_MAX: not known. */
static uint64_t extent_of(const struct mpiq_rank_call *call, char count_letter, char type_letter)
{
    uint64_t count, type;
    if (!mpiq_rank_call_plain(call, count_letter, &count) ||
        !mpiq_rank_call_plain(call, type_letter, &type) || (int32_t)count < 0)
        return UINT64_MAX;
    const struct mpiq_handle *handle = mpiq_handle_find(call->target, call->constants, type_letter, type);
    return handle ? (uint64_t)(uint32_t)count * handle->size : UINT64_MAX;
}

/* Bytes of what there is one of for each request. */
static uint64_t times_requests(const struct mpiq_rank_call *call, uint64_t size)
{
    uint64_t count;
    if (!strchr(call->parameters, 'n'))
        return size;
    return mpiq_rank_call_plain(call, 'n', &count) && (int32_t)count >= 0 ? (uint32_t)count * size
                                                                          : UINT64_MAX;
}

uint64_t mpiq_rank_call_writes(const struct mpiq_rank_call *call, char letter)
{
    switch (letter) {
    case 'B':
        /* Of a collective only where one count and one type say it, and not a share for each member. */
        if (strchr(call->parameters, 'c'))
            return extent_of(call, 'c', 't');
        return strchr(call->parameters, 's') ? extent_of(call, 'R', 'U') : UINT64_MAX;
    case 'W':
        return UINT64_MAX;
    case 'S':
        return times_requests(call, call->constants->status_size);
    case 'q':
        return times_requests(call, (uint64_t)call->constants->handle_size);
    case 'p':
        return times_requests(call, 8); /* a handle, an index or a flag */
    default:
        return 0;
    }
}

/* Whether what a word was computed from is still what the caller had there. */
static bool is_unwritten(const struct mpiq_rank_call *call, const struct mpiq_call_word *word)
{
    for (size_t i = 0; word->origin_count && i < call->count && call->parameters[i]; i++) {
        uint64_t size = mpiq_rank_call_writes(call, call->parameters[i]);
        const struct mpiq_call_word *to = &call->words[i];
        if (size == 0)
            continue;
        if (!to->known || to->narrow)
            return false; /* who knows where it writes */
        for (size_t j = 0; j < word->origin_count; j++) {
            const struct mpiq_word_origin *from = &word->origins[j];
            bool before = from->address + from->size <= to->value;
            bool behind = size != UINT64_MAX && from->address >= to->value + size;
            if (to->value > 4096 && !before && !behind)
                return false;
        }
    }
    return true;
}

/* ---- meaning ------------------------------------------------------------------------------------------- */

/* The value of an argument in so many bytes: what a reference refers to; false: not known. */
static bool value_of(const struct mpiq_rank_call *call, size_t index, int size, uint64_t *ret)
{
    struct mpiq_call_word word = call->words[index];
    if (!word.known || (word.narrow && (size > 4 || call->fortran)))
        return false;
    if (call->fortran) {
        uint32_t number;
        struct mpiq_error *error = mpiq_target_read(call->target, word.value, sizeof number, &number);
        mpiq_error_destroy(error);
        if (error || word.origin_count == MPIQ_WORD_ORIGINS)
            return false;
        word.origins[word.origin_count++] = (struct mpiq_word_origin){word.value, sizeof number};
        word.value = number;
    }
    if (!is_unwritten(call->waiting ? call->waiting : call, &word))
        return false;
    *ret = size == 4 ? (uint64_t)(int64_t)(int32_t)word.value : word.value;
    return true;
}

static enum mpiq_given_kind kind_of(char letter)
{
    static const struct {
        char letter;
        uint8_t kind;
    } rows[] = {{'c', MPIQ_GIVEN_COUNT},    {'C', MPIQ_GIVEN_SENDCOUNT}, {'R', MPIQ_GIVEN_RECVCOUNT},
                {'t', MPIQ_GIVEN_DATATYPE}, {'T', MPIQ_GIVEN_SENDTYPE},  {'U', MPIQ_GIVEN_RECVTYPE},
                {'d', MPIQ_GIVEN_DEST},     {'s', MPIQ_GIVEN_SOURCE},    {'g', MPIQ_GIVEN_TAG},
                {'h', MPIQ_GIVEN_SENDTAG},  {'i', MPIQ_GIVEN_RECVTAG},   {'r', MPIQ_GIVEN_ROOT},
                {'o', MPIQ_GIVEN_OP},       {'m', MPIQ_GIVEN_COMM},      {'k', MPIQ_GIVEN_RANK}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].letter == letter)
            return (enum mpiq_given_kind)rows[i].kind;
    }
    return MPIQ_GIVEN_COUNT_OF_KINDS;
}

void mpiq_rank_call_add(const struct mpiq_rank_call *call, struct mpiq_thread *thread, size_t index,
                        uint32_t request)
{
    char letter = call->parameters[index];
    enum mpiq_given_kind kind = kind_of(letter);
    bool handle = strchr("tTUom", letter) != NULL;
    bool wide = strchr("cCR", letter) && strstr(call->name, "_c");
    const struct mpiq_constants *constants = call->constants;
    int size = wide ? 8 : handle ? constants->handle_size : 4;
    uint64_t value;
    if (kind == MPIQ_GIVEN_COUNT_OF_KINDS ||
        (call->fortran && handle && !mpiq_constants_pass_numbers(constants)) ||
        !value_of(call, index, size, &value))
        return;
    if (handle && constants->handle_size == 4)
        value = (uint32_t)value;
    const struct mpiq_handle *known =
        handle ? mpiq_handle_find(call->target, constants, letter, value) : NULL;
    bool rank = kind == MPIQ_GIVEN_SOURCE || kind == MPIQ_GIVEN_DEST;
    bool tag = kind == MPIQ_GIVEN_TAG || kind == MPIQ_GIVEN_RECVTAG;
    struct mpiq_given *given = mpiq_thread_add_given(thread);
    if (!given)
        return;
    given->kind = (uint8_t)kind;
    given->of_request = request;
    given->value = (int64_t)value;
    given->any = (kind == MPIQ_GIVEN_SOURCE && given->value == constants->any_source) ||
                 (tag && given->value == constants->any_tag);
    given->null = rank && given->value == constants->proc_null;
    given->name = known ? mpiq_rank_state_intern(call->state, known->name) : NULL;
}

/* The function of a binding that passes everything by reference: mpi_recv_, MPI_RECV, mpi_recv_f08_. */
static bool is_fortran(const char *function)
{
    return function && !mpiq_is_c_call(function);
}

bool mpiq_rank_call_read(struct mpiq_rank_call *call, struct mpiq_target *target,
                         struct mpiq_rank_state *state, const struct mpiq_target_stack *stack,
                         const struct mpiq_thread *thread)
{
    if (thread->mpi_frame < 0 || (size_t)thread->mpi_frame >= stack->count)
        return false;
    const struct mpiq_target_frame *frame = &stack->frames[thread->mpi_frame];
    if (!mpiq_rank_call_init(call, target, state, thread->mpi_call, is_fortran(frame->function)) ||
        frame->own < 0)
        return false;
    call->callee = (size_t)frame->own;
    mpiq_target_call_words(target, stack, call->callee, call->count, call->words);
    return true;
}

void mpiq_rank_add_arguments(struct mpiq_target *target, struct mpiq_rank_state *state,
                             const struct mpiq_target_stack *stack, struct mpiq_thread *thread)
{
    struct mpiq_rank_call call;
    if (!mpiq_rank_call_read(&call, target, state, stack, thread))
        return;
    for (size_t i = 0; i < call.count; i++)
        mpiq_rank_call_add(&call, thread, i, 0);
}

bool mpiq_rank_tells_arguments(const struct mpiq_rank_state *state)
{
    return mpiq_constants_of(state) != NULL;
}
