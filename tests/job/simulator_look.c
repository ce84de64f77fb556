/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "simulator_private.h"

/* A step takes a second. */
#define SIM_TICK_NS INT64_C(1000000000)

/* One window for each way to synchronise. */
enum { LOCKS, EPOCHS, WINDOWS };

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
                           .begin_ns = (int64_t)row->entered_at * SIM_TICK_NS,
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
    case SIM_LOCK:
        return MPIQ_WAIT_LOCK;
    case SIM_UNLOCK:
        return MPIQ_WAIT_UNLOCK;
    case SIM_START:
        return MPIQ_WAIT_START;
    case SIM_COMPLETE:
        return MPIQ_WAIT_COMPLETE;
    case SIM_EXPOSED:
        return MPIQ_WAIT_WAIT;
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

static void look_at_wait(const struct simulator *sim, int rank, int number, const struct sim_step *step,
                         struct mpiq_thread *thread)
{
    const struct sim_rank *row = &sim->rank[rank];
    bool inside = row->inside && number == 0;
    struct mpiq_wait *wait = mpiq_thread_add_wait(thread);
    wait->kind = (uint8_t)wait_kind(step);
    wait->episode = row->thread[number].episode;
    wait->begin_ns = (int64_t)row->thread[number].stamp * SIM_TICK_NS;
    wait->comm = -1;
    wait->collective_comm = inside ? 0 : -1;
    wait->collective = (int16_t)(inside ? mpiq_collective_class(row->calls[row->entered]) : -1);
    wait->window = wait->window_target = -1;
    if (sim_is_window(step)) {
        bool lock = step->kind == SIM_LOCK || step->kind == SIM_UNLOCK;
        wait->window = lock ? LOCKS : EPOCHS;
        wait->window_target = lock ? step->peer : -1;
        wait->lock_type = step->type;
    }
    snprintf(wait->call, sizeof wait->call, "%s", step->call);
    for (int i = 0; step->kind == SIM_WAIT && i < SIM_REQUESTS; i++) {
        if (!sim_in_group(&row->requests[i], number, step->group))
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

static void look_at_thread(const struct simulator *sim, int rank, int number, struct mpiq_rank_state *state)
{
    const struct sim_thread *row = &sim->rank[rank].thread[number];
    const struct sim_step *step = &row->program[row->at];
    if (number > 0 && step->kind == SIM_END)
        return;
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    thread->tid = state->pid + number * 100;
    thread->state = 'R';
    thread->has_wait_record = sim->patched;
    thread->cpu_ns = row->cpu_ns;
    thread->mpi_frame = -1;
    thread->user_frame = 0;
    mpiq_thread_add_frame(thread)->pc = 0x400 + (unsigned)row->at * 4;
    bool joins = step->kind == SIM_JOIN;
    if (!row->waiting && !joins)
        return;
    thread->frames[0].pc = 0x100;
    mpiq_thread_add_frame(thread)->pc = 0x400 + (unsigned)row->at * 4;
    thread->user_frame = 1;
    if (joins) {
        thread->frames[0].function = mpiq_rank_state_intern(state, "pthread_join");
        thread->state = 'S';
        thread->sleep = MPIQ_SLEEP_OTHER;
        return;
    }
    thread->mpi_frame = 0;
    snprintf(thread->mpi_call, sizeof thread->mpi_call, "%s", step->call);
    if (sim->patched && step->kind != SIM_TEST)
        look_at_wait(sim, rank, number, step, thread);
}

/* The posted request of a probe is in the queues, as ob1 has it. */
static void look_at_probe(const struct simulator *sim, int rank, struct mpiq_rank_state *state)
{
    for (int i = 0; i < sim->rank[rank].threads; i++) {
        const struct sim_thread *row = &sim->rank[rank].thread[i];
        const struct sim_step *step = &row->program[row->at];
        if (!row->waiting || step->kind != SIM_PROBE)
            continue;
        struct mpiq_operation op = probe(step);
        op.queue = MPIQ_QUEUE_RECEIVES;
        op.request = 0xabc + (unsigned)i;
        op.sequence = row->episode;
        *mpiq_rank_state_add_operation(state) = op;
    }
}

static void look_at_windows(const struct simulator *sim, int rank, struct mpiq_rank_state *state)
{
    const struct sim_window *seen = &sim->rank[rank].window;
    struct mpiq_window *locks = &state->windows[LOCKS];
    struct mpiq_window *epochs = &state->windows[EPOCHS];
    for (int target = 0; target < sim->ranks; target++) {
        if (seen->lock_type[target] == MPIQ_LOCK_NONE)
            continue;
        *mpiq_window_add_lock(locks) = (struct mpiq_window_lock){
            .target_local = target, .type = seen->lock_type[target], .held = seen->lock_held[target]};
        if (seen->lock_held[target])
            locks->access = MPIQ_ACCESS_LOCK;
    }
    epochs->access = seen->access;
    epochs->exposure = seen->exposure;
    for (int other = 0; other < sim->ranks; other++) {
        if (seen->access_group >> other & 1)
            mpiq_window_add_access(epochs, other);
        if (seen->exposure_group >> other & 1)
            mpiq_window_add_exposure(epochs, other);
    }
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
        for (int i = 0; i < peer->threads * SIM_PROGRAM; i++) {
            const struct sim_thread *thread = &peer->thread[i / SIM_PROGRAM];
            const struct sim_step *step = &thread->program[i % SIM_PROGRAM];
            if (i % SIM_PROGRAM < thread->at || i % SIM_PROGRAM >= thread->length)
                continue;
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

static void add_windows(const struct simulator *sim, int rank, struct mpiq_rank_state *state)
{
    for (int i = 0; sim->windows && sim->patched && i < WINDOWS; i++) {
        struct mpiq_window *window = mpiq_rank_state_add_window(state);
        window->comm = 0;
        window->id[1] = (uint64_t)i + 1;
        window->local_rank = rank;
    }
}

/* What is read with pauses: a piece of it. */
static void look_at_piece(struct simulator *sim, int rank, int piece, struct mpiq_rank_state *state,
                          struct mpiq_rank_state *queues[3], int pause)
{
    if (sim->unread && piece < 4)
        return;
    switch (piece) {
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
        for (int i = 0; i < sim->rank[rank].threads; i++) {
            look_at_thread(sim, rank, i, state);
            pause_for(sim, pause);
        }
        break;
    }
}

struct mpiq_rank_state *sim_look(struct simulator *sim, int rank, int look, int pause)
{
    enum { PIECES = 6, MULTIPLE = 3 };
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    state->name = (struct mpiq_name){.job = 1, .rank = rank};
    state->world_size = sim->ranks;
    state->pid = 100 + rank;
    state->phase = sim_ended(sim, rank) ? MPIQ_PHASE_FINALIZING : MPIQ_PHASE_RUNNING;
    state->source = sim->patched ? MPIQ_SOURCE_PATCHED : MPIQ_SOURCE_DEBUG_INFO;
    state->thread_level = sim->rank[rank].threads > 1 ? MULTIPLE : 0;
    state->queues = sim->unread ? MPIQ_NO : MPIQ_YES;
    state->process_state = 'R';
    state->taken_ns = (int64_t)sim->clock * SIM_TICK_NS + look;
    add_communicators(sim, rank, state);
    add_windows(sim, rank, state);
    /* Pieces in any order: what belongs together may be of different moments.  They stand in one order.  The
       windows come before the rest or after it, in both looks alike. */
    struct mpiq_rank_state *queues[3];
    for (int i = 0; i < 3; i++)
        queues[i] = mpiq_rank_state_create();
    bool windows_last = sim->seed_of_job / 2 % 2;
    if (state->window_count > 0 && !windows_last)
        look_at_windows(sim, rank, state);
    int first = sim_below(sim, PIECES);
    for (int i = 0; i < PIECES; i++) {
        pause_for(sim, pause);
        look_at_piece(sim, rank, (first + i) % PIECES, state, queues, pause);
    }
    pause_for(sim, pause);
    if (state->window_count > 0 && windows_last)
        look_at_windows(sim, rank, state);
    pause_for(sim, pause);
    for (int i = 0; i < 3; i++) {
        for (size_t j = 0; j < queues[i]->operation_count; j++)
            *mpiq_rank_state_add_operation(state) = queues[i]->operations[j];
        mpiq_rank_state_destroy(queues[i]);
    }
    return state;
}
