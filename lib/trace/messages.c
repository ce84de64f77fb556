/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of a replay: sends and receives by envelope, in order. */
#include <stdlib.h>

#include "trace/replay.h"

/* So many envelopes are kept for their counts after all their messages were received. */
enum { IDLE_MOST = 1 << 16, FIRST_ROOM = 1 << 10 };

/* ---- channels -------------------------------------------------------------------------------------------
 */

static uint64_t hash_of(uint32_t comm, uint32_t from, uint32_t to, uint32_t tag)
{
    return mpiq_hash_two(mpiq_hash_two(MPIQ_HASH_START, comm, from), to, tag);
}

bool mpiq_trace_messages_init(struct mpiq_trace_replay *replay)
{
    replay->channels = calloc(FIRST_ROOM, sizeof(void *));
    replay->channel_room = FIRST_ROOM;
    return replay->channels;
}

static void grow(struct mpiq_trace_replay *replay)
{
    uint32_t room = 2 * replay->channel_room;
    struct mpiq_trace_channel **channels = calloc(room, sizeof *channels);
    if (!channels)
        return; /* it goes on with longer chains */
    for (uint32_t i = 0; i < replay->channel_room; i++) {
        while (replay->channels[i]) {
            struct mpiq_trace_channel *channel = replay->channels[i];
            replay->channels[i] = channel->next;
            uint64_t at = hash_of(channel->comm, channel->from, channel->to, channel->tag) & (room - 1);
            channel->next = channels[at];
            channels[at] = channel;
        }
    }
    free(replay->channels);
    replay->channels = channels;
    replay->channel_room = room;
}

static struct mpiq_trace_channel *channel_of(struct mpiq_trace_replay *replay, uint32_t comm, uint32_t from,
                                             uint32_t to, uint32_t tag)
{
    uint64_t hash = hash_of(comm, from, to, tag);
    struct mpiq_trace_channel *channel = replay->channels[hash & (replay->channel_room - 1)];
    while (channel &&
           (channel->comm != comm || channel->from != from || channel->to != to || channel->tag != tag))
        channel = channel->next;
    if (channel)
        return channel;
    if (replay->channel_count >= replay->channel_room)
        grow(replay);
    channel = calloc(1, sizeof *channel);
    if (!channel) {
        replay->failed = true;
        return NULL;
    }
    uint64_t at = hash & (replay->channel_room - 1);
    *channel = (struct mpiq_trace_channel){
        .comm = comm, .from = from, .to = to, .tag = tag, .next = replay->channels[at]};
    replay->channels[at] = channel;
    replay->channel_count++;
    return channel;
}

/* A channel on which nothing is open, where there are many. */
static void forget_idle(struct mpiq_trace_replay *replay, struct mpiq_trace_channel *channel)
{
    if (replay->channel_count <= IDLE_MOST || channel->sends || channel->receives || channel->dropped)
        return;
    uint64_t at =
        hash_of(channel->comm, channel->from, channel->to, channel->tag) & (replay->channel_room - 1);
    for (struct mpiq_trace_channel **next = &replay->channels[at]; *next; next = &(*next)->next) {
        if (*next != channel)
            continue;
        *next = channel->next;
        free(channel);
        replay->channel_count--;
        return;
    }
}

/* ---- ends -----------------------------------------------------------------------------------------------
 */

static void free_send(struct mpiq_trace_send *send)
{
    mpiq_trace_call_unref(send->posted);
    mpiq_trace_call_unref(send->completed);
    free(send);
}

static void free_receive(struct mpiq_trace_receive *receive)
{
    mpiq_trace_call_unref(receive->posted);
    mpiq_trace_call_unref(receive->completed);
    free(receive);
}

/* Both its partner and its completion are known. */
static void end_send(struct mpiq_trace_replay *replay, struct mpiq_trace_send *send)
{
    if (replay->listener && replay->listener->completed)
        replay->listener->completed(replay->data, send);
    mpiq_trace_call_close(replay, send->completed);
    free_send(send);
}

/* A send whose partner nobody will know: its call waits no longer for it. */
static void give_up_send(struct mpiq_trace_replay *replay, struct mpiq_trace_send *send)
{
    if (send->completed)
        mpiq_trace_call_close(replay, send->completed);
    free_send(send);
}

static void match(struct mpiq_trace_replay *replay, struct mpiq_trace_send *send,
                  struct mpiq_trace_receive *receive)
{
    replay->messages++;
    if (receive->time <= send->time)
        replay->unordered_times++;
    send->matched = true;
    send->receiver_enter = receive->posted->enter;
    send->receiver_location = receive->posted->location;
    send->receiver = receive->posted->rank;
    if (replay->listener && replay->listener->matched)
        replay->listener->matched(replay->data, send, receive);
    mpiq_trace_call_close(replay, receive->completed);
    free_receive(receive);
    if (send->completed)
        end_send(replay, send);
    /* else it is among the rank's open ones */
}

static void settle(struct mpiq_trace_replay *replay, struct mpiq_trace_channel *channel)
{
    while (channel->sends && channel->receives) {
        struct mpiq_trace_send *send = channel->sends;
        struct mpiq_trace_receive *receive = channel->receives;
        channel->sends = send->next;
        send->next = NULL;
        if (channel->dropped > 0) {
            channel->dropped--;
            give_up_send(replay, send);
            continue;
        }
        channel->receives = receive->next;
        receive->next = NULL;
        match(replay, send, receive);
    }
    forget_idle(replay, channel);
}

static void add_send(struct mpiq_trace_replay *replay, struct mpiq_trace_channel *channel,
                     struct mpiq_trace_send *send)
{
    if (channel->sends)
        channel->last_send->next = send;
    else
        channel->sends = send;
    channel->last_send = send;
    channel->sent++;
    settle(replay, channel);
}

static void add_receive(struct mpiq_trace_replay *replay, struct mpiq_trace_channel *channel,
                        struct mpiq_trace_receive *receive)
{
    if (channel->receives)
        channel->last_receive->next = receive;
    else
        channel->receives = receive;
    channel->last_receive = receive;
    channel->received++;
    settle(replay, channel);
}

/* ---- sends ----------------------------------------------------------------------------------------------
 */

void mpiq_trace_on_send(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                        const struct mpiq_trace_event *event)
{
    uint32_t to = event->subject == MPIQ_TRACE_NONE
                      ? MPIQ_TRACE_NONE
                      : mpiq_trace_peer(replay->definitions, event->subject, call->rank, event->peer);
    if (to == MPIQ_TRACE_NONE) {
        replay->undefined++;
        return;
    }
    struct mpiq_trace_channel *channel = channel_of(replay, event->subject, call->rank, to, event->tag);
    struct mpiq_trace_send *send = channel ? calloc(1, sizeof *send) : NULL;
    if (!send) {
        replay->failed = true;
        return;
    }
    struct mpiq_trace_rank *rank = &replay->ranks[call->rank];
    *send = (struct mpiq_trace_send){.posted = mpiq_trace_call_ref(call),
                                     .time = event->time,
                                     .request = event->request,
                                     .bytes = event->bytes,
                                     .receiver = to,
                                     .channel_comm = event->subject,
                                     .tag = event->tag,
                                     .call = call->call,
                                     .blocking = event->kind == MPIQ_TRACE_MPI_SEND};
    call->sent = true;
    if (send->blocking) {
        send->completed = mpiq_trace_call_ref(call);
        call->open++;
    } else {
        send->listed = true;
        send->next_open = rank->open_sends;
        rank->open_sends = send;
    }
    add_send(replay, channel, send);
}

static struct mpiq_trace_send *take_open_send(struct mpiq_trace_rank *rank, uint64_t request)
{
    /* The oldest of that number: the last in the list. */
    struct mpiq_trace_send **found = NULL;
    for (struct mpiq_trace_send **at = &rank->open_sends; *at; at = &(*at)->next_open) {
        if ((*at)->request == request)
            found = at;
    }
    if (!found)
        return NULL;
    struct mpiq_trace_send *send = *found;
    *found = send->next_open;
    send->next_open = NULL;
    send->listed = false;
    return send;
}

void mpiq_trace_on_send_complete(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                                 const struct mpiq_trace_event *event)
{
    struct mpiq_trace_send *send = take_open_send(&replay->ranks[call->rank], event->request);
    call->completed = true;
    if (!send)
        return;
    send->completed = mpiq_trace_call_ref(call);
    call->open++;
    if (send->matched)
        end_send(replay, send);
}

/* It was never sent: out of its channel, or if a receive was taken for its own, the next one is. */
static void cancel_send(struct mpiq_trace_replay *replay, struct mpiq_trace_send *send)
{
    uint64_t hash = hash_of(send->channel_comm, send->posted->rank, send->receiver, send->tag);
    struct mpiq_trace_channel *channel = replay->channels[hash & (replay->channel_room - 1)];
    while (channel && (channel->comm != send->channel_comm || channel->from != send->posted->rank ||
                       channel->to != send->receiver || channel->tag != send->tag))
        channel = channel->next;
    if (channel)
        channel->sent--;
    if (send->matched) {
        if (channel)
            channel->dropped++;
        free_send(send);
        return;
    }
    struct mpiq_trace_send *before = NULL;
    for (struct mpiq_trace_send *at = channel ? channel->sends : NULL; at; before = at, at = at->next) {
        if (at != send)
            continue;
        if (before)
            before->next = send->next;
        else
            channel->sends = send->next;
        if (channel->last_send == send)
            channel->last_send = before;
        free_send(send);
        return;
    }
}

/* ---- receives -------------------------------------------------------------------------------------------
 */

static struct mpiq_trace_receive *post(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                                       uint64_t request)
{
    struct mpiq_trace_rank *rank = &replay->ranks[call->rank];
    struct mpiq_trace_receive *receive = calloc(1, sizeof *receive);
    if (!receive) {
        replay->failed = true;
        return NULL;
    }
    receive->posted = mpiq_trace_call_ref(call);
    receive->request = request;
    if (rank->receives)
        rank->last_receive->next = receive;
    else
        rank->receives = receive;
    rank->last_receive = receive;
    return receive;
}

static void open_receive(struct mpiq_trace_rank *rank, struct mpiq_trace_receive *receive)
{
    receive->previous_open = rank->last_open_receive;
    if (rank->last_open_receive)
        rank->last_open_receive->next_open = receive;
    else
        rank->open_receives = receive;
    rank->last_open_receive = receive;
}

static struct mpiq_trace_receive *take_open_receive(struct mpiq_trace_rank *rank, uint64_t request)
{
    struct mpiq_trace_receive *receive = rank->open_receives;
    while (receive && receive->request != request)
        receive = receive->next_open;
    if (!receive)
        return NULL;
    if (receive->previous_open)
        receive->previous_open->next_open = receive->next_open;
    else
        rank->open_receives = receive->next_open;
    if (receive->next_open)
        receive->next_open->previous_open = receive->previous_open;
    else
        rank->last_open_receive = receive->previous_open;
    receive->next_open = receive->previous_open = NULL;
    return receive;
}

/* Those that nothing posted before holds back go to their channels. */
static void release(struct mpiq_trace_replay *replay, uint32_t number, bool all)
{
    struct mpiq_trace_rank *rank = &replay->ranks[number];
    struct mpiq_trace_receive **next = &rank->receives;
    while (*next && (all || (*next)->status != MPIQ_TRACE_PENDING)) {
        struct mpiq_trace_receive *receive = *next;
        if (receive->status == MPIQ_TRACE_PENDING) {
            next = &receive->next;
            continue;
        }
        *next = receive->next;
        receive->next = NULL;
        struct mpiq_trace_channel *channel =
            receive->status == MPIQ_TRACE_DONE
                ? channel_of(replay, receive->comm, receive->sender, number, receive->tag)
                : NULL;
        if (channel)
            add_receive(replay, channel, receive);
        else
            free_receive(receive);
    }
    if (!all)
        return;
    rank->last_receive = NULL;
    for (struct mpiq_trace_receive *at = rank->receives; at; at = at->next)
        rank->last_receive = at;
}

void mpiq_trace_on_receive_request(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                                   const struct mpiq_trace_event *event)
{
    struct mpiq_trace_receive *receive = post(replay, call, event->request);
    if (!receive)
        return;
    receive->extra = event->extra;
    open_receive(&replay->ranks[call->rank], receive);
}

void mpiq_trace_on_receive(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                           const struct mpiq_trace_event *event)
{
    struct mpiq_trace_rank *rank = &replay->ranks[call->rank];
    struct mpiq_trace_receive *receive =
        event->kind == MPIQ_TRACE_MPI_IRECV ? take_open_receive(rank, event->request) : NULL;
    if (!receive)
        receive = post(replay, call, event->request);
    if (!receive)
        return;
    call->received = call->completed = true;
    receive->status = MPIQ_TRACE_CANCELLED;
    receive->time = event->time;
    receive->bytes = event->bytes;
    receive->comm = event->subject;
    receive->tag = event->tag;
    receive->sender = event->subject == MPIQ_TRACE_NONE
                          ? MPIQ_TRACE_NONE
                          : mpiq_trace_peer(replay->definitions, event->subject, call->rank, event->peer);
    if (receive->sender != MPIQ_TRACE_NONE) {
        receive->status = MPIQ_TRACE_DONE;
        receive->completed = mpiq_trace_call_ref(call);
        call->open++;
    } else {
        replay->undefined++;
    }
    release(replay, call->rank, false);
}

void mpiq_trace_on_cancelled(struct mpiq_trace_replay *replay, const struct mpiq_trace_event *event,
                             uint32_t number)
{
    struct mpiq_trace_rank *rank = &replay->ranks[number];
    struct mpiq_trace_receive *receive = take_open_receive(rank, event->request);
    if (receive) {
        receive->status = MPIQ_TRACE_CANCELLED;
        release(replay, number, false);
        return;
    }
    struct mpiq_trace_send *send = take_open_send(rank, event->request);
    if (send)
        cancel_send(replay, send);
}

void mpiq_trace_release_receives(struct mpiq_trace_replay *replay)
{
    for (uint32_t i = 0; i < replay->definitions->rank_count; i++)
        release(replay, i, true);
}

const struct mpiq_trace_send *mpiq_trace_last_send(const struct mpiq_trace_replay *replay, uint32_t comm,
                                                   uint32_t from, uint32_t to, uint32_t tag)
{
    const struct mpiq_trace_channel *channel =
        replay->channels[hash_of(comm, from, to, tag) & (replay->channel_room - 1)];
    while (channel &&
           (channel->comm != comm || channel->from != from || channel->to != to || channel->tag != tag))
        channel = channel->next;
    return channel && channel->sends ? channel->last_send : NULL;
}

void mpiq_trace_give_up(struct mpiq_trace_replay *replay)
{
    for (uint32_t i = 0; i < replay->channel_room; i++) {
        for (struct mpiq_trace_channel *channel = replay->channels[i]; channel; channel = channel->next) {
            for (struct mpiq_trace_send *send = channel->sends; send; send = send->next) {
                if (send->completed)
                    mpiq_trace_call_close(replay, send->completed);
            }
            for (struct mpiq_trace_receive *r = channel->receives; r; r = r->next)
                mpiq_trace_call_close(replay, r->completed);
        }
    }
    for (uint32_t i = 0; i < mpiq_trace_list_count(replay->definitions); i++) {
        for (struct mpiq_trace_instance *instance = replay->instances[i]; instance;
             instance = instance->next) {
            for (uint32_t j = 0; j < instance->count; j++)
                mpiq_trace_call_close(replay, instance->parts[j].completed);
        }
    }
}

/* ---- the end --------------------------------------------------------------------------------------------
 */

static void free_channel(struct mpiq_trace_channel *channel)
{
    while (channel->sends) {
        struct mpiq_trace_send *send = channel->sends;
        channel->sends = send->next;
        if (!send->listed)
            free_send(send);
        else
            send->next = NULL;
    }
    while (channel->receives) {
        struct mpiq_trace_receive *receive = channel->receives;
        channel->receives = receive->next;
        free_receive(receive);
    }
    free(channel);
}

void mpiq_trace_messages_deinit(struct mpiq_trace_replay *replay)
{
    for (uint32_t i = 0; i < replay->channel_room; i++) {
        while (replay->channels[i]) {
            struct mpiq_trace_channel *channel = replay->channels[i];
            replay->channels[i] = channel->next;
            free_channel(channel);
        }
    }
    for (uint32_t i = 0; replay->ranks && i < replay->definitions->rank_count; i++) {
        struct mpiq_trace_rank *rank = &replay->ranks[i];
        while (rank->open_sends) {
            struct mpiq_trace_send *send = rank->open_sends;
            rank->open_sends = send->next_open;
            free_send(send);
        }
        while (rank->receives) {
            struct mpiq_trace_receive *receive = rank->receives;
            rank->receives = receive->next;
            free_receive(receive);
        }
    }
    free(replay->channels);
    replay->channels = NULL;
    replay->channel_room = 0;
}
