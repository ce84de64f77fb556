/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank state into the job's columns, and what changed since its first look. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "state/job_builder.h"

/* What is built of one rank state: where its rows go. */
struct adding {
    struct mpiq_job_state *job;
    const struct mpiq_rank_state *state;
    struct mpiq_job_rank *old; /* as the first look left it; NULL: there is none */
    uint32_t row;              /* in ranks */
    uint32_t first_member;     /* of this state's communicators */
    uint32_t first_view;       /* of this state's windows */
};

static struct mpiq_error *no_memory(void)
{
    return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory: the job's state does not fit");
}

/* Where `count` rows go: over the first look's where they fit, else at the end. */
static uint32_t place(uint32_t *total, uint32_t old_first, uint32_t old_count, size_t count)
{
    if (count <= old_count && old_count > 0)
        return old_first;
    uint32_t first = *total;
    *total += (uint32_t)count;
    return first;
}

static bool add_operation(struct adding *adding, const struct mpiq_operation *op, enum mpiq_queue queue,
                          struct mpiq_job_operation *ret)
{
    bool own_world = op->peer.rank >= 0 && op->peer.job == adding->state->name.job;
    *ret = (struct mpiq_job_operation){
        .request = op->request,
        .buffer = op->buffer,
        .bytes = op->bytes,
        .actual_bytes = op->actual_bytes,
        .sequence = op->sequence,
        .comm = op->comm == MPIQ_NONE ? MPIQ_NONE : adding->first_member + op->comm,
        .peer = own_world ? (uint32_t)op->peer.rank : MPIQ_NONE,
        .peer_local = op->peer_local,
        .tag = op->tag,
        .actual = op->actual.rank >= 0 && op->actual.job == adding->state->name.job
                      ? (uint32_t)op->actual.rank
                      : MPIQ_NONE,
        .actual_local = op->actual_local,
        .actual_tag = op->actual_tag,
        .collective = op->collective,
        .kind = op->kind,
        .status = op->status,
        .queue = queue,
        .any = op->peer_local == MPIQ_ANY &&
               (op->kind == MPIQ_OPERATION_RECEIVE || op->kind == MPIQ_OPERATION_PROBE),
        .tag_any = op->tag_any,
        .persistent = op->persistent,
        .inactive = op->inactive,
        .internal = op->internal,
        .eager = op->eager,
        .system_buffer = op->system_buffer,
        .freed = op->freed,
        .out_of_order = op->out_of_order,
        .cancelled = op->cancelled,
    };
    return mpiq_job_intern_cached(adding->job, op->datatype, &ret->datatype) &&
           mpiq_job_intern_place(adding->job, &op->started, &ret->started);
}

static bool add_operations(struct adding *adding, const struct mpiq_operation *ops, size_t count, bool waits,
                           uint32_t first)
{
    for (size_t i = 0; i < count; i++) {
        enum mpiq_queue queue = waits ? MPIQ_QUEUE_WAIT : (enum mpiq_queue)ops[i].queue;
        if (!add_operation(adding, &ops[i], queue, &adding->job->operations[first + i]))
            return false;
    }
    return true;
}

/* The first look's row of a peer.  Both lists are in the order of peers, so *at walks on; in any other order
   rows are not found, and what is not found counts as moved. */
static const struct mpiq_job_channel *
old_channel(const struct adding *adding, const struct mpiq_job_member *old, uint32_t peer, uint32_t *at)
{
    const struct mpiq_job_channel *olds = old ? &adding->job->channels[old->first_channel] : NULL;
    while (old && *at < old->channel_count && olds[*at].peer < peer)
        (*at)++;
    return old && *at < old->channel_count && olds[*at].peer == peer ? &olds[*at] : NULL;
}

static bool add_tags(struct mpiq_job_builder *builder, const struct mpiq_channel *channel)
{
    if (!MPIQ_RESERVE(builder->tags, builder->tag_count, builder->tag_capacity, channel->tag_count))
        return false;
    if (channel->tag_count > 0)
        memcpy(&builder->tags[builder->tag_count], channel->tags, channel->tag_count * sizeof *channel->tags);
    builder->tag_count += (uint32_t)channel->tag_count;
    return true;
}

static bool add_channels(struct adding *adding, const struct mpiq_communicator *comm,
                         const struct mpiq_job_member *old, struct mpiq_job_member *member)
{
    enum { UNUSED = 1 }; /* number of the first message, of a channel that was not there */
    struct mpiq_job_state *job = adding->job;
    size_t count = comm->channel_count;
    struct mpiq_job_channel *rows _cleanup_free_ = calloc(count + 1, sizeof *rows);
    if (!rows)
        return false;
    uint32_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_channel *channel = &comm->channels[i];
        uint32_t peer = (uint32_t)channel->peer_local;
        const struct mpiq_job_channel *before = adding->old ? old_channel(adding, old, peer, &at) : NULL;
        rows[i] = (struct mpiq_job_channel){
            .peer = peer,
            .sent = channel->sent,
            .expected = channel->expected,
            .sent_moved = adding->old && channel->sent != (before ? before->sent : UNUSED),
            .expected_moved = adding->old && channel->expected != (before ? before->expected : UNUSED),
            .counted = channel->counted,
            .unclear = channel->unclear,
            .bytes_known = channel->bytes_known,
            .first_tag = job->builder->tag_count,
            .tag_count = (uint32_t)channel->tag_count,
        };
        if (!add_tags(job->builder, channel))
            return false;
    }
    member->channel_count = (uint32_t)count;
    member->first_channel =
        place(&job->channel_count, old ? old->first_channel : 0, old ? old->channel_count : 0, count);
    if (count > 0)
        memcpy(&job->channels[member->first_channel], rows, count * sizeof *rows);
    return true;
}

static bool add_calls(struct adding *adding, const struct mpiq_call *calls, size_t count, uint32_t first)
{
    for (size_t i = 0; i < count; i++) {
        struct mpiq_job_call *call = &adding->job->calls[first + i];
        *call = (struct mpiq_job_call){
            .begin_ns = calls[i].begin_ns,
            .request = calls[i].request,
            .tid = calls[i].tid & INT32_C(0x3fffffff),
            .done = calls[i].done,
        };
        if (!mpiq_job_intern_shape(adding->job, &calls[i], &call->shape) ||
            !mpiq_job_intern_place(adding->job, &calls[i].started, &call->started))
            return false;
    }
    return true;
}

static const struct mpiq_job_member *old_member(const struct adding *adding, size_t index, uint64_t handle)
{
    if (!adding->old)
        return NULL;
    const struct mpiq_job_member *members = &adding->job->members[adding->old->first_member];
    uint32_t count = adding->old->member_count;
    if (index < count && members[index].handle == handle)
        return &members[index];
    for (uint32_t i = 0; i < count; i++) {
        if (members[i].handle == handle)
            return &members[i];
    }
    return NULL;
}

static bool add_communicator(struct adding *adding, const struct mpiq_communicator *comm, size_t index,
                             struct mpiq_job_member *member, uint32_t *group)
{
    struct mpiq_job_state *job = adding->job;
    uint32_t remote = MPIQ_NONE;
    if (!mpiq_job_intern_group(job, &comm->local, group) ||
        (comm->flags & MPIQ_COMM_INTER && !mpiq_job_intern_group(job, &comm->remote, &remote)))
        return false;
    const struct mpiq_job_member *old = old_member(adding, index, comm->handle);
    *member = (struct mpiq_job_member){
        .handle = comm->handle,
        .ordered = comm->ordered,
        .nonblocking = comm->nonblocking,
        .rank = adding->row,
        .local_rank = comm->local_rank,
        .freed = comm->flags & MPIQ_COMM_FREED,
        .count_count = (uint32_t)comm->count_count,
        .call_count = (uint32_t)comm->call_count,
        .outstanding_count = (uint32_t)comm->outstanding_count,
    };
    if (!mpiq_job_intern_communicator(job, comm, *group, remote, &member->comm))
        return false;
    struct mpiq_job_communicator *joint = &job->communicators[member->comm];
    joint->flags |= comm->flags & ~(unsigned)MPIQ_COMM_FREED;
    if ((!joint->name && !mpiq_job_intern(job, comm->name, &joint->name)) ||
        (!joint->made_by && !mpiq_job_intern(job, comm->made_by, &joint->made_by)) ||
        (joint->made == MPIQ_NONE && !mpiq_job_intern_place(job, &comm->made, &joint->made)))
        return false;

    if (!MPIQ_RESERVE(job->counts, job->count_count, job->builder->count_capacity, comm->count_count) ||
        !MPIQ_RESERVE(job->calls, job->call_count, job->builder->call_capacity,
                      comm->call_count + comm->outstanding_count) ||
        !MPIQ_RESERVE(job->channels, job->channel_count, job->builder->channel_capacity, comm->channel_count))
        return false;
    member->first_count =
        place(&job->count_count, old ? old->first_count : 0, old ? old->count_count : 0, comm->count_count);
    if (comm->count_count)
        memcpy(&job->counts[member->first_count], comm->counts, comm->count_count * sizeof *comm->counts);
    member->first_call =
        place(&job->call_count, old ? old->first_call : 0, old ? old->call_count : 0, comm->call_count);
    member->first_outstanding = place(&job->call_count, old ? old->first_outstanding : 0,
                                      old ? old->outstanding_count : 0, comm->outstanding_count);
    return add_calls(adding, comm->calls, comm->call_count, member->first_call) &&
           add_calls(adding, comm->outstanding, comm->outstanding_count, member->first_outstanding) &&
           add_channels(adding, comm, old, member);
}

static bool add_communicators(struct adding *adding, struct mpiq_job_rank *rank)
{
    struct mpiq_job_state *job = adding->job;
    struct mpiq_job_builder *builder = job->builder;
    const struct mpiq_rank_state *state = adding->state;
    size_t count = state->communicator_count;
    if (!MPIQ_RESERVE(job->members, job->member_count, builder->member_capacity, count) ||
        !MPIQ_RESERVE(builder->member_groups, job->member_count, builder->member_group_capacity, count))
        return false;
    struct mpiq_job_member *members _cleanup_free_ = calloc(count + 1, sizeof *members);
    uint32_t *groups _cleanup_free_ = calloc(count + 1, sizeof *groups);
    if (!members || !groups)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!add_communicator(adding, &state->communicators[i], i, &members[i], &groups[i]))
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t parent = state->communicators[i].parent;
        for (size_t j = 0; parent && j < count; j++) {
            if (state->communicators[j].handle == parent && members[j].comm != members[i].comm)
                builder->parents[members[i].comm] = members[j].comm;
        }
    }
    for (uint32_t i = 0; adding->old && i < adding->old->member_count; i++)
        job->members[adding->old->first_member + i].rank = MPIQ_NONE;
    rank->member_count = (uint32_t)count;
    rank->first_member = place(&job->member_count, adding->old ? adding->old->first_member : 0,
                               adding->old ? adding->old->member_count : 0, count);
    if (count > 0) {
        memcpy(&job->members[rank->first_member], members, count * sizeof *members);
        memcpy(&builder->member_groups[rank->first_member], groups, count * sizeof *groups);
    }
    adding->first_member = rank->first_member;
    return true;
}

static uint32_t member_index(const struct adding *adding, int32_t comm)
{
    return comm < 0 ? MPIQ_NONE : adding->first_member + (uint32_t)comm;
}

static bool add_waits(struct adding *adding, const struct mpiq_thread *thread, struct mpiq_job_thread *row,
                      const struct mpiq_job_thread *old)
{
    struct mpiq_job_state *job = adding->job;
    struct mpiq_job_builder *builder = job->builder;
    if (!MPIQ_RESERVE(job->waits, job->wait_count, builder->wait_capacity, thread->wait_count))
        return false;
    uint32_t old_first = old ? old->first_wait : 0;
    uint32_t old_count = old ? old->wait_count : 0;
    row->wait_count = (uint32_t)thread->wait_count;
    row->first_wait = place(&job->wait_count, old_first, old_count, thread->wait_count);
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
            .comm = member_index(adding, wait->comm),
            .collective_comm = member_index(adding, wait->collective_comm),
            .need = wait->need,
            .operation_count = (uint32_t)wait->operation_count,
            .first_operation = place(&job->operation_count, before.first_operation, before.operation_count,
                                     wait->operation_count),
            .window = wait->window < 0 ? MPIQ_NONE : adding->first_view + (uint32_t)wait->window,
            .window_target = (uint32_t)wait->window_target,
            .collective = wait->collective,
            .kind = wait->kind,
            .lock_type = wait->lock_type,
        };
        if (!mpiq_job_intern(job, wait->call, &copy->call) ||
            !add_operations(adding, wait->operations, wait->operation_count, true, copy->first_operation))
            return false;
    }
    return true;
}

static const struct mpiq_job_thread *old_thread(const struct adding *adding, int32_t tid, uint32_t *index)
{
    for (uint32_t i = 0; adding->old && i < adding->old->thread_count; i++) {
        *index = adding->old->first_thread + i;
        if (adding->job->threads[*index].tid == tid)
            return &adding->job->threads[*index];
    }
    return NULL;
}

/* Whether both looks saw a thread in one wait; `changed` is what changed in its rank. */
static int8_t held(const struct adding *adding, const struct mpiq_thread *thread, uint64_t mark,
                   uint8_t changed)
{
    if (!adding->old && !adding->state->core)
        return MPIQ_UNKNOWN;
    if (!mark || (!thread->record && !mpiq_can_tell_waits(adding->state)))
        return MPIQ_NO;
    if (!adding->old) /* a core file does not move */
        return MPIQ_YES;
    uint32_t index = 0;
    const struct mpiq_job_thread *old = old_thread(adding, thread->tid, &index);
    if (!old || adding->job->builder->thread_marks[index] != mark)
        return MPIQ_NO;
    unsigned progress = MPIQ_CHANGED_QUEUES | MPIQ_CHANGED_CALLS | MPIQ_CHANGED_CHANNELS | MPIQ_CHANGED_STATE;
    return thread->record || !(changed & progress) ? MPIQ_YES : MPIQ_NO;
}

/* The sleep that a thread was in from the first look to the second: the same in both, at the same place, and
   no more processor time in between than a look itself costs. */
static uint8_t sleep_between(const struct adding *adding, const struct mpiq_thread *thread,
                             const struct mpiq_job_thread *old, uint32_t index, bool turned)
{
    enum { COST_OF_A_LOOK_NS = 1000000 };
    bool still = old && !turned && adding->job->builder->thread_sleeps[index] == thread->sleep &&
                 thread->cpu_ns - old->cpu_ns < COST_OF_A_LOOK_NS;
    return still ? thread->sleep : MPIQ_SLEEP_UNKNOWN;
}

static bool is_helper(const struct mpiq_thread *thread)
{
    return thread->frame_count > 0 && thread->mpi_frame < 0 && thread->user_frame < 0 &&
           thread->wait_count == 0;
}

static bool calls_back(const struct mpiq_rank_state *state, const struct mpiq_thread *thread)
{
    for (int32_t i = 0; i < thread->mpi_frame; i++) {
        const char *object = thread->frames[i].object;
        if (object && strcmp(object, state->executable) == 0)
            return true;
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
        {"pthread_mutex_lock", "pthread_mutex_lock"},
        {"lll_lock_wait", "pthread_mutex_lock"},
        {"pthread_cond_wait", "pthread_cond_wait"},
        {"pthread_cond_wait_common", "pthread_cond_wait"},
        {"pthread_cond_timedwait", "pthread_cond_timedwait"},
        {"pthread_cond_clockwait", "pthread_cond_timedwait"},
        {"pthread_barrier_wait", "pthread_barrier_wait"},
        {"pthread_rwlock_rdlock", "pthread_rwlock_rdlock"},
        {"pthread_rwlock_wrlock", "pthread_rwlock_wrlock"},
        {"sem_wait", "sem_wait"},
        {"new_sem_wait_slow64", "sem_wait"},
        {"new_sem_wait", "sem_wait"},
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
        for (size_t j = 0; function && j < sizeof calls / sizeof *calls; j++) {
            if (strcmp(calls[j].inner, function) == 0)
                found = calls[j].name;
        }
    }
    return found;
}

static bool describe_thread(struct adding *adding, const struct mpiq_thread *thread,
                            struct mpiq_job_thread *row)
{
    struct mpiq_job_state *job = adding->job;
    const char *call = thread->mpi_call;
    if (!call[0] && thread->wait_count > 0)
        call = thread->waits[0].call;
    if (!call[0] && thread->wait_count > 0)
        call = thread->waits[thread->wait_count - 1].call;
    row->in_mpi = thread->mpi_frame >= 0 || thread->wait_count > 0 || thread->mpi_call[0];
    row->helper = is_helper(thread);
    row->calls_back = calls_back(adding->state, thread);
    row->state = thread->state ? thread->state : '?';
    row->record = thread->record;
    row->site = row->innermost = MPIQ_NONE;
    return mpiq_job_intern(job, call, &row->call) &&
           mpiq_job_intern(job, blocks_in(thread), &row->blocks_in) &&
           (thread->user_frame < 0 ||
            mpiq_job_intern_site(job, &thread->frames[thread->user_frame], &row->site)) &&
           (thread->frame_count == 0 || mpiq_job_intern_site(job, &thread->frames[0], &row->innermost));
}

static bool add_threads(struct adding *adding, struct mpiq_job_rank *rank)
{
    struct mpiq_job_state *job = adding->job;
    struct mpiq_job_builder *builder = job->builder;
    size_t count = adding->state->thread_count;
    if (!MPIQ_RESERVE(job->threads, job->thread_count, builder->thread_capacity, count) ||
        !MPIQ_RESERVE(builder->thread_marks, job->thread_count, builder->thread_mark_capacity, count) ||
        !MPIQ_RESERVE(builder->thread_stacks, job->thread_count, builder->thread_stack_capacity, count) ||
        !MPIQ_RESERVE(builder->thread_sleeps, job->thread_count, builder->thread_sleep_capacity, count))
        return false;
    struct mpiq_job_thread *rows _cleanup_free_ = calloc(count + 1, sizeof *rows);
    uint64_t *marks _cleanup_free_ = calloc(count + 1, sizeof *marks);
    uint64_t *stacks _cleanup_free_ = calloc(count + 1, sizeof *stacks);
    uint8_t *sleeps _cleanup_free_ = calloc(count + 1, sizeof *sleeps);
    if (!rows || !marks || !stacks || !sleeps)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_thread *thread = &adding->state->threads[i];
        uint32_t index = 0;
        const struct mpiq_job_thread *old = old_thread(adding, thread->tid, &index);
        marks[i] = mpiq_wait_mark(thread);
        stacks[i] = mpiq_stack_mark(thread);
        rows[i].turned = old && builder->thread_stacks[index] != stacks[i];
        rows[i].tid = thread->tid;
        rows[i].cpu_ns = thread->cpu_ns;
        rows[i].cpu_between_ns = old && thread->cpu_ns > old->cpu_ns ? thread->cpu_ns - old->cpu_ns : 0;
        rows[i].held = held(adding, thread, marks[i], rank->changed);
        sleeps[i] = thread->sleep;
        rows[i].sleep = sleep_between(adding, thread, old, index, rows[i].turned);
        rows[i].system_call = thread->system_call;
        if (!describe_thread(adding, thread, &rows[i]) || !add_waits(adding, thread, &rows[i], old))
            return false;
    }
    rank->thread_count = (uint32_t)count;
    rank->first_thread = place(&job->thread_count, adding->old ? adding->old->first_thread : 0,
                               adding->old ? adding->old->thread_count : 0, count);
    if (count > 0) {
        memcpy(&job->threads[rank->first_thread], rows, count * sizeof *rows);
        memcpy(&builder->thread_marks[rank->first_thread], marks, count * sizeof *marks);
        memcpy(&builder->thread_stacks[rank->first_thread], stacks, count * sizeof *stacks);
        memcpy(&builder->thread_sleeps[rank->first_thread], sleeps, count * sizeof *sleeps);
    }
    return true;
}

static bool add_problems(struct adding *adding, struct mpiq_job_rank *rank)
{
    struct mpiq_job_state *job = adding->job;
    size_t count = adding->state->problem_count;
    if (!MPIQ_RESERVE(job->problems, job->problem_count, job->builder->problem_capacity, count))
        return false;
    rank->problem_count = (uint32_t)count;
    rank->first_problem = place(&job->problem_count, adding->old ? adding->old->first_problem : 0,
                                adding->old ? adding->old->problem_count : 0, count);
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_problem *problem = &adding->state->problems[i];
        struct mpiq_job_problem *row = &job->problems[rank->first_problem + i];
        *row = (struct mpiq_job_problem){.rank = adding->row, .code = problem->code};
        if (!mpiq_job_intern(job, problem->what, &row->what) ||
            !mpiq_job_intern(job, problem->text, &row->text))
            return false;
    }
    return true;
}

static bool describe_rank(const struct adding *adding, struct mpiq_job_rank *rank)
{
    const struct mpiq_rank_state *state = adding->state;
    rank->cpu_between_ns =
        adding->old && state->cpu_ns > adding->old->cpu_ns ? state->cpu_ns - adding->old->cpu_ns : 0;
    rank->cpu_ns = state->cpu_ns;
    uint64_t *children = &adding->job->builder->rank_children[adding->row];
    int64_t *io = &adding->job->builder->rank_io[adding->row];
    rank->children_cpu_between_ns =
        adding->old && state->children_cpu_ns > *children ? state->children_cpu_ns - *children : 0;
    rank->io_between = adding->old && state->io_bytes >= 0 && *io >= 0 ? state->io_bytes - *io : -1;
    *children = state->children_cpu_ns;
    *io = state->io_bytes;
    rank->last_mpi_end_ns = state->last_mpi_end_ns;
    rank->taken_ns = state->taken_ns;
    rank->pid = state->pid;
    rank->phase = state->phase;
    rank->source = state->source;
    rank->thread_level = state->thread_level;
    rank->recording = state->recording;
    rank->queues = state->queues;
    rank->core = state->core;
    rank->gone = state->gone;
    rank->traced = state->traced;
    rank->process_state = state->process_state ? state->process_state : '?';
    rank->process = MPIQ_NONE;
    struct mpiq_job_state *job = adding->job;
    return mpiq_job_intern(job, state->host, &rank->host) &&
           mpiq_job_intern(job, state->executable, &rank->executable) &&
           mpiq_job_intern(job, state->last_mpi_call, &rank->last_mpi_call) &&
           mpiq_job_intern(job, state->library, &rank->library) &&
           mpiq_job_intern(job, state->pml, &rank->pml);
}

static bool add_windows(struct adding *adding, struct mpiq_job_rank *rank)
{
    if (!mpiq_job_add_windows(adding->job, adding->state, adding->row, adding->first_member, rank))
        return false;
    adding->first_view = rank->first_view;
    return true;
}

static bool add_all(struct adding *adding, struct mpiq_job_rank *rank)
{
    struct mpiq_job_state *job = adding->job;
    struct mpiq_job_builder *builder = job->builder;
    const struct mpiq_rank_state *state = adding->state;
    if (!describe_rank(adding, rank) || !add_communicators(adding, rank) ||
        !MPIQ_RESERVE(job->operations, job->operation_count, builder->operation_capacity,
                      state->operation_count) ||
        !MPIQ_RESERVE(job->calls, job->call_count, builder->call_capacity, state->process_call_count))
        return false;
    rank->operation_count = (uint32_t)state->operation_count;
    rank->first_operation = place(&job->operation_count, adding->old ? adding->old->first_operation : 0,
                                  adding->old ? adding->old->operation_count : 0, state->operation_count);
    rank->call_count = (uint32_t)state->process_call_count;
    rank->first_call = place(&job->call_count, adding->old ? adding->old->first_call : 0,
                             adding->old ? adding->old->call_count : 0, state->process_call_count);
    return add_operations(adding, state->operations, state->operation_count, false, rank->first_operation) &&
           add_calls(adding, state->process_calls, state->process_call_count, rank->first_call) &&
           add_windows(adding, rank) && add_threads(adding, rank) && add_problems(adding, rank);
}

/* The second look saw what the first one saw: only times move on. */
static void same_again(struct adding *adding, struct mpiq_job_rank *rank)
{
    const struct mpiq_rank_state *state = adding->state;
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        const struct mpiq_thread *thread = &state->threads[i];
        struct mpiq_job_thread *row = &adding->job->threads[rank->first_thread + i];
        row->held = held(adding, thread, mpiq_wait_mark(thread), 0);
        row->sleep = sleep_between(adding, thread, row, rank->first_thread + i, false);
        row->system_call = thread->system_call;
        row->state = thread->state ? thread->state : '?';
        row->cpu_between_ns = thread->cpu_ns > row->cpu_ns ? thread->cpu_ns - row->cpu_ns : 0;
        row->cpu_ns = thread->cpu_ns;
    }
}

static uint8_t changes(const struct mpiq_look_marks *a, const struct mpiq_look_marks *b)
{
    return (a->waits != b->waits ? MPIQ_CHANGED_WAITS : 0) |
           (a->queues != b->queues ? MPIQ_CHANGED_QUEUES : 0) |
           (a->calls != b->calls ? MPIQ_CHANGED_CALLS : 0) |
           (a->channels != b->channels ? MPIQ_CHANGED_CHANNELS : 0) |
           (a->state != b->state ? MPIQ_CHANGED_STATE : 0) |
           (a->stacks != b->stacks ? MPIQ_CHANGED_STACKS : 0);
}

/* The rank's row, new or the first look's; MPIQ_NONE without memory. */
static uint32_t rank_row(struct mpiq_job_state *job, const struct mpiq_rank_state *state)
{
    struct mpiq_job_builder *builder = job->builder;
    uint64_t name;
    if (!mpiq_job_intern_name(job, state->name, &name))
        return MPIQ_NONE;
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, name);
    if (name == MPIQ_NO_NAME) /* known by its process alone */
        hash = mpiq_hash_bytes(mpiq_hash(hash, (uint32_t)state->pid), state->host, strlen(state->host));
    uint64_t cursor = hash;
    bool told = name != MPIQ_NO_NAME || state->pid != 0; /* of a broken file nothing tells two apart */
    for (uint32_t i; told && (i = mpiq_hash_table_next(&builder->ranks, hash, &cursor)) != MPIQ_NONE;) {
        if (builder->names[i] == name && (name != MPIQ_NO_NAME || job->ranks[i].pid == state->pid))
            return i;
    }
    uint32_t row = job->rank_count;
    if (!MPIQ_RESERVE(job->ranks, row, builder->rank_capacity, 1) ||
        !MPIQ_RESERVE(builder->names, row, builder->name_capacity, 1) ||
        !MPIQ_RESERVE(builder->marks, row, builder->marks_capacity, 1) ||
        !MPIQ_RESERVE(builder->rank_io, row, builder->rank_io_capacity, 1) ||
        !MPIQ_RESERVE(builder->rank_children, row, builder->rank_children_capacity, 1) ||
        !mpiq_hash_table_add(&builder->ranks, hash, row))
        return MPIQ_NONE;
    job->ranks[row] = (struct mpiq_job_rank){.process = MPIQ_NONE};
    builder->names[row] = name;
    job->rank_count++;
    if (name != MPIQ_NO_NAME) {
        struct mpiq_world *world = &job->worlds[name >> 32];
        world->present++;
        if (state->world_size > (int64_t)world->size)
            world->size = (uint32_t)state->world_size;
        if (!mpiq_job_intern(job, state->nspace, &world->nspace))
            return MPIQ_NONE;
    }
    return row;
}

struct mpiq_error *mpiq_job_state_add(struct mpiq_job_state *job, int look,
                                      const struct mpiq_rank_state *state)
{
    if (job->finished || (look != 1 && look != 2))
        return mpiq_error_create(MPIQ_ERROR_INTERNAL,
                                 "a job state was added to after its end, or with look %d", look);
    struct mpiq_error *error = mpiq_job_check_state(state);
    if (error)
        return error;
    memset(job->builder->cache, 0, sizeof job->builder->cache);
    uint32_t row = rank_row(job, state);
    if (row == MPIQ_NONE)
        return no_memory();
    struct mpiq_job_rank rank = job->ranks[row];
    if (rank.looks >= look)
        return mpiq_job_refuse_double(job, &rank, state);

    struct mpiq_job_rank old = rank;
    struct adding adding = {.job = job, .state = state, .old = rank.looks ? &old : NULL, .row = row};
    struct mpiq_look_marks marks;
    mpiq_look_marks(state, &marks);
    struct mpiq_look_marks *before = &job->builder->marks[row];
    rank.changed = rank.looks ? changes(before, &marks) : 0;
    bool same = rank.looks && memcmp(before, &marks, sizeof marks) == 0;
    rank.looks |= (uint8_t)look;
    bool good;
    if (same) {
        same_again(&adding, &rank);
        good = describe_rank(&adding, &rank);
    } else {
        good = add_all(&adding, &rank);
    }
    if (!good)
        return no_memory();
    *before = marks;
    job->ranks[row] = rank;
    job->two_looks = job->two_looks || rank.looks == 3;
    return NULL;
}
