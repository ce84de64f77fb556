/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "simulator_private.h"

static void pause_for(struct simulator *sim, int most)
{
    for (int steps = most > 0 ? sim_below(sim, most + 1) : 0; steps > 0; steps--)
        sim_step(sim);
}

static struct mpiq_operation operation(const struct sim_request *request)
{
    return (struct mpiq_operation){
        .request = request->id,
        .sequence = request->sequence & 0xffffffff,
        .bytes = 8,
        .actual_bytes = -1,
        .comm = (uint32_t)request->comm,
        .peer_local = request->peer,
        .peer = {.rank = -1},
        .tag = request->tag == -1 ? 0 : request->tag,
        .tag_any = request->tag == -1,
        .actual_local = request->status == MPIQ_STATUS_MATCHED ? request->peer : -1,
        .actual = {.rank = -1},
        .collective = -1,
        .kind = request->send ? MPIQ_OPERATION_SEND : MPIQ_OPERATION_RECEIVE,
        .status = (uint8_t)request->status,
        .queue = request->send ? MPIQ_QUEUE_SENDS : MPIQ_QUEUE_RECEIVES,
        .internal = request->internal,
        .eager = request->eager,
    };
}

static void look_at_requests(struct simulator *sim, int rank, bool sends, struct mpiq_rank_state *state)
{
    /* In the order of posting, which the DLL takes from sequence numbers. */
    uint64_t last = 0;
    for (;;) {
        const struct sim_request *next = NULL;
        for (int i = 0; i < SIM_REQUESTS; i++) {
            const struct sim_request *request = &sim->rank[rank].requests[i];
            uint64_t key = ((request->sequence & 0xffffffff) + 1) << 8 | (uint64_t)i;
            uint64_t best =
                next ? ((next->sequence & 0xffffffff) + 1) << 8 | (uint64_t)(next - sim->rank[rank].requests)
                     : 0;
            if (request->used && request->send == sends && key > last && (!next || key < best))
                next = request;
        }
        if (!next)
            return;
        last = ((next->sequence & 0xffffffff) + 1) << 8 | (uint64_t)(next - sim->rank[rank].requests);
        struct mpiq_operation op = operation(next);
        *mpiq_rank_state_add_operation(state) = op;
    }
}

static void look_at_unexpected(const struct simulator *sim, int rank, struct mpiq_rank_state *state)
{
    for (int i = 0; i < sim->rank[rank].unexpected_count; i++) {
        const struct sim_message *message = &sim->rank[rank].unexpected[i];
        *mpiq_rank_state_add_operation(state) = (struct mpiq_operation){.bytes = 8,
                                                                        .actual_bytes = -1,
                                                                        .comm = (uint32_t)message->comm,
                                                                        .peer_local = message->from,
                                                                        .peer = {.rank = -1},
                                                                        .tag = message->tag,
                                                                        .actual_local = -1,
                                                                        .actual = {.rank = -1},
                                                                        .collective = -1,
                                                                        .kind = MPIQ_OPERATION_MESSAGE,
                                                                        .queue = MPIQ_QUEUE_UNEXPECTED,
                                                                        .internal = message->tag < 0,
                                                                        .eager = message->eager};
    }
}

static void look_at_channels(const struct simulator *sim, int rank, struct mpiq_rank_state *state)
{
    for (int comm = 0; comm < SIM_COMMS; comm++) {
        for (int other = 0; other < sim->ranks; other++) {
            *mpiq_communicator_add_channel(&state->communicators[comm]) =
                (struct mpiq_channel){.peer_local = other,
                                      .sent = (uint16_t)sim->channel[rank][other][comm].sent,
                                      .expected = (uint16_t)sim->channel[other][rank][comm].expected};
        }
    }
}

static void look_at_calls(const struct simulator *sim, int rank, struct mpiq_rank_state *state)
{
    const struct sim_rank *row = &sim->rank[rank];
    struct mpiq_communicator *world = &state->communicators[0];
    world->ordered = sim->patched ? row->entered : -1;
    if (!sim->patched || row->entered == 0)
        return;
    *mpiq_communicator_add_call(world) =
        (struct mpiq_call){.number = row->entered,
                           .bytes = -1,
                           .root = -1,
                           .tid = state->pid,
                           .done = !row->inside,
                           .collective = (int16_t)mpiq_collective_class(row->calls[row->entered])};
}

static enum mpiq_wait_kind wait_kind(const struct sim_step *step)
{
    switch (step->kind) {
    case SIM_PROBE:
        return MPIQ_WAIT_PROBE;
    case SIM_SHARED:
        return MPIQ_WAIT_SHARED;
    case SIM_END:
        return MPIQ_WAIT_FINALIZE;
    default:
        return step->all ? MPIQ_WAIT_ALL : MPIQ_WAIT_ANY;
    }
}

static struct mpiq_operation probe(const struct sim_step *step)
{
    return (struct mpiq_operation){.comm = (uint32_t)step->comm,
                                   .peer_local = step->peer,
                                   .peer = {.rank = -1},
                                   .tag = step->tag == -1 ? 0 : step->tag,
                                   .tag_any = step->tag == -1,
                                   .actual_local = -1,
                                   .actual = {.rank = -1},
                                   .collective = -1,
                                   .kind = MPIQ_OPERATION_PROBE,
                                   .bytes = -1,
                                   .actual_bytes = -1};
}

static void look_at_wait(const struct simulator *sim, int rank, const struct sim_step *step,
                         struct mpiq_thread *thread)
{
    const struct sim_rank *row = &sim->rank[rank];
    struct mpiq_wait *wait = mpiq_thread_add_wait(thread);
    wait->kind = (uint8_t)wait_kind(step);
    wait->episode = row->episode;
    wait->comm = -1;
    wait->collective_comm = row->inside ? 0 : -1;
    wait->collective = (int16_t)(row->inside ? mpiq_collective_class(row->calls[row->entered]) : -1);
    snprintf(wait->call, sizeof wait->call, "%s", step->call);
    for (int i = 0; step->kind == SIM_WAIT && i < SIM_REQUESTS; i++) {
        if (!sim_in_group(&row->requests[i], step->group))
            continue;
        struct mpiq_operation op = operation(&row->requests[i]);
        op.queue = MPIQ_QUEUE_WAIT;
        *mpiq_wait_add_operation(wait) = op;
    }
    if (step->kind == SIM_PROBE) {
        struct mpiq_operation op = probe(step);
        op.queue = MPIQ_QUEUE_WAIT;
        *mpiq_wait_add_operation(wait) = op;
    }
    wait->need = wait->kind == MPIQ_WAIT_ALL ? (int32_t)wait->operation_count : 1;
}

static void look_at_thread(const struct simulator *sim, int rank, struct mpiq_rank_state *state)
{
    const struct sim_rank *row = &sim->rank[rank];
    const struct sim_step *step = &row->program[row->at];
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    thread->tid = state->pid;
    thread->state = 'R';
    thread->record = sim->patched;
    thread->cpu_ns = row->cpu_ns;
    thread->mpi_frame = -1;
    thread->user_frame = 0;
    mpiq_thread_add_frame(thread)->pc = 0x400;
    if (!row->waiting)
        return;
    thread->frames[0].pc = 0x100;
    mpiq_thread_add_frame(thread)->pc = 0x400;
    thread->mpi_frame = 0;
    thread->user_frame = 1;
    snprintf(thread->mpi_call, sizeof thread->mpi_call, "%s", step->call);
    if (sim->patched && step->kind != SIM_TEST)
        look_at_wait(sim, rank, step, thread);
}

/* The posted request of a probe is in the queues, as ob1 has it. */
static void look_at_probe(const struct simulator *sim, int rank, struct mpiq_rank_state *state)
{
    const struct sim_rank *row = &sim->rank[rank];
    const struct sim_step *step = &row->program[row->at];
    if (!row->waiting || step->kind != SIM_PROBE)
        return;
    struct mpiq_operation op = probe(step);
    op.queue = MPIQ_QUEUE_RECEIVES;
    op.request = 0xabc;
    op.sequence = row->episode;
    *mpiq_rank_state_add_operation(state) = op;
}

/* Whether a rank has done all that it ever does on the second communicator, and the others all that they do
   with it there: then it may have freed it, whatever of its messages is still under way. */
static bool has_freed(const struct simulator *sim, int rank)
{
    const int comm = 1;
    const struct sim_rank *row = &sim->rank[rank];
    if (sim->seed_of_job % 2)
        return false;
    for (int other = 0; other < sim->ranks; other++) {
        const struct sim_rank *peer = &sim->rank[other];
        for (int i = peer->at; i < peer->length; i++) {
            const struct sim_step *step = &peer->program[i];
            bool message = step->kind == SIM_SEND || step->kind == SIM_RECEIVE || step->kind == SIM_PROBE;
            if (message && step->comm == comm &&
                (other == rank || (step->kind == SIM_SEND && step->peer == rank)))
                return false;
        }
        for (int i = 0; i < SIM_REQUESTS; i++) {
            const struct sim_request *request = &peer->requests[i];
            if (request->used && request->comm == comm &&
                (other == rank || (request->send && request->peer == rank)))
                return false;
        }
        if (sim->channel[other][rank][comm].count > 0 || sim->channel[rank][other][comm].outbox_count > 0)
            return false;
    }
    for (int i = 0; i < row->unexpected_count; i++) {
        if (row->unexpected[i].comm == comm)
            return false;
    }
    return true;
}

static void add_communicators(const struct simulator *sim, int rank, struct mpiq_rank_state *state)
{
    for (int comm = 0; comm < SIM_COMMS; comm++) {
        struct mpiq_communicator *row = mpiq_rank_state_add_communicator(state);
        row->handle = 0x10 + (uint64_t)comm;
        row->context[1] =
            comm ? has_freed(sim, rank) ? 100 + (uint64_t)rank : 3 : 0; /* or another one by now */
        row->flags = comm ? 0 : MPIQ_COMM_WORLD;
        row->local_rank = rank;
        row->ordered = sim->patched ? 0 : -1;
        row->local = (struct mpiq_group){.hash = 9, .count = (uint32_t)sim->ranks};
        row->local.members = calloc((size_t)sim->ranks, sizeof *row->local.members);
        for (int i = 0; i < sim->ranks; i++)
            row->local.members[i] = (struct mpiq_name){.job = 1, .rank = i};
    }
}

struct mpiq_rank_state *sim_look(struct simulator *sim, int rank, int look, int pause)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    state->name = (struct mpiq_name){.job = 1, .rank = rank};
    state->world_size = sim->ranks;
    state->pid = 100 + rank;
    state->phase = sim_ended(sim, rank) ? MPIQ_PHASE_FINALIZING : MPIQ_PHASE_RUNNING;
    state->source = sim->patched ? MPIQ_SOURCE_PATCHED : MPIQ_SOURCE_DEBUG_INFO;
    state->thread_level = 0;
    state->queues = MPIQ_YES;
    state->process_state = 'R';
    state->taken_ns = 1000 + look;
    add_communicators(sim, rank, state);
    /* Pieces in any order: what belongs together may be of different moments.  They stand in one order. */
    struct mpiq_rank_state *queues[3];
    for (int i = 0; i < 3; i++)
        queues[i] = mpiq_rank_state_create();
    int first = sim_below(sim, 6);
    for (int i = 0; i < 6; i++) {
        pause_for(sim, pause);
        switch ((first + i) % 6) {
        case 0:
            look_at_requests(sim, rank, true, queues[0]);
            break;
        case 1:
            look_at_requests(sim, rank, false, queues[1]);
            look_at_probe(sim, rank, queues[1]);
            break;
        case 2:
            look_at_unexpected(sim, rank, queues[2]);
            break;
        case 3:
            look_at_channels(sim, rank, state);
            break;
        case 4:
            look_at_calls(sim, rank, state);
            break;
        case 5:
            look_at_thread(sim, rank, state);
            break;
        }
    }
    pause_for(sim, pause);
    for (int i = 0; i < 3; i++) {
        for (size_t j = 0; j < queues[i]->operation_count; j++)
            *mpiq_rank_state_add_operation(state) = queues[i]->operations[j];
        mpiq_rank_state_destroy(queues[i]);
    }
    return state;
}
