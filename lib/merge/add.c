/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds one rank state to the job's columns, and records what changed since its first look. */
#include <stdlib.h>
#include <string.h>

#include "merge/merge.h"
#include "merge/adding_private.h"

static struct mpiq_error *no_memory(void)
{
    return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory: the job's state does not fit");
}

/* The first look's row of a peer.  Both lists are in the order of peers, so *at walks on; in any other order
   rows are not found, and a row that is not found counts as changed. */
static const struct mpiq_job_channel *
old_channel(const struct mpiq_adding *adding, const struct mpiq_job_member *old, uint32_t peer, uint32_t *at)
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

static bool add_channels(struct mpiq_adding *adding, const struct mpiq_communicator *comm,
                         const struct mpiq_job_member *old, struct mpiq_job_member *member)
{
    enum { UNUSED = 1 }; /* number of the first message, of a channel that was not there */
    struct mpiq_job_state *job = adding->job;
    size_t count = comm->channel_count;
    struct mpiq_new_rows *new = &job->builder->new_rows;
    if (!MPIQ_RESERVE(new->channels, 0, new->channel_capacity, count))
        return false;
    struct mpiq_job_channel *rows = new->channels;
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
    member->first_channel = mpiq_place_rows(&job->channel_count, old ? old->first_channel : 0,
                                            old ? old->channel_count : 0, count);
    if (count > 0)
        memcpy(&job->channels[member->first_channel], rows, count * sizeof *rows);
    return true;
}

static bool add_calls(struct mpiq_adding *adding, const struct mpiq_call *calls, size_t count, uint32_t first)
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

static const struct mpiq_job_member *old_member(const struct mpiq_adding *adding, size_t index,
                                                uint64_t handle)
{
    if (!adding->old)
        return NULL;
    const struct mpiq_job_member *members = &adding->job->members[adding->old->first_member];
    if (index < adding->old->member_count && members[index].handle == handle)
        return &members[index];
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, handle);
    uint64_t cursor = hash;
    uint32_t i = mpiq_hash_table_next(&adding->job->builder->handles, hash, &cursor);
    return i == MPIQ_NONE ? NULL : &members[i];
}

/* The builder's handles become those of the first look's members. */
static bool find_old_handles(const struct mpiq_adding *adding)
{
    struct mpiq_hash_table *handles = &adding->job->builder->handles;
    const struct mpiq_rank_state *state = adding->state;
    mpiq_hash_table_clear(handles);
    if (!adding->old)
        return true;
    const struct mpiq_job_member *members = &adding->job->members[adding->old->first_member];
    uint32_t count = adding->old->member_count;
    bool same = true; /* nearly always: then nobody asks */
    for (size_t i = 0; i < state->communicator_count && same; i++)
        same = i < count && members[i].handle == state->communicators[i].handle;
    for (uint32_t i = 0; i < count && !same; i++) {
        if (!mpiq_hash_table_add(handles, mpiq_hash(MPIQ_HASH_START, members[i].handle), i))
            return false;
    }
    return true;
}

/* An internal communicator serves the one with the handle that it names. */
static bool find_parents(struct mpiq_adding *adding, const struct mpiq_job_member *members)
{
    struct mpiq_job_builder *builder = adding->job->builder;
    struct mpiq_hash_table *handles = &builder->handles;
    const struct mpiq_rank_state *state = adding->state;
    mpiq_hash_table_clear(handles);
    bool any = false;
    for (size_t i = 0; i < state->communicator_count; i++)
        any = any || state->communicators[i].parent;
    for (size_t i = 0; any && i < state->communicator_count; i++) {
        if (!mpiq_hash_table_add(handles, mpiq_hash(MPIQ_HASH_START, state->communicators[i].handle),
                                 (uint32_t)i))
            return false;
    }
    for (size_t i = 0; any && i < state->communicator_count; i++) {
        uint64_t parent = state->communicators[i].parent;
        uint64_t hash = mpiq_hash(MPIQ_HASH_START, parent);
        uint64_t cursor = hash;
        uint32_t j = parent ? mpiq_hash_table_next(handles, hash, &cursor) : MPIQ_NONE;
        if (j != MPIQ_NONE && members[j].comm != members[i].comm)
            builder->parents[members[i].comm] = members[j].comm;
    }
    return true;
}

static bool add_communicator(struct mpiq_adding *adding, const struct mpiq_communicator *comm, size_t index,
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
        .source_count = (uint32_t)comm->source_count,
        .persistent_count = (uint32_t)comm->persistent_count,
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
        !MPIQ_RESERVE(job->persistent, job->persistent_count, job->builder->persistent_capacity,
                      comm->persistent_count) ||
        !MPIQ_RESERVE(job->call_sources, job->call_source_count, job->builder->call_source_capacity,
                      comm->source_count) ||
        !MPIQ_RESERVE(job->channels, job->channel_count, job->builder->channel_capacity, comm->channel_count))
        return false;
    member->first_source = mpiq_place_rows(&job->call_source_count, old ? old->first_source : 0,
                                           old ? old->source_count : 0, comm->source_count);
    if (comm->source_count)
        memcpy(&job->call_sources[member->first_source], comm->sources,
               comm->source_count * sizeof *comm->sources);
    member->first_count = mpiq_place_rows(&job->count_count, old ? old->first_count : 0,
                                          old ? old->count_count : 0, comm->count_count);
    if (comm->count_count)
        memcpy(&job->counts[member->first_count], comm->counts, comm->count_count * sizeof *comm->counts);
    member->first_call = mpiq_place_rows(&job->call_count, old ? old->first_call : 0,
                                         old ? old->call_count : 0, comm->call_count);
    member->first_outstanding = mpiq_place_rows(&job->call_count, old ? old->first_outstanding : 0,
                                                old ? old->outstanding_count : 0, comm->outstanding_count);
    member->first_persistent = mpiq_place_rows(&job->persistent_count, old ? old->first_persistent : 0,
                                               old ? old->persistent_count : 0, comm->persistent_count);
    for (size_t i = 0; i < comm->persistent_count; i++) {
        const struct mpiq_persistent *request = &comm->persistent[i];
        struct mpiq_job_persistent *row = &job->persistent[member->first_persistent + i];
        *row = (struct mpiq_job_persistent){
            .number = request->number, .starts = request->starts, .request = request->request};
        if (!mpiq_job_intern_place(job, &request->made, &row->made))
            return false;
    }
    return add_calls(adding, comm->calls, comm->call_count, member->first_call) &&
           add_calls(adding, comm->outstanding, comm->outstanding_count, member->first_outstanding) &&
           add_channels(adding, comm, old, member);
}

static bool add_communicators(struct mpiq_adding *adding, struct mpiq_job_rank *rank)
{
    struct mpiq_job_state *job = adding->job;
    struct mpiq_job_builder *builder = job->builder;
    const struct mpiq_rank_state *state = adding->state;
    size_t count = state->communicator_count;
    if (!MPIQ_RESERVE(job->members, job->member_count, builder->member_capacity, count) ||
        !MPIQ_RESERVE(builder->member_groups, job->member_count, builder->member_group_capacity, count))
        return false;
    struct mpiq_new_rows *new = &builder->new_rows;
    if (!MPIQ_RESERVE(new->members, 0, new->member_capacity, count) ||
        !MPIQ_RESERVE(new->member_groups, 0, new->member_group_capacity, count) || !find_old_handles(adding))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!add_communicator(adding, &state->communicators[i], i, &new->members[i], &new->member_groups[i]))
            return false;
    }
    if (!find_parents(adding, new->members))
        return false;
    for (uint32_t i = 0; adding->old && i < adding->old->member_count; i++)
        job->members[adding->old->first_member + i].rank = MPIQ_NONE;
    rank->member_count = (uint32_t)count;
    rank->first_member = mpiq_place_rows(&job->member_count, adding->old ? adding->old->first_member : 0,
                                         adding->old ? adding->old->member_count : 0, count);
    if (count > 0) {
        memcpy(&job->members[rank->first_member], new->members, count * sizeof *new->members);
        memcpy(&builder->member_groups[rank->first_member], new->member_groups,
               count * sizeof *new->member_groups);
    }
    adding->first_member = rank->first_member;
    return true;
}

static bool add_problems(struct mpiq_adding *adding, struct mpiq_job_rank *rank)
{
    struct mpiq_job_state *job = adding->job;
    size_t count = adding->state->problem_count;
    if (!MPIQ_RESERVE(job->problems, job->problem_count, job->builder->problem_capacity, count))
        return false;
    rank->problem_count = (uint32_t)count;
    rank->first_problem = mpiq_place_rows(&job->problem_count, adding->old ? adding->old->first_problem : 0,
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

static bool describe_rank(const struct mpiq_adding *adding, struct mpiq_job_rank *rank)
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
    rank->last_mpi_collective = state->last_mpi_collective;
    bool both = adding->old && state->taken_ns > adding->old->taken_ns && adding->old->taken_ns > 0;
    rank->between_ns = both ? state->taken_ns - adding->old->taken_ns : 0;
    rank->taken_ns = state->taken_ns;
    rank->pid = state->pid;
    rank->phase = state->phase;
    rank->source = state->source;
    rank->thread_level = state->thread_level;
    rank->recording = state->recording;
    rank->queues = state->queues;
    rank->final = state->final;
    rank->gone = state->gone;
    rank->end = state->end;
    rank->traced = state->traced;
    rank->tracer = state->tracer;
    rank->frozen = state->frozen;
    rank->strict = state->strict;
    rank->library_queues = state->library_queues;
    rank->paused_at_end = state->paused_at_end;
    rank->process_state = state->process_state ? state->process_state : '?';
    rank->process = MPIQ_NONE;
    struct mpiq_job_state *job = adding->job;
    const struct mpiq_job_rank nobody = {0};
    const struct mpiq_job_rank *like = adding->old       ? adding->old
                                       : adding->row > 0 ? &job->ranks[adding->row - 1]
                                                         : &nobody;
    return mpiq_job_intern_likely(job, state->host, like->host, &rank->host) &&
           mpiq_job_intern_likely(job, state->tracer_name, like->tracer_name, &rank->tracer_name) &&
           mpiq_job_intern_likely(job, state->freezer, like->freezer, &rank->freezer) &&
           mpiq_job_intern_likely(job, state->executable, like->executable, &rank->executable) &&
           mpiq_job_intern_likely(job, state->command, like->command, &rank->command) &&
           mpiq_job_intern_likely(job, state->last_mpi_call, like->last_mpi_call, &rank->last_mpi_call) &&
           mpiq_job_intern_likely(job, state->library, like->library, &rank->library) &&
           mpiq_job_intern_likely(job, state->library_file, like->library_file, &rank->library_file) &&
           mpiq_job_intern_likely(job, state->pml, like->pml, &rank->pml);
}

static bool add_windows(struct mpiq_adding *adding, struct mpiq_job_rank *rank)
{
    if (!mpiq_job_add_windows(adding->job, adding->state, adding->row, adding->first_member, rank))
        return false;
    adding->first_view = rank->first_view;
    return true;
}

static bool add_all(struct mpiq_adding *adding, struct mpiq_job_rank *rank)
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
    rank->first_operation =
        mpiq_place_rows(&job->operation_count, adding->old ? adding->old->first_operation : 0,
                        adding->old ? adding->old->operation_count : 0, state->operation_count);
    rank->call_count = (uint32_t)state->process_call_count;
    rank->first_call = mpiq_place_rows(&job->call_count, adding->old ? adding->old->first_call : 0,
                                       adding->old ? adding->old->call_count : 0, state->process_call_count);
    return mpiq_add_operations(adding, state->operations, state->operation_count, false,
                               rank->first_operation) &&
           add_calls(adding, state->process_calls, state->process_call_count, rank->first_call) &&
           add_windows(adding, rank) && mpiq_add_threads(adding, rank) && add_problems(adding, rank) &&
           mpiq_job_add_facts(job, state, adding->row, rank);
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

/* Whether what differs between the looks has moved: what one of them could not read has not.  Of a library
   that is in motion, lists cannot always be read to their end: there, counts and waits still tell.  So they
   do where only one of the looks got the queues from the MPI library, beside the recorder. */
static bool are_comparable(const struct mpiq_job_rank *old, const struct mpiq_look_marks *before,
                           const struct mpiq_rank_state *state, const struct mpiq_look_marks *now)
{
    bool started = old->phase < MPIQ_PHASE_RUNNING && state->phase > old->phase;
    bool ended = state->gone || state->phase >= MPIQ_PHASE_FINALIZED;
    bool same =
        old->source == state->source && old->queues == state->queues && old->recording == state->recording;
    bool whole = old->problem_count == state->problem_count;
    unsigned moved = MPIQ_CHANGED_PROGRESS & ~(unsigned)MPIQ_CHANGED_QUEUES;
    if (old->library_queues != state->library_queues) {
        whole = false;
        moved = MPIQ_CHANGED_WAITS | MPIQ_CHANGED_CALLS;
    }
    return started || ended || (same && (whole || changes(before, now) & moved));
}

static bool has_text(const mpiq_string_id *texts, size_t count, mpiq_string_id text)
{
    for (size_t i = 0; i < count; i++) {
        if (texts[i] == text)
            return true;
    }
    return false;
}

/* What one of two looks could not read, and the other could.  False without memory. */
static bool why_not_comparable(const struct mpiq_adding *adding, mpiq_string_id *ret)
{
    struct mpiq_job_state *job = adding->job;
    enum { MOST = 32 };
    mpiq_string_id texts[2][MOST];
    size_t counts[2] = {0};
    for (uint32_t i = 0; i < adding->old->problem_count && i < MOST; i++)
        texts[0][counts[0]++] = job->problems[adding->old->first_problem + i].text;
    for (size_t i = 0; i < adding->state->problem_count && i < MOST; i++) {
        if (!mpiq_job_intern(job, adding->state->problems[i].text, &texts[1][counts[1]++]))
            return false;
    }
    for (int look = 0; look < 2; look++) {
        for (size_t i = 0; i < counts[look]; i++) {
            if (!has_text(texts[!look], counts[!look], texts[look][i])) {
                *ret = texts[look][i];
                return true;
            }
        }
    }
    return mpiq_job_intern(job, "two looks at it did not see the same parts of its MPI library", ret);
}

/* Of a rank without a name its process alone is known. */
static uint64_t rank_hash(uint64_t name, int32_t pid, const char *host)
{
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, name);
    return name == MPIQ_NO_NAME ? mpiq_hash_bytes(mpiq_hash(hash, (uint32_t)pid), host, strlen(host)) : hash;
}

/* Ranks nearly always come in order, in both looks: then the table is never made. */
static bool index_ranks(struct mpiq_job_state *job)
{
    struct mpiq_job_builder *builder = job->builder;
    for (uint32_t *i = &builder->ranks_indexed; *i < job->rank_count; (*i)++) {
        const struct mpiq_job_rank *rank = &job->ranks[*i];
        const char *host = rank->host ? mpiq_job_string(job, rank->host) : "";
        if (!mpiq_hash_table_add(&builder->ranks, rank_hash(builder->names[*i], rank->pid, host), *i))
            return false;
    }
    return true;
}

/* The row of a rank that is there already; MPIQ_NONE: it is not.  False without memory. */
static bool find_rank(struct mpiq_job_state *job, uint64_t name, const struct mpiq_rank_state *state,
                      uint32_t *ret)
{
    struct mpiq_job_builder *builder = job->builder;
    uint32_t next = builder->recent_rank < job->rank_count ? builder->recent_rank : 0;
    *ret = MPIQ_NONE;
    if (name != MPIQ_NO_NAME && (uint32_t)name >= job->worlds[name >> 32].seen)
        return true;
    if (name != MPIQ_NO_NAME && builder->names[next] == name) {
        *ret = next;
        return true;
    }
    if (name == MPIQ_NO_NAME && state->pid == 0) /* of a broken file nothing tells two apart */
        return true;
    if (!index_ranks(job))
        return false;
    uint64_t hash = rank_hash(name, state->pid, state->host);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&builder->ranks, hash, &cursor)) != MPIQ_NONE;) {
        if (builder->names[i] == name && (name != MPIQ_NO_NAME || job->ranks[i].pid == state->pid)) {
            *ret = i;
            return true;
        }
    }
    return true;
}

/* The rank's row, new or the first look's; MPIQ_NONE without memory. */
static uint32_t rank_row(struct mpiq_job_state *job, const struct mpiq_rank_state *state)
{
    struct mpiq_job_builder *builder = job->builder;
    uint64_t name;
    uint32_t row;
    if (!mpiq_job_intern_name(job, state->name, &name) || !find_rank(job, name, state, &row))
        return MPIQ_NONE;
    builder->recent_rank = (row == MPIQ_NONE ? job->rank_count : row) + 1;
    if (row != MPIQ_NONE)
        return row;
    row = job->rank_count;
    if (!MPIQ_RESERVE(job->ranks, row, builder->rank_capacity, 1) ||
        !MPIQ_RESERVE(builder->names, row, builder->name_capacity, 1) ||
        !MPIQ_RESERVE(builder->marks, row, builder->marks_capacity, 1) ||
        !MPIQ_RESERVE(builder->rank_io, row, builder->rank_io_capacity, 1) ||
        !MPIQ_RESERVE(builder->rank_children, row, builder->rank_children_capacity, 1))
        return MPIQ_NONE;
    job->ranks[row] = (struct mpiq_job_rank){.process = MPIQ_NONE};
    builder->names[row] = name;
    job->rank_count++;
    if (name != MPIQ_NO_NAME) {
        struct mpiq_world *world = &job->worlds[name >> 32];
        world->present++;
        if (world->seen <= (uint32_t)name)
            world->seen = (uint32_t)name + 1;
        if (state->world_size > (int64_t)world->size)
            world->size = (uint32_t)state->world_size;
        if (!mpiq_job_intern_likely(job, state->nspace, world->nspace, &world->nspace))
            return MPIQ_NONE;
    }
    return row;
}

/* Whether what its threads ask for is to be read from its last calls, which the first look does not have. */
static bool has_polled(const struct mpiq_rank_state *state)
{
    for (size_t i = state->history_count; i > 0; i--) {
        if (mpiq_is_poll(state->history[i - 1].call))
            return true;
    }
    return false;
}

/* Whether all that moved are waits of one-sided calls, by a library that keeps no last calls: what a thread
   waits for elsewhere shows in counts, messages or requests once it has come. */
static bool waits_only_in_windows(const struct mpiq_adding *adding)
{
    const struct mpiq_rank_state *state = adding->state;
    const struct mpiq_job_rank *old = adding->old;
    if (state->source != MPIQ_SOURCE_PATCHED || state->history_count > 0)
        return false;
    for (size_t i = 0; i < state->thread_count; i++) {
        const struct mpiq_thread *thread = &state->threads[i];
        if (thread->mpi_call[0] && !mpiq_call_reads_window(thread->mpi_call))
            return false;
    }
    for (uint32_t i = 0; i < old->thread_count; i++) {
        const struct mpiq_job_thread *thread = &adding->job->threads[old->first_thread + i];
        if (thread->in_mpi && !mpiq_call_reads_window(mpiq_job_string(adding->job, thread->call)))
            return false;
    }
    return true;
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
    job->builder->state_number++;
    if (!mpiq_budget_take(&job->builder->budget, state->weight))
        return mpiq_error_create(MPIQ_ERROR_CORRUPT,
                                 "its state exceeds the memory limit of all ranks together");
    uint32_t row = rank_row(job, state);
    if (row == MPIQ_NONE)
        return no_memory();
    struct mpiq_job_rank rank = job->ranks[row];
    if (rank.looks >= look) {
        mpiq_budget_give(&job->builder->budget, state->weight);
        return mpiq_job_refuse_double(job, &rank, state);
    }

    const struct mpiq_problem *unread = mpiq_rank_state_unread(state);
    struct mpiq_job_rank old = rank;
    struct mpiq_adding adding = {.job = job, .state = state, .old = rank.looks ? &old : NULL, .row = row};
    if (unread && !mpiq_job_intern(job, unread->text, &rank.unread_because))
        return no_memory();
    bool first_unread = rank.unread;
    rank.unread = rank.unread || unread;
    if (unread && rank.looks && !first_unread) { /* what the first look saw is the better part */
        bool good = add_problems(&adding, &rank);
        job->ranks[row] = rank;
        return good ? NULL : no_memory();
    }
    struct mpiq_look_marks marks;
    mpiq_look_marks(state, &marks);
    struct mpiq_look_marks *before = &job->builder->marks[row];
    adding.comparable = rank.looks && !first_unread && are_comparable(&rank, before, state, &marks);
    rank.changed = adding.comparable ? changes(before, &marks) : 0;
    uint8_t progress = rank.changed & MPIQ_CHANGED_PROGRESS;
    if ((progress == MPIQ_CHANGED_WAITS ||
         (adding.comparable && !progress && mpiq_goes_on_calling(&adding))) &&
        (mpiq_repeats_reads(&adding) || waits_only_in_windows(&adding)))
        rank.changed |= MPIQ_CHANGED_REPEATS;
    if (rank.looks && !adding.comparable && !rank.unread_because &&
        !why_not_comparable(&adding, &rank.unread_because))
        return no_memory();
    rank.unread = rank.unread || (rank.looks && !adding.comparable);
    bool same = adding.comparable && memcmp(before, &marks, sizeof marks) == 0 && !has_polled(state);
    rank.looks = (uint8_t)(look | (adding.comparable ? rank.looks : 0));
    bool good;
    if (same) {
        mpiq_same_threads(&adding, &rank);
        good = describe_rank(&adding, &rank);
    } else {
        good = add_all(&adding, &rank);
    }
    if (!good || !mpiq_job_add_history(job, state, rank.first_member, &rank))
        return no_memory();
    *before = marks;
    job->ranks[row] = rank;
    job->two_looks = job->two_looks || rank.looks == 3;
    return NULL;
}
