/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/rank_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "base/memory.h"
#include "state/rank_state_private.h"

/* ---- what nothing is known of ----------------------------------------------------------------------- */

#define NOBODY     \
    {              \
        .rank = -1 \
    }

#define OPERATION_UNKNOWN(queue_)                                                                    \
    {                                                                                                \
        .bytes = -1, .actual_bytes = -1, .peer_local = MPIQ_ANY, .peer = NOBODY, .actual_local = -1, \
        .actual = NOBODY, .collective = -1, .missing = -1, .queue = queue_                           \
    }

const struct mpiq_operation mpiq_operation_unknown = OPERATION_UNKNOWN(MPIQ_QUEUE_SENDS);
const struct mpiq_operation mpiq_wait_operation_unknown = OPERATION_UNKNOWN(MPIQ_QUEUE_WAIT);

const struct mpiq_call mpiq_call_unknown = {.bytes = -1, .collective = -1};
const struct mpiq_call_source mpiq_call_source_unknown = {.local = -1};
const struct mpiq_persistent mpiq_persistent_unknown = {0};
const struct mpiq_coll_count mpiq_coll_count_unknown = {.collective = -1};
const struct mpiq_channel mpiq_channel_unknown = {.peer_local = -1};
const struct mpiq_tag_count mpiq_tag_count_unknown = {.cell = -1};
const struct mpiq_frame mpiq_frame_unknown = {0};
const struct mpiq_given mpiq_given_unknown = {0};
const struct mpiq_problem mpiq_problem_unknown = {0};

const struct mpiq_communicator mpiq_communicator_unknown = {
    .local_rank = -1,
    .ordered = -1,
    .nonblocking = -1,
};

const struct mpiq_place mpiq_place_unknown = {0};
const struct mpiq_end mpiq_end_unknown = {.kind = MPIQ_END_NONE};
const struct mpiq_window_lock mpiq_window_lock_unknown = {.target_local = -1};
const struct mpiq_local_rank mpiq_local_rank_unknown = {.local = -1};
const struct mpiq_window mpiq_window_unknown = {.local_rank = -1, .fences = -1};
const struct mpiq_fact mpiq_fact_unknown = {.collective = -1, .peer = -1, .tag = -1, .bytes = -1};
const struct mpiq_past_call mpiq_past_call_unknown = {
    .comm = -1, .peer_local = -1, .tag = -1, .root = -1, .bytes = -1};
const struct mpiq_wait mpiq_wait_unknown = {
    .collective = -1, .comm = -1, .collective_comm = -1, .window = -1, .window_target = -1};
const struct mpiq_thread mpiq_thread_unknown = {
    .state = '?', .system_call = -1, .polled_ns = -1, .mpi_frame = -1, .user_frame = -1};

const struct mpiq_rank_state mpiq_rank_state_unknown = {
    .name = NOBODY,
    .thread_level = -1,
    .recording = MPIQ_UNKNOWN,
    .queues = MPIQ_UNKNOWN,
    .process_state = '?',
    .io_bytes = -1,
};

/* ---- strings: a set, so that what every frame repeats is there once --------------------------------- */

struct strings {
    char **items;
    uint32_t count;
    uint32_t capacity;
    struct mpiq_hash_table by_hash;
};

static void destroy_strings(struct strings *strings)
{
    if (!strings)
        return;
    for (uint32_t i = 0; i < strings->count; i++)
        free(strings->items[i]);
    free(strings->items);
    mpiq_hash_table_deinit(&strings->by_hash);
    free(strings);
}

const char *mpiq_rank_state_intern(struct mpiq_rank_state *state, const char *string)
{
    struct strings *strings = state->strings;
    if (!string)
        return NULL;
    if (!strings)
        state->strings = strings = mpiq_memory_checked(calloc(1, sizeof *strings));
    if (!strings)
        return NULL;
    uint64_t hash = mpiq_hash_bytes(MPIQ_HASH_START, string, strlen(string));
    uint64_t cursor = hash;
    uint32_t i;
    while ((i = mpiq_hash_table_next(&strings->by_hash, hash, &cursor)) != UINT32_MAX) {
        assert(strings->items);
        if (strcmp(strings->items[i], string) == 0)
            return strings->items[i];
    }
    char *copy = mpiq_memory_checked(strdup(string));
    if (!copy || !mpiq_array_reserve(&strings->items, &strings->capacity, strings->count + 1) ||
        !mpiq_hash_table_add(&strings->by_hash, hash, strings->count)) {
        free(copy);
        return NULL;
    }
    return strings->items[strings->count++] = copy;
}

/* ---- the state -------------------------------------------------------------------------------------- */

struct mpiq_rank_state *mpiq_rank_state_create(void)
{
    struct mpiq_rank_state *state = malloc(sizeof *state);
    struct mpiq_problem *problems = malloc(sizeof *problems); /* for the first, come what may */
    if (!state || !problems) {
        free(state);
        free(problems);
        return NULL;
    }
    *state = mpiq_rank_state_unknown;
    state->problems = problems;
    return state;
}

static void destroy_communicator(struct mpiq_communicator *comm)
{
    free(comm->local.members);
    free(comm->remote.members);
    free(comm->counts);
    free(comm->calls);
    free(comm->outstanding);
    free(comm->sources);
    free(comm->persistent);
    for (size_t i = 0; i < comm->channel_count; i++)
        free(comm->channels[i].tags);
    free(comm->channels);
}

static void destroy_window(struct mpiq_window *window)
{
    free(window->locks);
    free(window->access_group);
    free(window->exposure_group);
}

static void destroy_thread(struct mpiq_thread *thread)
{
    for (size_t i = 0; i < thread->wait_count; i++)
        free(thread->waits[i].operations);
    free(thread->waits);
    free(thread->frames);
    free(thread->given);
}

void mpiq_rank_state_destroy(struct mpiq_rank_state *state)
{
    if (!state)
        return;
    for (size_t i = 0; i < state->communicator_count; i++)
        destroy_communicator(&state->communicators[i]);
    free(state->communicators);
    for (size_t i = 0; i < state->thread_count; i++)
        destroy_thread(&state->threads[i]);
    free(state->threads);
    free(state->operations);
    free(state->process_calls);
    for (size_t i = 0; i < state->window_count; i++)
        destroy_window(&state->windows[i]);
    free(state->windows);
    free(state->history);
    free(state->facts);
    free(state->problems);
    destroy_strings(state->strings);
    free(state);
}

#define APPEND(owner, list, count, none) \
    mpiq_list_append(&(owner)->list, &(owner)->count, sizeof(none), &(none))

struct mpiq_communicator *mpiq_rank_state_add_communicator(struct mpiq_rank_state *state)
{
    return APPEND(state, communicators, communicator_count, mpiq_communicator_unknown);
}

struct mpiq_operation *mpiq_rank_state_add_operation(struct mpiq_rank_state *state)
{
    return APPEND(state, operations, operation_count, mpiq_operation_unknown);
}

struct mpiq_thread *mpiq_rank_state_add_thread(struct mpiq_rank_state *state)
{
    return APPEND(state, threads, thread_count, mpiq_thread_unknown);
}

struct mpiq_wait *mpiq_thread_add_wait(struct mpiq_thread *thread)
{
    return APPEND(thread, waits, wait_count, mpiq_wait_unknown);
}

struct mpiq_operation *mpiq_wait_add_operation(struct mpiq_wait *wait)
{
    return APPEND(wait, operations, operation_count, mpiq_wait_operation_unknown);
}

struct mpiq_frame *mpiq_thread_add_frame(struct mpiq_thread *thread)
{
    return APPEND(thread, frames, frame_count, mpiq_frame_unknown);
}

struct mpiq_given *mpiq_thread_add_given(struct mpiq_thread *thread)
{
    return APPEND(thread, given, given_count, mpiq_given_unknown);
}

struct mpiq_coll_count *mpiq_communicator_add_count(struct mpiq_communicator *comm)
{
    return APPEND(comm, counts, count_count, mpiq_coll_count_unknown);
}

struct mpiq_call *mpiq_communicator_add_call(struct mpiq_communicator *comm)
{
    return APPEND(comm, calls, call_count, mpiq_call_unknown);
}

struct mpiq_call *mpiq_communicator_add_outstanding(struct mpiq_communicator *comm)
{
    return APPEND(comm, outstanding, outstanding_count, mpiq_call_unknown);
}

struct mpiq_call_source *mpiq_communicator_add_source(struct mpiq_communicator *comm)
{
    return APPEND(comm, sources, source_count, mpiq_call_source_unknown);
}

struct mpiq_persistent *mpiq_communicator_add_persistent(struct mpiq_communicator *comm)
{
    return APPEND(comm, persistent, persistent_count, mpiq_persistent_unknown);
}

struct mpiq_channel *mpiq_communicator_add_channel(struct mpiq_communicator *comm)
{
    return APPEND(comm, channels, channel_count, mpiq_channel_unknown);
}

struct mpiq_tag_count *mpiq_channel_add_tag(struct mpiq_channel *channel)
{
    return APPEND(channel, tags, tag_count, mpiq_tag_count_unknown);
}

struct mpiq_call *mpiq_rank_state_add_process_call(struct mpiq_rank_state *state)
{
    return APPEND(state, process_calls, process_call_count, mpiq_call_unknown);
}

struct mpiq_window *mpiq_rank_state_add_window(struct mpiq_rank_state *state)
{
    return APPEND(state, windows, window_count, mpiq_window_unknown);
}

struct mpiq_window_lock *mpiq_window_add_lock(struct mpiq_window *window)
{
    return APPEND(window, locks, lock_count, mpiq_window_lock_unknown);
}

bool mpiq_window_add_access(struct mpiq_window *window, int32_t local_rank)
{
    struct mpiq_local_rank *rank = APPEND(window, access_group, access_count, mpiq_local_rank_unknown);
    if (rank)
        rank->local = local_rank;
    return rank;
}

bool mpiq_window_add_exposure(struct mpiq_window *window, int32_t local_rank)
{
    struct mpiq_local_rank *rank = APPEND(window, exposure_group, exposure_count, mpiq_local_rank_unknown);
    if (rank)
        rank->local = local_rank;
    return rank;
}

struct mpiq_fact *mpiq_rank_state_add_fact(struct mpiq_rank_state *state)
{
    return APPEND(state, facts, fact_count, mpiq_fact_unknown);
}

struct mpiq_past_call *mpiq_rank_state_add_past_call(struct mpiq_rank_state *state)
{
    return APPEND(state, history, history_count, mpiq_past_call_unknown);
}

static int compare_newest(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return a > b ? -1 : a < b;
}

void mpiq_rank_state_trim_history(struct mpiq_rank_state *state, size_t most)
{
    size_t count = state->history_count;
    if (count <= most)
        return;
    int64_t *begins = malloc(count * sizeof *begins);
    int64_t oldest = INT64_MAX;
    for (size_t i = 0; begins && i < count; i++)
        begins[i] = state->history[i].begin_ns;
    if (begins && most > 0) {
        qsort(begins, count, sizeof *begins, compare_newest);
        oldest = begins[most - 1];
    }
    free(begins); /* without memory all of it goes */
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (state->history[i].begin_ns >= oldest && kept < most)
            state->history[kept++] = state->history[i];
    }
    state->history_dropped += count - kept;
    state->history_count = kept;
    /* The list grows at powers of two of its count: it has to have the room that its count says. */
    if (kept == 0) {
        free(state->history);
        state->history = NULL;
    }
}

/* Instead of a problem that there is no room for: the rank still counts as not read. */
static const struct mpiq_problem no_memory = {.code = MPIQ_ERROR_NO_MEMORY,
                                              .what = "memory",
                                              .text = "out of memory: what could not be read is not listed"};

void mpiq_rank_state_problem(struct mpiq_rank_state *state, const char *what, struct mpiq_error *error)
{
    if (!error)
        return;
    const struct mpiq_problem said = {.code = (uint8_t)error->code,
                                      .what = mpiq_rank_state_intern(state, what),
                                      .text = mpiq_rank_state_intern(state, error->message)};
    struct mpiq_problem *problem = APPEND(state, problems, problem_count, mpiq_problem_unknown);
    if (problem && said.what && said.text) {
        *problem = said;
    } else {
        state->problem_count = state->problem_count ? state->problem_count : 1;
        state->problems[state->problem_count - 1] = no_memory;
    }
    mpiq_error_destroy(error);
}

/* Whether that problem leaves open what the rank does. */
static bool is_failure(const struct mpiq_rank_state *state, const struct mpiq_problem *problem)
{
    bool library = problem->what && strcmp(problem->what, "library") == 0;
    if (problem->code == MPIQ_ERROR_TIMEOUT || problem->code == MPIQ_ERROR_NO_MEMORY)
        return true;
    /* It goes on while another program traces it: without stacks, only what its library records tells whether
       it is in MPI. */
    bool stopped = state->process_state == 't' || state->process_state == 'T';
    if (state->traced && !stopped && problem->code == MPIQ_ERROR_PERMISSION &&
        state->source != MPIQ_SOURCE_PATCHED && state->source != MPIQ_SOURCE_RECORDER)
        return true;
    /* One that is not seen may act. */
    if (problem->what && strcmp(problem->what, "threads") == 0 && problem->code != MPIQ_ERROR_UNSUPPORTED)
        return true;
    if (library && problem->code != MPIQ_ERROR_NOT_FOUND && problem->code != MPIQ_ERROR_UNSUPPORTED)
        return true;
    return state->source == MPIQ_SOURCE_NONE && state->thread_count == 0;
}

const struct mpiq_problem *mpiq_rank_state_unread(const struct mpiq_rank_state *state)
{
    if (state->gone || state->process_state == 'Z' || state->process_state == 'X')
        return NULL;
    for (size_t i = 0; i < state->problem_count; i++) {
        if (is_failure(state, &state->problems[i]))
            return &state->problems[i];
    }
    return NULL;
}

uint32_t mpiq_communicator_peers(const struct mpiq_communicator *comm)
{
    return comm->flags & MPIQ_COMM_INTER ? comm->remote.count : comm->local.count;
}

enum mpiq_object_owner mpiq_frame_owner(const struct mpiq_rank_state *state, const struct mpiq_frame *frame)
{
    if (frame->owner != MPIQ_OWNER_UNKNOWN || !frame->object)
        return (enum mpiq_object_owner)frame->owner;
    return strcmp(frame->object, state->executable) == 0 ? MPIQ_OWNER_PROGRAM
                                                         : mpiq_owner_by_file(frame->object);
}
