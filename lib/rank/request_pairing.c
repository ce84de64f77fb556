/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/request_pairing.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/memory.h"

static bool is_send(const struct mpiq_operation *op)
{
    return op->kind <= MPIQ_OPERATION_RSEND;
}

bool mpiq_is_message(const struct mpiq_operation *op)
{
    return is_send(op) || op->kind == MPIQ_OPERATION_RECEIVE;
}

/* ---- by handle -------------------------------------------------------------------------------------- */

static bool add_request(struct mpiq_hash_table *table, const struct mpiq_operation *op, size_t index)
{
    return mpiq_hash_table_add(table, mpiq_hash(MPIQ_HASH_START, op->request), (uint32_t)index);
}

static uint32_t find_request(const struct mpiq_hash_table *table, const struct mpiq_operation *operations,
                             uint64_t request)
{
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, request);
    uint64_t cursor = hash;
    uint32_t found;
    while ((found = mpiq_hash_table_next(table, hash, &cursor)) != UINT32_MAX) {
        if (operations[found].request == request)
            return found;
    }
    return MPIQ_NO_PAIR;
}

static bool index_requests(struct mpiq_request_pairs *pairs)
{
    const struct mpiq_rank_state *own = pairs->own;
    const struct mpiq_rank_state *state = pairs->state;
    for (size_t i = 0; i < own->operation_count; i++) {
        const struct mpiq_operation *op = &own->operations[i];
        if (op->comm >= own->communicator_count)
            return false;
        if (op->request && op->queue != MPIQ_QUEUE_UNEXPECTED && !add_request(&pairs->requests, op, i))
            return false;
    }
    for (size_t i = 0; i < state->operation_count; i++) {
        if (state->operations[i].unnamed && !add_request(&pairs->unnamed, &state->operations[i], i))
            return false;
    }
    return true;
}

/* ---- by envelope ------------------------------------------------------------------------------------ */

/* A message in the recorder's terms, and where it is in its list. */
struct envelope {
    uint32_t comm;
    int32_t peer;
    int32_t tag;
    bool send;
    bool tag_any;
    uint32_t index;
};

static struct envelope envelope_of(const struct mpiq_operation *op, uint32_t comm, size_t index)
{
    return (struct envelope){.comm = comm,
                             .peer = op->peer_local,
                             .tag = op->tag_any ? 0 : op->tag,
                             .send = is_send(op),
                             .tag_any = op->tag_any,
                             .index = (uint32_t)index};
}

static int compare_envelopes(const struct envelope *a, const struct envelope *b)
{
    if (a->comm != b->comm)
        return a->comm < b->comm ? -1 : 1;
    if (a->peer != b->peer)
        return a->peer < b->peer ? -1 : 1;
    if (a->send != b->send)
        return a->send ? -1 : 1;
    if (a->tag_any != b->tag_any)
        return a->tag_any ? -1 : 1;
    return a->tag < b->tag ? -1 : a->tag > b->tag;
}

static int compare_places(const void *left, const void *right)
{
    const struct envelope *a = left;
    const struct envelope *b = right;
    int order = compare_envelopes(a, b);
    return order ? order : a->index < b->index ? -1 : a->index > b->index;
}

static size_t list_unnamed(const struct mpiq_rank_state *state, struct envelope *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < state->operation_count; i++) {
        const struct mpiq_operation *op = &state->operations[i];
        if (op->unnamed && mpiq_is_message(op))
            ret[count++] = envelope_of(op, op->comm, i);
    }
    qsort(ret, count, sizeof *ret, compare_places);
    return count;
}

/* The library's pending messages of the program's that the recorder has no handle of. */
static size_t list_unclaimed(const struct mpiq_rank_state *own, const uint32_t *comms, const bool *claimed,
                             struct envelope *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < own->operation_count; i++) {
        const struct mpiq_operation *op = &own->operations[i];
        if (!claimed[i] && op->queue != MPIQ_QUEUE_UNEXPECTED && !op->internal && !op->inactive &&
            !op->freed && op->status != MPIQ_STATUS_COMPLETE && mpiq_is_message(op))
            ret[count++] = envelope_of(op, comms[op->comm], i);
    }
    qsort(ret, count, sizeof *ret, compare_places);
    return count;
}

static size_t run_length(const struct envelope *list, size_t count)
{
    size_t length = 1;
    while (length < count && compare_envelopes(&list[0], &list[length]) == 0)
        length++;
    return length;
}

/* In the order of posting, if all are still there.  If some are complete, nobody knows which: a small send
   may be complete before a large one that was posted earlier, and of two threads that receive with one
   envelope the library may have noted the other one first. */
static void pair_run(struct mpiq_request_pairs *pairs, const struct envelope *unnamed, size_t unnamed_count,
                     const struct envelope *unclaimed, size_t unclaimed_count)
{
    if (unclaimed_count < unnamed_count)
        return;
    for (size_t i = 1; i <= unnamed_count; i++)
        pairs->partner[unnamed[unnamed_count - i].index] = unclaimed[unclaimed_count - i].index;
}

static bool pair_unnamed(struct mpiq_request_pairs *pairs, const uint32_t *comms)
{
    const struct mpiq_rank_state *own = pairs->own;
    const struct mpiq_rank_state *state = pairs->state;
    bool *claimed _cleanup_free_ = mpiq_memory_checked(calloc(own->operation_count + 1, sizeof *claimed));
    struct envelope *unnamed _cleanup_free_ =
        mpiq_memory_checked(calloc(state->operation_count + 1, sizeof *unnamed));
    struct envelope *unclaimed _cleanup_free_ =
        mpiq_memory_checked(calloc(own->operation_count + 1, sizeof *unclaimed));
    if (!claimed || !unnamed || !unclaimed)
        return false;
    for (size_t i = 0; i < state->operation_count; i++) {
        const struct mpiq_operation *op = &state->operations[i];
        uint32_t found =
            op->unnamed ? MPIQ_NO_PAIR : find_request(&pairs->requests, own->operations, op->request);
        if (found != MPIQ_NO_PAIR)
            claimed[found] = true;
    }
    size_t unnamed_count = list_unnamed(state, unnamed);
    size_t unclaimed_count = list_unclaimed(own, comms, claimed, unclaimed);
    for (size_t i = 0, j = 0; i < unnamed_count && j < unclaimed_count;) {
        size_t unnamed_run = run_length(&unnamed[i], unnamed_count - i);
        size_t unclaimed_run = run_length(&unclaimed[j], unclaimed_count - j);
        int order = compare_envelopes(&unnamed[i], &unclaimed[j]);
        if (order == 0)
            pair_run(pairs, &unnamed[i], unnamed_run, &unclaimed[j], unclaimed_run);
        i += order <= 0 ? unnamed_run : 0;
        j += order >= 0 ? unclaimed_run : 0;
    }
    return true;
}

/* ---- both ------------------------------------------------------------------------------------------- */

bool mpiq_request_pairs_init(struct mpiq_request_pairs *pairs, const struct mpiq_rank_state *state,
                             const struct mpiq_rank_state *own, const uint32_t *comms)
{
    *pairs = (struct mpiq_request_pairs){.own = own, .state = state};
    pairs->partner = mpiq_memory_checked(malloc((state->operation_count + 1) * sizeof *pairs->partner));
    if (!pairs->partner)
        return false;
    for (size_t i = 0; i < state->operation_count; i++)
        pairs->partner[i] = MPIQ_NO_PAIR;
    return index_requests(pairs) && pair_unnamed(pairs, comms);
}

void mpiq_request_pairs_deinit(struct mpiq_request_pairs *pairs)
{
    mpiq_hash_table_deinit(&pairs->requests);
    mpiq_hash_table_deinit(&pairs->unnamed);
    free(pairs->partner);
}

uint32_t mpiq_request_pairs_find(const struct mpiq_request_pairs *pairs, const struct mpiq_operation *record)
{
    if (!record->unnamed)
        return find_request(&pairs->requests, pairs->own->operations, record->request);
    uint32_t found = find_request(&pairs->unnamed, pairs->state->operations, record->request);
    return found == MPIQ_NO_PAIR ? MPIQ_NO_PAIR : pairs->partner[found];
}
