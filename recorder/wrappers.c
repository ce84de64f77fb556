/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrappers - the functions that a program or its Fortran layer calls instead of the library's, as MPI_X and
 * PMPI_X.  A call made inside another MPI call, or before MPI_Init, is passed on unrecorded; calls by the
 * program's callbacks inside MPI_Finalize are recorded.  Each wrapper takes thirteen words, as many as the
 * longest MPI function has: words that the caller did not pass are undefined, and are passed on.
 */
#include <stdio.h>
#include <string.h>

#include "functions.h"
#include "recorder.h"

enum {
#define INDEX(id, what, roles, class) INDEX_##id,
#define BOTH_INDEXES(id, what, roles, class) INDEX_##id, INDEX_##id##_c,
    RECORDER_FUNCTIONS(INDEX, BOTH_INDEXES) INDEX_COUNT
};

enum spelling { PLAIN, PROFILING, EARLY, EARLY_PROFILING, SPELLINGS };
static const char prefixes[SPELLINGS][8] = {"MPI_", "PMPI_", "MPIX_", "PMPIX_"};
static mpi_function *nexts[INDEX_COUNT][SPELLINGS];

__attribute__((noinline)) static mpi_function *look_up(unsigned index, enum spelling spelling)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", prefixes[spelling], recorder_functions[index].name + strlen("MPI_"));
    mpi_function *found = next_definition(name);
    __atomic_store_n(&nexts[index][spelling], found, __ATOMIC_RELEASE);
    return found;
}

__attribute__((noinline)) static word begin_recording(unsigned index, mpi_function *next, word *arguments,
                                                      word caller)
{
    const struct function *function = &recorder_functions[index];
    if (function->action == ACTION_INIT && recorder_self.depth == 0)
        return lifetime_init(function, index, next, arguments, caller);
    return go(next, arguments);
}

#define PARAMETERS \
    word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k, word l, word m
#define ARGUMENTS a, b, c, d, e, f, g, h, i, j, k, l, m

/* Whether a call is tracked even inside another one. */
static bool is_followed(const struct function *function)
{
    unsigned action = function->action;
    return action == ACTION_COMM_FREE || action == ACTION_REQUEST_FREE || action == ACTION_TYPE_FREE ||
           action == ACTION_WIN_FREE || action == ACTION_GROUP_FREE || action == ACTION_OP_FREE ||
           action == ACTION_FILE_CLOSE || action == ACTION_PREADY || action == ACTION_PREADY_RANGE ||
           action == ACTION_PREADY_LIST || message_is_moved(action) || function->collective >= 0;
}

__attribute__((noinline)) static word pass_inside(unsigned index, mpi_function *next, word caller, PARAMETERS)
{
    const struct function *function = &recorder_functions[index];
    word arguments[WORDS] = {ARGUMENTS};
    const struct call *outside = recorder_self.call;
    /* Unseen, as by setcontext: what was called further in than this has not returned. */
    if (outside && outside->frame < (word)__builtin_frame_address(0)) {
        dispatch_lost();
        return recorder_active ? dispatch(index, next, arguments, caller) : next(ARGUMENTS);
    }
    if (function->action == ACTION_ABORT && recorder_active)
        remains_abort((int)arguments[1]);
    bool finalizes = function->action == ACTION_FINALIZE; /* a tool below makes the call */
    if (recorder_self.finalize && recorder_active && !finalizes)
        return dispatch_in_finalize(index, next, arguments, caller);
    return recorder_active && is_followed(function) ? dispatch_inside(index, next, arguments, caller)
                                                    : next(ARGUMENTS);
}

static inline __attribute__((always_inline)) word pass(unsigned index, enum spelling spelling, word caller,
                                                       PARAMETERS)
{
    mpi_function *next = __atomic_load_n(&nexts[index][spelling], __ATOMIC_ACQUIRE);
    if (__builtin_expect(!next, 0)) {
        next = look_up(index, spelling);
        if (!next)
            return RECORDER_FAILED;
    }
    if (recorder_self.depth > 0)
        return pass_inside(index, next, caller, ARGUMENTS);
    word arguments[WORDS] = {ARGUMENTS};
    if (__builtin_expect(!recorder_active, 0))
        return begin_recording(index, next, arguments, caller);
    return dispatch(index, next, arguments, caller);
}

#define EXPORT __attribute__((visibility("default")))
#define DEFINE(name, id, spelling)                                                       \
    EXPORT word name(PARAMETERS);                                                        \
    word name(PARAMETERS)                                                                \
    {                                                                                    \
        return pass(INDEX_##id, spelling, (word)__builtin_return_address(0), ARGUMENTS); \
    }
#define WRAPPER(id, what, roles, class) \
    DEFINE(MPI_##id, id, PLAIN)         \
    DEFINE(PMPI_##id, id, PROFILING)
#define EARLY_WRAPPER(id)        \
    DEFINE(MPIX_##id, id, EARLY) \
    DEFINE(PMPIX_##id, id, EARLY_PROFILING)
#define BOTH_WRAPPERS(id, what, roles, class) \
    WRAPPER(id, what, roles, class) WRAPPER(id##_c, what, roles, class)

RECORDER_FUNCTIONS(WRAPPER, BOTH_WRAPPERS)
RECORDER_EARLY_FUNCTIONS(EARLY_WRAPPER)
