/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/requests.h"

#include <string.h>

#include "rank/call_target.h"

enum { REQUESTS_MOST = 16, ARRAY_MOST = 4096, FUNCTIONS_MOST = 32 };

/* Functions of the C library that return again, with whatever was written since. */
static const char *const returning_again[] = {"_setjmp", "__sigsetjmp", "setjmp", "getcontext"};
enum { RETURNING_AGAIN = sizeof returning_again / sizeof *returning_again };

/* What was found out of a function, by its address. */
struct known_function {
    uint64_t address;
    char name[48]; /* "" it is none of MPI's */
    bool fortran;  /* arguments are passed by reference */
};

struct reading {
    const struct mpiq_rank_call *waiting;
    struct known_function functions[FUNCTIONS_MOST];
    size_t count;
    uint64_t again[RETURNING_AGAIN]; /* addresses; 0: not there */
};

/* The MPI function at an address; NULL: it is none. */
static const struct known_function *function_at(struct reading *reading, uint64_t address)
{
    for (size_t i = 0; i < reading->count; i++) {
        if (reading->functions[i].address == address)
            return reading->functions[i].name[0] ? &reading->functions[i] : NULL;
    }
    if (reading->count == FUNCTIONS_MOST)
        return NULL;
    struct known_function *function = &reading->functions[reading->count++];
    function->address = address;
    if (!mpiq_rank_function_at(reading->waiting->target, address, function->name, sizeof function->name,
                               &function->fortran))
        function->name[0] = '\0';
    return function->name[0] ? function : NULL;
}

/* Whether it makes a request, and does not wait for one. */
static bool makes_request(const struct mpiq_rank_call *call)
{
    size_t at = mpiq_rank_call_position(call, 'q');
    return at > 0 && at + 1 == call->count && !strchr(call->parameters, 'n');
}

static void find_returning_again(struct mpiq_target *target, struct reading *reading)
{
    for (size_t i = 0; i < RETURNING_AGAIN; i++) {
        struct mpiq_error *error = mpiq_target_find_symbol(target, returning_again[i], &reading->again[i]);
        if (error)
            reading->again[i] = 0;
        mpiq_error_destroy(error);
    }
}

/* What an MPI function does to memory: as the standard says. */
static void effect_of(void *argument, uint64_t address, const struct mpiq_call_word words[MPIQ_CALL_WORDS],
                      struct mpiq_call_effect *ret)
{
    struct reading *reading = argument;
    const struct mpiq_rank_call *waiting = reading->waiting;
    const struct known_function *function = function_at(reading, address);
    struct mpiq_rank_call call;
    *ret = (struct mpiq_call_effect){.made = -1};
    for (size_t i = 0; i < RETURNING_AGAIN; i++)
        ret->again = ret->again || reading->again[i] == address;
    if (!function ||
        !mpiq_rank_call_init(&call, waiting->target, waiting->state, function->name, function->fortran) ||
        (call.fortran && (call.count == MPIQ_CALL_WORDS || !mpiq_constants_pass_numbers(call.constants))))
        return;
    /* What Fortran's references refer to may be something else by now. */
    if (!call.fortran)
        memcpy(call.words, words, sizeof call.words);
    ret->known = true;
    ret->arguments = call.count + call.fortran;
    for (size_t i = 0; i < call.count; i++)
        ret->writes[i] = mpiq_rank_call_writes(&call, call.parameters[i]);
    if (call.fortran)
        ret->writes[call.count] = sizeof(int32_t); /* ierror */
    if (makes_request(&call)) {
        ret->made = (int)call.count - 1;
        ret->made_size = (uint8_t)call.constants->handle_size;
        return;
    }
    /* A call that starts, tests or waits: what a request receives is written now, and the request itself is
       left as it is or becomes MPI_REQUEST_NULL. */
    size_t at = mpiq_rank_call_position(&call, 'q');
    if (at == SIZE_MAX)
        return;
    ret->later = true;
    ret->writes[at] = 0;
}

/* Where the requests are that are not null, and the array; the number of all of them, 0: not known. */
static size_t find_requests(const struct mpiq_rank_call *call, uint64_t addresses[REQUESTS_MOST],
                            size_t *ret_count, struct mpiq_array_makers *ret_array)
{
    const struct mpiq_call_word *array = &call->words[mpiq_rank_call_position(call, 'q')];
    const size_t size = (size_t)call->constants->handle_size;
    uint64_t number = 1;
    size_t found = 0, all = 0;
    if (!array->known || array->narrow || (call->fortran && !mpiq_constants_pass_numbers(call->constants)) ||
        (strchr(call->parameters, 'n') && !mpiq_rank_call_plain(call, 'n', &number)))
        return 0;
    number = (uint32_t)number;
    if (number > ARRAY_MOST)
        return 0;
    *ret_array = (struct mpiq_array_makers){.start = array->value, .size = number * size};
    for (uint64_t i = 0; i < number; i++) {
        uint64_t request = 0;
        struct mpiq_error *error = mpiq_target_read(call->target, array->value + i * size, size, &request);
        mpiq_error_destroy(error);
        if (error)
            return 0;
        if (mpiq_handle_find(call->target, call->constants, 'q', request))
            continue;
        if (found < REQUESTS_MOST)
            addresses[found++] = array->value + i * size;
        all++;
    }
    *ret_count = found;
    return all;
}

static void add_request(const struct mpiq_rank_call *waiting, const struct mpiq_earlier_call *past,
                        struct reading *reading, struct mpiq_thread *thread, uint32_t request)
{
    /* What Fortran's references referred to at that time is not known. */
    const struct known_function *function = past->function ? function_at(reading, past->function) : NULL;
    const char *name = function && !function->fortran ? function->name : NULL;
    struct mpiq_rank_call call;
    struct mpiq_given *given = mpiq_thread_add_given(thread);
    if (!given)
        return;
    given->kind = MPIQ_GIVEN_REQUEST;
    given->of_request = request;
    given->name = name ? mpiq_rank_state_intern(waiting->state, name) : NULL;
    if (!name || !mpiq_rank_call_init(&call, waiting->target, waiting->state, name, false))
        return;
    call.waiting = waiting;
    memcpy(call.words, past->words, sizeof call.words);
    for (size_t i = 0; i < call.count; i++)
        mpiq_rank_call_add(&call, thread, i, request);
}

/* Adds a call that may have made requests; NULL: something else may. */
static void add_maker(const struct mpiq_rank_call *waiting, struct mpiq_thread *thread, const char *name,
                      uint64_t back)
{
    struct mpiq_given *given = mpiq_thread_add_given(thread);
    if (!given)
        return;
    given->kind = MPIQ_GIVEN_MADE_BY;
    given->name = name ? mpiq_rank_state_intern(waiting->state, name) : NULL;
    given->caller = back;
}

/* Adds the calls that may have made some of the requests. */
static void add_makers(const struct mpiq_rank_call *waiting, const struct mpiq_array_makers *array,
                       struct reading *reading, struct mpiq_thread *thread)
{
    for (size_t i = 0; i < array->count; i++) {
        const struct known_function *function = function_at(reading, array->calls[i].function);
        add_maker(waiting, thread, function ? function->name : NULL, array->calls[i].back);
    }
    if (array->count > 0 && array->others)
        add_maker(waiting, thread, NULL, 0);
}

void mpiq_rank_add_requests(struct mpiq_target *target, struct mpiq_rank_state *state,
                            const struct mpiq_target_stack *stack, struct mpiq_thread *thread)
{
    uint64_t addresses[REQUESTS_MOST];
    size_t count = 0;
    struct mpiq_rank_call call;
    if (strncmp(thread->mpi_call, "MPI_Wait", strlen("MPI_Wait")) != 0 ||
        !mpiq_rank_call_read(&call, target, state, stack, thread))
        return;
    struct mpiq_array_makers array = {0};
    size_t all = find_requests(&call, addresses, &count, &array);
    if (count == 0)
        return;
    struct reading reading = {.waiting = &call};
    find_returning_again(target, &reading);
    struct mpiq_earlier_call made_by[REQUESTS_MOST];
    mpiq_target_earlier_calls(target, stack, call.callee, effect_of, &reading, addresses, count, made_by,
                              &array);
    for (size_t i = 0; i < count; i++)
        add_request(&call, &made_by[i], &reading, thread, (uint32_t)i + 1);
    if (count > 1 || !made_by[0].function || call.fortran)
        add_makers(&call, &array, &reading, thread);
    struct mpiq_given *given = all > count ? mpiq_thread_add_given(thread) : NULL;
    if (given) {
        given->kind = MPIQ_GIVEN_REQUESTS;
        given->value = (int64_t)all;
    }
}
