/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of one rank state: what each waits for, and whether both looks saw it so. */
#include <stdlib.h>
#include <string.h>

#include "names/library_calls.h"
#include "names/system_calls.h"
#include "merge/adding_private.h"

static bool add_waits(struct mpiq_adding *adding, const struct mpiq_thread *thread,
                      struct mpiq_job_thread *row, const struct mpiq_job_thread *old)
{
    struct mpiq_job_state *job = adding->job;
    struct mpiq_job_builder *builder = job->builder;
    if (!MPIQ_RESERVE(job->waits, job->wait_count, builder->wait_capacity, thread->wait_count))
        return false;
    uint32_t old_first = old ? old->first_wait : 0;
    uint32_t old_count = old ? old->wait_count : 0;
    row->wait_count = (uint32_t)thread->wait_count;
    row->first_wait = mpiq_place_rows(&job->wait_count, old_first, old_count, thread->wait_count);
    for (size_t i = 0; i < thread->wait_count; i++) {
        const struct mpiq_wait *wait = &thread->waits[i];
        bool reuse = row->first_wait == old_first && i < old_count;
        const struct mpiq_job_wait before = reuse ? job->waits[old_first + i] : (struct mpiq_job_wait){0};
        struct mpiq_job_wait *copy = &job->waits[row->first_wait + i];
        if (!MPIQ_RESERVE(job->operations, job->operation_count, builder->operation_capacity,
                          wait->operation_count))
            return false;
        *copy = (struct mpiq_job_wait){
            .episode = wait->episode,
            .begin_ns = wait->begin_ns,
            .comm = mpiq_member_index(adding, wait->comm),
            .collective_comm = mpiq_member_index(adding, wait->collective_comm),
            .need = wait->need,
            .operation_count = (uint32_t)wait->operation_count,
            .first_operation = mpiq_place_rows(&job->operation_count, before.first_operation,
                                               before.operation_count, wait->operation_count),
            .window = wait->window < 0 ? MPIQ_NONE : adding->first_view + (uint32_t)wait->window,
            .window_target = (uint32_t)wait->window_target,
            .collective = wait->collective,
            .kind = wait->kind,
            .lock_type = wait->lock_type,
        };
        if (!mpiq_job_intern_likely(job, wait->call, row->call, &copy->call) ||
            !mpiq_add_operations(adding, wait->operations, wait->operation_count, true,
                                 copy->first_operation))
            return false;
    }
    return true;
}

static const struct mpiq_job_thread *old_thread(const struct mpiq_adding *adding, int32_t tid,
                                                uint32_t *index)
{
    for (uint32_t i = 0; adding->old && i < adding->old->thread_count; i++) {
        *index = adding->old->first_thread + i;
        if (adding->job->threads[*index].tid == tid)
            return &adding->job->threads[*index];
    }
    return NULL;
}

/* Whether both looks saw a thread in one wait; `changed` is what changed in its rank. */
static int8_t same_wait(const struct mpiq_adding *adding, const struct mpiq_thread *thread, uint64_t mark,
                        uint8_t changed)
{
    if ((adding->old ? !adding->comparable : !adding->state->final))
        return MPIQ_UNKNOWN;
    if (!mark || (!thread->has_wait_record && !mpiq_can_tell_waits(adding->state)))
        return MPIQ_NO;
    if (!adding->old) /* a core file does not move */
        return MPIQ_YES;
    uint32_t index = 0;
    const struct mpiq_job_thread *old = old_thread(adding, thread->tid, &index);
    if (!old || adding->job->builder->thread_marks[index].wait != mark)
        return MPIQ_NO;
    unsigned progress = MPIQ_CHANGED_QUEUES | MPIQ_CHANGED_CALLS | MPIQ_CHANGED_CHANNELS | MPIQ_CHANGED_STATE;
    return thread->has_wait_record || !(changed & progress) ? MPIQ_YES : MPIQ_NO;
}

/* The sleep that a thread was in from the first look to the second: the same in both, at the same place, and
   no more processor time in between than a look itself costs.  Unknown, if it could be read in neither; one
   that was not the same may end again, as if it had a timeout. */
static uint8_t sleep_between(const struct mpiq_adding *adding, const struct mpiq_thread *thread,
                             const struct mpiq_job_thread *old, uint32_t index, bool turned)
{
    enum { COST_OF_A_LOOK_NS = 1000000 };
    if (!old)
        return MPIQ_SLEEP_UNKNOWN;
    bool still = !turned && adding->job->builder->thread_marks[index].sleep == thread->sleep &&
                 thread->cpu_ns - old->cpu_ns < COST_OF_A_LOOK_NS;
    return still ? thread->sleep : MPIQ_SLEEP_TIMED_FUTEX;
}

static uint64_t polled(const struct mpiq_thread *thread, uint64_t cpu_between_ns)
{
    return thread->polled_ns < 0 ? cpu_between_ns : (uint64_t)thread->polled_ns;
}

/* A thread of the MPI library's own: one that it has started, and in which nothing of the user's runs.  Any
   other may come to call MPI: one that a library of the user's has started, and the C library's that runs the
   functions of timers.  Of a stack that is cut short nobody knows who started it. */
static bool is_helper(const struct mpiq_rank_state *state, const struct mpiq_thread *thread)
{
    bool mpis = false; /* the outermost of those frames that are not the system's */
    for (size_t i = 0; i < thread->frame_count; i++) {
        enum mpiq_object_owner owner = mpiq_frame_owner(state, &thread->frames[i]);
        if (mpiq_owner_is_user(owner))
            return false;
        if (owner != MPIQ_OWNER_SYSTEM)
            mpis = owner != MPIQ_OWNER_SHARED;
    }
    return mpis && !thread->truncated && thread->mpi_frame < 0 && thread->user_frame < 0 &&
           thread->wait_count == 0;
}

static bool calls_back(const struct mpiq_rank_state *state, const struct mpiq_thread *thread)
{
    for (int32_t i = 0; i < thread->mpi_frame; i++) {
        if (mpiq_frame_owner(state, &thread->frames[i]) == MPIQ_OWNER_PROGRAM)
            return true;
    }
    return false;
}

static bool takes_back(const struct mpiq_rank_state *state, const struct mpiq_thread *thread)
{
    for (int32_t i = 0; i < thread->mpi_frame; i++) {
        if (!mpiq_owner_is_user(mpiq_frame_owner(state, &thread->frames[i])) &&
            mpiq_takes_back(thread->mpi_call, thread->frames[i].function))
            return true;
    }
    return false;
}

static bool is_called_back(const struct mpiq_rank_state *state, const struct mpiq_thread *thread)
{
    bool user = false;
    for (size_t i = thread->mpi_frame < 0 ? thread->frame_count : (size_t)thread->mpi_frame;
         i < thread->frame_count; i++) {
        enum mpiq_object_owner owner = mpiq_frame_owner(state, &thread->frames[i]);
        if (user && owner == MPIQ_OWNER_MPI)
            return true;
        user = user || mpiq_owner_is_user(owner);
    }
    return false;
}

/* The call of the C library that a thread is blocked in, by the name in the manual: libc's stacks show what
   is inside of it.  NULL: none. */
static const char *blocks_in(const struct mpiq_thread *thread)
{
    static const struct {
        const char *inner; /* without leading underscores */
        const char *name;
    } calls[] = {
        {"pthread_join", "pthread_join"},
        {"pthread_clockjoin_ex", "pthread_join"},
        {"pthread_timedjoin_ex", "pthread_join"},
        {"pthread_timedjoin_np", "pthread_timedjoin_np"},
        {"pthread_clockjoin_np", "pthread_clockjoin_np"},
        {"thrd_join", "thrd_join"},
        {"pthread_mutex_lock", "pthread_mutex_lock"},
        {"lll_lock_wait", "pthread_mutex_lock"},
        {"pthread_mutex_timedlock", "pthread_mutex_timedlock"},
        {"pthread_mutex_clocklock", "pthread_mutex_clocklock"},
        {"mtx_lock", "mtx_lock"},
        {"mtx_timedlock", "mtx_timedlock"},
        {"pthread_cond_wait", "pthread_cond_wait"},
        {"pthread_cond_wait_common", "pthread_cond_wait"},
        {"pthread_cond_timedwait", "pthread_cond_timedwait"},
        {"pthread_cond_clockwait", "pthread_cond_clockwait"},
        {"cnd_wait", "cnd_wait"},
        {"cnd_timedwait", "cnd_timedwait"},
        {"pthread_barrier_wait", "pthread_barrier_wait"},
        {"pthread_rwlock_rdlock", "pthread_rwlock_rdlock"},
        {"pthread_rwlock_wrlock", "pthread_rwlock_wrlock"},
        {"pthread_rwlock_timedrdlock", "pthread_rwlock_timedrdlock"},
        {"pthread_rwlock_timedwrlock", "pthread_rwlock_timedwrlock"},
        {"sem_wait", "sem_wait"},
        {"new_sem_wait_slow", "sem_wait"},
        {"new_sem_wait", "sem_wait"},
        {"sem_timedwait", "sem_timedwait"},
        {"sem_clockwait", "sem_clockwait"},
        {"sleep", "sleep"},
        {"usleep", "usleep"},
        {"nanosleep", "nanosleep"},
        {"clock_nanosleep", "clock_nanosleep"},
    };
    const char *found = NULL;
    size_t count = thread->user_frame < 0 ? thread->frame_count : (size_t)thread->user_frame;
    /* The outermost of them is the one that was called: a wait for a condition locks its mutex again. */
    for (size_t i = 0; i < count && thread->mpi_frame < 0; i++) {
        const char *function = thread->frames[i].function;
        while (function && *function == '_')
            function++;
        if (function && strncmp(function, "GI_", 3) == 0)
            function += 3 + strspn(function + 3, "_");
        size_t length = function ? strcspn(function, ".@") : 0;         /* .constprop.0 */
        if (length > 2 && strncmp(function + length - 2, "64", 2) == 0) /* of a time with 64 bits */
            length -= 2;
        for (size_t j = 0; length > 0 && j < sizeof calls / sizeof *calls; j++) {
            if (strlen(calls[j].inner) == length && strncmp(calls[j].inner, function, length) == 0)
                found = calls[j].name;
        }
    }
    return found;
}

/* The outermost call of a GPU's library or of the runtime that a thread is in outside MPI; of the runtime in
   MPI_Init and MPI_Finalize.  NULL: none. */
static const char *library_call(const struct mpiq_thread *thread)
{
    bool inside = thread->mpi_frame >= 0;
    bool starts = strncmp(thread->mpi_call, "MPI_Init", 8) == 0 ||
                  strncmp(thread->mpi_call, "MPI_Session", 11) == 0 ||
                  strcmp(thread->mpi_call, "MPI_Finalize") == 0;
    if (!inside && (thread->wait_count > 0 || thread->mpi_call[0]))
        return NULL;
    for (size_t i = inside ? (size_t)thread->mpi_frame : thread->frame_count; i-- > 0;) {
        const struct mpiq_frame *frame = &thread->frames[i];
        enum mpiq_library_call kind =
            frame->pc ? mpiq_library_call_of(frame->object, frame->function, frame->line > 0)
                      : MPIQ_LIBRARY_CALL_NONE;
        if (kind == MPIQ_LIBRARY_CALL_RUNTIME ? !inside || starts : kind != MPIQ_LIBRARY_CALL_NONE && !inside)
            return frame->function;
    }
    return NULL;
}

static bool describe_thread(struct mpiq_adding *adding, const struct mpiq_thread *thread,
                            struct mpiq_job_thread *row)
{
    struct mpiq_job_state *job = adding->job;
    const char *call = thread->mpi_call;
    if (!call[0] && thread->wait_count > 0)
        call = thread->waits[0].call;
    if (!call[0] && thread->wait_count > 0)
        call = thread->waits[thread->wait_count - 1].call;
    row->in_mpi = thread->mpi_frame >= 0 || thread->wait_count > 0 || thread->mpi_call[0];
    if (thread->stepped[0]) { /* the recorder has not made the call yet */
        row->in_mpi = false;
        call = "";
    }
    row->helper = is_helper(adding->state, thread);
    row->calls_back = calls_back(adding->state, thread);
    row->takes_back = takes_back(adding->state, thread);
    row->called_back = is_called_back(adding->state, thread);
    row->state = thread->state ? thread->state : '?';
    row->has_wait_record = thread->has_wait_record;
    row->lock_holder = thread->lock_holder;
    row->partner = thread->partner;
    row->partner_state = thread->partner_state;
    row->owner = thread->owner;
    row->interpreter = thread->interpreter;
    row->site = row->innermost = row->path = MPIQ_NONE;
    /* Most ranks are in the call that the thread before is in. */
    const struct mpiq_job_thread nothing = {0};
    const struct mpiq_job_thread *like =
        job->thread_count > 0 ? &job->threads[job->thread_count - 1] : &nothing;
    if (!mpiq_job_intern_likely(job, call, like->call, &row->call))
        return false;
    row->blocking = row->call == like->call ? like->blocking : (uint8_t)mpiq_blocking_call(call);
    return mpiq_job_intern(job, thread->stepped, &row->stepped) &&
           mpiq_job_intern(job, blocks_in(thread), &row->blocks_in) &&
           mpiq_job_intern(job, library_call(thread), &row->library_call) &&
           mpiq_job_intern(job, thread->file, &row->file) &&
           mpiq_job_intern(job, thread->partner_name, &row->partner_name) &&
           (thread->user_frame < 0 ||
            (mpiq_job_intern_call_site(job, adding->state, thread, (size_t)thread->user_frame, &row->site) &&
             mpiq_job_intern_path(job, adding->state, thread, (size_t)thread->user_frame, &row->path))) &&
           (thread->frame_count == 0 || mpiq_job_intern_site(job, &thread->frames[0], &row->innermost));
}

/* Probes told apart; who asks for more kinds of messages in turn is not followed. */
enum { MOST_PROBED = 8 };

static bool same_probe(const struct mpiq_operation *a, const struct mpiq_operation *b)
{
    return a->comm == b->comm && a->peer_local == b->peer_local && a->tag == b->tag;
}

static bool is_probe(const char *call)
{
    return strcmp(call, "MPI_Iprobe") == 0 || strcmp(call, "MPI_Improbe") == 0;
}

static struct mpiq_operation probe_of(uint32_t comm, int32_t peer, int32_t tag, bool tag_any)
{
    return (struct mpiq_operation){.kind = MPIQ_OPERATION_PROBE,
                                   .queue = MPIQ_QUEUE_WAIT,
                                   .comm = comm,
                                   .peer_local = peer,
                                   .peer = {.rank = -1},
                                   .actual = {.rank = -1},
                                   .actual_local = -1,
                                   .tag = tag,
                                   .tag_any = tag_any,
                                   .bytes = -1,
                                   .actual_bytes = -1,
                                   .collective = -1};
}

/* What a thread has asked for without waiting since it did anything else, from its last calls: in *probed, at
   most MOST_PROBED.  *all: it tested no requests, and none is left out. */
static size_t collect_probed(const struct mpiq_rank_state *state, const struct mpiq_thread *thread,
                             struct mpiq_operation *probed, bool *all)
{
    size_t count = 0;
    *all = true;
    for (size_t i = state->history_count; i > 0; i--) {
        const struct mpiq_past_call *call = &state->history[i - 1];
        if (call->tid != thread->tid || !call->call)
            continue;
        if (!mpiq_is_poll(call->call))
            break;
        if (!is_probe(call->call) || call->comm < 0) {
            *all = false;
            continue;
        }
        struct mpiq_operation one =
            probe_of((uint32_t)call->comm, call->peer_local < 0 ? MPIQ_ANY : call->peer_local, call->tag,
                     call->tag < 0);
        one.started = call->place;
        size_t at = 0;
        while (at < count && !same_probe(&probed[at], &one))
            at++;
        if (at < count)
            continue;
        if (count == MOST_PROBED) {
            *all = false;
            break;
        }
        probed[count++] = one;
    }
    return count;
}

static const struct mpiq_given *given_of(const struct mpiq_thread *thread, enum mpiq_given_kind kind)
{
    for (size_t i = 0; i < thread->given_count; i++) {
        if (thread->given[i].kind == kind && thread->given[i].of_request == 0)
            return &thread->given[i];
    }
    return NULL;
}

/* Whether the look before saw the thread ask for the same, or not ask. */
static bool asked_before(const struct mpiq_adding *adding, const struct mpiq_operation *probe,
                         const struct mpiq_job_thread *old)
{
    const struct mpiq_job_operation *before = &adding->job->operations[old ? old->first_probed : 0];
    return !old || old->probed_count == 0 ||
           (before->peer_local == probe->peer_local && before->tag_any == probe->tag_any &&
            (probe->tag_any || before->tag == probe->tag));
}

/* Without a record of its calls: what a thread asks for in the one that it was seen in, as the code around
   that tells.  What else it asks for in turn nobody knows.  Returns 0 or 1. */
static size_t given_probe(const struct mpiq_adding *adding, const struct mpiq_thread *thread,
                          const struct mpiq_job_thread *old, struct mpiq_operation *ret)
{
    const struct mpiq_given *comm = given_of(thread, MPIQ_GIVEN_COMM);
    const struct mpiq_given *source = given_of(thread, MPIQ_GIVEN_SOURCE);
    const struct mpiq_given *tag = given_of(thread, MPIQ_GIVEN_TAG);
    if (adding->state->history_count > 0 || !is_probe(thread->mpi_call) || !comm || !source || !tag ||
        source->null || (!source->any && (source->value < 0 || source->value > INT32_MAX)))
        return 0;
    for (size_t i = 0; i < adding->state->communicator_count; i++) {
        const struct mpiq_communicator *row = &adding->state->communicators[i];
        if (row->handle != (uint64_t)comm->value || row->flags & MPIQ_COMM_INTERNAL)
            continue;
        *ret = probe_of((uint32_t)i, source->any ? MPIQ_ANY : (int32_t)source->value, (int32_t)tag->value,
                        tag->any);
        return asked_before(adding, ret, old);
    }
    return 0;
}

static bool add_probed(struct mpiq_adding *adding, const struct mpiq_thread *thread,
                       struct mpiq_job_thread *row, const struct mpiq_job_thread *old)
{
    struct mpiq_job_state *job = adding->job;
    struct mpiq_operation probed[MOST_PROBED];
    size_t count =
        thread->wait_count > 0 ? 0 : collect_probed(adding->state, thread, probed, &row->probed_all);
    if (count == 0 && thread->wait_count == 0 && (count = given_probe(adding, thread, old, probed)) > 0)
        row->probed_all = false;
    if (!MPIQ_RESERVE(job->operations, job->operation_count, job->builder->operation_capacity, count))
        return false;
    row->probed_count = (uint32_t)count;
    row->first_probed = mpiq_place_rows(&job->operation_count, old ? old->first_probed : 0,
                                        old ? old->probed_count : 0, count);
    return mpiq_add_operations(adding, probed, count, true, row->first_probed);
}

/* The communicator that a call was given, by its handle among those that the library lists; MPIQ_NONE. */
static uint32_t given_member(const struct mpiq_adding *adding, const struct mpiq_given *given)
{
    const struct mpiq_rank_state *state = adding->state;
    if (given->kind != MPIQ_GIVEN_COMM || given->value == 0)
        return MPIQ_NONE;
    for (size_t i = 0; i < state->communicator_count; i++) {
        const struct mpiq_communicator *comm = &state->communicators[i];
        if (comm->handle == (uint64_t)given->value && !(comm->flags & MPIQ_COMM_INTERNAL))
            return mpiq_member_index(adding, (int32_t)i);
    }
    return MPIQ_NONE;
}

/* Where the library's own records tell what a call was given, they are better; of a collective they have no
   tag. */
static bool is_told(const struct mpiq_thread *thread, const struct mpiq_given *given)
{
    bool recorded = thread->wait_count > 0 && thread->has_wait_record;
    return recorded && (given->kind != MPIQ_GIVEN_TAG || mpiq_collective_class(thread->mpi_call) < 0);
}

static bool add_given(struct mpiq_adding *adding, const struct mpiq_thread *thread,
                      struct mpiq_job_thread *row, const struct mpiq_job_thread *old)
{
    struct mpiq_job_state *job = adding->job;
    size_t count = 0;
    for (size_t i = 0; i < thread->given_count; i++)
        count += !is_told(thread, &thread->given[i]);
    row->as_given = thread->wait_count == 0 &&
                    (adding->state->queues != MPIQ_YES || adding->state->source == MPIQ_SOURCE_RECORDER);
    if (!MPIQ_RESERVE(job->given, job->given_count, job->builder->given_capacity, count))
        return false;
    row->given_count = (uint32_t)count;
    row->first_given =
        mpiq_place_rows(&job->given_count, old ? old->first_given : 0, old ? old->given_count : 0, count);
    struct mpiq_job_given *copy = &job->given[row->first_given];
    for (size_t i = 0; i < thread->given_count; i++) {
        const struct mpiq_given *given = &thread->given[i];
        if (is_told(thread, given))
            continue;
        *copy = (struct mpiq_job_given){.value = given->value,
                                        .member = given_member(adding, given),
                                        .request = given->of_request,
                                        .site = MPIQ_NONE,
                                        .kind = given->kind,
                                        .any = given->any,
                                        .null = given->null};
        if (!mpiq_job_intern(job, given->name, &copy->name) ||
            !mpiq_job_intern_place(job, &given->place, &copy->site))
            return false;
        copy++;
    }
    return true;
}

bool mpiq_add_threads(struct mpiq_adding *adding, struct mpiq_job_rank *rank)
{
    struct mpiq_job_state *job = adding->job;
    struct mpiq_job_builder *builder = job->builder;
    struct mpiq_new_rows *new = &builder->new_rows;
    size_t count = adding->state->thread_count;
    if (!MPIQ_RESERVE(job->threads, job->thread_count, builder->thread_capacity, count) ||
        !MPIQ_RESERVE(builder->thread_marks, job->thread_count, builder->thread_mark_capacity, count) ||
        !MPIQ_RESERVE(new->threads, 0, new->thread_capacity, count) ||
        !MPIQ_RESERVE(new->thread_marks, 0, new->thread_mark_capacity, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_thread *thread = &adding->state->threads[i];
        uint32_t index = 0;
        const struct mpiq_job_thread *old = old_thread(adding, thread->tid, &index);
        struct mpiq_thread_marks marks = {
            .wait = mpiq_wait_mark(thread), .stack = mpiq_stack_mark(thread), .sleep = thread->sleep};
        struct mpiq_job_thread row = {
            .tid = thread->tid,
            .cpu_ns = thread->cpu_ns,
            .cpu_between_ns = old && thread->cpu_ns > old->cpu_ns ? thread->cpu_ns - old->cpu_ns : 0,
            .turned = old && builder->thread_marks[index].stack != marks.stack,
            .same_wait = same_wait(adding, thread, marks.wait, rank->changed),
            .system_call = (uint8_t)mpiq_system_call_of(adding->state->architecture, thread->system_call),
        };
        row.polled_ns = polled(thread, row.cpu_between_ns);
        row.sleep = sleep_between(adding, thread, old, index, row.turned);
        if (!describe_thread(adding, thread, &row) || !add_waits(adding, thread, &row, old) ||
            !add_probed(adding, thread, &row, old) || !add_given(adding, thread, &row, old))
            return false;
        if (old && old->owner != row.owner)
            row.owner = 0;
        new->threads[i] = row;
        new->thread_marks[i] = marks;
    }
    rank->thread_count = (uint32_t)count;
    rank->first_thread = mpiq_place_rows(&job->thread_count, adding->old ? adding->old->first_thread : 0,
                                         adding->old ? adding->old->thread_count : 0, count);
    if (count > 0) {
        memcpy(&job->threads[rank->first_thread], new->threads, count * sizeof *new->threads);
        memcpy(&builder->thread_marks[rank->first_thread], new->thread_marks,
               count * sizeof *new->thread_marks);
    }
    return true;
}

void mpiq_same_threads(struct mpiq_adding *adding, const struct mpiq_job_rank *rank)
{
    const struct mpiq_rank_state *state = adding->state;
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        const struct mpiq_thread *thread = &state->threads[i];
        struct mpiq_job_thread *row = &adding->job->threads[rank->first_thread + i];
        row->same_wait = same_wait(adding, thread, mpiq_wait_mark(thread), 0);
        row->sleep = sleep_between(adding, thread, row, rank->first_thread + i, false);
        row->system_call = (uint8_t)mpiq_system_call_of(state->architecture, thread->system_call);
        row->lock_holder = thread->lock_holder;
        row->partner = thread->partner;
        row->partner_state = thread->partner_state;
        if (thread->partner_name && !mpiq_job_intern(adding->job, thread->partner_name, &row->partner_name))
            row->partner_name = 0;
        row->owner = row->owner == thread->owner && row->interpreter == thread->interpreter ? row->owner : 0;
        if (thread->file && !mpiq_job_intern(adding->job, thread->file, &row->file))
            row->file = 0; /* without memory the report says so */
        row->state = thread->state ? thread->state : '?';
        row->cpu_between_ns = thread->cpu_ns > row->cpu_ns ? thread->cpu_ns - row->cpu_ns : 0;
        row->polled_ns = polled(thread, row->cpu_between_ns);
        row->cpu_ns = thread->cpu_ns;
    }
}
