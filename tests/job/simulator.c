/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

enum { ROOM = 2, TAG_BARRIER = -16 };

static int below(struct simulator *sim, int limit)
{
    return (int)(model_random(&sim->seed) % (uint64_t)limit);
}

static bool once_in(struct simulator *sim, int times)
{
    return below(sim, times) == 0;
}

/* Programs. */

static void put(struct sim_rank *rank, struct sim_step step)
{
    if (rank->length < SIM_PROGRAM - 1)
        rank->program[rank->length++] = step;
}

static void put_send(struct simulator *sim, int from, int to, int comm, int tag, bool blocking, int group)
{
    struct sim_rank *rank = &sim->rank[from];
    put(rank, (struct sim_step){.kind = SIM_SEND,
                                .comm = comm,
                                .peer = to,
                                .tag = tag,
                                .large = once_in(sim, 3),
                                .group = group});
    if (blocking)
        put(rank, (struct sim_step){.kind = SIM_WAIT, .group = group, .all = true, .call = "MPI_Send"});
}

static void put_receive(struct simulator *sim, int to, int from, int comm, int tag, bool blocking, int group)
{
    struct sim_rank *rank = &sim->rank[to];
    int source = once_in(sim, 5) ? -1 : from;
    int wanted = once_in(sim, 6) ? -1 : tag;
    if (once_in(sim, 8))
        put(rank, (struct sim_step){
                      .kind = SIM_PROBE, .comm = comm, .peer = source, .tag = wanted, .call = "MPI_Probe"});
    put(rank,
        (struct sim_step){.kind = SIM_RECEIVE, .comm = comm, .peer = source, .tag = wanted, .group = group});
    if (blocking)
        put(rank, (struct sim_step){.kind = SIM_WAIT, .group = group, .all = true, .call = "MPI_Recv"});
}

/* One way: the sender and the receiver each get their part; now and then one of them does not. */
static void put_message(struct simulator *sim, int *group)
{
    int from = below(sim, sim->ranks);
    int to = below(sim, sim->ranks);
    int comm = once_in(sim, 3);
    int tag = below(sim, 3);
    if (from == to)
        return;
    bool blocking = !once_in(sim, 3);
    if (!once_in(sim, 40))
        put_send(sim, from, to, comm, tag, blocking, ++*group);
    blocking = !once_in(sim, 3);
    if (!once_in(sim, 40))
        put_receive(sim, to, from, comm, once_in(sim, 40) ? tag + 1 : tag, blocking, ++*group);
}

static void put_wait(struct simulator *sim, int group)
{
    /* Whatever was posted and not waited for: one of them, or all, or a loop of tests. */
    int rank = below(sim, sim->ranks);
    struct sim_rank *row = &sim->rank[rank];
    if (once_in(sim, 4))
        put(row, (struct sim_step){.kind = SIM_TEST, .group = group, .call = "MPI_Test"});
    else if (once_in(sim, 2))
        put(row, (struct sim_step){.kind = SIM_WAIT, .group = -1, .all = true, .call = "MPI_Waitall"});
    else
        put(row, (struct sim_step){.kind = SIM_WAIT, .group = -1, .all = false, .call = "MPI_Waitany"});
}

static void put_linear_barrier(struct simulator *sim, int rank, int *group)
{
    struct sim_rank *row = &sim->rank[rank];
    bool any = once_in(sim, 2);
    put(row, (struct sim_step){.kind = SIM_ENTER, .call = "MPI_Barrier"});
    for (int other = 1; other < sim->ranks; other++) {
        if (rank != 0 && rank != other)
            continue;
        struct sim_step in = {.kind = SIM_RECEIVE,
                              .peer = rank == 0 ? any ? -1 : other : 0,
                              .tag = TAG_BARRIER,
                              .internal = true};
        struct sim_step out = {
            .kind = SIM_SEND, .peer = rank == 0 ? other : 0, .tag = TAG_BARRIER, .internal = true};
        struct sim_step wait = {.kind = SIM_WAIT, .all = true, .call = "MPI_Barrier"};
        if (rank != 0) {
            out.group = wait.group = ++*group;
            put(row, out);
            put(row, wait);
        }
        in.group = wait.group = ++*group;
        put(row, in);
        put(row, wait);
    }
    for (int other = 1; rank == 0 && other < sim->ranks; other++) {
        int own = ++*group;
        put(row, (struct sim_step){
                     .kind = SIM_SEND, .peer = other, .tag = TAG_BARRIER, .internal = true, .group = own});
        put(row, (struct sim_step){.kind = SIM_WAIT, .all = true, .group = own, .call = "MPI_Barrier"});
    }
    put(row, (struct sim_step){.kind = SIM_LEAVE});
}

static void put_collective(struct simulator *sim, int *group)
{
    bool shared = once_in(sim, 2);
    for (int rank = 0; rank < sim->ranks; rank++) {
        if (once_in(sim, 50))
            continue; /* one forgets it */
        if (!shared) {
            put_linear_barrier(sim, rank, group);
            continue;
        }
        put(&sim->rank[rank], (struct sim_step){.kind = SIM_ENTER, .call = "MPI_Allreduce"});
        put(&sim->rank[rank], (struct sim_step){.kind = SIM_SHARED, .call = "MPI_Allreduce"});
        put(&sim->rank[rank], (struct sim_step){.kind = SIM_LEAVE});
    }
}

void sim_make(struct simulator *sim, uint64_t seed, bool patched)
{
    memset(sim, 0, sizeof *sim);
    sim->seed = sim->seed_of_job = seed;
    sim->patched = patched;
    sim->ranks = 2 + below(sim, SIM_RANKS - 1);
    int group = 0;
    int actions = 3 + below(sim, 12);
    for (int i = 0; i < actions; i++) {
        switch (below(sim, 8)) {
        case 0:
            put_collective(sim, &group);
            break;
        case 1:
            put(&sim->rank[below(sim, sim->ranks)],
                (struct sim_step){.kind = SIM_COMPUTE, .count = 1 + below(sim, 30)});
            break;
        case 2:
            put_wait(sim, group);
            break;
        default:
            put_message(sim, &group);
        }
    }
    for (int rank = 0; rank < sim->ranks; rank++) {
        if (once_in(sim, 2))
            put(&sim->rank[rank],
                (struct sim_step){.kind = SIM_WAIT, .group = -1, .all = true, .call = "MPI_Waitall"});
        sim->rank[rank].program[sim->rank[rank].length++] =
            (struct sim_step){.kind = SIM_END, .call = "MPI_Finalize"};
        for (int other = 0; other < sim->ranks; other++) {
            for (int comm = 0; comm < SIM_COMMS; comm++) /* near the end of 16 bits, where it wraps */
                sim->channel[rank][other][comm].sent = sim->channel[rank][other][comm].expected = 65530;
        }
    }
}

/* Messages. */

static struct sim_request *request_of(struct simulator *sim, int rank, uint64_t id)
{
    for (int i = 0; i < SIM_REQUESTS; i++) {
        if (sim->rank[rank].requests[i].used && sim->rank[rank].requests[i].id == id)
            return &sim->rank[rank].requests[i];
    }
    return NULL;
}

static struct sim_request *new_request(struct simulator *sim, int rank, const struct sim_step *step)
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
                                        .id = 0x100 + (uint64_t)i};
        return request;
    }
    fprintf(stderr, "simulator: too many requests\n");
    abort();
}

static bool fits(const struct sim_request *receive, int from, int comm, int tag)
{
    return receive->used && !receive->send && receive->status == MPIQ_STATUS_PENDING &&
           receive->comm == comm && (receive->peer == -1 || receive->peer == from) &&
           (receive->tag == -1 ? tag >= 0 : receive->tag == tag);
}

static void serve(struct simulator *sim, int rank, struct sim_request *receive,
                  const struct sim_message *message)
{
    if (message->eager) {
        receive->status = MPIQ_STATUS_COMPLETE;
        return;
    }
    receive->status = MPIQ_STATUS_MATCHED;
    receive->peer = message->from;
    receive->tag = message->tag;
    receive->sequence |= message->request << 32; /* whom to tell */
    (void)sim;
    (void)rank;
}

static void push(struct simulator *sim, int from, struct sim_channel *channel, struct sim_request *request)
{
    channel->queue[channel->count++] = (struct sim_message){.from = from,
                                                            .comm = request->comm,
                                                            .tag = request->tag,
                                                            .eager = request->eager,
                                                            .request = request->id};
    if (request->eager)
        request->status = MPIQ_STATUS_COMPLETE;
    (void)sim;
}

static void start_send(struct simulator *sim, int rank, const struct sim_step *step)
{
    struct sim_channel *channel = &sim->channel[rank][step->peer][step->comm];
    struct sim_request *request = new_request(sim, rank, step);
    request->eager = !step->large;
    request->sequence = channel->sent++;
    if (channel->outbox_count > 0 || channel->count >= ROOM)
        channel->outbox[channel->outbox_count++] = request->id;
    else
        push(sim, rank, channel, request);
}

static void start_receive(struct simulator *sim, int rank, const struct sim_step *step)
{
    struct sim_rank *row = &sim->rank[rank];
    struct sim_request *request = new_request(sim, rank, step);
    request->sequence = ++row->posted;
    for (int i = 0; i < row->unexpected_count; i++) {
        struct sim_message message = row->unexpected[i];
        if (!fits(request, message.from, message.comm, message.tag))
            continue;
        memmove(&row->unexpected[i], &row->unexpected[i + 1],
                (size_t)(--row->unexpected_count - i) * sizeof message);
        serve(sim, rank, request, &message);
        return;
    }
}

static bool drain(struct simulator *sim, int rank)
{
    struct sim_rank *row = &sim->rank[rank];
    int start = below(sim, sim->ranks * SIM_COMMS);
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
            if (fits(receive, message.from, message.comm, message.tag) &&
                (!first || receive->sequence < first->sequence))
                first = receive;
        }
        if (first)
            serve(sim, rank, first, &message);
        else
            row->unexpected[row->unexpected_count++] = message;
        return true;
    }
    return false;
}

/* What the library does whenever a rank is in it: one thing at a time. */
static bool progress(struct simulator *sim, int rank)
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
            push(sim, rank, channel, request_of(sim, rank, channel->outbox[0]));
            memmove(&channel->outbox[0], &channel->outbox[1],
                    (size_t)--channel->outbox_count * sizeof channel->outbox[0]);
            return true;
        }
    }
    return drain(sim, rank);
}

/* The same in a wait: a rank goes round there until its turn is over, or something happens. */
static bool go_round(struct simulator *sim, int rank)
{
    enum { ONE_THING_NS = 10000, TURN_NS = 3000000 };
    bool moved = progress(sim, rank);
    sim->rank[rank].cpu_ns += moved ? ONE_THING_NS : TURN_NS;
    return moved;
}

/* Steps. */

static bool in_group(const struct sim_request *request, int group)
{
    return request->used && (group == -1 ? !request->internal : request->group == group);
}

static bool wait_is_over(struct simulator *sim, int rank, const struct sim_step *step)
{
    struct sim_rank *row = &sim->rank[rank];
    int open = 0;
    int complete = 0;
    for (int i = 0; i < SIM_REQUESTS; i++) {
        if (!in_group(&row->requests[i], step->group))
            continue;
        open += row->requests[i].status != MPIQ_STATUS_COMPLETE;
        complete += row->requests[i].status == MPIQ_STATUS_COMPLETE;
    }
    return open == 0 || (!step->all && complete > 0);
}

static void free_complete(struct simulator *sim, int rank, int group)
{
    for (int i = 0; i < SIM_REQUESTS; i++) {
        struct sim_request *request = &sim->rank[rank].requests[i];
        if (in_group(request, group) && request->status == MPIQ_STATUS_COMPLETE)
            request->used = false;
    }
}

static bool probe_is_over(const struct sim_rank *row, const struct sim_step *step)
{
    struct sim_request probe = {.used = true, .comm = step->comm, .peer = step->peer, .tag = step->tag};
    for (int i = 0; i < row->unexpected_count; i++) {
        const struct sim_message *message = &row->unexpected[i];
        if (fits(&probe, message->from, message->comm, message->tag))
            return true;
    }
    return false;
}

static bool all_entered(const struct simulator *sim, int rank)
{
    for (int other = 0; other < sim->ranks; other++) {
        int64_t number = sim->rank[rank].entered;
        if (sim->rank[other].entered < number ||
            strcmp(sim->rank[other].calls[number], sim->rank[rank].calls[number]) != 0)
            return false;
    }
    return true;
}

static bool all_end(const struct simulator *sim)
{
    for (int rank = 0; rank < sim->ranks; rank++) {
        if (sim->rank[rank].program[sim->rank[rank].at].kind != SIM_END)
            return false;
    }
    return true;
}

static bool is_over(struct simulator *sim, int rank, const struct sim_step *step)
{
    switch (step->kind) {
    case SIM_WAIT:
        return wait_is_over(sim, rank, step);
    case SIM_TEST: {
        struct sim_step wait = *step;
        wait.all = true;
        return wait_is_over(sim, rank, &wait);
    }
    case SIM_PROBE:
        return probe_is_over(&sim->rank[rank], step);
    case SIM_SHARED:
        return all_entered(sim, rank);
    default:
        return false;
    }
}

bool sim_ended(const struct simulator *sim, int rank)
{
    return sim->rank[rank].program[sim->rank[rank].at].kind == SIM_END;
}

bool sim_step_rank(struct simulator *sim, int rank)
{
    struct sim_rank *row = &sim->rank[rank];
    const struct sim_step *step = &row->program[row->at];
    switch (step->kind) {
    case SIM_COMPUTE:
        if (++row->left >= step->count) {
            row->left = 0;
            row->at++;
        }
        return true;
    case SIM_SEND:
        start_send(sim, rank, step);
        row->at++;
        return true;
    case SIM_RECEIVE:
        start_receive(sim, rank, step);
        row->at++;
        return true;
    case SIM_ENTER:
        row->entered++;
        row->inside = true;
        row->calls[row->entered] = step->call;
        row->at++;
        return true;
    case SIM_LEAVE:
        row->inside = false;
        row->at++;
        return true;
    case SIM_END:
        if (!row->waiting) {
            row->waiting = true;
            row->episode++;
            return true;
        }
        return !all_end(sim) && go_round(sim, rank);
    case SIM_WAIT:
    case SIM_PROBE:
    case SIM_SHARED:
    case SIM_TEST:
        break;
    }
    if (is_over(sim, rank, step)) {
        if (step->kind == SIM_WAIT || step->kind == SIM_TEST)
            free_complete(sim, rank, step->group);
        row->waiting = false;
        row->ended++;
        row->at++;
        return true;
    }
    if (!row->waiting) {
        row->waiting = true;
        row->episode++;
        return true;
    }
    return go_round(sim, rank);
}

void sim_step(struct simulator *sim)
{
    sim_step_rank(sim, below(sim, sim->ranks));
}

void sim_settle(struct simulator *sim)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int rank = 0; rank < sim->ranks; rank++)
            moved = sim_step_rank(sim, rank) || moved;
    }
}

/* Looks. */

static void pause_for(struct simulator *sim, int most)
{
    for (int steps = most > 0 ? below(sim, most + 1) : 0; steps > 0; steps--)
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
        if (!in_group(&row->requests[i], step->group))
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
    int first = below(sim, 6);
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

void sim_print(const struct simulator *sim)
{
    static const char *const kinds[] = {"send",  "receive", "wait",   "probe",   "test",
                                        "enter", "leave",   "shared", "compute", "end"};
    for (int rank = 0; rank < sim->ranks; rank++) {
        const struct sim_rank *row = &sim->rank[rank];
        printf("rank %d, entered %d\n", rank, (int)row->entered);
        for (int i = 0; i < row->length; i++) {
            const struct sim_step *step = &row->program[i];
            printf("  %s%s comm %d peer %d tag %d group %d%s%s%s\n", i == row->at ? "->" : "  ",
                   kinds[step->kind], step->comm, step->peer, step->tag, step->group,
                   step->large ? " large" : "", step->all ? " all" : "", step->internal ? " internal" : "");
        }
    }
}
