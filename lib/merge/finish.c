/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of construction: provisional indexes become final, in an order that does not depend on which rank
   was read first. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "merge/merge.h"
#include "merge/builder_private.h"

/* Order of worlds: those with ranks that were read first, by namespace (a shorter number is a smaller one).
 */
static int compare_worlds(const void *left, const void *right, void *context)
{
    const struct mpiq_job_state *job = context;
    const struct mpiq_world *a = &job->worlds[*(const uint32_t *)left];
    const struct mpiq_world *b = &job->worlds[*(const uint32_t *)right];
    if (!a->present != !b->present)
        return a->present ? -1 : 1;
    const char *name_a = a->nspace ? job->strings[a->nspace] : "";
    const char *name_b = b->nspace ? job->strings[b->nspace] : "";
    if (strlen(name_a) != strlen(name_b))
        return strlen(name_a) < strlen(name_b) ? -1 : 1;
    int order = strcmp(name_a, name_b);
    return order ? order : a->job < b->job ? -1 : a->job > b->job;
}

/* Ranks whose groups name more processes than a job can have cost the job those of which nobody has seen
   any: what is known of the others stays. */
static void believe_what_was_seen(struct mpiq_job_state *job)
{
    uint64_t claimed = 0;
    for (uint32_t i = 0; i < job->world_count; i++)
        claimed += job->worlds[i].size;
    for (uint32_t i = 0; claimed > MPIQ_JOB_MAX_PROCESSES && i < job->world_count; i++)
        job->worlds[i].size = job->worlds[i].seen;
}

/* Sorts the worlds; placed[provisional] becomes what was world `provisional`. */
static struct mpiq_error *finish_worlds(struct mpiq_job_state *job, struct mpiq_world *placed)
{
    uint32_t count = job->world_count;
    uint32_t *order _cleanup_free_ = calloc(count + 1, sizeof *order);
    struct mpiq_world *sorted = calloc(count + 1, sizeof *sorted);
    if (!order || !sorted) {
        free(sorted);
        return mpiq_error_no_memory();
    }
    believe_what_was_seen(job);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, compare_worlds, job);
    uint64_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = job->worlds[order[i]];
        sorted[i].first = (uint32_t)first;
        placed[order[i]] = sorted[i];
        first += sorted[i].size;
        if (first > MPIQ_JOB_MAX_PROCESSES) {
            free(sorted);
            return mpiq_error_create(MPIQ_ERROR_CORRUPT,
                                     "the job would have %" PRIu64 " processes: more than mpiq supports",
                                     first);
        }
    }
    free(job->worlds);
    job->worlds = sorted;
    job->process_count = (uint32_t)first;
    job->processes = malloc((first + 1) * sizeof *job->processes);
    if (!job->processes)
        return mpiq_error_no_memory();
    memset(job->processes, 0xff, (first + 1) * sizeof *job->processes);
    return NULL;
}

static uint32_t process_of(const struct mpiq_world *placed, uint64_t name)
{
    if (name == MPIQ_NO_NAME || (uint32_t)name >= placed[name >> 32].size)
        return MPIQ_NONE;
    return placed[name >> 32].first + (uint32_t)name;
}

static void finish_ranks(struct mpiq_job_state *job, const struct mpiq_world *placed)
{
    for (uint32_t i = 0; i < job->rank_count; i++) {
        uint32_t process = process_of(placed, job->builder->names[i]);
        job->ranks[i].process = process;
        if (process != MPIQ_NONE)
            job->processes[process] = i;
    }
}

static bool finish_groups(struct mpiq_job_state *job, const struct mpiq_world *placed)
{
    for (uint32_t i = 0; i < job->group_count; i++) {
        uint64_t *names = job->builder->group_names[i];
        if (!names)
            continue;
        uint32_t count = job->groups[i].count;
        uint32_t *members = malloc((count + 1) * sizeof *members);
        if (!members)
            return false;
        for (uint32_t j = 0; j < count; j++)
            members[j] = process_of(placed, names[j]);
        job->groups[i].members = members;
        free(names);
        job->builder->group_names[i] = NULL;
    }
    return true;
}

static uint32_t first_process(const struct mpiq_job_state *job, uint32_t group)
{
    if (group == MPIQ_NONE || !job->groups[group].members || job->groups[group].count == 0)
        return MPIQ_NONE;
    return job->groups[group].members[0];
}

static int compare_communicators(const void *left, const void *right, void *context)
{
    const struct mpiq_job_state *job = context;
    uint32_t index_a = *(const uint32_t *)left;
    uint32_t index_b = *(const uint32_t *)right;
    const struct mpiq_job_communicator *a = &job->communicators[index_a];
    const struct mpiq_job_communicator *b = &job->communicators[index_b];
    if ((a->flags ^ b->flags) & MPIQ_COMM_INTERNAL)
        return a->flags & MPIQ_COMM_INTERNAL ? 1 : -1;
    /* The first world is what a person looks for first, whatever its context. */
    if ((a->flags ^ b->flags) & MPIQ_COMM_WORLD)
        return a->flags & MPIQ_COMM_WORLD ? -1 : 1;
    for (int i = 0; i < 2; i++) {
        if (a->context[i] != b->context[i])
            return a->context[i] < b->context[i] ? -1 : 1;
    }
    uint32_t first_a = first_process(job, a->group);
    uint32_t first_b = first_process(job, b->group);
    if (first_a != first_b)
        return first_a < first_b ? -1 : 1;
    return index_a < index_b ? -1 : index_a > index_b;
}

/* Whether Open MPI gave it that name (ompi/communicator/comm.c): "MPI COMMUNICATOR 3 SPLIT FROM 0". */
static bool is_open_mpis(const char *name)
{
    static const char prefix[] = "MPI COMMUNICATOR ";
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 && isdigit((unsigned char)name[length]);
}

static bool name_communicator(struct mpiq_job_state *job, struct mpiq_job_communicator *comm)
{
    comm->named_by = MPIQ_NAMED_BY_USER;
    if (comm->name) {
        if (is_open_mpis(mpiq_job_string(job, comm->name)))
            comm->named_by = MPIQ_NAMED_BY_LIBRARY;
        return true;
    }
    if (comm->flags & MPIQ_COMM_SELF)
        return mpiq_job_intern(job, "MPI_COMM_SELF", &comm->name);
    char context[MPIQ_CONTEXT_ROOM];
    char name[MPIQ_CONTEXT_ROOM + sizeof "communicator "];
    snprintf(name, sizeof name, "communicator %s", mpiq_context_text(comm, context));
    comm->named_by = MPIQ_NAMED_BY_CONTEXT;
    return mpiq_job_intern(job, name, &comm->name);
}

/* Sorts the communicators, maps the internal ones to those they serve; map[provisional] is final. */
static bool finish_communicators(struct mpiq_job_state *job, uint32_t *map)
{
    uint32_t count = job->communicator_count;
    uint32_t *order _cleanup_free_ = calloc(count + 1, sizeof *order);
    struct mpiq_job_communicator *sorted = calloc(count + 1, sizeof *sorted);
    if (!order || !sorted) {
        free(sorted);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct mpiq_job_communicator *comm = &job->communicators[i];
        order[i] = i;
        if (comm->remote != MPIQ_NONE && first_process(job, comm->remote) < first_process(job, comm->group)) {
            uint32_t group = comm->group;
            comm->group = comm->remote;
            comm->remote = group;
        }
    }
    qsort_r(order, count, sizeof *order, compare_communicators, job);
    for (uint32_t i = 0; i < count; i++)
        map[order[i]] = i;
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = job->communicators[order[i]];
        uint32_t user = order[i];
        /* An internal one may serve an internal one; a circle of parents would be a lie. */
        for (int steps = 0; steps < 8 && job->builder->parents[user] != MPIQ_NONE; steps++)
            user = job->builder->parents[user];
        sorted[i].user = map[user];
        if (!name_communicator(job, &sorted[i])) {
            free(sorted);
            return false;
        }
    }
    free(job->communicators);
    job->communicators = sorted;
    return true;
}

struct sorting {
    const struct mpiq_job_state *job;
    const struct mpiq_job_member *members;
};

static int compare_members(const void *left, const void *right, void *context)
{
    const struct sorting *sorting = context;
    const struct mpiq_job_member *a = &sorting->members[*(const uint32_t *)left];
    const struct mpiq_job_member *b = &sorting->members[*(const uint32_t *)right];
    if (a->remote_side != b->remote_side)
        return a->remote_side ? 1 : -1;
    if (a->local_rank != b->local_rank)
        return a->local_rank < b->local_rank ? -1 : 1;
    uint32_t process_a = sorting->job->ranks[a->rank].process;
    uint32_t process_b = sorting->job->ranks[b->rank].process;
    return process_a < process_b ? -1 : process_a > process_b;
}

/* Nearly always they are in order. */
static void sort_members(uint32_t *order, uint32_t count, struct sorting *sorting)
{
    for (uint32_t i = 1; i < count; i++) {
        if (compare_members(&order[i - 1], &order[i], sorting) > 0) {
            qsort_r(order, count, sizeof *order, compare_members, sorting);
            return;
        }
    }
}

/* Puts member order[i] at i.  With one communicator and ranks added in order, all are there already. */
static bool reorder_members(struct mpiq_job_state *job, const uint32_t *order, uint32_t count)
{
    uint32_t in_place = 0;
    while (in_place < count && order[in_place] == in_place)
        in_place++;
    if (in_place < count) {
        struct mpiq_job_member *sorted = malloc((size_t)count * sizeof *sorted);
        if (!sorted)
            return false;
        for (uint32_t i = 0; i < count; i++)
            sorted[i] = job->members[order[i]];
        free(job->members);
        job->members = sorted;
    }
    job->member_count = count;
    return true;
}

/* Members by communicator; map[provisional] is where one went, MPIQ_NONE: nowhere. */
static bool finish_members(struct mpiq_job_state *job, const uint32_t *comm_map, uint32_t *map)
{
    uint32_t count = job->member_count;
    struct mpiq_job_member *members = job->members;
    for (uint32_t i = 0; i < count; i++) {
        if (members[i].rank == MPIQ_NONE)
            continue;
        members[i].comm = comm_map[members[i].comm];
        struct mpiq_job_communicator *comm = &job->communicators[members[i].comm];
        members[i].remote_side = comm->remote != MPIQ_NONE && job->builder->member_groups[i] == comm->remote;
        comm->member_count++;
    }
    uint32_t total = 0;
    for (uint32_t i = 0; i < job->communicator_count; i++) {
        job->communicators[i].first_member = total;
        total += job->communicators[i].member_count;
        job->communicators[i].member_count = 0;
    }
    uint32_t *order _cleanup_free_ = calloc((size_t)total + 1, sizeof *order);
    uint32_t *by_rank = malloc(((size_t)total + 1) * sizeof *by_rank);
    job->member_order = by_rank;
    if (!order || !by_rank)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        map[i] = MPIQ_NONE;
        if (members[i].rank == MPIQ_NONE)
            continue;
        struct mpiq_job_communicator *comm = &job->communicators[members[i].comm];
        order[comm->first_member + comm->member_count++] = i;
    }
    struct sorting sorting = {.job = job, .members = members};
    for (uint32_t i = 0; i < job->communicator_count; i++) {
        const struct mpiq_job_communicator *comm = &job->communicators[i];
        sort_members(&order[comm->first_member], comm->member_count, &sorting);
    }
    for (uint32_t i = 0; i < total; i++)
        map[order[i]] = i;
    if (!reorder_members(job, order, total))
        return false;
    uint32_t next = 0;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        struct mpiq_job_rank *rank = &job->ranks[i];
        uint32_t first = next;
        for (uint32_t j = 0; j < rank->member_count; j++) {
            if (map[rank->first_member + j] != MPIQ_NONE)
                by_rank[next++] = map[rank->first_member + j];
        }
        rank->first_member = first;
        rank->member_count = next - first;
    }
    return true;
}

/* Process of a local rank on the other side; `named`: its rank in the own world, where no group is known. */
static uint32_t resolve(const struct mpiq_job_state *job, const struct mpiq_job_member *member,
                        const struct mpiq_job_side *others, int32_t local, uint32_t named)
{
    uint32_t process = mpiq_side_process(others, local);
    if (process != MPIQ_NONE || named == MPIQ_NONE)
        return process;
    uint32_t own = job->ranks[member->rank].process;
    return own == MPIQ_NONE ? MPIQ_NONE : mpiq_job_process(job, mpiq_job_world_rank(job, own).world, named);
}

static int compare_channels(const void *left, const void *right)
{
    uint32_t a = ((const struct mpiq_job_channel *)left)->peer;
    uint32_t b = ((const struct mpiq_job_channel *)right)->peer;
    return a < b ? -1 : a > b;
}

/* Most ranks have a few neighbours: one after another is put in its place. */
static void sort_channels(struct mpiq_job_channel *channels, uint32_t count)
{
    enum { MOST_INSERTED = 16 };
    for (uint32_t i = 1; i < count; i++) {
        if (channels[i - 1].peer <= channels[i].peer)
            continue;
        if (count > MOST_INSERTED) {
            qsort(channels, count, sizeof *channels, compare_channels);
            return;
        }
        struct mpiq_job_channel channel = channels[i];
        uint32_t at = i;
        for (; at > 0 && channels[at - 1].peer > channel.peer; at--)
            channels[at] = channels[at - 1];
        channels[at] = channel;
    }
}

static void finish_operations(struct mpiq_job_state *job, const uint32_t *member_map)
{
    uint32_t last = MPIQ_NONE; /* those of one communicator mostly stand together */
    struct mpiq_job_side others = {0};
    for (uint32_t i = 0; i < job->operation_count; i++) {
        struct mpiq_job_operation *op = &job->operations[i];
        uint32_t index = op->comm == MPIQ_NONE ? MPIQ_NONE : member_map[op->comm];
        struct mpiq_job_operation_more *more = op->more == MPIQ_NONE ? NULL : &job->operations_more[op->more];
        if (index == MPIQ_NONE) {
            op->comm = op->peer = MPIQ_NONE;
            if (more)
                more->actual = MPIQ_NONE;
            continue;
        }
        const struct mpiq_job_member *member = &job->members[index];
        if (index != last)
            others = mpiq_job_side(job, member, true);
        last = index;
        op->comm = member->comm;
        op->peer = op->any ? MPIQ_NONE : resolve(job, member, &others, op->peer_local, op->peer);
        if (more)
            more->actual = op->status == MPIQ_STATUS_PENDING
                               ? MPIQ_NONE
                               : resolve(job, member, &others, more->actual_local, more->actual);
    }
    for (uint32_t i = 0; i < job->wait_count; i++) {
        uint32_t *comms[] = {&job->waits[i].comm, &job->waits[i].collective_comm};
        for (int j = 0; j < 2; j++) {
            uint32_t index = *comms[j] == MPIQ_NONE ? MPIQ_NONE : member_map[*comms[j]];
            *comms[j] = index == MPIQ_NONE ? MPIQ_NONE : job->members[index].comm;
        }
    }
    for (uint32_t i = 0; i < job->given_count; i++) {
        uint32_t *member = &job->given[i].member;
        *member = *member == MPIQ_NONE ? MPIQ_NONE : member_map[*member];
    }
    for (uint32_t i = 0; i < job->member_count; i++) {
        const struct mpiq_job_member *member = &job->members[i];
        others = mpiq_job_side(job, member, true);
        for (uint32_t j = 0; j < member->channel_count; j++) {
            struct mpiq_job_channel *channel = &job->channels[member->first_channel + j];
            channel->peer = mpiq_side_process(&others, (int32_t)channel->peer);
        }
        if (member->channel_count > 0)
            sort_channels(&job->channels[member->first_channel], member->channel_count);
    }
}

enum { FEW = 8 };

/* Requests that the threads of one rank wait for: the first ones in a list, the others in a table. */
struct waited {
    uint64_t few[FEW];
    uint32_t count;
    struct mpiq_hash_table others;
};

static bool add_waited(struct waited *waited, uint64_t request)
{
    if (waited->count < FEW) {
        waited->few[waited->count++] = request;
        return true;
    }
    return mpiq_hash_table_add(&waited->others, mpiq_hash(MPIQ_HASH_START, request), 0);
}

static bool is_waited(const struct waited *waited, uint64_t request)
{
    for (uint32_t i = 0; i < waited->count; i++) {
        if (waited->few[i] == request)
            return true;
    }
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, request);
    uint64_t cursor = hash;
    return waited->others.count > 0 && mpiq_hash_table_next(&waited->others, hash, &cursor) != MPIQ_NONE;
}

/* Marks what the threads of a rank wait for among its queues. */
static bool finish_blocked(struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                           struct waited *waited)
{
    waited->count = 0;
    mpiq_hash_table_clear(&waited->others);
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread + i];
        if (thread->wait_count == 0)
            continue;
        const struct mpiq_job_wait *wait = &job->waits[thread->first_wait + thread->wait_count - 1];
        for (uint32_t j = 0; j < wait->operation_count; j++) {
            uint64_t request = job->operations[wait->first_operation + j].request;
            if (request && !add_waited(waited, request))
                return false;
        }
    }
    for (uint32_t i = 0; waited->count > 0 && i < rank->operation_count; i++) {
        struct mpiq_job_operation *op = &job->operations[rank->first_operation + i];
        if (op->request && is_waited(waited, op->request))
            op->blocked = true;
    }
    return true;
}

static int compare_strings(const void *left, const void *right, void *context)
{
    const struct mpiq_job_state *job = context;
    return strcmp(job->strings[*(const mpiq_string_id *)left], job->strings[*(const mpiq_string_id *)right]);
}

static bool finish_hosts(struct mpiq_job_state *job)
{
    bool *seen _cleanup_free_ = calloc(job->string_count + 1, sizeof *seen);
    job->hosts = calloc(job->rank_count + 1, sizeof *job->hosts);
    if (!seen || !job->hosts)
        return false;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        mpiq_string_id host = job->ranks[i].host;
        bool lost = mpiq_job_is_lost_host(job, &job->ranks[i]);
        if (host && !seen[host] && !lost)
            job->hosts[job->host_count++] = host;
        seen[host] = seen[host] || !lost;
    }
    qsort_r(job->hosts, job->host_count, sizeof *job->hosts, compare_strings, job);
    return true;
}

struct mpiq_error *mpiq_job_state_finish(struct mpiq_job_state *job)
{
    if (job->finished)
        return mpiq_error_create(MPIQ_ERROR_INTERNAL, "a job state was ended twice");
    struct mpiq_world *placed _cleanup_free_ = calloc(job->world_count + 1, sizeof *placed);
    uint32_t *comm_map _cleanup_free_ = calloc(job->communicator_count + 1, sizeof *comm_map);
    uint32_t *member_map _cleanup_free_ = calloc(job->member_count + 1, sizeof *member_map);
    struct waited waited = {.count = 0};
    if (!placed || !comm_map || !member_map)
        return mpiq_error_no_memory();
    struct mpiq_error *error = finish_worlds(job, placed);
    if (error)
        return error;
    finish_ranks(job, placed);
    bool good = finish_groups(job, placed) && finish_communicators(job, comm_map) &&
                finish_members(job, comm_map, member_map);
    if (good) {
        finish_operations(job, member_map);
        mpiq_job_finish_history(job, member_map);
    }
    good = good && mpiq_job_finish_windows(job, comm_map, member_map) && mpiq_job_add_unexpected(job);
    for (uint32_t i = 0; good && i < job->rank_count; i++)
        good = finish_blocked(job, &job->ranks[i], &waited);
    mpiq_hash_table_deinit(&waited.others);
    if (!good || !finish_hosts(job))
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory: the job's state does not fit");
    mpiq_job_builder_destroy(job->builder, job->group_count);
    job->builder = NULL;
    job->finished = true;
    return NULL;
}
