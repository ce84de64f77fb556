/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/system_calls.h"
#include "state/budget.h"
#include "merge/merge.h"
#include "words/quantities.h"
#include "suite.h"
#include "words/nouns.h"

static void set_group(struct mpiq_group *group, uint64_t hash, const struct mpiq_name *names, uint32_t count)
{
    group->hash = hash;
    group->count = count;
    group->members = calloc(count, sizeof *names);
    memcpy(group->members, names, count * sizeof *names);
}

static struct mpiq_rank_state *rank_state(uint32_t job, int rank, int size)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    state->name = (struct mpiq_name){.job = job, .rank = rank};
    state->world_size = size;
    state->pid = 100 * (int)job + rank;
    snprintf(state->host, sizeof state->host, "n%d", rank % 2);
    snprintf(state->nspace, sizeof state->nspace, "%u", job);
    struct mpiq_communicator *world = mpiq_rank_state_add_communicator(state);
    world->flags = MPIQ_COMM_WORLD;
    world->local_rank = rank;
    world->handle = 0x100;
    snprintf(world->name, sizeof world->name, "MPI_COMM_WORLD");
    struct mpiq_name names[64];
    for (int i = 0; i < size; i++)
        names[i] = (struct mpiq_name){.job = job, .rank = i};
    set_group(&world->local, 1000 + job, names, (uint32_t)size);
    return state;
}

static struct mpiq_communicator *add_comm(struct mpiq_rank_state *state, uint64_t context, uint64_t hash,
                                          int local_rank, const struct mpiq_name *names, uint32_t count)
{
    struct mpiq_communicator *comm = mpiq_rank_state_add_communicator(state);
    comm->handle = 0x200 + context;
    comm->context[1] = context;
    comm->local_rank = local_rank;
    set_group(&comm->local, hash, names, count);
    return comm;
}

static void add(struct mpiq_job_state *job, int look, struct mpiq_rank_state *state)
{
    struct mpiq_error *error = mpiq_job_state_add(job, look, state);
    CU_ASSERT_PTR_NULL(error);
    mpiq_error_destroy(error);
    mpiq_rank_state_destroy(state);
}

static void finish(struct mpiq_job_state *job)
{
    struct mpiq_error *error = mpiq_job_state_finish(job);
    CU_ASSERT_PTR_NULL_FATAL(error);
}

static void refuse(struct mpiq_job_state *job, int look, struct mpiq_rank_state *state, const char *part)
{
    struct mpiq_error *error = mpiq_job_state_add(job, look, state);
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_EQUAL(error->code, MPIQ_ERROR_CORRUPT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, part));
    mpiq_error_destroy(error);
    mpiq_rank_state_destroy(state);
}

/* Two worlds, ranks in any order and not all of them: processes are in order all the same. */
static void test_worlds(void)
{
    struct mpiq_job_state *job = mpiq_job_state_create();
    add(job, 1, rank_state(12, 1, 2));
    add(job, 1, rank_state(7, 2, 3));
    add(job, 1, rank_state(7, 0, 3));
    finish(job);
    CU_ASSERT_EQUAL(job->world_count, 2);
    CU_ASSERT_EQUAL(job->worlds[0].job, 7); /* "7" is before "12" */
    CU_ASSERT_EQUAL(job->worlds[0].size, 3);
    CU_ASSERT_EQUAL(job->worlds[0].present, 2);
    CU_ASSERT_EQUAL(job->worlds[1].first, 3);
    CU_ASSERT_EQUAL(job->process_count, 5);
    CU_ASSERT_PTR_NULL(mpiq_job_rank_of(job, 1));
    CU_ASSERT_EQUAL(mpiq_job_rank_of(job, 2)->pid, 702);
    CU_ASSERT_EQUAL(mpiq_job_rank_of(job, 4)->pid, 1201);
    CU_ASSERT_EQUAL(mpiq_job_process(job, 1, 1), 4);
    CU_ASSERT_EQUAL(mpiq_job_process(job, 1, 2), MPIQ_NONE);
    CU_ASSERT_EQUAL(mpiq_job_world_rank(job, 4).world, 1);
    CU_ASSERT_EQUAL(mpiq_job_world_rank(job, 4).rank, 1);
    CU_ASSERT_EQUAL(job->host_count, 2);
    CU_ASSERT_STRING_EQUAL(mpiq_job_string(job, job->hosts[0]), "n0");
    mpiq_job_state_destroy(job);
}

/* One communicator for all its members; another one for others under the same context. */
static void test_communicators(void)
{
    struct mpiq_job_state *job = mpiq_job_state_create();
    static const struct mpiq_name low[] = {{7, 0}, {7, 1}};
    static const struct mpiq_name high[] = {{7, 3}, {7, 2}};
    for (int rank = 3; rank >= 0; rank--) {
        struct mpiq_rank_state *state = rank_state(7, rank, 4);
        struct mpiq_communicator *self = mpiq_rank_state_add_communicator(state);
        struct mpiq_name own = {7, rank};
        self->flags = MPIQ_COMM_SELF;
        self->context[1] = 1;
        set_group(&self->local, 50 + (uint64_t)rank, &own, 1);
        if (rank < 2)
            add_comm(state, 4, 60, rank, low, 2);
        else
            add_comm(state, 4, 61, 3 - rank, high, 2);
        add(job, 1, state);
    }
    finish(job);
    CU_ASSERT_EQUAL(job->communicator_count, 4);
    CU_ASSERT_STRING_EQUAL(mpiq_job_communicator_name(job, 0), "MPI_COMM_WORLD");
    CU_ASSERT_STRING_EQUAL(mpiq_job_communicator_name(job, 1), "MPI_COMM_SELF");
    CU_ASSERT_STRING_EQUAL(mpiq_job_communicator_name(job, 2), "communicator 4");
    struct mpiq_rank_set members = {0};
    mpiq_job_communicator_members(job, 2, &members);
    mpiq_job_communicator_members(job, 3, &members);
    char *text = mpiq_rank_set_text(&members, 0);
    CU_ASSERT_STRING_EQUAL(text, "0-3");
    free(text);
    mpiq_rank_set_deinit(&members);
    /* Members stand by local rank: of the upper half rank 3 is the first. */
    const struct mpiq_job_communicator *upper = &job->communicators[3];
    CU_ASSERT_EQUAL(job->ranks[job->members[upper->first_member].rank].process, 3);
    const struct mpiq_job_member *member = mpiq_job_member_of(job, job->processes[2], 3);
    CU_ASSERT_PTR_NOT_NULL_FATAL(member);
    CU_ASSERT_EQUAL(mpiq_job_local_process(job, member, false, 0), 3);
    CU_ASSERT_EQUAL(mpiq_job_local_process(job, member, false, 1), 2);
    CU_ASSERT_EQUAL(mpiq_job_local_process(job, member, false, 2), MPIQ_NONE);
    CU_ASSERT_PTR_NULL(mpiq_job_member_of(job, job->processes[0], 3));
    mpiq_job_state_destroy(job);
}

/* Ranks 0 and 1 are in two communicators that one line made, 2 and 3 in one by the same line, all in one that
   has a name. */
static void test_words_of_communicators(void)
{
    struct mpiq_job_state *job = mpiq_job_state_create();
    static const struct mpiq_name all[] = {{7, 0}, {7, 1}, {7, 2}, {7, 3}};
    for (int rank = 0; rank < 4; rank++) {
        const struct mpiq_name *half = rank < 2 ? all : all + 2;
        struct mpiq_rank_state *state = rank_state(7, rank, 4);
        struct mpiq_communicator *comm;
        for (uint64_t context = 4; context < 11; context++) {
            bool everybodys = context >= 7;
            if (context < 7 && (rank < 2) != (context < 6))
                continue;
            comm = everybodys ? add_comm(state, context, 60, rank, all, 4)
                              : add_comm(state, context, 61 + (uint64_t)(rank / 2), rank % 2, half, 2);
            if (context == 7)
                snprintf(comm->name, sizeof comm->name, "rows");
            if (context == 9)
                snprintf(comm->name, sizeof comm->name, "communicator of mine");
            if (context == 10) /* Open MPI's own name, of a library that does not say what made it */
                snprintf(comm->name, sizeof comm->name, "MPI COMMUNICATOR 3 DUP FROM 0");
            if (context == 8 || context == 10)
                continue;
            snprintf(comm->made_by, sizeof comm->made_by, "MPI_Comm_dup");
            comm->made = (struct mpiq_place){.file = "/home/me/x.c", .line = 8};
        }
        add(job, 1, state);
    }
    finish(job);
    static const char *const wanted[] = {"MPI_COMM_WORLD",
                                         "the communicator of ranks 0-1 made by MPI_Comm_dup at x.c:8 (4)",
                                         "the communicator of ranks 0-1 made by MPI_Comm_dup at x.c:8 (5)",
                                         "the communicator of ranks 2-3 made by MPI_Comm_dup at x.c:8",
                                         "\"rows\"",
                                         "communicator 8",
                                         "\"communicator of mine\"",
                                         "the communicator of all ranks (MPI COMMUNICATOR 3 DUP FROM 0)"};
    CU_ASSERT_EQUAL_FATAL(job->communicator_count, sizeof wanted / sizeof *wanted);
    for (uint32_t i = 0; i < job->communicator_count; i++) {
        char *words = mpiq_job_communicator_words(job, i);
        CU_ASSERT_STRING_EQUAL(words, wanted[i]);
        free(words);
    }
    mpiq_job_state_destroy(job);
}

static void test_sizes(void)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } sizes[] = {{-1, ""},
                 {0, "0 bytes"},
                 {1, "1 byte"},
                 {1023, "1023 bytes"},
                 {1024, "1 KiB"},
                 {56000, "56000 bytes"},
                 {3 << 20, "3 MiB"},
                 {(1 << 20) + 1, "1048577 bytes"},
                 {INT64_C(5) << 40, "5 TiB"},
                 {INT64_C(1) << 60, "1048576 TiB"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        CU_ASSERT_STRING_EQUAL(mpiq_size_text(sizes[i].bytes, (char[MPIQ_SIZE_ROOM]){0}), sizes[i].text);
}

/* An intercommunicator is one thing seen from two sides; its hidden local one belongs to it. */
static void test_intercommunicator(void)
{
    struct mpiq_job_state *job = mpiq_job_state_create();
    static const struct mpiq_name sides[2][2] = {{{7, 0}, {7, 1}}, {{7, 2}, {7, 3}}};
    for (int rank = 3; rank >= 0; rank--) {
        struct mpiq_rank_state *state = rank_state(7, rank, 4);
        int side = rank / 2;
        struct mpiq_communicator *comm = add_comm(state, 5, 60 + (uint64_t)side, rank % 2, sides[side], 2);
        comm->flags = MPIQ_COMM_INTER;
        uint64_t handle = comm->handle;
        set_group(&comm->remote, 61 - (uint64_t)side, sides[1 - side], 2);
        struct mpiq_communicator *hidden = add_comm(state, 6, 60 + (uint64_t)side, rank % 2, sides[side], 2);
        hidden->flags = MPIQ_COMM_INTERNAL;
        hidden->parent = handle;
        struct mpiq_operation *op = mpiq_rank_state_add_operation(state);
        op->comm = 1;
        op->kind = MPIQ_OPERATION_RECEIVE;
        op->queue = MPIQ_QUEUE_RECEIVES;
        op->peer_local = 1;
        add(job, 1, state);
    }
    finish(job);
    CU_ASSERT_EQUAL(job->communicator_count, 4);
    CU_ASSERT_EQUAL(job->communicators[1].member_count, 4);
    CU_ASSERT_EQUAL(job->groups[job->communicators[1].group].members[0], 0);
    CU_ASSERT_EQUAL(job->communicators[2].user, 1);
    CU_ASSERT_EQUAL(job->communicators[3].user, 1);
    for (uint32_t process = 0; process < 4; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        CU_ASSERT_EQUAL(job->operations[rank->first_operation].peer, process < 2 ? 3 : 1);
        CU_ASSERT_EQUAL(job->operations[rank->first_operation].comm, 1);
    }
    mpiq_job_state_destroy(job);
}

static struct mpiq_rank_state *waiting(uint64_t episode, uint32_t sent, uint32_t expected, uint64_t request)
{
    struct mpiq_rank_state *state = rank_state(7, 0, 2);
    state->phase = MPIQ_PHASE_RUNNING;
    state->cpu_ns = episode;
    *mpiq_communicator_add_channel(&state->communicators[0]) =
        (struct mpiq_channel){.peer_local = 1, .sent = sent, .expected = expected};
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    thread->tid = 700;
    thread->has_wait_record = true;
    struct mpiq_wait *wait = mpiq_thread_add_wait(thread);
    wait->kind = MPIQ_WAIT_RECEIVE;
    wait->episode = episode;
    wait->comm = -1;
    struct mpiq_operation *op = mpiq_rank_state_add_operation(state);
    op->request = request;
    op->kind = MPIQ_OPERATION_RECEIVE;
    op->queue = MPIQ_QUEUE_RECEIVES;
    op->peer_local = 1;
    *mpiq_wait_add_operation(wait) = *op;
    return state;
}

/* What is told apart between two looks. */
static void test_two_looks(void)
{
    static const struct {
        uint64_t episode;
        uint32_t sent, expected;
        uint64_t request;
        int same_wait, changed;
    } cases[] = {
        {5, 1, 1, 0x10, MPIQ_YES, 0},
        {6, 1, 1, 0x10, MPIQ_NO, MPIQ_CHANGED_WAITS},
        {5, 2, 1, 0x10, MPIQ_YES, MPIQ_CHANGED_CHANNELS},
        {5, 1, 2, 0x10, MPIQ_YES, MPIQ_CHANGED_CHANNELS},
        {5, 1, 1, 0x20, MPIQ_YES, MPIQ_CHANGED_QUEUES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mpiq_job_state *job = mpiq_job_state_create();
        add(job, 1, waiting(5, 1, 1, 0x10));
        add(job, 2, waiting(cases[i].episode, cases[i].sent, cases[i].expected, cases[i].request));
        finish(job);
        CU_ASSERT_EQUAL(job->rank_count, 1);
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, 0);
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread];
        CU_ASSERT_EQUAL(rank->looks, 3);
        CU_ASSERT_EQUAL(rank->changed, cases[i].changed);
        CU_ASSERT_EQUAL(thread->same_wait, cases[i].same_wait);
        const struct mpiq_job_operation *op = &job->operations[rank->first_operation];
        CU_ASSERT_EQUAL(op->request, cases[i].request);
        CU_ASSERT(op->blocked);
        const struct mpiq_job_member *member = mpiq_job_member_of(job, 0, 0);
        const struct mpiq_job_channel *channel = &job->channels[member->first_channel];
        CU_ASSERT_EQUAL(channel->sent_moved, cases[i].sent != 1);
        CU_ASSERT_EQUAL(channel->expected_moved, cases[i].expected != 1);
        CU_ASSERT(job->two_looks);
        mpiq_job_state_destroy(job);
    }
}

static void add_frame(struct mpiq_thread *thread, const char *function, const char *file, int line,
                      const char *object, enum mpiq_object_owner owner)
{
    *mpiq_thread_add_frame(thread) = (struct mpiq_frame){
        .pc = 1, .function = function, .file = file, .line = line, .object = object, .owner = (uint8_t)owner};
}

/* A place without a line of the user's own: the line that led there is told with it. */
static void test_callers(void)
{
    static const struct {
        const char *file, *object, *words;
        enum mpiq_object_owner owner;
    } cases[] = {
        {NULL, "/opt/libio.so", "io_write(), called at app.c:10", MPIQ_OWNER_USER},
        {NULL, "/home/me/app", "io_write(), called at app.c:10", MPIQ_OWNER_PROGRAM},
        {"/venv/lib/python3.11/site-packages/plib/io.py", "io.py", "io.py:5, called at app.c:10",
         MPIQ_OWNER_USER},
        {"/home/me/io.c", "/opt/libio.so", "io.c:5", MPIQ_OWNER_USER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mpiq_job_state *job = mpiq_job_state_create();
        struct mpiq_rank_state *state = rank_state(7, 0, 1);
        struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
        add_frame(thread, "MPI_Barrier", "barrier.c", 3, "/usr/lib/libmpi.so", MPIQ_OWNER_MPI);
        add_frame(thread, "io_write", cases[i].file, cases[i].file ? 5 : 0, cases[i].object, cases[i].owner);
        add_frame(thread, "io_more", NULL, 0, "/opt/libio.so", MPIQ_OWNER_USER);
        add_frame(thread, "dispatch", "/src/system.c", 8, "/usr/lib/libc.so", MPIQ_OWNER_SYSTEM);
        add_frame(thread, "save", "/home/me/app.c", 10, "/home/me/app", MPIQ_OWNER_PROGRAM);
        add_frame(thread, "main", "/home/me/app.c", 20, "/home/me/app", MPIQ_OWNER_PROGRAM);
        thread->mpi_frame = 0;
        thread->user_frame = 1;
        add(job, 1, state);
        finish(job);
        char *words = mpiq_job_place_words(job, job->threads[0].site);
        CU_ASSERT_STRING_EQUAL(words, cases[i].words);
        free(words);
        mpiq_job_state_destroy(job);
    }
}

/* A thread is the MPI library's own if that has started it, as far as its whole stack says. */
static void test_helpers(void)
{
    static const struct {
        enum mpiq_object_owner inner, outer;
        bool truncated, helper;
    } cases[] = {
        {MPIQ_OWNER_PART, MPIQ_OWNER_MPI, false, true},
        {MPIQ_OWNER_SHARED, MPIQ_OWNER_PART, false, true},
        {MPIQ_OWNER_PART, MPIQ_OWNER_MPI, true, false},
        {MPIQ_OWNER_PART, MPIQ_OWNER_SHARED, false, false},
        {MPIQ_OWNER_PART, MPIQ_OWNER_USER, false, false},
        {MPIQ_OWNER_USER, MPIQ_OWNER_MPI, false, false},
        {MPIQ_OWNER_SYSTEM, MPIQ_OWNER_SYSTEM, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mpiq_job_state *job = mpiq_job_state_create();
        struct mpiq_rank_state *state = rank_state(7, 0, 1);
        struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
        add_frame(thread, "poll", NULL, 0, "/lib/libc.so.6", MPIQ_OWNER_SYSTEM);
        add_frame(thread, "wait", NULL, 0, "/x/inner.so", cases[i].inner);
        add_frame(thread, "loop", NULL, 0, "/x/outer.so", cases[i].outer);
        add_frame(thread, "start_thread", NULL, 0, "/lib/libc.so.6", MPIQ_OWNER_SYSTEM);
        thread->truncated = cases[i].truncated;
        add(job, 1, state);
        finish(job);
        CU_ASSERT_EQUAL(job->threads[0].helper, cases[i].helper);
        mpiq_job_state_destroy(job);
    }
}

/* The number of a system call is read as the rank's machine has it. */
static void test_system_calls(void)
{
    static const struct {
        const char *architecture;
        enum mpiq_system_call call;
    } cases[] = {{"x86-64", MPIQ_CALL_WAIT4}, {"aarch64", MPIQ_CALL_NONE}, {"", MPIQ_CALL_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mpiq_job_state *job = mpiq_job_state_create();
        struct mpiq_rank_state *state = rank_state(7, 0, 1);
        snprintf(state->architecture, sizeof state->architecture, "%s", cases[i].architecture);
        struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
        thread->system_call = 61;
        add(job, 1, state);
        finish(job);
        CU_ASSERT_EQUAL(job->threads[0].system_call, cases[i].call);
        mpiq_job_state_destroy(job);
    }
}

/* Few or many requests: those that the rank's thread waits for are blocked, the others are not. */
static void test_blocked(void)
{
    enum { MOST = 20 };
    for (uint32_t count = 1; count <= MOST; count++) {
        struct mpiq_rank_state *state = waiting(5, 1, 1, 0x10);
        struct mpiq_wait *wait = &state->threads[0].waits[0];
        wait->kind = MPIQ_WAIT_ALL;
        for (uint32_t i = 1; i < 2 * count; i++) {
            struct mpiq_operation *op = mpiq_rank_state_add_operation(state);
            *op = state->operations[0];
            op->request = 0x10 + i;
            if (i % 2 == 0)
                *mpiq_wait_add_operation(wait) = *op;
        }
        /* The next rank has a request that the first one waits for by the same handle. */
        struct mpiq_rank_state *next = waiting(5, 1, 1, 0x10);
        next->name.rank = next->communicators[0].local_rank = 1;
        next->pid++;
        struct mpiq_operation *other = mpiq_rank_state_add_operation(next);
        *other = next->operations[0];
        other->request = 0x10 + 2 * (count - 1) + (count == 1);
        struct mpiq_job_state *job = mpiq_job_state_create();
        add(job, 1, state);
        add(job, 1, next);
        finish(job);
        for (uint32_t process = 0; process < 2; process++) {
            const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
            CU_ASSERT_EQUAL(rank->operation_count, process == 0 ? 2 * count : 2);
            for (uint32_t i = 0; i < rank->operation_count; i++)
                CU_ASSERT_EQUAL(job->operations[rank->first_operation + i].blocked, i % 2 == 0);
        }
        mpiq_job_state_destroy(job);
    }
}

/* A rank that changed takes no second place, unless there is more of it. */
static void test_room(void)
{
    struct mpiq_job_state *job = mpiq_job_state_create();
    add(job, 1, waiting(5, 1, 1, 0x10));
    add(job, 2, waiting(6, 2, 2, 0x20));
    finish(job);
    CU_ASSERT_EQUAL(job->operation_count, 2);
    CU_ASSERT_EQUAL(job->thread_count, 1);
    CU_ASSERT_EQUAL(job->wait_count, 1);
    CU_ASSERT_EQUAL(job->member_count, 1);
    mpiq_job_state_destroy(job);
}

static void test_refused(void)
{
    struct mpiq_job_state *job = mpiq_job_state_create();
    add(job, 1, rank_state(7, 0, 2));
    refuse(job, 1, rank_state(7, 0, 2), "rank 0 (process 700 on n0) was given twice");
    struct mpiq_rank_state *other = rank_state(7, 0, 2);
    other->pid = 4711;
    refuse(job, 1, other, "two processes claim to be rank 0 of one job: 700 on n0 and 4711 on n0");
    struct mpiq_rank_state *state = rank_state(7, 1, 2);
    mpiq_rank_state_add_operation(state)->comm = 5;
    refuse(job, 1, state, "an operation refers to something that is not there");
    state = rank_state(7, 1, 2);
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    thread->user_frame = 3;
    refuse(job, 1, state, "a stack");
    state = rank_state(7, 1, 2);
    mpiq_thread_add_wait(mpiq_rank_state_add_thread(state))->comm = 9;
    refuse(job, 1, state, "a wait");
    state = rank_state(7, 1, 2);
    state->world_size = INT32_MAX;
    refuse(job, 1, state, "more than mpiq supports");
    finish(job);
    CU_ASSERT_EQUAL(job->process_count, 2);
    mpiq_job_state_destroy(job);
}

/* Ranks of two worlds, in any order, another one in each look: each finds its own row. */
static void test_any_order(void)
{
    enum { RANKS = 5, STEPS = 4 };
    static const int steps[STEPS] = {1, 2, 3, 4}; /* each reaches all ranks */
    for (int i = 0; i < STEPS * STEPS; i++) {
        struct mpiq_job_state *job = mpiq_job_state_create();
        for (int look = 1; look <= 2; look++) {
            int step = steps[look == 1 ? i % STEPS : i / STEPS];
            for (int j = 0; j < 2 * RANKS; j++)
                add(job, look, rank_state(j % 2 ? 7 : 8, j / 2 * step % RANKS, RANKS));
            refuse(job, look, rank_state(7, i % RANKS, RANKS), "was given twice");
        }
        finish(job);
        CU_ASSERT_EQUAL(job->rank_count, 2 * RANKS);
        for (uint32_t process = 0; process < 2 * RANKS; process++) {
            const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
            CU_ASSERT_PTR_NOT_NULL_FATAL(rank);
            CU_ASSERT_EQUAL(rank->looks, 3);
            CU_ASSERT_EQUAL(rank->pid, (int)(process < RANKS ? 700 + process : 800 + process - RANKS));
        }
        mpiq_job_state_destroy(job);
    }
}

/* What an operation has matched, and which partitions it lacks, is kept of those that have it. */
static void test_more(void)
{
    struct mpiq_rank_state *state = rank_state(7, 0, 2);
    for (int i = 0; i < 4; i++) {
        struct mpiq_operation *op = mpiq_rank_state_add_operation(state);
        op->kind = MPIQ_OPERATION_RECEIVE;
        op->queue = MPIQ_QUEUE_RECEIVES;
        op->actual_local = 1;
        op->actual_bytes = 80;
        op->actual_tag = i == 3 ? 0 : 5;
    }
    state->operations[1].status = MPIQ_STATUS_MATCHED;
    state->operations[2].tag_any = true;
    state->operations[3].kind = MPIQ_OPERATION_PRECV;
    state->operations[3].partitions = 4;
    state->operations[3].missing = 2;
    state->operations[3].which = mpiq_rank_state_intern(state, "0,3");
    struct mpiq_job_state *job = mpiq_job_state_create();
    add(job, 1, state);
    finish(job);
    const struct mpiq_job_operation *ops = &job->operations[mpiq_job_rank_of(job, 0)->first_operation];
    CU_ASSERT_EQUAL(ops[0].more, MPIQ_NONE);
    CU_ASSERT_EQUAL(mpiq_job_more(job, &ops[0])->actual, MPIQ_NONE);
    CU_ASSERT_EQUAL(mpiq_job_more(job, &ops[0])->missing, -1);
    CU_ASSERT_EQUAL(mpiq_job_more(job, &ops[1])->actual, 1);
    CU_ASSERT_EQUAL(mpiq_job_more(job, &ops[1])->actual_tag, 5);
    CU_ASSERT_EQUAL(mpiq_job_more(job, &ops[1])->actual_bytes, 80);
    CU_ASSERT_EQUAL(mpiq_job_more(job, &ops[2])->actual, MPIQ_NONE);
    CU_ASSERT_EQUAL(mpiq_job_more(job, &ops[2])->actual_tag, 5);
    CU_ASSERT_EQUAL(mpiq_job_more(job, &ops[3])->partitions, 4);
    CU_ASSERT_EQUAL(mpiq_job_more(job, &ops[3])->missing, 2);
    CU_ASSERT_STRING_EQUAL(mpiq_job_string(job, mpiq_job_more(job, &ops[3])->which), "0,3");
    mpiq_job_state_destroy(job);
}

static struct mpiq_rank_state *nameless(int pid)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    state->name.rank = -1;
    state->pid = pid;
    return state;
}

/* What could not tell its rank is there, but is no process of the job; nor is any number of broken files. */
static void test_nameless(void)
{
    struct mpiq_job_state *job = mpiq_job_state_create();
    add(job, 1, nameless(4711));
    add(job, 1, rank_state(7, 0, 1));
    add(job, 1, nameless(0));
    add(job, 1, nameless(0));
    add(job, 2, nameless(4711));
    refuse(job, 1, nameless(4711), "process 4711 on");
    finish(job);
    CU_ASSERT_EQUAL(job->rank_count, 4);
    CU_ASSERT_EQUAL(mpiq_job_ranks_read(job), 1);
    CU_ASSERT_EQUAL(job->process_count, 1);
    CU_ASSERT_EQUAL(job->ranks[0].process, MPIQ_NONE);
    mpiq_job_state_destroy(job);
}

/* One rank's group names a million processes that nobody else has heard of: what was seen stays. */
static void test_claims(void)
{
    static const struct mpiq_name nobody[] = {{.job = 9, .rank = MPIQ_JOB_MAX_PROCESSES - 1},
                                              {.job = 7, .rank = 1}};
    struct mpiq_job_state *job = mpiq_job_state_create();
    add(job, 1, rank_state(7, 0, 2));
    struct mpiq_rank_state *liar = rank_state(7, 1, 2);
    add_comm(liar, 3, 77, 1, nobody, 2);
    add(job, 1, liar);
    finish(job);
    CU_ASSERT_EQUAL(job->process_count, 2);
    CU_ASSERT_EQUAL(mpiq_job_ranks_read(job), 2);
    for (uint32_t i = 0; i < job->communicator_count; i++) {
        const uint32_t *members = job->groups[job->communicators[i].group].members;
        CU_ASSERT_EQUAL(members[0], job->communicators[i].context[1] == 3 ? MPIQ_NONE : 0);
        CU_ASSERT_EQUAL(members[1], 1);
    }
    mpiq_job_state_destroy(job);
}

/* A share is everybody's own; the pool is not. */
static void test_budget(void)
{
    struct mpiq_job_state *job = mpiq_job_state_create();
    struct mpiq_rank_state *state = rank_state(7, 0, 4);
    state->weight = MPIQ_BUDGET_POOL;
    add(job, 1, state);
    state = rank_state(7, 1, 4);
    state->weight = 2 * MPIQ_BUDGET_SHARE + 1; /* the first one has left one share of the pool */
    refuse(job, 1, state, "exceeds the memory limit of all ranks together");
    state = rank_state(7, 2, 4);
    state->weight = 2 * MPIQ_BUDGET_SHARE;
    add(job, 1, state);
    state = rank_state(7, 2, 4);
    state->weight = MPIQ_BUDGET_SHARE;
    add(job, 2, state);
    finish(job);
    CU_ASSERT_EQUAL(mpiq_job_ranks_read(job), 2);
    mpiq_job_state_destroy(job);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"worlds", test_worlds},
        {"communicators", test_communicators},
        {"a communicator is named by the call that made it", test_words_of_communicators},
        {"sizes are exact", test_sizes},
        {"intercommunicators", test_intercommunicator},
        {"two looks", test_two_looks},
        {"blocked requests", test_blocked},
        {"room", test_room},
        {"impossible states are refused", test_refused},
        {"nameless", test_nameless},
        {"claims", test_claims},
        {"callers of places without a line", test_callers},
        {"threads of the MPI library", test_helpers},
        {"system calls by architecture", test_system_calls},
        {"ranks in any order", test_any_order},
        {"matched and partitioned operations", test_more},
        {"budget", test_budget},
        CU_TEST_INFO_NULL,
    };
    return suite_run("job state", tests);
}
