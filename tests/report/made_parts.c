/* SPDX-License-Identifier: BSD-3-Clause */
#include "made_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "state/arena.h"
#include "merge/merge.h"

#define BEGIN_NS INT64_C(1700000000000000000)

void *must(void *pointer)
{
    if (!pointer) {
        fprintf(stderr, "no memory for a made-up job\n");
        exit(1);
    }
    return pointer;
}

void must_be(bool good)
{
    must(good ? "" : NULL);
}

void no_error(struct mpiq_error *error)
{
    if (error) {
        fprintf(stderr, "a made-up job is refused: %s\n", error->message);
        exit(1);
    }
}

struct mpiq_rank_state *new_rank(uint32_t job, uint32_t rank, uint32_t size)
{
    struct mpiq_rank_state *state = must(mpiq_rank_state_create());
    state->name = (struct mpiq_name){.job = job, .rank = (int32_t)rank};
    state->world_size = (int32_t)size;
    state->pid = (int32_t)(1000 + rank);
    snprintf(state->host, sizeof state->host, "n%u", (unsigned)(rank / 64 + 1));
    snprintf(state->executable, sizeof state->executable, "solver");
    snprintf(state->library, sizeof state->library, "Open MPI 4.1.4");
    snprintf(state->pml, sizeof state->pml, "ob1");
    snprintf(state->nspace, sizeof state->nspace, "job-%u", (unsigned)job);
    state->phase = MPIQ_PHASE_RUNNING;
    state->source = MPIQ_SOURCE_PATCHED;
    state->recording = MPIQ_YES;
    state->queues = MPIQ_YES;
    state->process_state = 'R';
    state->taken_ns = BEGIN_NS;
    return state;
}

/* The group of all of a world; its members once, with rank 0. */
static struct mpiq_group whole_world(uint32_t job, uint32_t rank, uint32_t size)
{
    struct mpiq_group group = {.hash = 0x1000 + job, .count = size};
    if (rank > 0)
        return group;
    group.members = must(calloc(size, sizeof *group.members));
    for (uint32_t i = 0; i < size; i++)
        group.members[i] = (struct mpiq_name){.job = job, .rank = (int32_t)i};
    return group;
}

struct mpiq_communicator *add_world(struct mpiq_rank_state *state)
{
    struct mpiq_communicator *comm = must(mpiq_rank_state_add_communicator(state));
    comm->handle = 0x7000;
    comm->flags = MPIQ_COMM_WORLD;
    comm->local_rank = state->name.rank;
    snprintf(comm->name, sizeof comm->name, "MPI_COMM_WORLD");
    comm->local = whole_world(state->name.job, (uint32_t)state->name.rank, (uint32_t)state->world_size);
    return comm;
}

struct mpiq_communicator *add_part(struct mpiq_rank_state *state, const char *name, uint64_t context,
                                   const uint32_t *ranks, uint32_t count)
{
    struct mpiq_communicator *comm = must(mpiq_rank_state_add_communicator(state));
    comm->handle = 0x8000 + context;
    comm->context[1] = context;
    snprintf(comm->name, sizeof comm->name, "%s", name);
    comm->local = (struct mpiq_group){.hash = 0x2000 + context, .count = count};
    comm->local.members = must(calloc(count, sizeof *comm->local.members));
    for (uint32_t i = 0; i < count; i++) {
        comm->local.members[i] = (struct mpiq_name){.job = WORLD_JOB, .rank = (int32_t)ranks[i]};
        if ((int32_t)ranks[i] == state->name.rank)
            comm->local_rank = (int32_t)i;
    }
    return comm;
}

void add_count(struct mpiq_communicator *comm, int collective, uint32_t count, bool active)
{
    struct mpiq_coll_count *row = must(mpiq_communicator_add_count(comm));
    *row = (struct mpiq_coll_count){.collective = (int16_t)collective, .active = active, .count = count};
}

void add_thread(struct mpiq_rank_state *state, const char *call, const char *file, int line,
                const char *function)
{
    struct mpiq_thread *thread = must(mpiq_rank_state_add_thread(state));
    struct mpiq_frame *frame = must(mpiq_thread_add_frame(thread));
    frame->file = mpiq_rank_state_intern(state, file);
    frame->line = line;
    frame->function = mpiq_rank_state_intern(state, function);
    frame->object = mpiq_rank_state_intern(state, "/home/user/bin/solver");
    thread->tid = state->pid;
    thread->state = 'R';
    thread->has_wait_record = true;
    thread->user_frame = 0;
    snprintf(thread->mpi_call, sizeof thread->mpi_call, "%s", call);
}

struct mpiq_operation *add_operation(struct mpiq_rank_state *state, enum mpiq_queue queue,
                                     enum mpiq_operation_kind kind, int32_t peer, int32_t tag, int64_t bytes)
{
    struct mpiq_operation *operation = must(mpiq_rank_state_add_operation(state));
    operation->comm = 0;
    operation->queue = (uint8_t)queue;
    operation->kind = (uint8_t)kind;
    operation->status = MPIQ_STATUS_PENDING;
    operation->peer_local = peer;
    operation->peer = (struct mpiq_name){.job = state->name.job, .rank = peer};
    operation->tag = tag;
    operation->bytes = bytes;
    operation->request = 0x100000 + (uint64_t)state->operation_count * 0x100;
    operation->buffer = queue == MPIQ_QUEUE_UNEXPECTED ? 0 : 0x7ffe1000;
    return operation;
}

void add_rank(struct mpiq_job_state *job, struct mpiq_rank_state *state)
{
    no_error(mpiq_job_state_add(job, 1, state));
    state->taken_ns += 1000000;
    no_error(mpiq_job_state_add(job, 2, state));
    mpiq_rank_state_destroy(state);
}

struct made_job finished(struct mpiq_job_state *job, enum mpiq_verdict verdict)
{
    struct made_job made = {.job = job};
    no_error(mpiq_job_state_finish(job));
    made.diagnosis = must(mpiq_diagnosis_create(job->process_count, job->operation_count));
    made.diagnosis->verdict = verdict;
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        struct mpiq_rank_diagnosis *row = &made.diagnosis->ranks[process];
        if (!rank || rank->thread_count == 0)
            continue;
        row->activity = MPIQ_ACTIVITY_BLOCKED;
        row->thread = rank->first_thread;
        row->call = mpiq_job_string(job, job->threads[rank->first_thread].call);
        row->site = job->threads[rank->first_thread].site;
        row->comm = row->call ? 0 : MPIQ_NONE;
    }
    return made;
}

const char *words(struct made_job *made, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return must((void *)mpiq_arena_string(made->diagnosis->arena, text));
}

void add_site(struct mpiq_finding *finding, const char *ranks, const char *call, const char *file, int line,
              const char *function)
{
    struct mpiq_finding_site *site = must(mpiq_finding_add_site(finding));
    no_error(mpiq_rank_set_parse(ranks, &site->ranks));
    site->call = call;
    site->file = file;
    site->line = line;
    site->function = function;
}

uint32_t operation_of(const struct mpiq_job_state *job, uint32_t process, enum mpiq_queue queue)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    for (uint32_t i = 0; rank && i < rank->operation_count; i++) {
        if (job->operations[rank->first_operation + i].queue == queue)
            return rank->first_operation + i;
    }
    return MPIQ_NONE;
}

struct mpiq_finding *cause(struct made_job *made, enum mpiq_finding_kind kind, const char *ranks,
                           const char *suspects, const char *text)
{
    struct mpiq_finding *finding = must(mpiq_diagnosis_add_finding(made->diagnosis, kind));
    finding->proven = made->diagnosis->verdict == MPIQ_VERDICT_DEADLOCK;
    no_error(mpiq_rank_set_parse(ranks, &finding->ranks));
    no_error(mpiq_rank_set_parse(suspects, &finding->suspects));
    finding->text = text;
    return finding;
}

struct mpiq_wait_part message(enum mpiq_wait_part_kind kind, uint32_t peer, int32_t tag, int64_t bytes)
{
    return (struct mpiq_wait_part){.kind = kind,
                                   .peer = peer,
                                   .tag = tag,
                                   .bytes = bytes,
                                   .comm = 0,
                                   .window = MPIQ_NONE,
                                   .operation = MPIQ_NONE,
                                   .started = MPIQ_NONE};
}

static struct mpiq_ranks ranks_of(struct made_job *made, const char *text)
{
    struct mpiq_rank_set set _cleanup_(mpiq_rank_set_deinit) = {0};
    no_error(mpiq_rank_set_parse(text, &set));
    size_t size = set.count * sizeof *set.ranges;
    struct mpiq_rank_range *ranges = must(mpiq_arena_alloc(made->diagnosis->arena, size ? size : 1));
    if (size > 0)
        memcpy(ranges, set.ranges, size);
    return (struct mpiq_ranks){.ranges = ranges, .count = set.count, .size = set.size};
}

struct mpiq_wait_part collective(struct made_job *made, const char *name, int64_t number, const char *missing)
{
    struct mpiq_wait_part part = message(MPIQ_PART_COLLECTIVE, MPIQ_NONE, 0, -1);
    part.collective = name;
    part.number = number;
    part.ranks = ranks_of(made, missing);
    return part;
}

struct mpiq_waits_for *wait_for(struct made_job *made, struct mpiq_wait_part part, const char *ranks)
{
    struct mpiq_waits_for *wait = must(mpiq_arena_alloc(made->diagnosis->arena, sizeof *wait));
    struct mpiq_wait_part *parts = must(mpiq_arena_alloc(made->diagnosis->arena, sizeof *parts));
    *parts = part;
    if (parts->ranks.size == 0)
        parts->ranks = ranks_of(made, ranks);
    *wait =
        (struct mpiq_waits_for){.all = true, .parts = parts, .part_count = 1, .ranks = ranks_of(made, ranks)};
    return wait;
}

/* Where a request of one of these ranks was started. */
static uint32_t started_site(const struct made_job *made, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(made->job, process);
    return rank->operation_count > 0 ? made->job->operations[rank->first_operation].started : MPIQ_NONE;
}

struct mpiq_evidence *evidence(struct made_job *made, struct mpiq_finding *finding, const char *ranks,
                               const struct mpiq_waits_for *wait, const char *note)
{
    struct mpiq_evidence *line = must(mpiq_finding_add_evidence(finding));
    no_error(mpiq_rank_set_parse(ranks, &line->ranks));
    const struct mpiq_rank_diagnosis *first = &made->diagnosis->ranks[line->ranks.ranges[0].first];
    line->activity = first->activity;
    line->call = first->call;
    line->site = first->site;
    line->since = first->since;
    line->started = started_site(made, line->ranks.ranges[0].first);
    line->wait = wait;
    if (wait && wait->part_count > 0 && wait->parts[0].wraps) /* round all of them */
        line->relation.size = (int64_t)line->ranks.size;
    line->note = note;
    for (uint32_t process = 0; process < made->diagnosis->rank_count; process++) {
        if (mpiq_rank_set_contains(&line->ranks, 0, process))
            made->diagnosis->ranks[process].waits_for = wait;
    }
    return line;
}
