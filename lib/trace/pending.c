/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/pending.h"

#include <stdlib.h>

#include "base/array.h"

/* ---- messages that were not received ---------------------------------------------------------------------
 */

static int compare(const void *left, const void *right)
{
    const struct mpiq_trace_outstanding *a = left;
    const struct mpiq_trace_outstanding *b = right;
#define BY(member)              \
    if (a->member != b->member) \
    return a->member < b->member ? -1 : 1
    BY(from);
    BY(comm);
    BY(to);
    BY(tag);
    BY(path);
#undef BY
    return 0;
}

static bool collect_channel(struct mpiq_trace_telling *telling, const struct mpiq_trace_channel *channel)
{
    for (const struct mpiq_trace_receive *receive = channel->receives; receive; receive = receive->next)
        telling->unsent[channel->to]++;
    uint32_t dropped = channel->dropped;
    uint32_t first = telling->message_count;
    for (const struct mpiq_trace_send *send = channel->sends; send; send = send->next) {
        if (dropped > 0) {
            dropped--;
            continue;
        }
        struct mpiq_trace_outstanding *row = NULL;
        for (uint32_t i = first; i < telling->message_count && !row; i++)
            row = telling->messages[i].path == send->posted->path ? &telling->messages[i] : NULL;
        if (!row) {
            if (!mpiq_array_reserve(&telling->messages, &telling->message_room,
                                    (size_t)telling->message_count + 1))
                return false;
            row = &telling->messages[telling->message_count++];
            *row = (struct mpiq_trace_outstanding){.from = channel->from,
                                                   .to = channel->to,
                                                   .comm = channel->comm,
                                                   .tag = channel->tag,
                                                   .path = send->posted->path,
                                                   .sent = channel->sent,
                                                   .received = channel->received};
        }
        row->count++;
        row->bytes += send->bytes;
    }
    return true;
}

bool mpiq_trace_collect(const struct mpiq_trace_replay *replay, struct mpiq_trace_telling *telling)
{
    for (uint32_t i = 0; i < replay->channel_room; i++) {
        for (const struct mpiq_trace_channel *channel = replay->channels[i]; channel;
             channel = channel->next) {
            if (!collect_channel(telling, channel))
                return false;
        }
    }
    if (telling->message_count > 0)
        qsort(telling->messages, telling->message_count, sizeof *telling->messages, compare);
    return true;
}

void mpiq_trace_collected_deinit(struct mpiq_trace_telling *telling)
{
    free(telling->messages);
}

/* ---- channels -------------------------------------------------------------------------------------------
 */

/* Local rank of a process as another member of the communicator names it. */
static int32_t local_of(const struct mpiq_trace_replay *replay, uint32_t comm, uint32_t rank)
{
    uint32_t local;
    bool remote;
    return mpiq_trace_is_member(replay->definitions, comm, rank, &local, &remote) ? (int32_t)local : -1;
}

/* What this rank sent and nobody has received: both ends count from there. */
static bool add_channels(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                         uint32_t rank)
{
    struct mpiq_channel *channel = NULL;
    const struct mpiq_trace_outstanding *before = NULL;
    for (uint32_t i = 0; i < telling->message_count; i++) {
        const struct mpiq_trace_outstanding *row = &telling->messages[i];
        int32_t comm = telling->comms[row->comm];
        if (row->from != rank || comm < 0)
            continue;
        int32_t peer = local_of(telling->replay, row->comm, row->to);
        if (!before || before->comm != row->comm || before->to != row->to) {
            channel = mpiq_communicator_add_channel(&state->communicators[comm]);
            if (!channel)
                return false;
            channel->peer_local = peer;
            channel->sent = channel->expected = 1;
            channel->counted = channel->bytes_known = true;
            channel->unclear = telling->replay->ranks[row->to].unrecorded;
        }
        before = row;
        struct mpiq_tag_count *tag = mpiq_channel_add_tag(channel);
        if (!tag)
            return false;
        *tag = (struct mpiq_tag_count){
            .messages = row->count, .bytes = row->bytes, .tags = row->tag, .cell = -1};
        channel->sent += (uint32_t)row->count;
    }
    return true;
}

/* ---- operations -----------------------------------------------------------------------------------------
 */

static int32_t world_index(const struct mpiq_trace_telling *telling)
{
    const struct mpiq_trace_definitions *definitions = telling->replay->definitions;
    for (uint32_t i = 0; i < definitions->comm_count; i++) {
        if (definitions->comms[i].world)
            return telling->comms[i];
    }
    return -1;
}

void mpiq_trace_set_envelope(const struct mpiq_trace_telling *telling, uint32_t rank, uint32_t index,
                             struct mpiq_operation *operation)
{
    const struct mpiq_trace_replay *replay = telling->replay;
    const struct mpiq_trace_event named = {.extra = index};
    const struct mpiq_trace_extra *extra = mpiq_trace_stream_extra(replay->stream, &named);
    int32_t world = world_index(telling);
    operation->comm = world < 0 ? 0 : (uint32_t)world;
    operation->peer_local = MPIQ_ANY;
    operation->peer = (struct mpiq_name){0, -1};
    operation->tag_any = true;
    operation->bytes = -1;
    if (!extra)
        return;
    uint32_t comm = extra->set & 1u << MPIQ_TRACE_COMM
                        ? mpiq_trace_find_comm(replay->definitions, extra->values[MPIQ_TRACE_COMM])
                        : MPIQ_TRACE_NONE;
    if (comm == MPIQ_TRACE_NONE || telling->comms[comm] < 0)
        return;
    operation->comm = (uint32_t)telling->comms[comm];
    uint64_t peer = extra->set & 1u << MPIQ_TRACE_PEER ? extra->values[MPIQ_TRACE_PEER] : UINT64_MAX;
    uint32_t process = peer > UINT32_MAX ? MPIQ_TRACE_NONE
                                         : mpiq_trace_peer(replay->definitions, comm, rank, (uint32_t)peer);
    if (process != MPIQ_TRACE_NONE) {
        operation->peer_local = (int32_t)peer;
        operation->peer = (struct mpiq_name){1, (int32_t)process};
    }
    if (extra->set & 1u << MPIQ_TRACE_TAG && extra->values[MPIQ_TRACE_TAG] <= INT32_MAX) {
        operation->tag_any = false;
        operation->tag = (int32_t)extra->values[MPIQ_TRACE_TAG];
    }
}

static uint8_t kind_of_send(uint8_t call)
{
    switch (call) {
    case MPIQ_TRACE_SSEND:
    case MPIQ_TRACE_ISSEND:
        return MPIQ_OPERATION_SSEND;
    case MPIQ_TRACE_BSEND:
        return MPIQ_OPERATION_BSEND;
    case MPIQ_TRACE_RSEND:
        return MPIQ_OPERATION_RSEND;
    default:
        return MPIQ_OPERATION_SEND;
    }
}

static bool add_send(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                     const struct mpiq_trace_send *send)
{
    int32_t comm = telling->comms[send->channel_comm];
    if (comm < 0)
        return true;
    struct mpiq_place place;
    mpiq_trace_place(telling->replay, state, send->posted->path, &place);
    struct mpiq_operation *operation = mpiq_rank_state_add_operation(state);
    if (!operation)
        return false;
    operation->queue = MPIQ_QUEUE_SENDS;
    operation->kind = kind_of_send(send->call);
    operation->comm = (uint32_t)comm;
    operation->request = send->blocking ? 0 : send->request + 1;
    operation->peer_local = local_of(telling->replay, send->channel_comm, send->receiver);
    operation->peer = (struct mpiq_name){1, (int32_t)send->receiver};
    operation->tag = (int32_t)send->tag;
    operation->bytes = (int64_t)send->bytes;
    operation->sequence = state->operation_count;
    operation->started = place;
    return true;
}

/* The blocking sends that a thread is in, in a call or cut off by the end. */
static bool is_in_call(const struct mpiq_trace_replay *replay, const struct mpiq_trace_mpi_call *call)
{
    const struct mpiq_trace_thread *thread = &replay->threads[call->location];
    return thread->call == call || thread->cut == call;
}

static bool add_sends(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state, uint32_t rank)
{
    const struct mpiq_trace_replay *replay = telling->replay;
    for (const struct mpiq_trace_send *send = replay->ranks[rank].open_sends; send; send = send->next_open) {
        if (!send->matched && !add_send(telling, state, send))
            return false;
    }
    for (uint32_t i = 0; i < telling->message_count; i++) {
        const struct mpiq_trace_outstanding *row = &telling->messages[i];
        if (row->from != rank || (i > 0 && row[-1].from == rank && row[-1].comm == row->comm &&
                                  row[-1].to == row->to && row[-1].tag == row->tag))
            continue;
        const struct mpiq_trace_send *last = mpiq_trace_last_send(replay, row->comm, rank, row->to, row->tag);
        if (last && last->blocking && is_in_call(replay, last->posted) && !add_send(telling, state, last))
            return false;
    }
    return true;
}

static bool add_receives(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                         uint32_t rank)
{
    const struct mpiq_trace_receive *receive = telling->replay->ranks[rank].open_receives;
    for (; receive && state->communicator_count > 0; receive = receive->next_open) {
        struct mpiq_place place;
        mpiq_trace_place(telling->replay, state, receive->posted->path, &place);
        struct mpiq_operation *operation = mpiq_rank_state_add_operation(state);
        if (!operation)
            return false;
        mpiq_trace_set_envelope(telling, rank, receive->extra, operation);
        operation->queue = MPIQ_QUEUE_RECEIVES;
        operation->kind = MPIQ_OPERATION_RECEIVE;
        operation->request = receive->request + 1;
        operation->sequence = state->operation_count;
        operation->started = place;
    }
    return true;
}

bool mpiq_trace_add_pending(struct mpiq_trace_telling *telling, struct mpiq_rank_state *state, uint32_t rank)
{
    return add_channels(telling, state, rank) && add_sends(telling, state, rank) &&
           add_receives(telling, state, rank);
}
