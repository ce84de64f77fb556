/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/merge_records.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_table.h"
#include "base/memory.h"
#include "rank/request_pairing.h"

#define NOWHERE MPIQ_NO_PAIR

/* ---- whether they match ----------------------------------------------------------------------------- */

/* While MPI_Finalize runs delete functions of the program, the recorder's phase is still "running". */
static bool is_same_phase(const struct mpiq_rank_state *state, const struct mpiq_rank_state *own)
{
    return state->phase == own->phase ||
           (state->phase == MPIQ_PHASE_RUNNING && own->phase == MPIQ_PHASE_FINALIZING);
}

static bool same_process(const struct mpiq_rank_state *state, const struct mpiq_rank_state *own)
{
    bool read = own->source == MPIQ_SOURCE_PATCHED || own->source == MPIQ_SOURCE_DEBUG_INFO ||
                own->source == MPIQ_SOURCE_LAYOUTS;
    return state->source == MPIQ_SOURCE_RECORDER && read && own->queues == MPIQ_YES &&
           own->problem_count == 0 && state->name.job == own->name.job &&
           state->name.rank == own->name.rank && state->name.rank >= 0 && is_same_phase(state, own);
}

bool mpiq_rank_never_merges(const struct mpiq_rank_state *own)
{
    /* ob1's queues may be readable later: in MPI_Init there is nothing to check a layout against. */
    return own->queues == MPIQ_NO && own->pml[0] && strcmp(own->pml, "ob1") != 0;
}

/* Whether the library must list a communicator too.  It does not list one that it is still making.  It always
   lists MPI_COMM_WORLD, but by another handle if the program is built for the standard ABI: then none of the
   recorder's handles is the library's. */
static bool is_needed(const struct mpiq_communicator *comm)
{
    return comm->flags & (MPIQ_COMM_WORLD | MPIQ_COMM_SELF) || comm->channel_count > 0 ||
           comm->call_count > 0 || comm->outstanding_count > 0;
}

static bool is_same(const struct mpiq_communicator *a, const struct mpiq_communicator *b)
{
    return a->local_rank == b->local_rank && a->local.count == b->local.count &&
           a->remote.count == b->remote.count;
}

/* The library's communicator with that handle; NOWHERE: none. */
static uint32_t find_handle(const struct mpiq_rank_state *own, const struct mpiq_hash_table *handles,
                            uint64_t handle)
{
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, handle);
    uint64_t cursor = hash;
    uint32_t found;
    while ((found = mpiq_hash_table_next(handles, hash, &cursor)) != UINT32_MAX) {
        if (own->communicators[found].handle == handle)
            return found;
    }
    return NOWHERE;
}

/* map[i]: index in `state` of communicator i of `own`; NOWHERE: only the library knows it.  False: they do
   not match, or out of memory. */
static bool map_communicators(const struct mpiq_rank_state *state, const struct mpiq_rank_state *own,
                              uint32_t *map)
{
    struct mpiq_hash_table handles _cleanup_(mpiq_hash_table_deinit) = {0};
    for (size_t i = 0; i < own->communicator_count; i++) {
        map[i] = NOWHERE;
        if (!mpiq_hash_table_add(&handles, mpiq_hash(MPIQ_HASH_START, own->communicators[i].handle),
                                 (uint32_t)i))
            return false;
    }
    for (size_t i = 0; i < state->communicator_count; i++) {
        const struct mpiq_communicator *comm = &state->communicators[i];
        if (comm->flags & MPIQ_COMM_FREED) /* its handle may be reused */
            continue;
        uint32_t at = find_handle(own, &handles, comm->handle);
        if (at == NOWHERE && is_needed(comm))
            return false;
        if (at == NOWHERE)
            continue;
        if (map[at] != NOWHERE || !is_same(comm, &own->communicators[at]))
            return false;
        map[at] = (uint32_t)i;
    }
    return true;
}

/* ---- requests --------------------------------------------------------------------------------------- */

/* Fills in what the recorder knows about a request and the stripped library does not. */
static void keep_record(const struct mpiq_operation *record, struct mpiq_operation *op)
{
    op->caller = op->caller ? op->caller : record->caller;
    op->datatype = op->datatype ? op->datatype : record->datatype;
}

/* A message that is no longer in any of the library's queues is complete. */
static void settle_wait(struct mpiq_wait *wait, const struct mpiq_rank_state *own,
                        const struct mpiq_request_pairs *pairs)
{
    for (size_t i = 0; i < wait->operation_count; i++) {
        struct mpiq_operation *op = &wait->operations[i];
        if (!mpiq_is_message(op))
            continue;
        uint32_t at = mpiq_request_pairs_find(pairs, op);
        const struct mpiq_operation *queued = at == MPIQ_NO_PAIR ? NULL : &own->operations[at];
        if (queued) {
            op->request = queued->request;
            op->peer = op->peer.rank < 0 ? queued->peer : op->peer;
            keep_record(queued, op);
        }
        if (!queued || queued->status == MPIQ_STATUS_COMPLETE)
            op->status = MPIQ_STATUS_COMPLETE;
    }
}

/* ---- moving it over --------------------------------------------------------------------------------- */

/* Adds a communicator that the recorder does not know; its index, NOWHERE: out of memory. */
static uint32_t add_communicator(struct mpiq_rank_state *state, struct mpiq_communicator *from)
{
    struct mpiq_communicator *comm = mpiq_rank_state_add_communicator(state);
    if (!comm)
        return NOWHERE;
    struct mpiq_communicator empty = *comm;
    *comm = *from;
    *from = empty;
    return (uint32_t)(state->communicator_count - 1);
}

static void move_channels(struct mpiq_communicator *from, struct mpiq_communicator *to)
{
    for (size_t i = 0; i < to->channel_count; i++)
        free(to->channels[i].tags);
    free(to->channels);
    to->channels = from->channels;
    to->channel_count = from->channel_count;
    from->channels = NULL;
    from->channel_count = 0;
}

static bool same_group(const struct mpiq_group *a, const struct mpiq_group *b)
{
    return a->count == b->count && (a->count == 0 || a->hash == b->hash);
}

static void swap_groups(struct mpiq_group *a, struct mpiq_group *b)
{
    struct mpiq_group old = *a;
    *a = *b;
    *b = old;
}

/* The recorder cannot name processes of other worlds, and its communicator has another id on their side:
   takes both from the library. */
static void take_names(struct mpiq_communicator *from, struct mpiq_communicator *to)
{
    bool read = from->local.members && (from->remote.count == 0 || from->remote.members);
    if (!read || (same_group(&from->local, &to->local) && same_group(&from->remote, &to->remote)))
        return;
    swap_groups(&from->local, &to->local);
    swap_groups(&from->remote, &to->remote);
    memcpy(to->context, from->context, sizeof to->context);
}

bool mpiq_rank_merge_records(struct mpiq_rank_state *state, struct mpiq_rank_state *own)
{
    struct mpiq_request_pairs pairs _cleanup_(mpiq_request_pairs_deinit) = {0};
    uint32_t *map _cleanup_free_ = NULL;
    if (!same_process(state, own))
        return false;
    map = mpiq_memory_checked(calloc(own->communicator_count + 1, sizeof *map));
    if (!map || !map_communicators(state, own, map) || !mpiq_request_pairs_init(&pairs, state, own, map))
        return false;
    for (size_t i = 0; i < state->operation_count; i++) {
        uint32_t at = mpiq_request_pairs_find(&pairs, &state->operations[i]);
        if (at != MPIQ_NO_PAIR)
            keep_record(&state->operations[i], &own->operations[at]);
    }
    for (size_t i = 0; i < state->thread_count; i++) {
        for (size_t j = 0; j < state->threads[i].wait_count; j++)
            settle_wait(&state->threads[i].waits[j], own, &pairs);
    }
    for (size_t i = 0; i < own->communicator_count; i++) {
        if (map[i] == NOWHERE)
            map[i] = add_communicator(state, &own->communicators[i]);
        else {
            take_names(&own->communicators[i], &state->communicators[map[i]]);
            move_channels(&own->communicators[i], &state->communicators[map[i]]);
        }
    }
    for (size_t i = 0; i < own->operation_count; i++) {
        struct mpiq_operation *op = &own->operations[i];
        op->comm = map[op->comm];
        op->datatype = mpiq_rank_state_intern(state, op->datatype);
        op->which = mpiq_rank_state_intern(state, op->which);
    }
    struct mpiq_operation *derived = state->operations;
    state->operations = own->operations;
    state->operation_count = own->operation_count;
    own->operations = derived;
    own->operation_count = 0;
    memcpy(state->pml, own->pml, sizeof state->pml);
    state->library_queues = true;
    return true;
}
