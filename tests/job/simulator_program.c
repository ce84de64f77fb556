/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "simulator_private.h"

/* Internal tags: who is in one call gets no message of another one. */
enum { TAG_BARRIER = -16, TAG_FENCE = -17 };

static void put(struct sim_thread *thread, struct sim_step step)
{
    thread->program[thread->length++] = step;
}

/* Whether any action still fits into all programs. */
static bool has_room(const struct simulator *sim)
{
    enum { LONGEST = 4 * SIM_RANKS + 8 };
    for (int rank = 0; rank < sim->ranks; rank++) {
        for (int i = 0; i < sim->rank[rank].threads; i++) {
            if (sim->rank[rank].thread[i].length > SIM_PROGRAM - LONGEST)
                return false;
        }
    }
    return true;
}

/* One of its threads. */
static struct sim_thread *any_thread(struct simulator *sim, int rank)
{
    struct sim_rank *row = &sim->rank[rank];
    return &row->thread[row->threads > 1 && sim_once_in(sim, 2)];
}

static void put_send(struct simulator *sim, int from, int to, int comm, int tag, bool blocking, int group)
{
    struct sim_thread *rank = any_thread(sim, from);
    put(rank, (struct sim_step){.kind = SIM_SEND,
                                .comm = comm,
                                .peer = to,
                                .tag = tag,
                                .large = sim_once_in(sim, 3),
                                .group = group});
    if (blocking)
        put(rank, (struct sim_step){.kind = SIM_WAIT, .group = group, .all = true, .call = "MPI_Send"});
}

static void put_receive(struct simulator *sim, int to, int from, int comm, int tag, bool blocking, int group)
{
    struct sim_thread *rank = any_thread(sim, to);
    int source = sim_once_in(sim, 5) ? -1 : from;
    int wanted = sim_once_in(sim, 6) ? -1 : tag;
    if (sim_once_in(sim, 8))
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
    int from = sim_below(sim, sim->ranks);
    int to = sim_below(sim, sim->ranks);
    int comm = sim_once_in(sim, 3);
    int tag = sim_below(sim, 3);
    if (from == to)
        return;
    bool blocking = !sim_once_in(sim, 3);
    if (!sim_once_in(sim, 40))
        put_send(sim, from, to, comm, tag, blocking, ++*group);
    blocking = !sim_once_in(sim, 3);
    if (!sim_once_in(sim, 40))
        put_receive(sim, to, from, comm, sim_once_in(sim, 40) ? tag + 1 : tag, blocking, ++*group);
}

static void put_wait(struct simulator *sim, int group)
{
    /* Whatever was posted and not waited for: one of them, or all, or a loop of tests. */
    int rank = sim_below(sim, sim->ranks);
    struct sim_thread *row = any_thread(sim, rank);
    if (sim_once_in(sim, 4))
        put(row, (struct sim_step){.kind = SIM_TEST, .group = group, .call = "MPI_Test"});
    else if (sim_once_in(sim, 2))
        put(row, (struct sim_step){.kind = SIM_WAIT, .group = -1, .all = true, .call = "MPI_Waitall"});
    else
        put(row, (struct sim_step){.kind = SIM_WAIT, .group = -1, .all = false, .call = "MPI_Waitany"});
}

/* All messages of a call that no member leaves before all have come. */
static void put_linear(struct simulator *sim, int rank, const char *call, int *group)
{
    struct sim_thread *row = &sim->rank[rank].thread[0];
    bool any = sim_once_in(sim, 2);
    int tag = strcmp(call, "MPI_Barrier") == 0 ? TAG_BARRIER : TAG_FENCE;
    put(row, (struct sim_step){.kind = SIM_ENTER, .call = call});
    for (int other = 1; other < sim->ranks; other++) {
        if (rank != 0 && rank != other)
            continue;
        struct sim_step in = {
            .kind = SIM_RECEIVE, .peer = rank == 0 ? any ? -1 : other : 0, .tag = tag, .internal = true};
        struct sim_step out = {.kind = SIM_SEND, .peer = rank == 0 ? other : 0, .tag = tag, .internal = true};
        struct sim_step wait = {.kind = SIM_WAIT, .all = true, .call = call};
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
        put(row,
            (struct sim_step){.kind = SIM_SEND, .peer = other, .tag = tag, .internal = true, .group = own});
        put(row, (struct sim_step){.kind = SIM_WAIT, .all = true, .group = own, .call = call});
    }
    put(row, (struct sim_step){.kind = SIM_LEAVE});
}

static void put_collective(struct simulator *sim, int *group)
{
    bool shared = sim_once_in(sim, 2);
    const char *call = sim->windows && sim_once_in(sim, 2) ? "MPI_Win_fence" : "MPI_Barrier";
    for (int rank = 0; rank < sim->ranks; rank++) {
        if (sim_once_in(sim, 50))
            continue; /* one forgets it */
        if (!shared) {
            put_linear(sim, rank, call, group);
            continue;
        }
        put(&sim->rank[rank].thread[0], (struct sim_step){.kind = SIM_ENTER, .call = "MPI_Allreduce"});
        put(&sim->rank[rank].thread[0], (struct sim_step){.kind = SIM_SHARED, .call = "MPI_Allreduce"});
        put(&sim->rank[rank].thread[0], (struct sim_step){.kind = SIM_LEAVE});
    }
}

static void put_note(struct sim_thread *row, enum sim_note note, struct sim_step step)
{
    step.kind = SIM_NOTE;
    step.note = note;
    put(row, step);
}

/* What is open in the windows while a program is written. */
struct open {
    int lock[SIM_RANKS]; /* each one's target, or -1 */
    uint8_t type[SIM_RANKS];
    bool epoch;
    unsigned access[SIM_RANKS], exposure[SIM_RANKS];
    bool spoiled; /* an epoch was not ended as it should: no more of them */
};

/* A rank locks a target, or ends that again; now and then it forgets to. */
static void put_lock(struct simulator *sim, struct open *open)
{
    int rank = sim_below(sim, sim->ranks);
    struct sim_thread *row = &sim->rank[rank].thread[0];
    bool held = open->lock[rank] >= 0;
    if (!held) {
        open->lock[rank] = sim_below(sim, sim->ranks);
        open->type[rank] = sim_once_in(sim, 3) ? MPIQ_LOCK_SHARED : MPIQ_LOCK_EXCLUSIVE;
    }
    struct sim_step step = {.peer = open->lock[rank], .type = open->type[rank]};
    if (held) {
        open->lock[rank] = -1;
        step.kind = SIM_UNLOCK;
        step.call = "MPI_Win_unlock";
        put(row, step);
        put_note(row, SIM_NOTE_FREE, step);
        return;
    }
    put_note(row, SIM_NOTE_WANTED, step);
    step.kind = SIM_LOCK;
    step.call = "MPI_Win_lock";
    put(row, step);
    put_note(row, SIM_NOTE_HELD, step);
}

static void begin_epoch(struct simulator *sim, struct open *open)
{
    unsigned all = (1u << sim->ranks) - 1;
    unsigned origins = (unsigned)sim_below(sim, (int)all) + 1;
    unsigned targets = (unsigned)sim_below(sim, (int)all) + 1;
    for (int rank = 0; rank < sim->ranks; rank++) {
        struct sim_thread *row = &sim->rank[rank].thread[0];
        unsigned others = all & ~(1u << rank);
        struct sim_step step = {0};
        open->access[rank] = origins >> rank & 1 ? targets & others : 0;
        open->exposure[rank] = targets >> rank & 1 ? origins & others : 0;
        if (open->exposure[rank] && sim_once_in(sim, 20)) {
            open->exposure[rank] = 0;
            open->spoiled = true;
        }
        if (open->access[rank] && sim_once_in(sim, 20)) {
            open->access[rank] = 0;
            open->spoiled = true;
        }
        if (open->exposure[rank]) {
            step = (struct sim_step){.kind = SIM_POST, .mask = open->exposure[rank], .call = "MPI_Win_post"};
            put(row, step);
            put_note(row, SIM_NOTE_POSTED, step);
        }
        if (open->access[rank]) {
            step = (struct sim_step){.kind = SIM_START, .mask = open->access[rank], .call = "MPI_Win_start"};
            put_note(row, SIM_NOTE_STARTING, step);
            put(row, step);
            put_note(row, SIM_NOTE_STARTED, step);
        }
    }
}

static void end_epoch(struct simulator *sim, struct open *open)
{
    for (int rank = 0; rank < sim->ranks; rank++) {
        struct sim_thread *row = &sim->rank[rank].thread[0];
        struct sim_step step = {0};
        bool forgets = sim_once_in(sim, 20);
        open->spoiled = open->spoiled || forgets;
        if (open->access[rank] && !forgets) {
            step = (struct sim_step){
                .kind = SIM_COMPLETE, .mask = open->access[rank], .call = "MPI_Win_complete"};
            put(row, step);
            put_note(row, SIM_NOTE_COMPLETED, step);
        }
        if (open->exposure[rank] && !forgets) {
            step =
                (struct sim_step){.kind = SIM_EXPOSED, .mask = open->exposure[rank], .call = "MPI_Win_wait"};
            put(row, step);
            put_note(row, SIM_NOTE_WAITED, step);
        }
    }
}

/* All begin an epoch or end it; now and then one of them forgets its part. */
static void put_epoch(struct simulator *sim, struct open *open)
{
    if (open->epoch)
        end_epoch(sim, open);
    else if (!open->spoiled)
        begin_epoch(sim, open);
    else
        return;
    open->epoch = !open->epoch;
}

static void put_action(struct simulator *sim, struct open *open, int *group)
{
    if (sim->windows && sim_once_in(sim, 2)) {
        if (sim_once_in(sim, 2))
            put_epoch(sim, open);
        else
            put_lock(sim, open);
        return;
    }
    switch (sim_below(sim, 8)) {
    case 0:
        put_collective(sim, group);
        break;
    case 1:
        put(any_thread(sim, sim_below(sim, sim->ranks)),
            (struct sim_step){.kind = SIM_COMPUTE, .count = 1 + sim_below(sim, 30)});
        break;
    case 2:
        put_wait(sim, *group);
        break;
    default:
        put_message(sim, group);
    }
}

static void put_end(struct simulator *sim, int rank)
{
    struct sim_rank *row = &sim->rank[rank];
    for (int i = 0; i < row->threads; i++) {
        struct sim_thread *thread = &row->thread[i];
        if (sim_once_in(sim, 2))
            put(thread, (struct sim_step){.kind = SIM_WAIT, .group = -1, .all = true, .call = "MPI_Waitall"});
        if (i == 0 && row->threads > 1)
            thread->program[thread->length++] = (struct sim_step){.kind = SIM_JOIN};
        thread->program[thread->length++] = (struct sim_step){.kind = SIM_END, .call = "MPI_Finalize"};
    }
}

void sim_make(struct simulator *sim, uint64_t seed, bool patched)
{
    memset(sim, 0, sizeof *sim);
    sim->seed = sim->seed_of_job = seed;
    sim->clock = 1;
    sim->patched = patched;
    sim->ranks = 2 + sim_below(sim, SIM_RANKS - 1);
    sim->windows = sim_once_in(sim, 2);
    sim->by_messages = sim_once_in(sim, 2);
    sim->unread = patched && sim_once_in(sim, 6);
    bool threads = sim_once_in(sim, 3);
    struct open open = {0};
    for (int rank = 0; rank < sim->ranks; rank++) {
        sim->rank[rank].threads = 1 + (threads && sim_once_in(sim, 2));
        open.lock[rank] = -1;
    }
    int group = 0;
    int actions = 3 + sim_below(sim, sim->windows ? 18 : 12);
    for (int i = 0; i < actions && has_room(sim); i++)
        put_action(sim, &open, &group);
    for (int rank = 0; rank < sim->ranks; rank++) {
        put_end(sim, rank);
        for (int other = 0; other < sim->ranks; other++) {
            for (int comm = 0; comm < SIM_COMMS; comm++) /* near the end of 16 bits, where it wraps */
                sim->channel[rank][other][comm].sent = sim->channel[rank][other][comm].expected = 65530;
        }
    }
}
