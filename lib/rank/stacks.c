/* SPDX-License-Identifier: BSD-3-Clause */
/* stacks - threads with their frames, and in them the MPI call and the user's line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "rank/identity.h"
#include "rank/rank.h"

/* Threads of one process whose stacks are taken, at most. */
#define STACKS_MAX 256

static bool is_mpi(const struct mpiq_frame *frame, char *name, size_t size)
{
    return frame->function && mpiq_mpi_function(frame->function, name, size);
}

static bool is_systems(const char *object)
{
    return strncmp(object, "/lib", 4) == 0 || strncmp(object, "/usr/lib", 8) == 0 || object[0] != '/';
}

/* Of a thread that is in no MPI function: the innermost frame of the program itself.  The first thread may be
   in a library of the user's, too; others that never come by the program are somebody's helpers. */
static int32_t find_own_frame(const struct mpiq_rank_state *state, const struct mpiq_thread *thread)
{
    int32_t in_library = -1;
    for (size_t i = 0; i < thread->frame_count; i++) {
        const struct mpiq_frame *frame = &thread->frames[i];
        if (!frame->object)
            continue;
        if (strcmp(frame->object, state->executable) == 0)
            return in_library >= 0 ? in_library : (int32_t)i;
        if (in_library < 0 && thread->tid == state->pid && frame->file && !is_systems(frame->object))
            in_library = (int32_t)i;
    }
    return in_library;
}

/* The outermost MPI function is the one that the user called: what a tool or the library calls in turn lies
   further in. */
static void find_call(const struct mpiq_rank_state *state, struct mpiq_thread *thread)
{
    for (size_t i = thread->frame_count; i-- > 0;) {
        if (is_mpi(&thread->frames[i], thread->mpi_call, sizeof thread->mpi_call)) {
            thread->mpi_frame = (int32_t)i;
            if (i + 1 < thread->frame_count)
                thread->user_frame = (int32_t)i + 1;
            return;
        }
    }
    thread->user_frame = find_own_frame(state, thread);
}

static void convert(struct mpiq_rank_state *state, const struct mpiq_target_stack *stack,
                    struct mpiq_thread *thread)
{
    for (size_t i = 0; i < stack->count; i++) {
        const struct mpiq_target_frame *from = &stack->frames[i];
        struct mpiq_frame *frame = mpiq_thread_add_frame(thread);
        if (!frame)
            return;
        frame->pc = from->pc;
        frame->function = mpiq_rank_state_intern(state, from->function);
        frame->file = mpiq_rank_state_intern(state, from->file);
        frame->object = mpiq_rank_state_intern(state, from->object);
        frame->line = from->line;
        frame->inlined = from->inlined;
    }
    find_call(state, thread);
}

static struct mpiq_thread *find_thread(struct mpiq_rank_state *state, pid_t tid)
{
    for (size_t i = 0; i < state->thread_count; i++) {
        if (state->threads[i].tid == tid)
            return &state->threads[i];
    }
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    if (thread)
        thread->tid = tid;
    return thread;
}

/* Whether its stack can say anything: a library that keeps records knows which threads have been in it. */
static bool is_wanted(const struct mpiq_rank_state *state, const struct mpiq_thread *thread, bool records,
                      const struct mpiq_stack_options *options)
{
    return !records || (options && options->all_threads) || thread->record || thread->tid == state->pid;
}

static void add_stack(struct mpiq_target *target, struct mpiq_rank_state *state, struct mpiq_thread *thread)
{
    struct mpiq_target_stack stack = {0};
    struct mpiq_error *error = mpiq_target_stack(target, thread->tid, &stack);
    if (error) {
        /* A thread may end while we look; and where one may not be looked at, none may: said once. */
        bool said = error->code == MPIQ_ERROR_GONE;
        for (size_t i = 0; i < state->problem_count && !said; i++)
            said = state->problems[i].what && strcmp(state->problems[i].what, "stack") == 0;
        if (said)
            mpiq_error_destroy(error);
        else
            mpiq_rank_state_problem(state, "stack", error);
        return;
    }
    convert(state, &stack, thread);
    mpiq_target_stack_deinit(&stack);
}

void mpiq_rank_add_stacks(struct mpiq_target *target, struct mpiq_rank_state *state,
                          const struct mpiq_stack_options *options)
{
    _cleanup_free_ struct mpiq_target_thread *threads = NULL;
    size_t count = 0;
    bool records = false;

    struct mpiq_error *error = mpiq_target_threads(target, &threads, &count);
    if (error) {
        mpiq_rank_state_problem(state, "threads", error);
        return;
    }
    for (size_t i = 0; i < state->thread_count; i++)
        records |= state->threads[i].record;
    for (size_t i = 0; i < count; i++) {
        struct mpiq_thread *thread = find_thread(state, threads[i].tid);
        if (!thread)
            return;
        thread->state = threads[i].state;
        thread->cpu_ns = threads[i].cpu_ns;
    }
    size_t taken = 0;
    for (size_t i = 0; i < state->thread_count; i++) {
        struct mpiq_thread *thread = &state->threads[i];
        if (thread->frames || !is_wanted(state, thread, records, options))
            continue;
        if (taken++ == STACKS_MAX) {
            mpiq_rank_state_problem(state, "stack",
                                    mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                                      "of %zu threads only the first %d stacks were read",
                                                      state->thread_count, STACKS_MAX));
            return;
        }
        add_stack(target, state, thread);
    }
}

struct mpiq_error *mpiq_rank_read(struct mpiq_dll_host *host, struct mpiq_target *target, bool stacks,
                                  struct mpiq_rank_state **ret)
{
    struct mpiq_rank_state *state = NULL;
    struct mpiq_error *error = mpiq_dll_host_read(host, target, &state);
    if (error) {
        struct mpiq_error *fatal = mpiq_rank_read_bare(target, &state);
        if (fatal) {
            mpiq_error_destroy(error);
            return fatal;
        }
        mpiq_rank_state_problem(state, "library", error);
    }
    if (stacks && !state->gone)
        mpiq_rank_add_stacks(target, state, NULL);
    if (state->source == MPIQ_SOURCE_NONE) {
        for (size_t i = 0; i < state->thread_count; i++)
            state->source = state->threads[i].frames ? MPIQ_SOURCE_STACK : state->source;
    }
    *ret = state;
    return NULL;
}
