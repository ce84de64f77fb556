/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator_private.h"

/* Messages that fit between two ranks. */
enum { ROOM = 2 };

static struct sim_request *request_of(struct simulator *sim, int rank, uint64_t id)
{
    for (int i = 0; i < SIM_REQUESTS; i++) {
        if (sim->rank[rank].requests[i].used && sim->rank[rank].requests[i].id == id)
            return &sim->rank[rank].requests[i];
    }
    return NULL;
}

static struct sim_request *new_request(struct simulator *sim, int rank, int thread,
                                       const struct sim_step *step)
{
    for (int i = 0; i < SIM_REQUESTS; i++) {
        struct sim_request *request = &sim->rank[rank].requests[i];
        if (request->used)
            continue;
        /* Addresses come back, as they do from a free list. */
        *request = (struct sim_request){.used = true,
                                        .send = step->kind == SIM_SEND,
                                        .internal = step->internal,
                                        .comm = step->comm,
                                        .peer = step->peer,
                                        .tag = step->tag,
                                        .group = step->group,
                                        .thread = thread,
                                        .id = 0x100 + (uint64_t)i};
        return request;
    }
    fprintf(stderr, "simulator: too many requests\n");
    abort();
}

bool sim_fits(const struct sim_request *receive, int from, int comm, int tag)
{
    return receive->used && !receive->send && receive->status == MPIQ_STATUS_PENDING &&
           receive->comm == comm && (receive->peer == -1 || receive->peer == from) &&
           (receive->tag == -1 ? tag >= 0 : receive->tag == tag);
}

static void serve(struct sim_request *receive, const struct sim_message *message)
{
    if (message->eager) {
        receive->status = MPIQ_STATUS_COMPLETE;
        return;
    }
    receive->status = MPIQ_STATUS_MATCHED;
    receive->peer = message->from;
    receive->tag = message->tag;
    receive->sequence |= message->request << 32; /* whom to tell */
}

static void push(int from, struct sim_channel *channel, struct sim_request *request)
{
    channel->queue[channel->count++] = (struct sim_message){.from = from,
                                                            .comm = request->comm,
                                                            .tag = request->tag,
                                                            .eager = request->eager,
                                                            .request = request->id};
    if (request->eager)
        request->status = MPIQ_STATUS_COMPLETE;
}

void sim_start_send(struct simulator *sim, int rank, int thread, const struct sim_step *step)
{
    struct sim_channel *channel = &sim->channel[rank][step->peer][step->comm];
    struct sim_request *request = new_request(sim, rank, thread, step);
    request->eager = !step->large;
    request->sequence = channel->sent++;
    if (channel->outbox_count > 0 || channel->count >= ROOM)
        channel->outbox[channel->outbox_count++] = request->id;
    else
        push(rank, channel, request);
}

void sim_start_receive(struct simulator *sim, int rank, int thread, const struct sim_step *step)
{
    struct sim_rank *row = &sim->rank[rank];
    struct sim_request *request = new_request(sim, rank, thread, step);
    request->sequence = ++row->posted;
    for (int i = 0; i < row->unexpected_count; i++) {
        struct sim_message message = row->unexpected[i];
        if (!sim_fits(request, message.from, message.comm, message.tag))
            continue;
        memmove(&row->unexpected[i], &row->unexpected[i + 1],
                (size_t)(--row->unexpected_count - i) * sizeof message);
        serve(request, &message);
        return;
    }
}

static bool drain(struct simulator *sim, int rank)
{
    struct sim_rank *row = &sim->rank[rank];
    int start = sim_below(sim, sim->ranks * SIM_COMMS);
    for (int i = 0; i < sim->ranks * SIM_COMMS; i++) {
        int pick = (start + i) % (sim->ranks * SIM_COMMS);
        struct sim_channel *channel = &sim->channel[pick / SIM_COMMS][rank][pick % SIM_COMMS];
        if (channel->count == 0)
            continue;
        struct sim_message message = channel->queue[0];
        memmove(&channel->queue[0], &channel->queue[1], (size_t)--channel->count * sizeof message);
        channel->expected++;
        struct sim_request *first = NULL; /* the one posted first of those that fit */
        for (int j = 0; j < SIM_REQUESTS; j++) {
            struct sim_request *receive = &row->requests[j];
            if (sim_fits(receive, message.from, message.comm, message.tag) &&
                (!first || receive->sequence < first->sequence))
                first = receive;
        }
        if (first)
            serve(first, &message);
        else
            row->unexpected[row->unexpected_count++] = message;
        return true;
    }
    return false;
}

bool sim_progress(struct simulator *sim, int rank)
{
    struct sim_rank *row = &sim->rank[rank];
    if (row->finished_count > 0) {
        struct sim_request *send = request_of(sim, rank, row->finished[--row->finished_count]);
        if (send)
            send->status = MPIQ_STATUS_COMPLETE;
        return true;
    }
    for (int i = 0; i < SIM_REQUESTS; i++) {
        struct sim_request *receive = &row->requests[i];
        if (!receive->used || receive->send || receive->status != MPIQ_STATUS_MATCHED)
            continue;
        struct sim_rank *sender = &sim->rank[receive->peer];
        sender->finished[sender->finished_count++] = receive->sequence >> 32;
        receive->sequence &= 0xffffffff;
        receive->status = MPIQ_STATUS_COMPLETE;
        return true;
    }
    for (int to = 0; to < sim->ranks; to++) {
        for (int comm = 0; comm < SIM_COMMS; comm++) {
            struct sim_channel *channel = &sim->channel[rank][to][comm];
            if (channel->outbox_count == 0 || channel->count >= ROOM)
                continue;
            push(rank, channel, request_of(sim, rank, channel->outbox[0]));
            memmove(&channel->outbox[0], &channel->outbox[1],
                    (size_t)--channel->outbox_count * sizeof channel->outbox[0]);
            return true;
        }
    }
    if (sim_once_in(sim, 2))
        return sim_take_word(sim, rank) || drain(sim, rank);
    return drain(sim, rank) || sim_take_word(sim, rank);
}
