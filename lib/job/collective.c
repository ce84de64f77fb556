/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/collective.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "job/matching.h"

struct traits {
    const char *name; /* of the blocking one, after MPI_ */
    uint8_t rule;
    bool root;
    bool op;
    bool bytes;
};

/* Non-blocking and persistent ones follow the blocking one.  What is not here forces nobody: one may
   leave MPI_Comm_free alone. */
static const struct traits all_traits[] = {
    {"Barrier", MPIQ_RULE_ALL, false, false, false},
    {"Bcast", MPIQ_RULE_ROOT, true, false, true},
    {"Allgather", MPIQ_RULE_ALL, false, false, true},
    {"Allgatherv", MPIQ_RULE_ALL, false, false, false},
    {"Allreduce", MPIQ_RULE_ALL, false, true, true},
    {"Alltoall", MPIQ_RULE_ALL, false, false, true},
    {"Alltoallv", MPIQ_RULE_ALL, false, false, false},
    {"Alltoallw", MPIQ_RULE_ALL, false, false, false},
    {"Reduce_scatter", MPIQ_RULE_ALL, false, true, false},
    {"Reduce_scatter_block", MPIQ_RULE_ALL, false, true, true},
    {"Reduce", MPIQ_RULE_TO_ROOT, true, true, true},
    {"Gather", MPIQ_RULE_TO_ROOT, true, false, true},
    {"Gatherv", MPIQ_RULE_TO_ROOT, true, false, false},
    {"Scatter", MPIQ_RULE_ROOT, true, false, true},
    {"Scatterv", MPIQ_RULE_ROOT, true, false, false},
    {"Scan", MPIQ_RULE_LOWER, false, true, true},
    {"Exscan", MPIQ_RULE_LOWER, false, true, true},
    {"Neighbor_allgather", MPIQ_RULE_SOURCES, false, false, false},
    {"Neighbor_allgatherv", MPIQ_RULE_SOURCES, false, false, false},
    {"Neighbor_alltoall", MPIQ_RULE_SOURCES, false, false, false},
    {"Neighbor_alltoallv", MPIQ_RULE_SOURCES, false, false, false},
    {"Neighbor_alltoallw", MPIQ_RULE_SOURCES, false, false, false},
    {"Comm_dup", MPIQ_RULE_ALL, false, false, false},
    {"Comm_dup_with_info", MPIQ_RULE_ALL, false, false, false},
    {"Comm_create", MPIQ_RULE_ALL, false, false, false},
    {"Comm_split", MPIQ_RULE_ALL, false, false, false},
    {"Comm_split_type", MPIQ_RULE_ALL, false, false, false},
    {"Intercomm_create", MPIQ_RULE_ALL, false, false, false}, /* of its local communicator */
    {"Intercomm_merge", MPIQ_RULE_ALL, false, false, false},
    {"Cart_create", MPIQ_RULE_ALL, false, false, false},
    {"Cart_sub", MPIQ_RULE_ALL, false, false, false},
    {"Graph_create", MPIQ_RULE_ALL, false, false, false},
    {"Dist_graph_create", MPIQ_RULE_ALL, false, false, false},
    {"Dist_graph_create_adjacent", MPIQ_RULE_ALL, false, false, false},
    {"Win_create", MPIQ_RULE_ALL, false, false, false},
    {"Win_allocate", MPIQ_RULE_ALL, false, false, false},
    {"Win_allocate_shared", MPIQ_RULE_ALL, false, false, false},
    {"Win_create_dynamic", MPIQ_RULE_ALL, false, false, false},
    {"File_open", MPIQ_RULE_ALL, false, false, false},
};

static const struct traits *traits_of(int collective)
{
    const char *name = mpiq_collective_name(collective);
    if (!name || strncmp(name, "MPI_", 4) != 0)
        return NULL;
    char base[48];
    snprintf(base, sizeof base, "%s", name + 4);
    char kind = mpiq_collective_kind(collective);
    if (kind == 'N') {
        /* MPI_Ibcast is MPI_Bcast's, MPI_Comm_idup MPI_Comm_dup's. */
        char *i = strncmp(base, "Comm_i", 6) == 0 ? base + 5 : base;
        memmove(i, i + 1, strlen(i));
        base[0] = (char)toupper((unsigned char)base[0]);
    }
    size_t length = strlen(base);
    if (kind == 'P' && length > 5)
        base[length - 5] = '\0';
    for (size_t i = 0; i < sizeof all_traits / sizeof *all_traits; i++) {
        if (strcmp(all_traits[i].name, base) == 0)
            return &all_traits[i];
    }
    return NULL;
}

enum mpiq_rule mpiq_collective_rule(int collective)
{
    const struct traits *traits = traits_of(collective);
    return traits ? (enum mpiq_rule)traits->rule : MPIQ_RULE_NOBODY;
}

bool mpiq_collective_makes_communicator(int collective)
{
    const struct traits *traits = traits_of(collective);
    return traits && (strncmp(traits->name, "Comm_", 5) == 0 || strcmp(traits->name, "Intercomm_merge") == 0);
}

bool mpiq_collective_synchronised(int collective)
{
    static const char *const others[] = {"MPI_Comm_free", "MPI_Comm_disconnect", "MPI_Comm_set_info"};
    const char *name = mpiq_collective_name(collective);
    if (!name || mpiq_collective_kind(collective) != 'B' || !mpiq_collective_ordered(collective) ||
        strcmp(name, "MPI_Intercomm_create") == 0)
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(name, others[i]) == 0)
            return true;
    }
    return mpiq_collective_rule(collective) != MPIQ_RULE_NOBODY;
}

bool mpiq_collective_needs_all(int collective, int64_t bytes)
{
    static const char *const calls[] = {
        "MPI_Allreduce", "MPI_Allgather",          "MPI_Alltoall",  "MPI_Reduce_scatter_block",
        "MPI_Comm_dup",  "MPI_Comm_dup_with_info", "MPI_Comm_split"};
    const char *name = mpiq_collective_name(collective);
    for (size_t i = 0; name && bytes != 0 && i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(name, calls[i]) == 0)
            return true;
    }
    return name && strcmp(name, "MPI_Barrier") == 0;
}

bool mpiq_collective_may_be_empty(int collective, int64_t bytes)
{
    const struct traits *traits = traits_of(collective);
    return traits && (mpiq_collective_counts_each(collective) ||
                      (bytes <= 0 && (traits->bytes || strcmp(traits->name, "Scatterv") == 0)));
}

bool mpiq_collective_counts_each(int collective)
{
    static const char *const names[] = {"Allgatherv", "Alltoallv", "Alltoallw", "Gatherv", "Reduce_scatter"};
    const struct traits *traits = traits_of(collective);
    for (size_t i = 0; traits && i < sizeof names / sizeof *names; i++) {
        if (strcmp(traits->name, names[i]) == 0)
            return true;
    }
    return false;
}

bool mpiq_collective_is_tagged(int collective)
{
    const char *name = mpiq_collective_name(collective);
    return name && strcmp(name, "MPI_Comm_create_group") == 0;
}

bool mpiq_collective_has_tag(int collective)
{
    const char *name = mpiq_collective_name(collective);
    return mpiq_collective_is_tagged(collective) || (name && strcmp(name, "MPI_Intercomm_create") == 0);
}

bool mpiq_collective_has_root(int collective)
{
    const struct traits *traits = traits_of(collective);
    return traits && traits->root;
}

bool mpiq_collective_has_op(int collective)
{
    const struct traits *traits = traits_of(collective);
    return traits && traits->op;
}

bool mpiq_collective_moves_data(int collective)
{
    const struct traits *traits = traits_of(collective);
    return traits && (traits->bytes || traits->op || traits->root || mpiq_collective_counts_each(collective));
}

bool mpiq_collective_has_bytes(int collective)
{
    const struct traits *traits = traits_of(collective);
    return traits && traits->bytes;
}

static const struct mpiq_job_member *rank_member(const struct mpiq_job_state *job,
                                                 const struct mpiq_job_rank *rank, uint32_t at)
{
    return &job->members[job->member_order[rank->first_member + at]];
}

const struct mpiq_job_call *mpiq_outstanding_call(const struct mpiq_job_state *job,
                                                  const struct mpiq_job_rank *rank,
                                                  const struct mpiq_job_operation *op, uint32_t *comm)
{
    bool may = op->request && (op->kind == MPIQ_OPERATION_COLLECTIVE || op->kind == MPIQ_OPERATION_OTHER);
    for (uint32_t i = 0; may && i < rank->member_count; i++) {
        const struct mpiq_job_member *member = rank_member(job, rank, i);
        for (uint32_t j = 0; j < member->outstanding_count; j++) {
            const struct mpiq_job_call *call = &job->calls[member->first_outstanding + j];
            if (call->request == op->request) {
                *comm = member->comm;
                return call;
            }
        }
    }
    return NULL;
}

const struct mpiq_job_persistent *mpiq_persistent_of(const struct mpiq_job_state *job,
                                                     const struct mpiq_job_member *member, int64_t number)
{
    for (uint32_t i = 0; number > 0 && i < member->persistent_count; i++) {
        if (job->persistent[member->first_persistent + i].number == number)
            return &job->persistent[member->first_persistent + i];
    }
    return NULL;
}

bool mpiq_is_unstarted(const struct mpiq_job_state *job, uint32_t process, uint32_t comm, int64_t number,
                       int64_t starts)
{
    const struct mpiq_job_rank *rank = process == MPIQ_NONE ? NULL : mpiq_job_rank_of(job, process);
    const struct mpiq_job_member *member =
        rank ? mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm) : NULL;
    const struct mpiq_job_persistent *request = member ? mpiq_persistent_of(job, member, number) : NULL;
    return request && request->starts < starts;
}

const struct mpiq_job_call *mpiq_numbered_call(const struct mpiq_job_state *job,
                                               const struct mpiq_job_member *member, int64_t number)
{
    for (uint32_t i = 0; i < member->call_count; i++) {
        const struct mpiq_job_call *call = &job->calls[member->first_call + i];
        if (job->shapes[call->shape].number == number)
            return call;
    }
    for (uint32_t i = 0; i < member->outstanding_count; i++) {
        const struct mpiq_job_call *call = &job->calls[member->first_outstanding + i];
        if (job->shapes[call->shape].number == number)
            return call;
    }
    return NULL;
}

/* The newest call of that class on that communicator that has not returned. */
static bool find_active(const struct mpiq_job_state *job, const struct mpiq_job_member *member,
                        int collective, int32_t tid, struct mpiq_thread_collective *ret)
{
    for (uint32_t i = 0; i < member->call_count; i++) {
        const struct mpiq_job_call *call = &job->calls[member->first_call + i];
        const struct mpiq_call_shape *shape = &job->shapes[call->shape];
        if (call->done || call->request || shape->collective != collective ||
            (call->tid && tid && call->tid != tid))
            continue;
        ret->comm = job->communicators[member->comm].user;
        ret->number = shape->number;
        ret->call = member->first_call + i;
        return true;
    }
    return false;
}

/* Without a record: the communicator that the rank's internal traffic is on. */
static uint32_t internal_comm(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    for (uint32_t i = 0; i < rank->operation_count; i++) {
        const struct mpiq_job_operation *op = &job->operations[rank->first_operation + i];
        if (mpiq_is_of_collective(op) && op->status != MPIQ_STATUS_COMPLETE && op->comm != MPIQ_NONE &&
            op->queue != MPIQ_QUEUE_UNEXPECTED)
            return job->communicators[op->comm].user;
    }
    return MPIQ_NONE;
}

/* The one that its call was given, of those that the library lists. */
static uint32_t given_comm(const struct mpiq_job_state *job, const struct mpiq_job_thread *thread)
{
    for (uint32_t i = 0; i < thread->given_count; i++) {
        const struct mpiq_job_given *given = &job->given[thread->first_given + i];
        if (given->kind == MPIQ_GIVEN_COMM && given->member != MPIQ_NONE)
            return job->communicators[job->members[given->member].comm].user;
    }
    return MPIQ_NONE;
}

/* Whether the library works on a communicator of the object's own inside such a call, sooner or later on
   each member: that tells nothing of the call itself. */
static bool makes_object(int collective)
{
    const char *name = mpiq_collective_name(collective);
    return mpiq_call_makes_window(name) || mpiq_call_opens_file(name);
}

void mpiq_thread_collective(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                            const struct mpiq_job_thread *thread, struct mpiq_thread_collective *ret)
{
    *ret = (struct mpiq_thread_collective){.collective = -1, .comm = MPIQ_NONE, .call = MPIQ_NONE};
    for (uint32_t i = 0; i < thread->wait_count && ret->collective < 0; i++) {
        const struct mpiq_job_wait *wait = &job->waits[thread->first_wait + i];
        ret->collective = wait->collective;
        if (wait->collective_comm != MPIQ_NONE)
            ret->comm = job->communicators[wait->collective_comm].user;
    }
    if (ret->collective < 0 && thread->blocking == MPIQ_BLOCKING_COLLECTIVE)
        ret->collective = mpiq_collective_class(mpiq_job_string(job, thread->call));
    if (ret->collective < 0)
        return;
    for (uint32_t i = 0; i < rank->member_count; i++) {
        const struct mpiq_job_member *member = rank_member(job, rank, i);
        if ((ret->comm == MPIQ_NONE || job->communicators[member->comm].user == ret->comm) &&
            find_active(job, member, ret->collective, thread->tid, ret))
            return;
    }
    if (ret->comm == MPIQ_NONE && makes_object(ret->collective))
        ret->comm = given_comm(job, thread);
    if (ret->comm == MPIQ_NONE)
        ret->comm = internal_comm(job, rank);
    if (ret->comm == MPIQ_NONE && !thread->as_given)
        ret->comm = given_comm(job, thread);
}

bool mpiq_is_refused(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank, uint32_t comm,
                     int64_t number)
{
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread + i];
        const struct mpiq_job_wait *wait = mpiq_innermost_wait(job, thread);
        if (!wait || wait->kind != MPIQ_WAIT_REFUSED)
            continue;
        struct mpiq_thread_collective in;
        mpiq_thread_collective(job, rank, thread, &in);
        if (in.comm == comm && in.number == number)
            return true;
    }
    return false;
}
