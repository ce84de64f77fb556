/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/return_places.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_table.h"
#include "rank/objects.h"
#include "rank/python.h"
#include "rank/rank.h"

/* Different return addresses of one process that are looked up, at most: a program has that many calls of MPI
   only if somebody wrote them there to keep us busy. */
#define ADDRESSES_MAX 4096

struct known {
    uint64_t address;
    struct mpiq_place place;
};

struct finder {
    struct mpiq_target *target;
    struct mpiq_rank_state *state;
    struct mpiq_rank_objects *objects;
    struct mpiq_hash_table table; /* of known, by address */
    struct known *known;
    uint32_t count;
    uint32_t capacity;
    bool unable; /* the target has no places, or no memory is left */
};

/* The first of the frames that is the user's own.  A function that is called as MPI's are is a tool's, which
   stands between the user and MPI, wherever it lies: who called that is not known here. */
static struct mpiq_place choose(const struct finder *finder, const struct mpiq_target_stack *frames)
{
    struct mpiq_place place = {0};
    for (size_t i = 0; i < frames->count; i++) {
        const struct mpiq_target_frame *frame = &frames->frames[i];
        char name[256];
        enum mpiq_object_owner owner = mpiq_rank_objects_owner(finder->objects, frame->object);
        if (owner == MPIQ_OWNER_UNKNOWN)
            owner = mpiq_owner_by_file(frame->object);
        if (!frame->object || owner == MPIQ_OWNER_MPI || owner == MPIQ_OWNER_RECORDER ||
            mpiq_mpi_function(frame->function, name, sizeof name) ||
            mpiq_python_made(frame->function, frame->file))
            continue;
        bool program = owner == MPIQ_OWNER_PROGRAM || strcmp(frame->object, finder->state->executable) == 0;
        if (!frame->file && !program)
            continue;
        place.function =
            mpiq_rank_state_intern(finder->state, mpiq_user_name(frame->function, name, sizeof name));
        place.file = mpiq_rank_state_intern(finder->state, frame->file);
        place.line = frame->file ? frame->line : 0;
        break;
    }
    return place;
}

static struct mpiq_place look_up(struct finder *finder, uint64_t address)
{
    struct mpiq_place place = {0};
    struct mpiq_target_stack frames = {0};
    struct mpiq_error *error = mpiq_target_place(finder->target, address, &frames);
    if (error) {
        finder->unable = error->code == MPIQ_ERROR_UNSUPPORTED || error->code == MPIQ_ERROR_GONE;
        mpiq_error_destroy(error);
        return place;
    }
    place = choose(finder, &frames);
    mpiq_target_stack_deinit(&frames);
    return place;
}

static void fill(struct finder *finder, uint64_t address, struct mpiq_place *ret)
{
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, address);
    uint64_t cursor = hash;
    if (address == 0 || finder->unable || ret->function || ret->file)
        return;
    for (uint32_t i; (i = mpiq_hash_table_next(&finder->table, hash, &cursor)) != UINT32_MAX;) {
        assert(finder->known);
        if (finder->known[i].address == address) {
            *ret = finder->known[i].place;
            return;
        }
    }
    if (finder->count == ADDRESSES_MAX)
        return;
    if (!mpiq_array_reserve(&finder->known, &finder->capacity, (size_t)finder->count + 1) ||
        !mpiq_hash_table_add(&finder->table, hash, finder->count)) {
        finder->unable = true;
        return;
    }
    *ret = look_up(finder, address);
    finder->known[finder->count++] = (struct known){.address = address, .place = *ret};
}

static void fill_operations(struct finder *finder, struct mpiq_operation *operations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fill(finder, operations[i].caller, &operations[i].started);
}

static void fill_calls(struct finder *finder, struct mpiq_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fill(finder, calls[i].caller, &calls[i].started);
}

void mpiq_rank_add_return_places(struct mpiq_target *target, struct mpiq_rank_objects *objects,
                                 struct mpiq_rank_state *state)
{
    struct finder finder = {.target = target, .state = state, .objects = objects};
    /* What findings point at first: the past comes last. */
    for (size_t i = 0; i < state->thread_count; i++) {
        for (size_t j = 0; j < state->threads[i].wait_count; j++) {
            struct mpiq_wait *wait = &state->threads[i].waits[j];
            fill_operations(&finder, wait->operations, wait->operation_count);
        }
        for (size_t j = 0; j < state->threads[i].given_count; j++)
            fill(&finder, state->threads[i].given[j].caller, &state->threads[i].given[j].place);
    }
    for (size_t i = 0; i < state->communicator_count; i++) {
        struct mpiq_communicator *comm = &state->communicators[i];
        fill_calls(&finder, comm->outstanding, comm->outstanding_count);
        fill_calls(&finder, comm->calls, comm->call_count);
        for (size_t j = 0; j < comm->persistent_count; j++)
            fill(&finder, comm->persistent[j].caller, &comm->persistent[j].made);
        fill(&finder, comm->made_caller, &comm->made);
    }
    fill_operations(&finder, state->operations, state->operation_count);
    for (size_t i = 0; i < state->window_count; i++)
        fill(&finder, state->windows[i].made_caller, &state->windows[i].made);
    fill_calls(&finder, state->process_calls, state->process_call_count);
    for (size_t i = 0; i < state->fact_count; i++)
        fill(&finder, state->facts[i].caller, &state->facts[i].place);
    for (size_t i = state->history_count; i-- > 0;)
        fill(&finder, state->history[i].caller, &state->history[i].place);
    mpiq_hash_table_deinit(&finder.table);
    free(finder.known);
}

static const struct mpiq_past_call *call_in_progress(const struct mpiq_rank_state *state, int32_t tid)
{
    for (size_t i = state->history_count; i-- > 0;) {
        if (state->history[i].tid == tid)
            return state->history[i].end_ns == 0 ? &state->history[i] : NULL;
    }
    return NULL;
}

void mpiq_rank_add_last_calls(struct mpiq_rank_state *state)
{
    for (size_t i = 0; i < state->thread_count; i++) {
        struct mpiq_thread *thread = &state->threads[i];
        const struct mpiq_past_call *call = call_in_progress(state, thread->tid);
        if (!call || !call->call || thread->user_frame >= 0)
            continue;
        if (!thread->mpi_call[0])
            snprintf(thread->mpi_call, sizeof thread->mpi_call, "%s", call->call);
        if (!call->place.function && !call->place.file)
            continue;
        struct mpiq_frame *frame = mpiq_thread_add_frame(thread);
        if (!frame)
            return; /* counted */
        frame->pc = call->caller;
        frame->function = call->place.function;
        frame->file = call->place.file;
        frame->line = call->place.line;
        thread->user_frame = (int32_t)(thread->frame_count - 1);
    }
}
