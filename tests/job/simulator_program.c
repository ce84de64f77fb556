/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "simulator_private.h"

enum { TAG_BARRIER = -16 };

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
                                .large = sim_once_in(sim, 3),
                                .group = group});
    if (blocking)
        put(rank, (struct sim_step){.kind = SIM_WAIT, .group = group, .all = true, .call = "MPI_Send"});
}

static void put_receive(struct simulator *sim, int to, int from, int comm, int tag, bool blocking, int group)
{
    struct sim_rank *rank = &sim->rank[to];
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
    struct sim_rank *row = &sim->rank[rank];
    if (sim_once_in(sim, 4))
        put(row, (struct sim_step){.kind = SIM_TEST, .group = group, .call = "MPI_Test"});
    else if (sim_once_in(sim, 2))
        put(row, (struct sim_step){.kind = SIM_WAIT, .group = -1, .all = true, .call = "MPI_Waitall"});
    else
        put(row, (struct sim_step){.kind = SIM_WAIT, .group = -1, .all = false, .call = "MPI_Waitany"});
}

static void put_linear_barrier(struct simulator *sim, int rank, int *group)
{
    struct sim_rank *row = &sim->rank[rank];
    bool any = sim_once_in(sim, 2);
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
    bool shared = sim_once_in(sim, 2);
    for (int rank = 0; rank < sim->ranks; rank++) {
        if (sim_once_in(sim, 50))
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
    sim->ranks = 2 + sim_below(sim, SIM_RANKS - 1);
    int group = 0;
    int actions = 3 + sim_below(sim, 12);
    for (int i = 0; i < actions; i++) {
        switch (sim_below(sim, 8)) {
        case 0:
            put_collective(sim, &group);
            break;
        case 1:
            put(&sim->rank[sim_below(sim, sim->ranks)],
                (struct sim_step){.kind = SIM_COMPUTE, .count = 1 + sim_below(sim, 30)});
            break;
        case 2:
            put_wait(sim, group);
            break;
        default:
            put_message(sim, &group);
        }
    }
    for (int rank = 0; rank < sim->ranks; rank++) {
        if (sim_once_in(sim, 2))
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
