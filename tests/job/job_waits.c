/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "job_builder.h"
#include "job_builder_private.h"

void job_wait(struct job_builder *job, int rank, const char *call, enum mpiq_wait_kind kind)
{
    job->episode++;
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_thread *thread = job_last_thread(state);
        job_enter(state, thread, call);
        if (!thread->has_wait_record)
            continue;
        struct mpiq_wait *wait = mpiq_thread_add_wait(thread);
        wait->level = (int32_t)thread->wait_count - 1;
        wait->kind = (uint8_t)kind;
        wait->episode = job->episode;
        wait->begin_ns = JOB_NOW_NS - (int64_t)(job->waited * 1e9);
        wait->comm = wait->collective_comm = -1;
        wait->collective = -1;
        wait->need = 1;
        snprintf(wait->call, sizeof wait->call, "%s", call);
    }
}

static struct mpiq_operation fill(const struct mpiq_rank_state *state, int comm,
                                  enum mpiq_operation_kind kind, int peer, int tag, int bytes)
{
    struct mpiq_operation op = {
        .comm = (uint32_t)comm,
        .kind = (uint8_t)kind,
        .peer_local = peer,
        .peer = {.rank = -1},
        .tag = tag == ANY ? 0 : tag,
        .tag_any = tag == ANY,
        .bytes = bytes,
        .actual_bytes = -1,
        .actual_local = -1,
        .actual = {.rank = -1},
        .collective = -1,
        .internal = tag < -1,
        .queue = kind == MPIQ_OPERATION_MESSAGE ? MPIQ_QUEUE_UNEXPECTED
                 : kind <= MPIQ_OPERATION_RSEND ? MPIQ_QUEUE_SENDS
                                                : MPIQ_QUEUE_RECEIVES,
        .sequence = state->operation_count + 1,
    };
    return op;
}

static struct mpiq_operation *add_operation(struct mpiq_rank_state *state, const struct mpiq_operation *op)
{
    struct mpiq_operation *added = mpiq_rank_state_add_operation(state);
    *added = *op;
    return added;
}

static uint64_t wait_operation(struct job_builder *job, int rank, int comm, enum mpiq_operation_kind kind,
                               int peer, int tag, int bytes)
{
    uint64_t request = ++job->request;
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_operation op = fill(state, comm, kind, peer, tag, bytes);
        op.request = request;
        add_operation(state, &op);
        struct mpiq_thread *thread = job_last_thread(state);
        if (thread->wait_count == 0)
            continue;
        struct mpiq_wait *wait = &thread->waits[thread->wait_count - 1];
        op.queue = MPIQ_QUEUE_WAIT;
        *mpiq_wait_add_operation(wait) = op;
        if (wait->kind == MPIQ_WAIT_ALL)
            wait->need = (int32_t)wait->operation_count;
    }
    return request;
}

uint64_t job_wait_receive(struct job_builder *job, int rank, int comm, int peer, int tag)
{
    return wait_operation(job, rank, comm, MPIQ_OPERATION_RECEIVE, peer, tag, 40);
}

uint64_t job_wait_send(struct job_builder *job, int rank, int comm, int peer, int tag, int bytes)
{
    return wait_operation(job, rank, comm, MPIQ_OPERATION_SEND, peer, tag, bytes);
}

void job_wait_internal(struct job_builder *job, int rank, int comm, int peer, int tag)
{
    wait_operation(job, rank, comm, MPIQ_OPERATION_RECEIVE, peer, tag, 40);
}

void job_recv(struct job_builder *job, int rank, int comm, int peer, int tag)
{
    job_wait(job, rank, "MPI_Recv", MPIQ_WAIT_RECEIVE);
    job_wait_receive(job, rank, comm, peer, tag);
}

void job_send(struct job_builder *job, int rank, int comm, int peer, int tag, int bytes)
{
    job_wait(job, rank, "MPI_Send", MPIQ_WAIT_SEND);
    job_wait_send(job, rank, comm, peer, tag, bytes);
}

void job_probe(struct job_builder *job, int rank, int comm, int peer, int tag)
{
    job_wait(job, rank, "MPI_Probe", MPIQ_WAIT_PROBE);
    wait_operation(job, rank, comm, MPIQ_OPERATION_PROBE, peer, tag, 0);
}

static struct mpiq_call *add_call(struct mpiq_rank_state *state, int comm, const char *call, int number,
                                  bool done)
{
    struct mpiq_communicator *row = &state->communicators[comm];
    mpiq_communicator_add_call(row);
    memmove(&row->calls[1], &row->calls[0], (row->call_count - 1) * sizeof *row->calls);
    row->calls[0] = (struct mpiq_call){
        .number = number,
        .collective = (int16_t)mpiq_collective_class(call),
        .bytes = -1,
        .root = -1,
        .tid = job_last_thread(state)->tid,
        .done = done,
    };
    row->ordered = number;
    for (size_t i = 0; i < row->count_count; i++) {
        if (row->counts[i].collective == row->calls[0].collective) {
            row->counts[i].count++;
            row->counts[i].active = !done;
            return &row->calls[0];
        }
    }
    struct mpiq_coll_count *count = mpiq_communicator_add_count(row);
    *count = (struct mpiq_coll_count){.collective = row->calls[0].collective, .active = !done, .count = 1};
    return &row->calls[0];
}

void job_collective(struct job_builder *job, int rank, int comm, const char *call, int number, int from)
{
    job_wait(job, rank, call, from == ANY ? MPIQ_WAIT_SHARED : MPIQ_WAIT_REQUEST);
    FOR_LOOKS(job, rank, state)
    {
        if (!job_last_thread(state)->has_wait_record)
            continue;
        struct mpiq_wait *wait = &job_last_thread(state)->waits[job_last_thread(state)->wait_count - 1];
        wait->collective = (int16_t)mpiq_collective_class(call);
        wait->collective_comm = comm;
        add_call(state, comm, call, number, false)->begin_ns = wait->begin_ns;
    }
    if (from != ANY)
        job_wait_internal(job, rank, comm, from, -17);
}

void job_arguments(struct job_builder *job, int rank, int comm, int root, const char *op, int bytes)
{
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_call *call = &state->communicators[comm].calls[0];
        call->root = root;
        call->op = mpiq_rank_state_intern(state, op);
        call->bytes = bytes;
    }
}

void job_called(struct job_builder *job, int rank, int comm, const char *call, int number)
{
    FOR_LOOKS(job, rank, state)
    add_call(state, comm, call, number, true);
}

void job_source(struct job_builder *job, int rank, int comm, int number, int source)
{
    FOR_LOOKS(job, rank, state)
    *mpiq_communicator_add_source(&state->communicators[comm]) =
        (struct mpiq_call_source){.number = number, .local = source};
}

void job_finalize(struct job_builder *job, int rank)
{
    job_wait(job, rank, "MPI_Finalize", MPIQ_WAIT_FINALIZE);
    job_phase(job, rank, MPIQ_PHASE_FINALIZING);
}

struct mpiq_operation *job_operation(struct job_builder *job, int rank, int comm,
                                     enum mpiq_operation_kind kind, int peer, int tag, int bytes)
{
    uint64_t request = kind == MPIQ_OPERATION_MESSAGE ? 0 : ++job->request;
    struct mpiq_operation *last = NULL;
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_operation op = fill(state, comm, kind, peer, tag, bytes);
        op.request = request;
        last = add_operation(state, &op);
    }
    return last;
}

void job_unexpected(struct job_builder *job, int rank, int comm, int from, int tag, int bytes)
{
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_operation op = fill(state, comm, MPIQ_OPERATION_MESSAGE, from, tag, bytes);
        op.eager = true;
        add_operation(state, &op);
    }
}

static struct mpiq_channel *channel_of(struct mpiq_communicator *comm, int peer)
{
    for (size_t i = 0; i < comm->channel_count; i++) {
        if (comm->channels[i].peer_local == peer)
            return &comm->channels[i];
    }
    struct mpiq_channel *channel = mpiq_communicator_add_channel(comm);
    *channel = (struct mpiq_channel){.peer_local = peer, .sent = 1, .expected = 1};
    return channel;
}

void job_channel(struct job_builder *job, int from, int to, int comm, int sent, int taken)
{
    FOR_LOOKS(job, from, sender)
    channel_of(&sender->communicators[comm], job->states[0][to]->communicators[comm].local_rank)->sent =
        1 + (uint32_t)sent;
    FOR_LOOKS(job, to, receiver)
    channel_of(&receiver->communicators[comm], job->states[0][from]->communicators[comm].local_rank)
        ->expected = 1 + (uint32_t)taken;
}

void job_wait_started(struct job_builder *job, int rank, const char *call, int number, int root)
{
    job_wait(job, rank, "MPI_Wait", MPIQ_WAIT_REQUEST);
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job->states[look][rank];
        struct mpiq_call *made = mpiq_communicator_add_outstanding(&state->communicators[WORLD]);
        *made = (struct mpiq_call){.number = number,
                                   .root = root,
                                   .bytes = -1,
                                   .request = 0x900,
                                   .tid = state->pid,
                                   .collective = (int16_t)mpiq_collective_class(call)};
        state->communicators[WORLD].ordered = number;
        *mpiq_wait_add_operation(&state->threads[0].waits[0]) =
            (struct mpiq_operation){.request = 0x900,
                                    .kind = MPIQ_OPERATION_COLLECTIVE,
                                    .comm = WORLD,
                                    .peer = {.rank = -1},
                                    .peer_local = ANY,
                                    .bytes = -1,
                                    .collective = -1,
                                    .queue = MPIQ_QUEUE_WAIT};
    }
}
