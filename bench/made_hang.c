/* SPDX-License-Identifier: BSD-3-Clause */
#include "made_hang.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/group_hash.h"

enum { NEIGHBOURS = 3, TAG_SENT = 5, TAG_WANTED = 6, TAG_NOBODY = 99, TAG_INTERNAL = -12 };

void made_hang_operation(struct mpiq_rank_state *state, size_t at, enum mpiq_operation_kind kind, int peer,
                         int tag)
{
    struct mpiq_operation *op = &state->operations[at];
    *op = (struct mpiq_operation){
        .request = kind == MPIQ_OPERATION_MESSAGE ? 0 : 0x1000 + at,
        .sequence = at,
        .bytes = 100000,
        .actual_bytes = -1,
        .peer_local = peer,
        .peer = {.rank = -1},
        .tag = tag,
        .actual_local = -1,
        .actual = {.rank = -1},
        .collective = -1,
        .kind = (uint8_t)kind,
        .queue = kind == MPIQ_OPERATION_MESSAGE ? MPIQ_QUEUE_UNEXPECTED
                 : kind == MPIQ_OPERATION_SEND  ? MPIQ_QUEUE_SENDS
                                                : MPIQ_QUEUE_RECEIVES,
        .internal = tag < 0,
        .datatype = mpiq_rank_state_intern(state, "MPI_DOUBLE"),
    };
}

/* One record that is filled anew for each rank: what is measured is not how rank states are made. */
struct mpiq_rank_state *made_hang_state(int ranks)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    if (!state)
        exit(1);
    state->world_size = ranks;
    snprintf(state->host, sizeof state->host, "n1");
    snprintf(state->library, sizeof state->library, "Open MPI 4.1.4");
    snprintf(state->nspace, sizeof state->nspace, "1");
    state->phase = MPIQ_PHASE_RUNNING;
    state->source = MPIQ_SOURCE_PATCHED;
    state->thread_level = 0;
    state->queues = state->recording = MPIQ_YES;
    state->process_state = 'R';
    struct mpiq_communicator *world = mpiq_rank_state_add_communicator(state);
    snprintf(world->name, sizeof world->name, "MPI_COMM_WORLD");
    world->handle = 0x100;
    world->flags = MPIQ_COMM_WORLD;
    world->local.count = (uint32_t)ranks;
    world->local.members = calloc((size_t)ranks, sizeof *world->local.members);
    for (int i = 0; i < ranks; i++)
        world->local.members[i] = (struct mpiq_name){.job = 1, .rank = i};
    world->local.hash = mpiq_group_hash(world->local.members, world->local.count);
    for (int i = 0; i < 2 * NEIGHBOURS; i++)
        mpiq_communicator_add_channel(world);
    mpiq_communicator_add_count(world);
    mpiq_communicator_add_call(world);
    for (int i = 0; i < 3 * NEIGHBOURS + 1; i++)
        mpiq_rank_state_add_operation(state);
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    thread->has_wait_record = true;
    thread->state = 'R';
    mpiq_thread_add_frame(thread);
    mpiq_thread_add_frame(thread);
    thread->mpi_frame = 0;
    thread->user_frame = 1;
    mpiq_wait_add_operation(mpiq_thread_add_wait(thread));
    return state;
}

void made_hang_fill(struct mpiq_rank_state *state, int rank, int ranks, int look)
{
    bool lost = rank == ranks / 3;
    state->name = (struct mpiq_name){.job = 1, .rank = rank};
    state->pid = 1000 + rank;
    state->taken_ns = INT64_C(2000000000) + look;
    state->cpu_ns = 1000 * (uint64_t)look;
    struct mpiq_communicator *world = &state->communicators[0];
    world->local_rank = rank;
    world->ordered = lost ? 6 : 7;
    int16_t allreduce = (int16_t)mpiq_collective_class("MPI_Allreduce");
    world->counts[0] =
        (struct mpiq_coll_count){.collective = allreduce, .active = !lost, .count = lost ? 6 : 7};
    world->calls[0] = (struct mpiq_call){.number = lost ? 6 : 7,
                                         .count = 1,
                                         .bytes = 8,
                                         .root = -1,
                                         .collective = allreduce,
                                         .done = lost,
                                         .begin_ns = 1000000000,
                                         .op = mpiq_rank_state_intern(state, "MPI_SUM")};
    for (int i = 0; i < NEIGHBOURS; i++) {
        int right = (rank + 1 + i) % ranks;
        int left = (rank + ranks - 1 - i) % ranks;
        made_hang_operation(state, (size_t)i, MPIQ_OPERATION_RECEIVE, right, TAG_WANTED);
        made_hang_operation(state, (size_t)(NEIGHBOURS + i), MPIQ_OPERATION_SEND, left, TAG_SENT);
        made_hang_operation(state, (size_t)(2 * NEIGHBOURS + i), MPIQ_OPERATION_MESSAGE, right, TAG_SENT);
        world->channels[i] = (struct mpiq_channel){.peer_local = right, .sent = 1, .expected = 2};
        world->channels[NEIGHBOURS + i] = (struct mpiq_channel){.peer_local = left, .sent = 2, .expected = 1};
    }
    int parent = rank == 0 ? ranks / 3 : (rank - 1) / 2;
    made_hang_operation(state, 3 * NEIGHBOURS, MPIQ_OPERATION_RECEIVE, lost ? 0 : parent,
                        lost ? TAG_NOBODY : TAG_INTERNAL);
    struct mpiq_thread *thread = &state->threads[0];
    thread->tid = state->pid;
    snprintf(thread->mpi_call, sizeof thread->mpi_call, lost ? "MPI_Recv" : "MPI_Allreduce");
    thread->frames[0] =
        (struct mpiq_frame){.pc = 1, .function = mpiq_rank_state_intern(state, thread->mpi_call)};
    thread->frames[1] =
        (struct mpiq_frame){.pc = lost ? 3 : 2,
                            .function = mpiq_rank_state_intern(state, lost ? "refine" : "norm"),
                            .file = mpiq_rank_state_intern(state, "solver.c"),
                            .line = lost ? 71 : 88};
    struct mpiq_wait *wait = &thread->waits[0];
    wait->kind = lost ? MPIQ_WAIT_RECEIVE : MPIQ_WAIT_REQUEST;
    wait->episode = 12;
    wait->need = 1;
    wait->begin_ns = 1000000000;
    wait->comm = -1;
    wait->collective = lost ? -1 : allreduce;
    wait->collective_comm = lost ? -1 : 0;
    snprintf(wait->call, sizeof wait->call, "%s", thread->mpi_call);
    wait->operations[0] = state->operations[3 * NEIGHBOURS];
    wait->operations[0].queue = MPIQ_QUEUE_WAIT;
}
