/* SPDX-License-Identifier: BSD-3-Clause */
#include "made_job.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/arena.h"
#include "state/rank_state.h"

#define WORLD_JOB 7u
#define SPAWNED_JOB 9u
#define BEGIN_NS INT64_C(1700000000000000000)

static void *must(void *pointer)
{
    if (!pointer) {
        fprintf(stderr, "no memory for a made-up job\n");
        exit(1);
    }
    return pointer;
}

static void must_be(bool good)
{
    must(good ? "" : NULL);
}

static void no_error(struct mpiq_error *error)
{
    if (error) {
        fprintf(stderr, "a made-up job is refused: %s\n", error->message);
        exit(1);
    }
}

static struct mpiq_rank_state *new_rank(uint32_t job, uint32_t rank, uint32_t size)
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

static struct mpiq_communicator *add_world(struct mpiq_rank_state *state)
{
    struct mpiq_communicator *comm = must(mpiq_rank_state_add_communicator(state));
    comm->handle = 0x7000;
    comm->flags = MPIQ_COMM_WORLD;
    comm->local_rank = state->name.rank;
    snprintf(comm->name, sizeof comm->name, "MPI_COMM_WORLD");
    comm->local = whole_world(state->name.job, (uint32_t)state->name.rank, (uint32_t)state->world_size);
    return comm;
}

static void add_count(struct mpiq_communicator *comm, int collective, uint32_t count, bool active)
{
    struct mpiq_coll_count *row = must(mpiq_communicator_add_count(comm));
    *row = (struct mpiq_coll_count){.collective = (int16_t)collective, .active = active, .count = count};
}

/* A thread at a place of the user's code; call may be "". */
static void add_thread(struct mpiq_rank_state *state, const char *call, const char *file, int line,
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
    thread->record = true;
    thread->user_frame = 0;
    snprintf(thread->mpi_call, sizeof thread->mpi_call, "%s", call);
}

static struct mpiq_operation *add_operation(struct mpiq_rank_state *state, enum mpiq_queue queue,
                                            enum mpiq_operation_kind kind, int32_t peer, int32_t tag,
                                            int64_t bytes)
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

static void add_rank(struct mpiq_job_state *job, struct mpiq_rank_state *state)
{
    no_error(mpiq_job_state_add(job, 1, state));
    state->taken_ns += 1000000;
    no_error(mpiq_job_state_add(job, 2, state));
    mpiq_rank_state_destroy(state);
}

static struct made_job finished(struct mpiq_job_state *job, enum mpiq_verdict verdict)
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
        row->doing = MPIQ_DOING_BLOCKED;
        row->thread = rank->first_thread;
        row->call = mpiq_job_string(job, job->threads[rank->first_thread].call);
        row->site = job->threads[rank->first_thread].site;
        row->comm = row->call ? 0 : MPIQ_NONE;
    }
    return made;
}

static const char *words(struct made_job *made, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static const char *words(struct made_job *made, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return must((void *)mpiq_arena_string(made->diagnosis->arena, text));
}

static void add_site(struct mpiq_finding *finding, const char *ranks, const char *call, const char *file,
                     int line, const char *function)
{
    struct mpiq_finding_site *site = must(mpiq_finding_add_site(finding));
    no_error(mpiq_rank_set_parse(ranks, &site->ranks));
    site->call = call;
    site->file = file;
    site->line = line;
    site->function = function;
}

/* The operation of a process in a queue, the first one; MPIQ_NONE. */
static uint32_t operation_of(const struct mpiq_job_state *job, uint32_t process, enum mpiq_queue queue)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    for (uint32_t i = 0; rank && i < rank->operation_count; i++) {
        if (job->operations[rank->first_operation + i].queue == queue)
            return rank->first_operation + i;
    }
    return MPIQ_NONE;
}

struct made_job made_wrong_turn(uint32_t size)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    char last[16];
    char others[32];
    snprintf(last, sizeof last, "%u", (unsigned)(size - 1));
    snprintf(others, sizeof others, "0,2-%s", last);

    for (uint32_t rank = 0; rank < size; rank++) {
        struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, size);
        struct mpiq_communicator *comm = add_world(state);
        bool lost = rank == 1;
        comm->ordered = lost ? 5 : 6;
        add_count(comm, mpiq_collective_class("MPI_Bcast"), lost ? 4 : 5, !lost);
        add_count(comm, mpiq_collective_class("MPI_Allreduce"), 1, false);
        add_thread(state, lost ? "MPI_Recv" : "MPI_Bcast", "/home/user/solver/src/solver.c", lost ? 71 : 88,
                   lost ? "exchange" : "step");
        if (lost)
            add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, (int32_t)size - 1, 99, 8)
                ->datatype = mpiq_rank_state_intern(state, "MPI_DOUBLE");
        if (lost)
            add_operation(state, MPIQ_QUEUE_UNEXPECTED, MPIQ_OPERATION_MESSAGE, (int32_t)size - 1, 98, 40)
                ->eager = true;
        if (rank != 0 && !lost) {
            struct mpiq_operation *inner = add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE,
                                                         (int32_t)(rank / 2), -17, 64);
            inner->internal = true;
            inner->collective = (int16_t)mpiq_collective_class("MPI_Bcast");
        }
        add_rank(job, state);
    }

    struct made_job made = finished(job, MPIQ_VERDICT_DEADLOCK);
    made.diagnosis->text = words(&made, "%u ranks can never go on", (unsigned)size);
    for (uint32_t rank = 0; rank < size; rank++) {
        struct mpiq_rank_diagnosis *row = &made.diagnosis->ranks[rank];
        row->stuck = row->cause = true;
        row->since = rank == 1 ? 11521 : 11520.4;
        row->number = rank == 1 ? 0 : 6;
        row->what = rank == 1 ? words(&made, "tag 99 from rank %s", last)
                              : words(&made, "rank %u", (unsigned)(rank ? rank / 2 : 1));
    }
    for (uint32_t i = 0; i < job->operation_count; i++)
        job->operations[i].blocked = job->operations[i].queue == MPIQ_QUEUE_RECEIVES;
    no_error(mpiq_rank_set_parse(others, &made.diagnosis->stuck));
    must_be(mpiq_rank_set_add(&made.diagnosis->stuck, 0, 1));

    struct mpiq_finding *finding =
        must(mpiq_diagnosis_add_finding(made.diagnosis, MPIQ_FINDING_COLLECTIVE_INCOMPLETE));
    finding->proven = true;
    finding->comm = 0;
    finding->collective = "MPI_Bcast";
    finding->number = 6;
    finding->since = 11520.4;
    no_error(mpiq_rank_set_parse(others, &finding->ranks));
    no_error(mpiq_rank_set_parse("1", &finding->missing));
    no_error(mpiq_rank_set_parse("1", &finding->suspects));
    add_site(finding, others, "MPI_Bcast", "/home/user/solver/src/solver.c", 88, "step");
    add_site(finding, "1", "MPI_Recv", "/home/user/solver/src/solver.c", 71, "exchange");
    finding->text =
        words(&made,
              "%u ranks are in MPI_Bcast #6 at solver.c:88; rank 1 is not: it has waited 3 h 12 m at "
              "solver.c:71 for tag 99 from rank %s, which is itself in that MPI_Bcast",
              (unsigned)(size - 1), last);
    finding = must(mpiq_diagnosis_add_finding(made.diagnosis, MPIQ_FINDING_RECEIVE_UNMATCHED));
    finding->proven = true;
    finding->comm = 0;
    finding->since = 11521;
    no_error(mpiq_rank_set_parse("1", &finding->ranks));
    finding->operation = operation_of(job, 1, MPIQ_QUEUE_RECEIVES);
    finding->text =
        words(&made, "rank 1 waits for a message with tag 99 from rank %s that nobody will send", last);
    struct mpiq_near_miss *miss = must(mpiq_finding_add_near_miss(finding));
    *miss = (struct mpiq_near_miss){.differs = MPIQ_MISS_TAG,
                                    .process = size - 1,
                                    .holder = 1,
                                    .operation = operation_of(job, 1, MPIQ_QUEUE_UNEXPECTED)};

    made.chain = must(mpiq_chain_create());
    struct mpiq_step *step = must(mpiq_chain_add_step(made.chain));
    step->process = 0;
    must_be(mpiq_rank_set_add(&step->waits_for, 0, 1));
    step->why = "it is not in MPI_Bcast #6";
    step->site = made.diagnosis->ranks[0].site;
    step->since = 11520.4;
    step = must(mpiq_chain_add_step(made.chain));
    step->process = 1;
    must_be(mpiq_rank_set_add(&step->waits_for, 0, size - 1));
    step->why = words(&made, "MPI_Recv from rank %s, tag 99", last);
    step->site = made.diagnosis->ranks[1].site;
    step->since = 11521;
    made.chain->finding = 0;
    made.chain->text = "no message with tag 99 is on its way, and who could send one waits for rank 1";
    return made;
}

struct made_job made_ring(uint32_t size)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    for (uint32_t rank = 0; rank < size; rank++) {
        struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, size);
        int32_t next = (int32_t)((rank + 1) % size);
        add_world(state);
        add_thread(state, "MPI_Send", "ring.c", 23, "main");
        add_operation(state, MPIQ_QUEUE_SENDS, MPIQ_OPERATION_SEND, next, 7, 1 << 20);
        for (int i = 0; i < 3; i++)
            add_operation(state, MPIQ_QUEUE_UNEXPECTED, MPIQ_OPERATION_MESSAGE,
                          (int32_t)((rank + size - 1) % size), 5, 16);
        add_rank(job, state);
    }
    struct made_job made = finished(job, MPIQ_VERDICT_DEADLOCK);
    made.diagnosis->text = words(&made, "%u ranks can never go on", (unsigned)size);
    must_be(mpiq_rank_set_add_range(&made.diagnosis->stuck, 0, 0, size - 1));
    struct mpiq_finding *finding = must(mpiq_diagnosis_add_finding(made.diagnosis, MPIQ_FINDING_WAIT_CYCLE));
    finding->proven = true;
    finding->since = 75;
    must_be(mpiq_rank_set_add_range(&finding->ranks, 0, 0, size - 1));
    finding->text = words(&made, "%u ranks wait for each other in a circle", (unsigned)size);
    made.chain = must(mpiq_chain_create());
    for (uint32_t rank = 0; rank < size; rank++) {
        struct mpiq_rank_diagnosis *row = &made.diagnosis->ranks[rank];
        uint32_t next = (rank + 1) % size;
        row->stuck = row->cause = true;
        row->since = 75 - rank % 2;
        row->what = words(&made, "rank %u to receive tag 7", (unsigned)next);
        for (int i = 0; i < (rank < 100 ? 2 : 0); i++) {
            struct mpiq_step *step =
                must(i ? mpiq_chain_add_step(made.chain) : mpiq_finding_add_step(finding));
            step->process = rank;
            must_be(mpiq_rank_set_add(&step->waits_for, 0, next));
            step->why = words(&made, "MPI_Send to rank %u, tag 7", (unsigned)next);
            step->site = row->site;
            step->since = row->since;
        }
    }
    made.chain->cycle = size <= 100;
    made.chain->text = "a cycle: none of them can go on";
    made.chain->finding = 0;
    for (uint32_t i = 0; i < job->operation_count; i++)
        job->operations[i].blocked = job->operations[i].queue == MPIQ_QUEUE_SENDS;
    return made;
}

struct made_job made_chaos(uint32_t size)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    for (uint32_t rank = 0; rank < size; rank++) {
        struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, size);
        add_world(state)->ordered = (int64_t)rank;
        add_count(&state->communicators[0], mpiq_collective_class("MPI_Bcast"), rank, rank % 2 > 0);
        add_thread(state, "MPI_Recv", "chaos.c", (int)rank + 1, "a_function_with_a_rather_long_name");
        for (uint32_t i = 0; i < 3; i++)
            add_operation(state, (enum mpiq_queue)i,
                          i == 0   ? MPIQ_OPERATION_SEND
                          : i == 1 ? MPIQ_OPERATION_RECEIVE
                                   : MPIQ_OPERATION_MESSAGE,
                          (int32_t)((rank * 7919u + 1) % size), (int32_t)rank, (int64_t)rank * 8);
        add_rank(job, state);
    }
    struct made_job made = finished(job, MPIQ_VERDICT_DEADLOCK);
    made.diagnosis->text = words(&made, "%u ranks can never go on", (unsigned)size);
    for (uint32_t rank = 0; rank < size; rank++) {
        struct mpiq_rank_diagnosis *row = &made.diagnosis->ranks[rank];
        row->stuck = true;
        row->since = rank;
        row->what =
            words(&made, "tag %u from rank %u", (unsigned)rank, (unsigned)((rank * 7919u + 1) % size));
        if (rank >= 200)
            continue;
        struct mpiq_finding *finding =
            must(mpiq_diagnosis_add_finding(made.diagnosis, MPIQ_FINDING_RECEIVE_UNMATCHED));
        finding->proven = rank < 100;
        finding->operation = operation_of(job, rank, MPIQ_QUEUE_RECEIVES);
        finding->text = words(&made,
                              "rank %u waits for a message with tag %u that nobody will send, whatever else "
                              "happens in this job, in which nothing much will",
                              (unsigned)rank, (unsigned)rank);
        for (uint32_t i = 0; i < 30; i++) {
            add_site(finding, words(&made, "%u", (unsigned)((rank + i) % size)), "MPI_Recv", "chaos.c",
                     (int)i + 1, "f");
            struct mpiq_near_miss *miss = must(mpiq_finding_add_near_miss(finding));
            *miss = (struct mpiq_near_miss){.differs = MPIQ_MISS_TAG,
                                            .process = rank,
                                            .holder = (rank + i) % size,
                                            .operation =
                                                operation_of(job, (rank + i) % size, MPIQ_QUEUE_UNEXPECTED)};
        }
        struct mpiq_note *note = must(mpiq_diagnosis_add_note(made.diagnosis));
        note->text = words(&made, "something of rank %u could not be read, for a reason that takes a line",
                           (unsigned)rank);
        note = must(mpiq_diagnosis_add_assumption(made.diagnosis));
        note->text = words(&made, "rank %u may act at any moment", (unsigned)rank);
    }
    return made;
}

/* A communicator of some ranks of the first world besides MPI_COMM_WORLD. */
static struct mpiq_communicator *add_part(struct mpiq_rank_state *state, const char *name, uint64_t context,
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

static void mixture_findings(struct made_job *made)
{
    struct mpiq_finding *finding =
        must(mpiq_diagnosis_add_finding(made->diagnosis, MPIQ_FINDING_COLLECTIVE_MISMATCH));
    finding->proven = true;
    finding->comm = 0;
    finding->number = 4;
    finding->since = 42;
    no_error(mpiq_rank_set_parse("0-3", &finding->ranks));
    no_error(mpiq_rank_set_parse("3", &finding->suspects));
    struct mpiq_finding_call *call = must(mpiq_finding_add_call(finding));
    call->collective = "MPI_Barrier";
    no_error(mpiq_rank_set_parse("0-2", &call->ranks));
    call = must(mpiq_finding_add_call(finding));
    call->collective = "MPI_Reduce";
    no_error(mpiq_rank_set_parse("3", &call->ranks));
    add_site(finding, "0-2", "MPI_Barrier", "a.c", 10, "main");
    add_site(finding, "3", "MPI_Reduce", "a.c", 12, "main");
    finding->text = "call #4 is MPI_Barrier on ranks 0-2 and MPI_Reduce on rank 3";

    finding = must(mpiq_diagnosis_add_finding(made->diagnosis, MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH));
    finding->comm = 1;
    finding->collective = "MPI_Bcast";
    finding->number = 2;
    finding->field = "root";
    no_error(mpiq_rank_set_parse("1,3", &finding->ranks));
    struct mpiq_finding_value *value = must(mpiq_finding_add_value(finding));
    value->value = "0";
    no_error(mpiq_rank_set_parse("1", &value->ranks));
    value = must(mpiq_finding_add_value(finding));
    value->value = "1";
    no_error(mpiq_rank_set_parse("3", &value->ranks));
    finding->text = "the ranks do not agree on the root of MPI_Bcast #2";

    finding = must(mpiq_diagnosis_add_finding(made->diagnosis, MPIQ_FINDING_TRUNCATION));
    finding->comm = 0;
    finding->operation = operation_of(made->job, 0, MPIQ_QUEUE_RECEIVES);
    finding->other = operation_of(made->job, 0, MPIQ_QUEUE_UNEXPECTED);
    no_error(mpiq_rank_set_parse("0", &finding->ranks));
    finding->text = "rank 0 receives 8 bytes where 80 come";

    finding = must(mpiq_diagnosis_add_finding(made->diagnosis, MPIQ_FINDING_RANK_GONE));
    no_error(mpiq_rank_set_parse("4", &finding->ranks));
    no_error(mpiq_rank_set_parse("4", &finding->suspects));
    finding->text = "rank 4 has ended";
}

struct made_job made_mixture(void)
{
    static const uint32_t odd[] = {1, 3};
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    for (uint32_t rank = 0; rank < 6; rank++) {
        struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, 7);
        add_world(state)->ordered = 4;
        add_count(&state->communicators[0],
                  rank == 3 ? mpiq_collective_class("MPI_Reduce") : mpiq_collective_class("MPI_Barrier"), 4,
                  rank < 4);
        if (rank % 2 > 0 && rank < 4)
            add_count(add_part(state, "odd \033[31m\"ones\" \xc3\xa4", 5, odd, 2),
                      mpiq_collective_class("MPI_Ibcast"), 2, true);
        if (rank < 4)
            add_thread(state, rank == 3 ? "MPI_Reduce" : "MPI_Barrier", "a.c", rank == 3 ? 12 : 10, "main");
        if (rank == 4) {
            state->gone = true;
            state->process_state = 'Z';
            state->queues = MPIQ_UNKNOWN;
            state->recording = MPIQ_UNKNOWN;
            mpiq_rank_state_problem(
                state, "queues",
                mpiq_error_create(MPIQ_ERROR_CORRUPT, "the list of requests runs in a circle"));
        }
        if (rank == 5) {
            state->source = MPIQ_SOURCE_DEBUG_INFO;
            state->recording = MPIQ_NO;
            state->queues = MPIQ_NO;
            state->process_state = 'T';
            snprintf(state->pml, sizeof state->pml, "ucx");
            add_thread(state, "", NULL, 0, "compute");
        }
        if (rank == 0) {
            struct mpiq_operation *any =
                add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, MPIQ_ANY, 0, 8);
            any->tag_any = true;
            any = add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, MPIQ_ANY, 0, 1 << 30);
            any->tag_any = true;
            any->status = MPIQ_STATUS_MATCHED;
            any->actual_local = 2;
            any->actual = (struct mpiq_name){.job = WORLD_JOB, .rank = 2};
            any->actual_tag = 17;
            any->actual_bytes = 1 << 20;
            struct mpiq_operation *persistent =
                add_operation(state, MPIQ_QUEUE_SENDS, MPIQ_OPERATION_SSEND, 1, 3, 4);
            persistent->persistent = persistent->inactive = true;
            persistent->status = MPIQ_STATUS_COMPLETE;
            add_operation(state, MPIQ_QUEUE_UNEXPECTED, MPIQ_OPERATION_MESSAGE, 3, 2, 80)->out_of_order =
                true;
        }
        add_rank(job, state);
    }
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct mpiq_rank_state *state = new_rank(SPAWNED_JOB, rank, 2);
        add_world(state);
        state->communicators[0].context[1] = 9;
        add_thread(state, "MPI_Recv", "child.c", 4, "main");
        add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, 1 - (int32_t)rank, 1, 4);
        add_rank(job, state);
    }
    struct made_job made = finished(job, MPIQ_VERDICT_DEADLOCK);
    struct mpiq_rank_diagnosis *ranks = made.diagnosis->ranks;
    made.diagnosis->text = "ranks 0-3 can never go on";
    no_error(mpiq_rank_set_parse("0-3", &made.diagnosis->stuck));
    for (uint32_t rank = 0; rank < 4; rank++) {
        ranks[rank].stuck = ranks[rank].cause = true;
        ranks[rank].number = 4;
        ranks[rank].since = 42;
    }
    ranks[4].doing = MPIQ_DOING_GONE;
    ranks[5].doing = MPIQ_DOING_STOPPED;
    for (uint32_t process = 7; process < made.job->process_count; process++)
        ranks[process].comm = job->operations[operation_of(job, process, MPIQ_QUEUE_RECEIVES)].comm;
    mixture_findings(&made);
    struct mpiq_note *note = must(mpiq_diagnosis_add_note(made.diagnosis));
    no_error(mpiq_rank_set_parse("6", &note->ranks));
    note->text = "no process of this rank was found on n1";
    note = must(mpiq_diagnosis_add_assumption(made.diagnosis));
    no_error(mpiq_rank_set_parse("6", &note->ranks));
    note->text = "not read: it is taken to be able to act at any moment";
    return made;
}

struct made_job made_backlog(void)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, 2);
        add_world(state);
        add_thread(state, rank ? "MPI_Send" : "MPI_Recv", "threads.c", rank ? 9 : 20,
                   rank ? "produce" : "main");
        for (int i = 0; rank == 0 && i < 2; i++) {
            if (i == 1)
                add_thread(state, "MPI_Recv", "threads.c", 31, "helper");
            struct mpiq_thread *thread = &state->threads[i];
            struct mpiq_operation *queued =
                add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, 1, i, 4);
            struct mpiq_wait *wait = must(mpiq_thread_add_wait(thread));
            thread->tid = state->pid + i;
            wait->kind = MPIQ_WAIT_RECEIVE;
            wait->need = 1;
            wait->episode = 1;
            wait->comm = 0;
            snprintf(wait->call, sizeof wait->call, "MPI_Recv");
            struct mpiq_operation *waited = must(mpiq_wait_add_operation(wait));
            *waited = *queued;
            waited->queue = MPIQ_QUEUE_WAIT;
        }
        for (int i = 0; rank == 0 && i < 20; i++)
            add_operation(state, MPIQ_QUEUE_UNEXPECTED, MPIQ_OPERATION_MESSAGE, 1, 100 + i,
                          i < 10 ? 8 : 4096);
        add_rank(job, state);
    }
    struct made_job made = finished(job, MPIQ_VERDICT_RUNNING);
    made.diagnosis->text = "no rank is proven to be stuck";
    struct mpiq_finding *finding =
        must(mpiq_diagnosis_add_finding(made.diagnosis, MPIQ_FINDING_UNEXPECTED_BACKLOG));
    finding->comm = 0;
    no_error(mpiq_rank_set_parse("0", &finding->ranks));
    finding->text = "rank 0 holds 20 messages that nobody has posted a receive for";
    return made;
}

struct made_job made_running(void)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    for (uint32_t rank = 0; rank < 4; rank++) {
        struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, 4);
        state->source = MPIQ_SOURCE_DEBUG_INFO;
        state->recording = MPIQ_NO;
        add_world(state);
        add_thread(state, rank ? "MPI_Allreduce" : "", NULL, 0, rank ? "sum" : "assemble");
        add_rank(job, state);
    }
    struct made_job made = finished(job, MPIQ_VERDICT_RUNNING);
    made.diagnosis->text = "1 rank computes, and 3 wait for it";
    made.diagnosis->ranks[0].doing = MPIQ_DOING_COMPUTING;
    made.diagnosis->ranks[0].what = "assemble";
    return made;
}

struct made_job made_nothing(void)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    struct made_job made = finished(job, MPIQ_VERDICT_UNKNOWN);
    made.diagnosis->text = "no rank could be read";
    struct mpiq_note *note = must(mpiq_diagnosis_add_note(made.diagnosis));
    note->text = "the processes belong to another user: run mpiq as that user, or as root";
    return made;
}

void made_job_deinit(struct made_job *made)
{
    mpiq_chain_destroy(made->chain);
    mpiq_diagnosis_destroy(made->diagnosis);
    mpiq_job_state_destroy(made->job);
}
