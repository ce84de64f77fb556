/* SPDX-License-Identifier: BSD-3-Clause */
#include "job_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_builder_private.h"

static uint32_t world_of(const struct job_builder *job, int rank)
{
    return (uint32_t)(rank / (job->ranks / job->worlds));
}

static struct mpiq_name name_of(const struct job_builder *job, int rank)
{
    int size = job->ranks / job->worlds;
    return (struct mpiq_name){.job = 100 + world_of(job, rank), .rank = rank % size};
}

static void set_group(const struct job_builder *job, struct mpiq_group *group, const int *members, int count)
{
    group->count = (uint32_t)count;
    group->members = calloc((size_t)count + 1, sizeof *group->members);
    group->hash = 0xcbf29ce484222325;
    for (int i = 0; i < count; i++) {
        group->members[i] = name_of(job, members[i]);
        group->hash = (group->hash ^ (uint64_t)members[i]) * 0x100000001b3;
    }
    group->hash |= 1;
}

static struct mpiq_communicator *add_comm(struct mpiq_rank_state *state, const char *name, int context,
                                          uint32_t flags)
{
    struct mpiq_communicator *comm = mpiq_rank_state_add_communicator(state);
    comm->handle = 0x1000 + 0x100 * state->communicator_count;
    comm->context[1] = (uint64_t)context;
    comm->flags = flags;
    comm->ordered = 0;
    snprintf(comm->name, sizeof comm->name, "%s", name);
    return comm;
}

static void init_state(struct job_builder *job, int rank, int look)
{
    int size = job->ranks / job->worlds;
    struct mpiq_rank_state *state = job->states[look][rank] = mpiq_rank_state_create();
    state->name = name_of(job, rank);
    state->world_size = size;
    state->pid = 1000 + rank;
    snprintf(state->host, sizeof state->host, "n1");
    snprintf(state->library, sizeof state->library, "Open MPI 4.1.4");
    snprintf(state->pml, sizeof state->pml, "ob1");
    snprintf(state->nspace, sizeof state->nspace, "%u", 100 + world_of(job, rank));
    state->phase = MPIQ_PHASE_RUNNING;
    state->source = MPIQ_SOURCE_PATCHED;
    state->thread_level = 0;
    state->recording = MPIQ_YES;
    state->queues = MPIQ_YES;
    state->process_state = 'R';
    state->cpu_ns = 100000000 * (uint64_t)(look + 1);
    state->taken_ns = JOB_NOW_NS + look;
    struct mpiq_communicator *world = add_comm(state, "MPI_COMM_WORLD", 0, MPIQ_COMM_WORLD);
    world->local_rank = rank % size;
    if (job->alike && rank > 0) {
        world->local = (struct mpiq_group){.hash = job->states[0][0]->communicators[0].local.hash,
                                           .count = (uint32_t)size};
    } else {
        int *members = calloc((size_t)size, sizeof *members);
        for (int i = 0; i < size; i++)
            members[i] = (int)world_of(job, rank) * size + i;
        set_group(job, &world->local, members, size);
        free(members);
    }
    struct mpiq_communicator *self = add_comm(state, "MPI_COMM_SELF", 1, MPIQ_COMM_SELF);
    self->local_rank = 0;
    set_group(job, &self->local, &rank, 1);
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    thread->tid = state->pid;
    thread->state = 'R';
    thread->has_wait_record = true;
    thread->cpu_ns = state->cpu_ns;
    thread->mpi_frame = thread->user_frame = -1;
}

static void begin(struct job_builder *job)
{
    job->unread = calloc((size_t)job->ranks, sizeof *job->unread);
    for (int look = 0; look < 2; look++) {
        if (look == 1 && job->alike) {
            job->states[look] = job->states[0];
            continue;
        }
        job->states[look] = calloc((size_t)job->ranks, sizeof *job->states[look]);
        for (int rank = 0; rank < job->ranks; rank++)
            init_state(job, rank, look);
    }
    for (int rank = 0; rank < job->ranks; rank++)
        job_at(job, rank, "step", "solver.c", 20);
}

void job_init_worlds(struct job_builder *job, int ranks, int worlds)
{
    *job = (struct job_builder){.ranks = ranks, .worlds = worlds, .waited = 60};
    begin(job);
}

int job_many(void)
{
    const char *ranks = getenv("MPIQ_JOB_TEST_RANKS");
    return ranks ? atoi(ranks) : 100000;
}

void job_init_many(struct job_builder *job, int ranks)
{
    *job = (struct job_builder){.ranks = ranks, .worlds = 1, .waited = 60, .alike = true};
    begin(job);
}

void job_init(struct job_builder *job, int ranks)
{
    job_init_worlds(job, ranks, 1);
}

void job_init_sized(struct job_builder *job, int ranks)
{
    if (ranks == MANY)
        job_init_many(job, ranks);
    else
        job_init(job, ranks);
}

void job_deinit(struct job_builder *job)
{
    for (int look = 0; look < (job->alike ? 1 : 2); look++) {
        for (int rank = 0; rank < job->ranks; rank++)
            mpiq_rank_state_destroy(job->states[look][rank]);
        free(job->states[look]);
    }
    free(job->unread);
}

static int index_in(const int *members, int count, int rank)
{
    for (int i = 0; i < count; i++) {
        if (members[i] == rank)
            return i;
    }
    return -1;
}

int job_intercomm(struct job_builder *job, const char *name, int context, const int *group, int count,
                  const int *remote, int remote_count)
{
    int index = 0;
    for (int rank = 0; rank < job->ranks; rank++) {
        FOR_LOOKS(job, rank, state)
        {
            int at = index_in(group, count, rank);
            bool other = at < 0 && index_in(remote, remote_count, rank) >= 0;
            index = (int)state->communicator_count;
            if (at < 0 && !other) {
                struct mpiq_communicator *own = add_comm(state, "own", 10000 + context, 0);
                set_group(job, &own->local, &rank, 1);
                continue;
            }
            struct mpiq_communicator *comm =
                add_comm(state, name, context, remote_count ? MPIQ_COMM_INTER : 0);
            comm->local_rank = other ? index_in(remote, remote_count, rank) : at;
            set_group(job, &comm->local, other ? remote : group, other ? remote_count : count);
            if (remote_count)
                set_group(job, &comm->remote, other ? group : remote, other ? count : remote_count);
        }
    }
    return index;
}

int job_comm(struct job_builder *job, const char *name, int context, const int *members, int count)
{
    return job_intercomm(job, name, context, members, count, NULL, 0);
}

struct mpiq_thread *job_last_thread(struct mpiq_rank_state *state)
{
    return &state->threads[state->thread_count - 1];
}

static void set_frame(struct mpiq_rank_state *state, struct mpiq_frame *frame, const char *function,
                      const char *file, int line)
{
    frame->pc = 0x400000 + (uint64_t)line;
    frame->function = mpiq_rank_state_intern(state, function);
    frame->file = mpiq_rank_state_intern(state, file);
    frame->line = line;
}

void job_at(struct job_builder *job, int rank, const char *function, const char *file, int line)
{
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_thread *thread = job_last_thread(state);
        if (thread->user_frame < 0) {
            struct mpiq_frame *frame = mpiq_thread_add_frame(thread);
            thread->user_frame = (int32_t)(frame - thread->frames);
        }
        set_frame(state, &thread->frames[thread->user_frame], function, file, line);
    }
}

void job_called_by(struct job_builder *job, int rank, const char *function, const char *file, int line)
{
    FOR_LOOKS(job, rank, state)
    {
        set_frame(state, mpiq_thread_add_frame(job_last_thread(state)), function, file, line);
    }
}

void job_state(struct job_builder *job, int rank, char letter)
{
    FOR_LOOKS(job, rank, state)
    {
        state->process_state = letter;
        state->gone = letter == 'Z';
        job_last_thread(state)->state = letter;
        if (letter != 'R')
            state->cpu_ns = job_last_thread(state)->cpu_ns = 5;
    }
}

void job_phase(struct job_builder *job, int rank, enum mpiq_phase phase)
{
    FOR_LOOKS(job, rank, state)
    state->phase = phase;
}

void job_enter(struct mpiq_rank_state *state, struct mpiq_thread *thread, const char *call)
{
    snprintf(thread->mpi_call, sizeof thread->mpi_call, "%s", call);
    if (thread->mpi_frame >= 0)
        return;
    mpiq_thread_add_frame(thread);
    memmove(&thread->frames[1], &thread->frames[0], (thread->frame_count - 1) * sizeof *thread->frames);
    thread->frames[0] = (struct mpiq_frame){.pc = 0x7000, .function = mpiq_rank_state_intern(state, call)};
    thread->mpi_frame = 0;
    thread->user_frame += 1;
}

void job_call(struct job_builder *job, int rank, const char *call)
{
    FOR_LOOKS(job, rank, state)
    job_enter(state, job_last_thread(state), call);
}

void job_polls(struct job_builder *job, int rank)
{
    job_call(job, rank, "MPI_Test");
}

void job_recorded(struct job_builder *job)
{
    for (int rank = 0; rank < job->ranks; rank++) {
        for (int look = 0; look < 2; look++)
            job->states[look][rank]->source = MPIQ_SOURCE_RECORDER;
    }
}

void job_unpatched(struct job_builder *job)
{
    for (int rank = 0; rank < job->ranks; rank++) {
        FOR_LOOKS(job, rank, state)
        {
            state->source = MPIQ_SOURCE_DEBUG_INFO;
            state->recording = MPIQ_NO;
            state->threads[0].has_wait_record = false;
            for (size_t i = 0; i < state->communicator_count; i++)
                state->communicators[i].ordered = -1;
        }
    }
}

void job_thread(struct job_builder *job, int rank, int level)
{
    FOR_LOOKS(job, rank, state)
    {
        state->thread_level = (int8_t)level;
        struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
        thread->tid = state->pid + 100000 * (int32_t)(state->thread_count - 1);
        thread->state = 'R';
        thread->has_wait_record = true;
        thread->mpi_frame = thread->user_frame = -1;
    }
    job_at(job, rank, "worker", "solver.c", 30);
}

void job_sleeps(struct job_builder *job, int rank, enum mpiq_sleep sleep, const char *function)
{
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_thread *thread = job_last_thread(state);
        thread->state = 'S';
        thread->sleep = (uint8_t)sleep;
        if (!function)
            continue;
        struct mpiq_frame *frame = mpiq_thread_add_frame(thread);
        struct mpiq_frame caller = thread->frames[0];
        *frame = caller;
        thread->frames[0] =
            (struct mpiq_frame){.pc = 77, .function = mpiq_rank_state_intern(state, function)};
        thread->user_frame = 1;
    }
}

void job_past(struct job_builder *job, int rank, const char *call, const struct mpiq_past_call *arguments)
{
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job->states[look][rank];
        struct mpiq_past_call *past = mpiq_rank_state_add_past_call(state);
        *past = *arguments;
        past->call = mpiq_rank_state_intern(state, call);
        past->comm = WORLD;
        past->tid = state->threads[0].tid;
    }
}
