/* SPDX-License-Identifier: BSD-3-Clause */
/* stacks - threads with their frames, and the MPI call and the user's source line found in them. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/cleanup.h"
#include "names/library_calls.h"
#include "names/system_calls.h"
#include "rank/arguments.h"
#include "rank/requests.h"
#include "rank/call_target.h"
#include "rank/identity.h"
#include "rank/objects.h"
#include "rank/return_places.h"
#include "rank/python.h"
#include "rank/rank.h"

/* Threads of one process whose stacks are taken, at most. */
#define STACKS_MAX 256
#define THREAD_SERIALIZED 2

/* For a thread outside MPI: the innermost frame of the program itself.  The first thread may also be in one
   of the user's libraries; other threads without a frame of the program are helpers of some library. */
static int32_t find_own_frame(const struct mpiq_rank_state *state, const struct mpiq_thread *thread)
{
    int32_t in_library = -1;
    size_t first =
        0; /* outside of a GPU's call or the runtime's, also where that is linked into the program */
    for (size_t i = 0; i < thread->frame_count; i++) {
        const struct mpiq_frame *frame = &thread->frames[i];
        if (frame->pc &&
            mpiq_library_call_of(frame->object, frame->function, frame->line > 0) != MPIQ_LIBRARY_CALL_NONE)
            first = i + 1;
    }
    for (size_t i = first; i < thread->frame_count; i++) {
        const struct mpiq_frame *frame = &thread->frames[i];
        enum mpiq_object_owner owner = mpiq_frame_owner(state, frame);
        if (owner == MPIQ_OWNER_PROGRAM)
            return in_library >= 0 ? in_library : (int32_t)i;
        if (in_library < 0 && thread->tid == state->pid && frame->file && owner == MPIQ_OWNER_USER)
            in_library = (int32_t)i;
    }
    return in_library;
}

/* Whether a frame is of the object that holds the program, or of one that has led to the call at `call`. */
static bool is_programs(const struct mpiq_rank_state *state, const struct mpiq_thread *thread, size_t index,
                        size_t call)
{
    const struct mpiq_frame *frame = &thread->frames[index];
    enum mpiq_object_owner owner = mpiq_frame_owner(state, frame);
    if (owner == MPIQ_OWNER_PROGRAM)
        return true;
    for (size_t i = call + 1; owner == MPIQ_OWNER_USER && i < thread->frame_count; i++) {
        const char *object = thread->frames[i].object;
        if (object && strcmp(object, frame->object) == 0)
            return true;
    }
    return false;
}

/* The outermost MPI function is the one that the user called: what a tool or the library calls in turn lies
   further in.  Where the library has called the program back (to delete an attribute, to reduce) the program
   is at work again, in no MPI function or in one that it has called from there.  Returns whether that is so,
   other than in MPI_Finalize. */
static bool find_call(const struct mpiq_rank_state *state, struct mpiq_thread *thread)
{
    bool in_library = false;
    bool called_back = false;
    for (size_t i = thread->frame_count; i-- > 0;) {
        assert(thread->frames);
        const struct mpiq_frame *frame = &thread->frames[i];
        if (frame->pc == 0) /* an interpreter's: its functions are the user's, whatever their names */
            continue;
        if (thread->mpi_frame < 0 &&
            mpiq_mpi_frame(state, thread->frames, i, thread->mpi_call, sizeof thread->mpi_call)) {
            thread->mpi_frame = (int32_t)i;
            if (i + 1 < thread->frame_count)
                thread->user_frame = (int32_t)i + 1;
        }
        if (thread->mpi_frame < 0)
            continue;
        in_library = in_library || mpiq_frame_owner(state, frame) == MPIQ_OWNER_MPI;
        if (in_library && is_programs(state, thread, i, (size_t)thread->mpi_frame)) {
            in_library = false;
            called_back = called_back || strcmp(thread->mpi_call, "MPI_Finalize") != 0;
            thread->mpi_frame = thread->user_frame = -1;
            thread->mpi_call[0] = '\0';
        }
    }
    if (thread->mpi_frame < 0)
        thread->user_frame = find_own_frame(state, thread);
    return called_back;
}

/* Whether a recorded call is on the stack: the recorder's function is, MPI_X or PMPI_X.  A stack that is cut
   short, or whose functions have no names, does not deny it. */
static bool is_on_stack(const struct mpiq_rank_state *state, const struct mpiq_thread *thread,
                        const char *call)
{
    bool others = false;
    for (size_t i = 0; i < thread->frame_count; i++) {
        const struct mpiq_frame *frame = &thread->frames[i];
        if (mpiq_frame_owner(state, frame) != MPIQ_OWNER_RECORDER)
            continue;
        const char *own = frame->function ? strchr(frame->function, '_') : NULL; /* MPI_, PMPI_, MPIX_ */
        const char *recorded = strchr(call, '_');
        if (!frame->function || !recorded || (own && strcmp(own, recorded) == 0))
            return true;
        others = true;
    }
    return !others && (thread->mpi_frame >= 0 || thread->truncated);
}

/* Whether the MPI library has called code of a third party: a callback that a library of the program's has
   registered (an attribute's, an error handler), other than in MPI_Finalize. */
static bool runs_another(const struct mpiq_rank_state *state, const struct mpiq_thread *thread)
{
    bool inside = false;
    for (size_t i = thread->frame_count; i-- > 0;) {
        const struct mpiq_frame *frame = &thread->frames[i];
        char call[48];
        if (frame->pc == 0 || !frame->object)
            continue;
        if (!inside && mpiq_mpi_function(frame->function, call, sizeof call) &&
            strcmp(call, "MPI_Finalize") == 0)
            return false;
        enum mpiq_object_owner owner = mpiq_frame_owner(state, frame);
        if (owner == MPIQ_OWNER_MPI)
            inside = true;
        else if (inside && mpiq_owner_is_user(owner))
            return true;
    }
    return false;
}

/* The recorder sees only the outermost call.  If the program's own code runs inside it (an error handler, an
   operation of its own), or the stack does not show it (it was left unseen), the record does not say what the
   thread waits for.  Calls from within MPI_Finalize are recorded. */
static void find_recorded_call(const struct mpiq_rank_state *state, struct mpiq_thread *thread)
{
    bool called_back = find_call(state, thread) || runs_another(state, thread);
    size_t kept = 0;
    for (size_t i = 0; i < thread->wait_count; i++) {
        if (!called_back && is_on_stack(state, thread, thread->waits[i].call))
            thread->waits[kept++] = thread->waits[i];
        else
            free(thread->waits[i].operations);
    }
    thread->wait_count = kept;
}

static void convert(struct mpiq_rank_state *state, struct mpiq_rank_objects *objects,
                    const struct mpiq_target_stack *stack, struct mpiq_thread *thread)
{
    thread->truncated = stack->truncated;
    for (size_t i = 0; i < stack->count; i++) {
        const struct mpiq_target_frame *from = &stack->frames[i];
        struct mpiq_frame *frame = mpiq_thread_add_frame(thread);
        if (!frame)
            return;
        frame->pc = from->pc;
        char name[256];
        frame->function = mpiq_rank_state_intern(state, mpiq_user_name(from->function, name, sizeof name));
        frame->file = mpiq_rank_state_intern(state, from->file);
        frame->object = mpiq_rank_state_intern(state, from->object);
        frame->line = from->line;
        frame->inlined = from->inlined;
        frame->owner = (uint8_t)mpiq_rank_objects_owner(objects, frame->object);
    }
    if (state->source == MPIQ_SOURCE_RECORDER)
        find_recorded_call(state, thread);
    else
        find_call(state, thread);
}

static struct mpiq_thread *find_thread(struct mpiq_rank_state *state, pid_t tid)
{
    for (size_t i = 0; i < state->thread_count; i++) {
        if (state->threads[i].tid == tid)
            return &state->threads[i];
    }
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    if (thread)
        thread->tid = tid;
    return thread;
}

/* Whether the library says of every thread whether it waits: one that is not in its records does not. */
static bool has_records(const struct mpiq_rank_state *state)
{
    if ((state->source != MPIQ_SOURCE_PATCHED && state->source != MPIQ_SOURCE_RECORDER) ||
        state->recording != MPIQ_YES)
        return false;
    for (size_t i = 0; i < state->problem_count; i++) {
        if (state->problems[i].what && strcmp(state->problems[i].what, "waits") == 0)
            return false;
    }
    return true;
}

/* Whether its stack can say anything.  Where the library has records, and one thread alone at a time may be
   in it, the others of the process are its helpers and the user's workers. */
static bool is_wanted(const struct mpiq_rank_state *state, const struct mpiq_thread *thread,
                      const struct mpiq_stack_options *options)
{
    if (options->all_threads || !has_records(state) || state->thread_level >= THREAD_SERIALIZED)
        return true;
    return thread->wait_count > 0 || thread->tid == state->pid;
}

/* Whether it has not moved since: a wait's number is no other's. */
static bool same_waits(const struct mpiq_thread *before, const struct mpiq_thread *thread)
{
    if (before->tid != thread->tid || before->wait_count != thread->wait_count || thread->wait_count == 0)
        return false;
    for (size_t i = 0; i < thread->wait_count; i++) {
        const struct mpiq_wait *a = &before->waits[i], *b = &thread->waits[i];
        if (!b->episode || a->episode != b->episode || a->level != b->level || a->kind != b->kind)
            return false;
    }
    return true;
}

static bool copy_stack(const struct mpiq_rank_state *before, struct mpiq_rank_state *state,
                       struct mpiq_thread *thread)
{
    const struct mpiq_thread *same = NULL;
    /* Not for the recorder: a callback changes the stack, but not the wait's number. */
    bool numbered = before && state->source != MPIQ_SOURCE_RECORDER;
    for (size_t i = 0; numbered && i < before->thread_count && !same; i++)
        same = same_waits(&before->threads[i], thread) ? &before->threads[i] : NULL;
    if (!same || !same->frame_count)
        return false;
    for (size_t i = 0; i < same->frame_count; i++) {
        struct mpiq_frame *frame = mpiq_thread_add_frame(thread);
        if (!frame)
            break;
        *frame = same->frames[i];
        frame->function = mpiq_rank_state_intern(state, frame->function);
        frame->file = mpiq_rank_state_intern(state, frame->file);
        frame->object = mpiq_rank_state_intern(state, frame->object);
    }
    thread->truncated = same->truncated;
    find_call(state, thread);
    return true;
}

static void add_stack(struct mpiq_target *target, struct mpiq_rank_objects *objects,
                      struct mpiq_rank_state *state, struct mpiq_thread *thread)
{
    struct mpiq_target_stack stack = {0};
    struct mpiq_error *error = mpiq_target_stack(target, thread->tid, &stack);
    if (error) {
        /* A thread may end while we look; and where one may not be looked at, none may: said once. */
        bool said = error->code == MPIQ_ERROR_GONE;
        for (size_t i = 0; i < state->problem_count && !said; i++)
            said = state->problems[i].what && strcmp(state->problems[i].what, "stack") == 0;
        if (said)
            mpiq_error_destroy(error);
        else
            mpiq_rank_state_problem(state, "stack", error);
        return;
    }
    convert(state, objects, &stack, thread);
    mpiq_rank_find_called(target, state, thread);
    mpiq_rank_add_arguments(target, state, &stack, thread);
    mpiq_rank_add_requests(target, state, &stack, thread);
    mpiq_target_stack_deinit(&stack);
    mpiq_rank_add_interpreter_lock(target, state, thread);
    mpiq_rank_add_python(target, state, thread);
}

/* In a container the library knows threads by other numbers than the system does out here. */
static int32_t outer_of(const struct mpiq_target_thread *threads, size_t count, int32_t tid)
{
    for (size_t i = 0; i < count; i++) {
        if (threads[i].inner > 0 && threads[i].inner == tid)
            return threads[i].tid;
    }
    return tid;
}

static void renumber_calls(const struct mpiq_target_thread *threads, size_t count, struct mpiq_call *calls,
                           size_t call_count)
{
    for (size_t i = 0; i < call_count; i++)
        calls[i].tid = outer_of(threads, count, calls[i].tid);
}

static void renumber(const struct mpiq_target_thread *threads, size_t count, struct mpiq_rank_state *state)
{
    for (size_t i = 0; i < state->thread_count; i++)
        state->threads[i].tid = outer_of(threads, count, state->threads[i].tid);
    for (size_t i = 0; i < state->communicator_count; i++) {
        struct mpiq_communicator *comm = &state->communicators[i];
        renumber_calls(threads, count, comm->calls, comm->call_count);
        renumber_calls(threads, count, comm->outstanding, comm->outstanding_count);
    }
    renumber_calls(threads, count, state->process_calls, state->process_call_count);
    for (size_t i = 0; i < state->history_count; i++)
        state->history[i].tid = outer_of(threads, count, state->history[i].tid);
}

static uint8_t sleep_of(uint8_t sleep)
{
    switch ((enum mpiq_target_sleep)sleep) {
    case MPIQ_TARGET_SLEEP_PRIVATE_FUTEX:
        return MPIQ_SLEEP_PRIVATE_FUTEX;
    case MPIQ_TARGET_SLEEP_TIMED_FUTEX:
        return MPIQ_SLEEP_TIMED_FUTEX;
    case MPIQ_TARGET_SLEEP_OTHER:
        return MPIQ_SLEEP_OTHER;
    case MPIQ_TARGET_SLEEP_SIGNAL_FUTEX:
        return MPIQ_SLEEP_SIGNAL_FUTEX;
    case MPIQ_TARGET_SLEEP_LOCK:
        return MPIQ_SLEEP_LOCK;
    default:
        return MPIQ_SLEEP_UNKNOWN;
    }
}

/* Which thread of the process has the lock that one sleeps for on a futex: an interpreter's, or a mutex of
   the C library, which keeps its owner 8 bytes behind its word (2: somebody waits). */
static void find_owner(struct mpiq_target *target, const struct mpiq_target_thread *threads, size_t count,
                       const struct mpiq_target_thread *sleeper, struct mpiq_thread *thread)
{
    int32_t mutex[3], owner = 0;
    enum { WORD, COUNT, OWNER, CONTENDED = 2 };
    if (!sleeper->futex)
        return;
    struct mpiq_error *error = mpiq_target_read(target, sleeper->futex, sizeof mutex, mutex);
    if (!error && mutex[WORD] == CONTENDED)
        owner = mutex[OWNER];
    mpiq_error_destroy(error);
    owner = owner > 0 ? outer_of(threads, count, owner) : 0;
    for (size_t i = 0; owner > 0 && i < count; i++) {
        if (threads[i].tid == owner)
            thread->owner = owner;
    }
}

/* Adds what the system knows of the threads. */
static struct mpiq_error *add_threads(struct mpiq_target *target, struct mpiq_rank_state *state)
{
    _cleanup_free_ struct mpiq_target_thread *threads = NULL;
    size_t count = 0;
    struct mpiq_error *error = mpiq_target_threads(target, &threads, &count);
    if (error)
        return error;
    struct mpiq_target_sizes sizes = {.machine = 0};
    mpiq_error_destroy(mpiq_target_sizes(target, &sizes));
    snprintf(state->architecture, sizeof state->architecture, "%s", mpiq_architecture_name(sizes.machine));
    bool records = has_records(state);
    renumber(threads, count, state);
    for (size_t i = 0; i < count; i++) {
        struct mpiq_thread *thread = find_thread(state, threads[i].tid);
        if (!thread)
            return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for %zu threads", count);
        thread->state = threads[i].state;
        thread->cpu_ns = threads[i].cpu_ns;
        thread->sleep = sleep_of(threads[i].sleep);
        thread->system_call = threads[i].system_call;
        thread->file = threads[i].file[0] ? mpiq_rank_state_intern(state, threads[i].file) : NULL;
        thread->lock_holder = threads[i].lock_holder;
        if (threads[i].partner > 0) {
            thread->partner = threads[i].partner;
            thread->partner_name = mpiq_rank_state_intern(state, threads[i].partner_name);
            thread->partner_state = threads[i].partner_state;
        }
        thread->has_wait_record = records;
        thread->futex = threads[i].futex;
        find_owner(target, threads, count, &threads[i], thread);
    }
    return NULL;
}

/* ---- waits of nobody --------------------------------------------------------------------------------- */

/* How a call waits for several requests, by its name: without records nothing else says it. */
static enum mpiq_wait_kind kind_of_call(const char *call)
{
    static const struct {
        const char *call;
        enum mpiq_wait_kind kind;
    } rows[] = {{"MPI_Waitall", MPIQ_WAIT_ALL},     {"MPI_Waitany", MPIQ_WAIT_ANY},
                {"MPI_Waitsome", MPIQ_WAIT_SOME},   {"MPI_Wait", MPIQ_WAIT_REQUEST},
                {"MPI_Recv", MPIQ_WAIT_RECEIVE},    {"MPI_Send", MPIQ_WAIT_SEND},
                {"MPI_Ssend", MPIQ_WAIT_SEND},      {"MPI_Rsend", MPIQ_WAIT_SEND},
                {"MPI_Bsend", MPIQ_WAIT_SEND},      {"MPI_Probe", MPIQ_WAIT_PROBE},
                {"MPI_Mprobe", MPIQ_WAIT_MPROBE},   {"MPI_Mrecv", MPIQ_WAIT_MRECV},
                {"MPI_Sendrecv", MPIQ_WAIT_REQUEST}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].call, call) == 0)
            return rows[i].kind;
    }
    return MPIQ_WAIT_ALL; /* a collective's requests: how many suffice, the wait says */
}

static void place(struct mpiq_wait *wait, const struct mpiq_thread *thread)
{
    if (wait->kind == MPIQ_WAIT_NONE)
        wait->kind = (uint8_t)kind_of_call(thread->mpi_call);
    if (wait->need == 0 || wait->kind == MPIQ_WAIT_ANY || wait->kind == MPIQ_WAIT_SOME)
        wait->need = wait->kind == MPIQ_WAIT_ALL ? (int32_t)wait->operation_count : 1;
    if (!wait->call[0])
        snprintf(wait->call, sizeof wait->call, "%s", thread->mpi_call);
}

/* The one thread that can be it: the only one in MPI. */
static struct mpiq_thread *only_one_in_mpi(struct mpiq_rank_state *state)
{
    struct mpiq_thread *only = NULL;
    for (size_t i = 0; i < state->thread_count; i++) {
        if (state->threads[i].mpi_frame < 0)
            continue;
        if (only)
            return NULL;
        only = &state->threads[i];
    }
    return only;
}

/* A library without records says that a thread waits, but not which: such waits belong to a thread 0.  They
   are moved to the thread in MPI if there is exactly one, and dropped otherwise; thread 0 is removed
   afterwards. */
static void place_waits(struct mpiq_rank_state *state)
{
    size_t nobody = 0;
    while (nobody < state->thread_count && state->threads[nobody].tid != 0)
        nobody++;
    if (nobody == state->thread_count)
        return;
    struct mpiq_thread unowned = state->threads[nobody];
    struct mpiq_thread *thread = only_one_in_mpi(state);
    if (thread && thread->wait_count == 0 && unowned.wait_count == 1) {
        thread->waits = unowned.waits;
        thread->wait_count = unowned.wait_count;
        place(&thread->waits[0], thread);
        unowned.waits = NULL;
        unowned.wait_count = 0;
    }
    for (size_t i = 0; i < unowned.wait_count; i++)
        free(unowned.waits[i].operations);
    free(unowned.waits);
    free(unowned.frames);
    memmove(&state->threads[nobody], &state->threads[nobody + 1],
            (state->thread_count - nobody - 1) * sizeof *state->threads);
    state->thread_count--;
}

static void add_stacks(struct mpiq_target *target, struct mpiq_rank_objects *objects,
                       struct mpiq_rank_state *state, const struct mpiq_stack_options *options)
{
    struct mpiq_error *error = add_threads(target, state);
    if (error) {
        mpiq_rank_state_problem(state, "threads", error);
        return;
    }
    size_t taken = 0;
    for (size_t i = 0; i < state->thread_count; i++) {
        struct mpiq_thread *thread = &state->threads[i];
        if (thread->tid <= 0 || thread->frames || !is_wanted(state, thread, options))
            continue;
        if (copy_stack(options->before, state, thread))
            continue;
        if (taken++ == STACKS_MAX) {
            mpiq_rank_state_problem(state, "stack",
                                    mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                                      "of %zu threads only the first %d stacks were read",
                                                      state->thread_count, STACKS_MAX));
            break;
        }
        add_stack(target, objects, state, thread);
    }
    place_waits(state);
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

struct mpiq_error *mpiq_rank_read(struct mpiq_dll_host *host, struct mpiq_target *target,
                                  const struct mpiq_stack_options *stacks, struct mpiq_rank_state **ret)
{
    struct mpiq_rank_state *state = NULL;
    unsigned missed = mpiq_memory_missed();
    struct mpiq_error *error = mpiq_dll_host_read(host, target, &state);
    if (error) {
        struct mpiq_error *fatal = mpiq_rank_read_bare(target, &state);
        if (fatal) {
            mpiq_error_destroy(error);
            return fatal;
        }
        /* A library that is known to have no such DLL is no trouble: the source says what is known. */
        if (error->code == MPIQ_ERROR_NOT_FOUND && strncmp(state->library, "MPICH", 5) == 0)
            mpiq_error_destroy(error);
        else
            mpiq_rank_state_problem(state, "library", error);
    }
    if (!state->gone)
        mpiq_rank_add_library(target, state);
    struct mpiq_rank_objects objects;
    mpiq_rank_objects_init(&objects, target);
    if (stacks && !state->gone)
        add_stacks(target, &objects, state, stacks);
    else
        place_waits(state);
    if (stacks)
        mpiq_rank_add_return_places(target, &objects, state);
    mpiq_rank_objects_deinit(&objects);
    if (state->end.kind != MPIQ_END_NONE)
        mpiq_rank_add_last_calls(state);
    if (target->ops->missing_file)
        mpiq_rank_state_problem(state, "files", target->ops->missing_file(target));
    if (state->source == MPIQ_SOURCE_NONE) {
        enum mpiq_source source = mpiq_rank_tells_arguments(state) ? MPIQ_SOURCE_CALLS : MPIQ_SOURCE_STACKS;
        for (size_t i = 0; i < state->thread_count; i++)
            state->source = state->threads[i].frames ? (uint8_t)source : state->source;
    }
    if (mpiq_memory_missed() != missed) { /* something is shorter than it is, and nobody knows what */
        mpiq_rank_state_destroy(state);
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory to read it");
    }
    *ret = state;
    return NULL;
}
