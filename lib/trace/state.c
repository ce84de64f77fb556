/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/state.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "state/group_hash.h"
#include "trace/pending.h"

/* ---- communicators --------------------------------------------------------------------------------------
 */

/* Whether the rank can use it: it has been made and not freed. */
static bool is_live(const struct mpiq_trace_comm *comm, const struct mpiq_trace_member *member)
{
    return !comm->announced || (member && member->created && !member->destroyed);
}

static const struct mpiq_trace_member *member_of(const struct mpiq_trace_rank *rank, uint32_t comm)
{
    for (uint32_t i = 0; i < rank->member_count; i++) {
        if (rank->members[i].comm == comm)
            return &rank->members[i];
    }
    return NULL;
}

/* Members are told once for all ranks that have the group. */
static bool tell_group(struct mpiq_trace_telling *telling, uint32_t index, uint32_t own,
                       struct mpiq_group *ret)
{
    const struct mpiq_trace_group *group = &telling->replay->definitions->groups[index];
    uint32_t count = group->self ? 1 : group->count;
    struct mpiq_name *names = mpiq_memory_checked(malloc((count + 1) * sizeof *names));
    if (!names)
        return false;
    for (uint32_t i = 0; i < count; i++)
        names[i] = (struct mpiq_name){1, (int32_t)(group->self ? own : group->members[i])};
    ret->count = count;
    ret->hash =
        group->self || !telling->hashes[index] ? mpiq_group_hash(names, count) : telling->hashes[index];
    if (!group->self && telling->hashes[index]) {
        free(names);
        return true;
    }
    ret->members = names;
    if (!group->self)
        telling->hashes[index] = ret->hash;
    return true;
}

static bool add_counts(const struct mpiq_trace_member *member, struct mpiq_communicator *row)
{
    for (uint32_t i = 0; i < member->count_count; i++) {
        if (member->counts[i].collective < 0)
            continue;
        struct mpiq_coll_count *count = mpiq_communicator_add_count(row);
        if (!count)
            return false;
        count->collective = member->counts[i].collective;
        count->count = member->counts[i].count;
    }
    return true;
}

static bool add_ring(const struct mpiq_trace_replay *replay, struct mpiq_rank_state *state,
                     const struct mpiq_trace_member *member, size_t comm)
{
    for (uint64_t number = member->number; number > 0 && number + MPIQ_TRACE_RING > member->number;
         number--) {
        const struct mpiq_trace_ring_call *past = &member->ring[(number - 1) % MPIQ_TRACE_RING];
        if (past->number != number || past->collective < 0)
            continue;
        struct mpiq_place place;
        mpiq_trace_place(replay, state, past->path, &place);
        struct mpiq_call *call = mpiq_communicator_add_call(&state->communicators[comm]);
        if (!call)
            return false;
        call->number = (int64_t)number;
        call->collective = past->collective;
        call->root = past->root < OTF2_COLLECTIVE_ROOT_THIS_GROUP ? (int32_t)past->root : -1;
        call->begin_ns = mpiq_trace_ns(replay, past->enter);
        call->bytes = -1;
        call->done = true;
        call->started = place;
    }
    return true;
}

static bool add_communicator(struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                             uint32_t number, uint32_t index)
{
    const struct mpiq_trace_definitions *definitions = telling->replay->definitions;
    const struct mpiq_trace_comm *comm = &definitions->comms[index];
    const struct mpiq_trace_member *member = member_of(&telling->replay->ranks[number], index);
    uint32_t local;
    bool remote;
    if (!mpiq_trace_is_member(definitions, index, number, &local, &remote))
        return true;
    bool live = is_live(comm, member) || comm->world || comm->self;
    if (!live && !telling->ended)
        return true;
    struct mpiq_communicator *row = mpiq_rank_state_add_communicator(state);
    if (!row)
        return false;
    telling->comms[index] = (int32_t)state->communicator_count - 1;
    row->handle = row->context[1] = (uint64_t)index + 1;
    mpiq_utf8_copy(row->name, sizeof row->name, comm->name);
    row->local_rank = (int32_t)local;
    row->flags = (comm->inter ? MPIQ_COMM_INTER : 0u) | (comm->self ? MPIQ_COMM_SELF : 0u) |
                 (comm->world ? MPIQ_COMM_WORLD : 0u) | (comm->topology ? MPIQ_COMM_TOPOLOGY : 0u) |
                 (live ? 0u : MPIQ_COMM_FREED);
    row->ordered = member ? (int64_t)member->number : 0;
    if (!tell_group(telling, remote ? comm->remote : comm->group, number, &row->local) ||
        (comm->inter && !tell_group(telling, remote ? comm->group : comm->remote, number, &row->remote)))
        return false;
    if (!member || !add_counts(member, row))
        return !member;
    return add_ring(telling->replay, state, member, state->communicator_count - 1);
}

static bool add_communicators(struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                              uint32_t number)
{
    for (uint32_t i = 0; i < telling->replay->definitions->comm_count; i++) {
        telling->comms[i] = -1;
        if (!add_communicator(telling, state, number, i))
            return false;
    }
    return true;
}

/* ---- one rank -------------------------------------------------------------------------------------------
 */

static void set_library(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state)
{
    const char *creator = mpiq_trace_stream_creator(telling->replay->stream);
    snprintf(state->library, sizeof state->library, "%s", creator[0] ? creator : "OTF2");
}

/* What of the rank's events is missing; a problem, or NULL. */
static struct mpiq_error *missing(const struct mpiq_trace_replay *replay, uint32_t number)
{
    const struct mpiq_trace_definitions *definitions = replay->definitions;
    uint32_t master = definitions->masters[number];
    if (master == MPIQ_TRACE_NONE)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "the archive has no location for it");
    uint64_t read;
    enum mpiq_trace_end end = mpiq_trace_stream_end(replay->stream, master, &read);
    const struct mpiq_trace_location *location = &definitions->locations[master];
    if (end == MPIQ_TRACE_UNDEFINED)
        return mpiq_error_create(
            MPIQ_ERROR_NOT_FOUND,
            "its events are not read: its definitions, in %llu.def, are missing or damaged",
            (unsigned long long)location->id);
    if (end == MPIQ_TRACE_MISSING || (end == MPIQ_TRACE_CUT && read == 0))
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "its events, in %llu.evt, are missing",
                                 (unsigned long long)location->id);
    if (end == MPIQ_TRACE_CUT)
        return mpiq_error_create(
            MPIQ_ERROR_SHORT, "%llu.evt is cut short: %llu of %llu events, up to %.3f s, can be read",
            (unsigned long long)location->id, (unsigned long long)read, (unsigned long long)location->events,
            (double)(mpiq_trace_ns(replay, replay->threads[master].last) - MPIQ_TRACE_BEGIN_NS) / 1e9);
    return NULL;
}

static bool is_broken(const struct mpiq_trace_replay *replay, uint32_t number)
{
    struct mpiq_error *error = missing(replay, number);
    mpiq_error_destroy(error);
    return error;
}

/* Whether the rank is through: nothing of its is open. */
static bool is_through(const struct mpiq_trace_replay *replay, uint32_t number)
{
    const struct mpiq_trace_thread *thread = &replay->threads[replay->definitions->masters[number]];
    return (replay->ranks[number].finalized || replay->ranks[number].ended) && !thread->call && !thread->cut;
}

static bool all_through(const struct mpiq_trace_replay *replay)
{
    bool any = false;
    for (uint32_t i = 0; replay->at_end && i < replay->definitions->rank_count; i++) {
        if (is_broken(replay, i))
            continue;
        if (!is_through(replay, i))
            return false;
        any = true;
    }
    return any;
}

static uint8_t phase_of(const struct mpiq_trace_rank *rank, bool ended)
{
    if (ended)
        return MPIQ_PHASE_FINALIZING;
    return rank->finalized     ? MPIQ_PHASE_FINALIZED
           : rank->finalizing  ? MPIQ_PHASE_FINALIZING
           : rank->initialized ? MPIQ_PHASE_RUNNING
                               : MPIQ_PHASE_INITIALIZING;
}

/* A history of ours ends when the job was looked at, after its last event. */
static uint64_t end_of(const struct mpiq_trace_replay *replay)
{
    const struct mpiq_trace_definitions *definitions = replay->definitions;
    uint64_t end = definitions->offset + definitions->length;
    return replay->at_end && definitions->length > 0 && end - 1 > replay->now && end > definitions->offset
               ? end - 1
               : replay->now;
}

static bool fill(struct mpiq_trace_telling *telling, struct mpiq_rank_state *state, uint32_t number)
{
    const struct mpiq_trace_replay *replay = telling->replay;
    const struct mpiq_trace_rank *rank = &replay->ranks[number];
    const char *host = mpiq_trace_host(replay->definitions, number);
    mpiq_utf8_copy(state->host, sizeof state->host, host ? host : "");
    mpiq_utf8_copy(state->executable, sizeof state->executable, rank->program ? rank->program : "");
    snprintf(state->nspace, sizeof state->nspace, "trace");
    set_library(telling, state);
    state->name = (struct mpiq_name){1, (int32_t)number};
    state->world_size = (int32_t)replay->definitions->rank_count;
    state->final = true;
    state->taken_ns = mpiq_trace_ns(replay, end_of(replay));
    struct mpiq_error *error = missing(replay, number);
    if (error) {
        state->gone = telling->ended;
        state->process_state = telling->ended ? 'X' : '?';
        mpiq_rank_state_problem(state, "events", error);
        return true;
    }
    state->source = MPIQ_SOURCE_TRACE;
    state->phase = phase_of(rank, telling->ended);
    state->recording = MPIQ_YES;
    state->queues = MPIQ_YES;
    state->thread_level = rank->threads ? -1 : 1;
    state->paused_at_end = telling->ended;
    state->gone = !telling->ended && replay->at_end && is_through(replay, number);
    state->process_state = state->gone ? 'X' : 'R';
    if (telling->unsent[number] > 0)
        mpiq_rank_state_problem(state, "messages",
                                mpiq_error_create(MPIQ_ERROR_SHORT,
                                                  "the trace has no send for %llu that it received",
                                                  (unsigned long long)telling->unsent[number]));
    return add_communicators(telling, state, number) && mpiq_trace_add_pending(telling, state, number) &&
           (telling->ended ? mpiq_trace_add_facts(telling, state, number)
                           : state->gone || mpiq_trace_add_threads(telling, state, number));
}

/* What is wrong with the trace as a whole stands with the first rank. */
static void add_trace_problems(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state)
{
    const struct mpiq_trace_replay *replay = telling->replay;
    uint64_t backwards = mpiq_trace_stream_backwards(replay->stream);
    if (backwards > 0)
        mpiq_rank_state_problem(state, "clocks",
                                mpiq_error_create(MPIQ_ERROR_CORRUPT, "time runs backwards at %llu events",
                                                  (unsigned long long)backwards));
    if (replay->unordered_times > 0)
        mpiq_rank_state_problem(state, "clocks",
                                mpiq_error_create(MPIQ_ERROR_CORRUPT,
                                                  "%llu of %llu messages are received before they are sent",
                                                  (unsigned long long)replay->unordered_times,
                                                  (unsigned long long)replay->messages));
    if (replay->undefined + replay->unnested > 0)
        mpiq_rank_state_problem(
            state, "events",
            mpiq_error_create(MPIQ_ERROR_CORRUPT, "%llu events contradict the definitions or each other",
                              (unsigned long long)(replay->undefined + replay->unnested)));
}

static struct mpiq_error *tell_rank(struct mpiq_trace_telling *telling, uint32_t rank,
                                    mpiq_snapshot_callback *callback, void *context)
{
    unsigned missed = mpiq_memory_missed();
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    struct mpiq_error *error = state && fill(telling, state, rank) ? NULL : mpiq_error_no_memory();
    if (!error && rank == 0)
        add_trace_problems(telling, state);
    if (!error && mpiq_memory_missed() != missed)
        error = mpiq_error_no_memory();
    if (!error)
        error = callback(context, 1, &state);
    mpiq_rank_state_destroy(state);
    /* cppcheck-suppress returnDanglingLifetime ; an error keeps no state */
    return error;
}

static struct mpiq_error *tell(struct mpiq_trace_telling *telling, mpiq_snapshot_callback *callback,
                               void *context)
{
    struct mpiq_error *error = NULL;
    for (uint32_t i = 0; i < telling->replay->definitions->rank_count && !error; i++)
        error = tell_rank(telling, i, callback, context);
    return error;
}

struct mpiq_error *mpiq_trace_states(const struct mpiq_trace_replay *replay, mpiq_snapshot_callback *callback,
                                     void *context)
{
    struct mpiq_trace_telling telling = {.replay = replay, .ended = all_through(replay)};
    telling.hashes = calloc((size_t)replay->definitions->group_count + 1, sizeof *telling.hashes);
    telling.unsent = calloc((size_t)replay->definitions->rank_count + 1, sizeof *telling.unsent);
    telling.comms = calloc((size_t)replay->definitions->comm_count + 1, sizeof *telling.comms);
    bool good = telling.hashes && telling.comms && telling.unsent && mpiq_trace_collect(replay, &telling);
    struct mpiq_error *error = good ? tell(&telling, callback, context) : mpiq_error_no_memory();
    mpiq_trace_collected_deinit(&telling);
    free(telling.hashes);
    free(telling.comms);
    free(telling.unsent);
    return error;
}
