/* SPDX-License-Identifier: BSD-3-Clause */
#include "job_builder.h"

#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t NOW = INT64_C(1700000000) * 1000000000;

#define FOR_LOOKS(job, rank, state)                                                               \
    for (int look_ = 0; look_ < 2; look_++)                                                       \
        for (struct mpiq_rank_state *state = (job)->states[look_][rank];                          \
             state && !((job)->alike && look_) && ((job)->look == 0 || (job)->look == look_ + 1); \
             state = NULL)

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
    state->taken_ns = NOW + look;
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
    thread->record = true;
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

static struct mpiq_thread *last_thread(struct mpiq_rank_state *state)
{
    return &state->threads[state->thread_count - 1];
}

void job_at(struct job_builder *job, int rank, const char *function, const char *file, int line)
{
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_thread *thread = last_thread(state);
        if (thread->user_frame < 0) {
            struct mpiq_frame *frame = mpiq_thread_add_frame(thread);
            thread->user_frame = (int32_t)(frame - thread->frames);
        }
        struct mpiq_frame *frame = &thread->frames[thread->user_frame];
        frame->pc = 0x400000 + (uint64_t)line;
        frame->function = mpiq_rank_state_intern(state, function);
        frame->file = mpiq_rank_state_intern(state, file);
        frame->line = line;
    }
}

void job_state(struct job_builder *job, int rank, char letter)
{
    FOR_LOOKS(job, rank, state)
    {
        state->process_state = letter;
        state->gone = letter == 'Z';
        last_thread(state)->state = letter;
        if (letter != 'R')
            state->cpu_ns = last_thread(state)->cpu_ns = 5;
    }
}

void job_phase(struct job_builder *job, int rank, enum mpiq_phase phase)
{
    FOR_LOOKS(job, rank, state)
    state->phase = phase;
}

/* The frame of the MPI function, inside that of the user. */
static void enter(struct mpiq_rank_state *state, struct mpiq_thread *thread, const char *call)
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
    enter(state, last_thread(state), call);
}

void job_polls(struct job_builder *job, int rank)
{
    job_call(job, rank, "MPI_Test");
}

void job_unpatched(struct job_builder *job)
{
    for (int rank = 0; rank < job->ranks; rank++) {
        FOR_LOOKS(job, rank, state)
        {
            state->source = MPIQ_SOURCE_DEBUG_INFO;
            state->recording = MPIQ_NO;
            state->threads[0].record = false;
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
        thread->record = true;
        thread->mpi_frame = thread->user_frame = -1;
    }
    job_at(job, rank, "worker", "solver.c", 30);
}

void job_sleeps(struct job_builder *job, int rank, enum mpiq_sleep sleep, const char *function)
{
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_thread *thread = last_thread(state);
        thread->state = 'S';
        thread->sleep = (uint8_t)sleep;
        thread->record = false;
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

void job_wait(struct job_builder *job, int rank, const char *call, enum mpiq_wait_kind kind)
{
    job->episode++;
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_thread *thread = last_thread(state);
        enter(state, thread, call);
        if (!thread->record)
            continue;
        struct mpiq_wait *wait = mpiq_thread_add_wait(thread);
        wait->level = (int32_t)thread->wait_count - 1;
        wait->kind = (uint8_t)kind;
        wait->episode = job->episode;
        wait->begin_ns = NOW - (int64_t)(job->waited * 1e9);
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
        struct mpiq_thread *thread = last_thread(state);
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
        .tid = last_thread(state)->tid,
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
        if (!last_thread(state)->record)
            continue;
        struct mpiq_wait *wait = &last_thread(state)->waits[last_thread(state)->wait_count - 1];
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

int job_window(struct job_builder *job, const char *name, int comm)
{
    int index = 0;
    for (int rank = 0; rank < job->ranks; rank++) {
        FOR_LOOKS(job, rank, state)
        {
            struct mpiq_window *window = mpiq_rank_state_add_window(state);
            snprintf(window->name, sizeof window->name, "%s", name);
            window->comm = (uint32_t)comm;
            window->id[1] = state->window_count;
            window->local_rank = state->communicators[comm].local_rank;
            index = (int)state->window_count - 1;
        }
    }
    return index;
}

void job_lock(struct job_builder *job, int rank, int window, int target, enum mpiq_lock_type type, bool held)
{
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_window_lock *lock = mpiq_window_add_lock(&state->windows[window]);
        *lock = (struct mpiq_window_lock){.target_local = target, .type = (uint8_t)type, .held = held};
        state->windows[window].access = target == ANY ? MPIQ_ACCESS_LOCK_ALL : MPIQ_ACCESS_LOCK;
    }
}

void job_post(struct job_builder *job, int rank, int window, int origin)
{
    FOR_LOOKS(job, rank, state)
    {
        state->windows[window].exposure = MPIQ_EXPOSURE_POST;
        mpiq_window_add_exposure(&state->windows[window], origin);
    }
}

void job_start(struct job_builder *job, int rank, int window, int target)
{
    FOR_LOOKS(job, rank, state)
    {
        state->windows[window].access = MPIQ_ACCESS_START;
        mpiq_window_add_access(&state->windows[window], target);
    }
}

void job_wait_window(struct job_builder *job, int rank, const char *call, enum mpiq_wait_kind kind,
                     int window, int target, enum mpiq_lock_type type)
{
    job_wait(job, rank, call, kind);
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_thread *thread = last_thread(state);
        struct mpiq_wait *wait = &thread->waits[thread->wait_count - 1];
        wait->window = window;
        wait->window_target = target;
        wait->lock_type = (uint8_t)type;
    }
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

static void fail(struct mpiq_error *error)
{
    if (error)
        CU_FAIL(error->message);
    mpiq_error_destroy(error);
}

/* The second look at what has not moved, but for the time and what waiting costs. */
static void see_again(struct mpiq_rank_state *state)
{
    state->taken_ns++;
    if (state->process_state != 'R')
        return;
    state->cpu_ns += 100000000;
    for (size_t i = 0; i < state->thread_count; i++)
        state->threads[i].cpu_ns += 100000000;
}

struct mpiq_diagnosis *job_diagnose(struct job_builder *job, struct mpiq_job_state **ret)
{
    *ret = mpiq_job_state_create();
    for (int look = 0; look < (job->one_look ? 1 : 2); look++) {
        for (int rank = 0; rank < job->ranks; rank++) {
            if (job->alike && look == 1)
                see_again(job->states[1][rank]);
            if (!job->unread[rank])
                fail(mpiq_job_state_add(*ret, look + 1, job->states[look][rank]));
        }
    }
    fail(mpiq_job_state_finish(*ret));
    struct mpiq_diagnosis *diagnosis = NULL;
    fail(mpiq_diagnose(*ret, &job->options, &diagnosis));
    return diagnosis;
}

static void print_set(FILE *out, const char *word, const struct mpiq_rank_set *set)
{
    char *text = mpiq_rank_set_text(set, 0);
    if (set->size > 0)
        fprintf(out, " %s %s", word, text);
    free(text);
}

char *job_answer(struct job_builder *job)
{
    struct mpiq_job_state *state;
    struct mpiq_diagnosis *diagnosis = job_diagnose(job, &state);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "%s: %s\n", mpiq_verdict_word(diagnosis->verdict), diagnosis->text);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &diagnosis->findings[i];
        if (finding->consequence_of != MPIQ_NONE)
            fprintf(out, "  follows from %u: ", finding->consequence_of + 1);
        fprintf(out, "%s%s", mpiq_finding_word(finding->kind), finding->proven ? "" : "?");
        print_set(out, "ranks", &finding->ranks);
        print_set(out, "missing", &finding->missing);
        print_set(out, "suspects", &finding->suspects);
        fprintf(out, ": %s\n", finding->text);
    }
    fclose(out);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    return text;
}

void job_expect(struct job_builder *job, const char *wanted)
{
    char *answer = job_answer(job);
    bool same = strcmp(answer, wanted) == 0;
    CU_ASSERT(same);
    if (!same)
        printf("\n--- wanted\n%s--- got\n%s---\n", wanted, answer);
    free(answer);
    job_deinit(job);
}

void job_check_size(struct job_builder *job, size_t causes, size_t most_findings)
{
    struct mpiq_job_state *state;
    struct mpiq_diagnosis *diagnosis = job_diagnose(job, &state);
    size_t found = 0;
    CU_ASSERT_EQUAL(diagnosis->verdict, MPIQ_VERDICT_DEADLOCK);
    CU_ASSERT(diagnosis->finding_count <= most_findings);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        found += diagnosis->findings[i].consequence_of == MPIQ_NONE;
        CU_ASSERT(diagnosis->findings[i].evidence_count <= 8);
        CU_ASSERT(strlen(diagnosis->findings[i].text) < 300);
    }
    CU_ASSERT_EQUAL(found, causes);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    job_deinit(job);
}
