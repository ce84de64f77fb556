/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/late.h"

#include <stdlib.h>
#include <string.h>

#include "state/rank_state.h"
#include "trace/blame.h"
#include "trace/cart.h"
#include "trace/lateness.h"

/* ---- when ranks synchronised ----------------------------------------------------------------------------
 */

static uint64_t latest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t pair_hash(uint32_t a, uint32_t b)
{
    return mpiq_hash_two(MPIQ_HASH_START, a, b);
}

static struct mpiq_late_pair *pair_of(struct mpiq_late *late, uint32_t a, uint32_t b, bool add)
{
    uint32_t low = a < b ? a : b;
    uint32_t high = a < b ? b : a;
    uint64_t hash = pair_hash(low, high);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&late->pair_table, hash, &cursor)) != MPIQ_TRACE_NONE;) {
        if (late->pairs[i].ranks[0] == low && late->pairs[i].ranks[1] == high)
            return &late->pairs[i];
    }
    if (!add)
        return NULL;
    if (!mpiq_array_reserve(&late->pairs, &late->pair_room, (size_t)late->pair_count + 1) ||
        !mpiq_hash_table_add(&late->pair_table, hash, late->pair_count)) {
        late->failed = true;
        return NULL;
    }
    struct mpiq_late_pair *pair = &late->pairs[late->pair_count++];
    *pair = (struct mpiq_late_pair){.ranks = {low, high}};
    return pair;
}

/* One waited for the other until then.  A message that lay there when it was received synchronises nobody. */
static void sync_pair(struct mpiq_late *late, uint32_t a, uint32_t b, uint64_t time)
{
    struct mpiq_late_pair *pair = pair_of(late, a, b, true);
    if (pair)
        pair->time = latest(pair->time, time);
}

/* When two ranks last synchronised: one waited for the other, or all of that communicator, or all ranks, for
   each other. */
static uint64_t last_sync(struct mpiq_late *late, uint32_t comm, uint32_t waiter, uint32_t other)
{
    uint64_t since = late->replay.start;
    const uint32_t comms[] = {late->world, comm};
    for (int i = 0; i < 2; i++) {
        if (comms[i] != MPIQ_TRACE_NONE)
            since = latest(since, late->comm_times[comms[i]]);
    }
    const struct mpiq_late_pair *pair = pair_of(late, waiter, other, false);
    return pair ? latest(since, pair->time) : since;
}

/* ---- messages -------------------------------------------------------------------------------------------
 */

/* In a call that completes several operations only the largest wait counts. */
static void consider(struct mpiq_trace_mpi_call *call, const struct mpiq_trace_candidate *candidate)
{
    if (call->call != MPIQ_TRACE_TEST && candidate->until > call->enter &&
        candidate->until > call->candidate.until)
        call->candidate = *candidate;
}

/* A message sent before one that this rank has already waited for: it could have been received first. */
static void note_order(struct mpiq_late *late, uint32_t rank, uint64_t sent)
{
    struct mpiq_late_recent *recent = &late->recent[rank];
    for (uint32_t i = 0; i < MPIQ_LATE_RECENT; i++) {
        struct mpiq_late_waited *waited = &recent->waited[i];
        if (waited->ticks > 0 && sent < waited->sent) {
            late->wrong_order += waited->ticks;
            late->wrong_orders++;
            waited->ticks = 0;
        }
    }
}

static void on_matched(void *data, struct mpiq_trace_send *send, struct mpiq_trace_receive *receive)
{
    struct mpiq_late *late = data;
    uint32_t sender = send->posted->rank;
    uint32_t receiver = receive->posted->rank;
    struct mpiq_trace_candidate candidate = {.until = send->posted->enter,
                                             .instance = ++late->instances,
                                             .location = send->posted->location,
                                             .kind = MPIQ_LATE_LATE_SENDER};
    candidate.since = send->since = last_sync(late, send->channel_comm, receiver, sender);
    if (receive->time <= send->time) {
        /* The clocks do not agree: what they say of this message is not used. */
        late->unordered++;
        send->receiver_enter = 0;
        return;
    }
    note_order(late, receiver, send->posted->enter);
    if (receive->completed->call != MPIQ_TRACE_TEST && receive->completed->enter < send->posted->enter) {
        struct mpiq_late_recent *recent = &late->recent[receiver];
        recent->waited[recent->next++ % MPIQ_LATE_RECENT] = (struct mpiq_late_waited){
            .sent = send->posted->enter, .ticks = send->posted->enter - receive->completed->enter};
    }
    consider(receive->completed, &candidate);
    if (receive->completed->enter < send->posted->enter)
        sync_pair(late, sender, receiver, send->posted->enter);
}

/* A synchronous or long send waits for its receive to be posted. */
static void on_completed(void *data, struct mpiq_trace_send *send)
{
    struct mpiq_late *late = data;
    struct mpiq_trace_mpi_call *call = send->completed;
    if (!send->matched || send->receiver_enter == 0 || send->posted->rank == send->receiver ||
        (call->left && send->receiver_enter >= call->leave))
        return;
    const struct mpiq_trace_candidate candidate = {.until = send->receiver_enter,
                                                   .since = send->since,
                                                   .instance = ++late->instances,
                                                   .location = send->receiver_location,
                                                   .kind = MPIQ_LATE_LATE_RECEIVER};
    consider(call, &candidate);
    if (call->enter < send->receiver_enter)
        sync_pair(late, send->posted->rank, send->receiver, send->receiver_enter);
}

/* ---- collectives ----------------------------------------------------------------------------------------
 */

/* Who waits for whom in a collective. */
enum shape { ALL, FROM_ROOT, TO_ROOT, LOWER, NEIGHBORS, NONE };

static enum shape shape_of(int class, bool *blocking, uint8_t *kind)
{
    static const char *const from[] = {"bcast", "scatter", "scatterv"};
    static const char *const to[] = {"reduce", "gather", "gatherv"};
    static const char *const lower[] = {"scan", "exscan"};
    const char *name = class >= 0 ? mpiq_collective_name(class) : NULL;
    *blocking = class >= 0 && mpiq_collective_kind(class) == 'B';
    *kind = MPIQ_LATE_NXN;
    if (!name || mpiq_collective_kind(class) == 'P' || strncmp(name, "MPI_", 4) != 0)
        return NONE;
    const char *rest = name + 4;
    if (!*blocking && rest[0] == 'I')
        rest++;
    if (strcmp(rest, "Win_fence") == 0) {
        *kind = MPIQ_LATE_FENCE;
        return ALL;
    }
    if (strcasecmp(rest, "barrier") == 0) {
        *kind = MPIQ_LATE_BARRIER;
        return ALL;
    }
    if (strncasecmp(rest, "neighbor", 8) == 0) {
        *kind = MPIQ_LATE_NEIGHBORS;
        return NEIGHBORS;
    }
    for (size_t i = 0; i < 3; i++) {
        if (strcasecmp(rest, from[i]) == 0) {
            *kind = MPIQ_LATE_BROADCAST;
            return FROM_ROOT;
        }
        if (strcasecmp(rest, to[i]) == 0) {
            *kind = MPIQ_LATE_REDUCE;
            return TO_ROOT;
        }
        if (i < 2 && strcasecmp(rest, lower[i]) == 0) {
            *kind = MPIQ_LATE_SCAN;
            return LOWER;
        }
    }
    return ALL;
}

/* The root's part; NULL: not known. */
static const struct mpiq_trace_part *root_of(const struct mpiq_late *late,
                                             const struct mpiq_trace_instance *instance)
{
    bool inter = late->replay.definitions->comms[instance->comm].inter;
    for (uint32_t i = 0; i < instance->count; i++) {
        const struct mpiq_trace_part *part = &instance->parts[i];
        if (inter ? part->root == OTF2_COLLECTIVE_ROOT_SELF : part->local == instance->root)
            return part;
    }
    return NULL;
}

/* Parts of neighbours, of which the collective's parts are in the order of their ranks. */
static const struct mpiq_trace_part *last_neighbor(const struct mpiq_late *late,
                                                   const struct mpiq_trace_instance *instance,
                                                   const struct mpiq_trace_part *part)
{
    uint32_t neighbors[2 * MPIQ_TRACE_DIMENSIONS];
    const struct mpiq_trace_part *found = NULL;
    if (late->replay.definitions->cart != instance->comm)
        return NULL;
    uint32_t count = mpiq_trace_cart_neighbors(late->replay.definitions, part->local, neighbors);
    for (uint32_t i = 0; i < count; i++) {
        const struct mpiq_trace_part *other =
            neighbors[i] < instance->count ? &instance->parts[neighbors[i]] : NULL;
        if (other && other != part && (!found || other->posted->enter > found->posted->enter))
            found = other;
    }
    return found;
}

static int compare_locals(const void *left, const void *right)
{
    const struct mpiq_trace_part *a = left;
    const struct mpiq_trace_part *b = right;
    return a->local < b->local ? -1 : a->local > b->local;
}

/* The part that enters last, of those that `part` waits for; NULL: it waits for nobody. */
static const struct mpiq_trace_part *last_of(const struct mpiq_late *late,
                                             const struct mpiq_trace_instance *instance, enum shape shape,
                                             const struct mpiq_trace_part *part,
                                             const struct mpiq_trace_part *root,
                                             const struct mpiq_trace_part *last)
{
    bool inter = late->replay.definitions->comms[instance->comm].inter;
    if (shape == FROM_ROOT)
        return root && part != root && (!inter || part->remote != root->remote) ? root : NULL;
    if (shape == ALL && !inter)
        return last;
    if (shape == TO_ROOT && part != root)
        return NULL;
    if (shape == NEIGHBORS)
        return last_neighbor(late, instance, part);
    const struct mpiq_trace_part *found = NULL;
    for (uint32_t i = 0; i < instance->count; i++) {
        const struct mpiq_trace_part *other = &instance->parts[i];
        bool counts = shape == LOWER ? other->local < part->local
                                     : other != part && (!inter || other->remote != part->remote);
        if (counts && (!found || other->posted->enter > found->posted->enter))
            found = other;
    }
    return found;
}

/* After the first has left, the others need not wait any more. */
static void note_completion(struct mpiq_late *late, const struct mpiq_trace_instance *instance, uint8_t kind)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < instance->count; i++) {
        const struct mpiq_trace_mpi_call *call = instance->parts[i].completed;
        uint64_t leave = call->left ? call->leave : late->replay.now;
        first = leave < first ? leave : first;
    }
    for (uint32_t i = 0; i < instance->count; i++) {
        const struct mpiq_trace_mpi_call *call = instance->parts[i].completed;
        uint64_t leave = call->left ? call->leave : late->replay.now;
        late->completion[kind == MPIQ_LATE_BARRIER] += leave - first;
    }
}

static void on_collective(void *data, struct mpiq_trace_instance *instance)
{
    struct mpiq_late *late = data;
    bool blocking;
    uint8_t kind;
    enum shape shape = shape_of(instance->collective, &blocking, &kind);
    if (shape == NONE || instance->count < 2)
        return;
    if (shape == NEIGHBORS)
        qsort(instance->parts, instance->count, sizeof *instance->parts, compare_locals);
    const struct mpiq_trace_part *root =
        shape == FROM_ROOT || shape == TO_ROOT ? root_of(late, instance) : NULL;
    const struct mpiq_trace_part *last = &instance->parts[0];
    uint64_t first_end = UINT64_MAX;
    for (uint32_t i = 1; i < instance->count; i++) {
        if (instance->parts[i].posted->enter > last->posted->enter)
            last = &instance->parts[i];
    }
    late->collectives++;
    uint64_t number = ++late->instances;
    for (uint32_t i = 0; i < instance->count; i++) {
        const struct mpiq_trace_part *part = &instance->parts[i];
        const struct mpiq_trace_mpi_call *ended = part->completed;
        if (ended->left && ended->leave < first_end)
            first_end = ended->leave;
        const struct mpiq_trace_part *other = last_of(late, instance, shape, part, root, last);
        if (!other || other == part || other->posted->enter <= part->completed->enter)
            continue;
        struct mpiq_trace_candidate candidate = {.until = other->posted->enter,
                                                 .instance = number,
                                                 .location = other->posted->location,
                                                 .kind = blocking ? kind : MPIQ_LATE_NONBLOCKING};
        candidate.since = last_sync(late, instance->comm, part->rank, other->rank);
        consider(part->completed, &candidate);
    }
    bool all = blocking && shape == ALL && !late->replay.definitions->comms[instance->comm].inter;
    for (uint32_t i = 0; i < instance->count && !all; i++) {
        const struct mpiq_trace_part *part = &instance->parts[i];
        const struct mpiq_trace_part *other = last_of(late, instance, shape, part, root, last);
        if (other && other != part && other->posted->enter > part->completed->enter)
            sync_pair(late, part->rank, other->rank, other->posted->enter);
    }
    if (all)
        late->comm_times[instance->comm] = last->posted->enter;
    if (shape == ALL && first_end < last->posted->enter)
        late->unordered++; /* one left before another one came: the clocks do not agree */
    if (blocking && shape == ALL)
        note_completion(late, instance, kind);
}

/* ---- calls ----------------------------------------------------------------------------------------------
 */

static void on_time(void *data, uint32_t location, uint32_t path, uint64_t from, uint64_t to)
{
    struct mpiq_late *late = data;
    bool good = true;
    mpiq_journal_add(&late->journals[location], path, from, to, false, &good);
    late->failed |= !good;
}

static void on_left(void *data, struct mpiq_trace_mpi_call *call)
{
    struct mpiq_late *late = data;
    bool good = true;
    call->journal =
        mpiq_journal_add(&late->journals[call->location], call->path, call->enter, call->leave, true, &good);
    late->failed |= !good;
    late->mpi_ticks += call->leave - call->enter;
}

static void on_final(void *data, struct mpiq_trace_mpi_call *call)
{
    struct mpiq_late *late = data;
    if (call->candidate.until <= call->enter || !call->left)
        return;
    uint64_t until = call->candidate.until < call->leave ? call->candidate.until : call->leave;
    if (until <= call->enter)
        return;
    mpiq_late_add_wait(late, call, until - call->enter);
}

/* ---- the whole ------------------------------------------------------------------------------------------
 */

static const struct mpiq_trace_listener listener = {.time = on_time,
                                                    .left = on_left,
                                                    .matched = on_matched,
                                                    .completed = on_completed,
                                                    .collective = on_collective,
                                                    .final = on_final};

static bool allocate(struct mpiq_late *late, const struct mpiq_trace_definitions *definitions)
{
    late->journals = calloc((size_t)definitions->location_count + 1, sizeof *late->journals);
    late->comm_times = calloc((size_t)definitions->comm_count + 1, sizeof *late->comm_times);
    late->recent = calloc((size_t)definitions->rank_count + 1, sizeof *late->recent);
    late->world = MPIQ_TRACE_NONE;
    for (uint32_t i = 0; i < definitions->comm_count; i++) {
        if (definitions->comms[i].world)
            late->world = i;
    }
    return late->journals && late->comm_times && late->recent &&
           mpiq_trace_lanes_init(&late->lanes, definitions->rank_count);
}

static void deinit(struct mpiq_late *late, const struct mpiq_trace_definitions *definitions)
{
    for (uint32_t i = 0; late->journals && i < definitions->location_count; i++)
        mpiq_journal_deinit(&late->journals[i]);
    free(late->journals);
    free(late->comm_times);
    free(late->recent);
    mpiq_trace_lanes_deinit(&late->lanes);
    free(late->pairs);
    mpiq_hash_table_deinit(&late->pair_table);
    mpiq_late_blame_deinit(late);
}

struct mpiq_error *mpiq_trace_late(struct mpiq_trace_stream *stream, mpiq_late_callback *callback,
                                   void *context)
{
    struct mpiq_late late = {0};
    const struct mpiq_trace_definitions *definitions = mpiq_trace_stream_definitions(stream);
    struct mpiq_error *error = mpiq_trace_replay_init(&late.replay, stream, &listener, &late);
    if (error)
        return error;
    if (!allocate(&late, definitions))
        error = mpiq_error_no_memory();
    if (!error)
        error = mpiq_trace_replay_run(&late.replay, UINT64_MAX);
    if (!error) {
        mpiq_trace_give_up(&late.replay);
        error = late.failed ? mpiq_error_no_memory() : mpiq_late_tell(&late, callback, context);
    }
    mpiq_trace_replay_deinit(&late.replay);
    deinit(&late, definitions);
    return error;
}
