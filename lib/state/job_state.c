/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/job_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/job_state_private.h"

const struct mpiq_job_operation_more mpiq_job_no_more = {
    .actual_bytes = -1,
    .actual = MPIQ_NONE,
    .actual_local = -1,
    .missing = -1,
};

struct mpiq_job_state *mpiq_job_state_create(void)
{
    struct mpiq_job_state *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->builder = calloc(1, sizeof *job->builder);
    if (!job->builder) {
        free(job);
        return NULL;
    }
    return job;
}

void mpiq_job_state_destroy(struct mpiq_job_state *job)
{
    if (!job)
        return;
    mpiq_job_builder_destroy(job->builder, job->group_count);
    free(job->worlds);
    free(job->processes);
    free(job->ranks);
    free(job->threads);
    free(job->waits);
    free(job->given);
    free(job->operations);
    free(job->operations_more);
    for (uint32_t i = 0; i < job->group_count; i++)
        free(job->groups[i].members);
    free(job->groups);
    free(job->communicators);
    free(job->members);
    free(job->member_order);
    free(job->counts);
    free(job->calls);
    free(job->shapes);
    free(job->channels);
    free(job->windows);
    free(job->window_views);
    free(job->persistent);
    free(job->call_sources);
    free(job->window_locks);
    free(job->window_ranks);
    free(job->past_calls);
    free(job->sites);
    free(job->facts);
    free(job->problems);
    free(job->hosts);
    for (uint32_t i = 0; i < job->string_count; i++)
        free((char *)job->strings[i]);
    free(job->strings);
    free(job);
}

struct mpiq_world_rank mpiq_job_world_rank(const struct mpiq_job_state *job, uint32_t process)
{
    uint32_t world = 0; /* the last one that begins at the process, or before it */
    for (uint32_t end = job->world_count; world + 1 < end;) {
        uint32_t middle = world + (end - world) / 2;
        if (job->worlds[middle].first <= process)
            world = middle;
        else
            end = middle;
    }
    return (struct mpiq_world_rank){
        .world = world,
        .rank = job->world_count ? process - job->worlds[world].first : process,
    };
}

uint32_t mpiq_job_ranks_read(const struct mpiq_job_state *job)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->world_count; i++)
        count += job->worlds[i].present;
    for (uint32_t i = 0; i < job->rank_count; i++)
        count -= job->ranks[i].process != MPIQ_NONE && job->ranks[i].unread;
    return count;
}

uint32_t mpiq_job_process(const struct mpiq_job_state *job, uint32_t world, uint32_t rank)
{
    return world < job->world_count && rank < job->worlds[world].size ? job->worlds[world].first + rank
                                                                      : MPIQ_NONE;
}

const char *mpiq_job_communicator_name(const struct mpiq_job_state *job, uint32_t comm)
{
    return comm == MPIQ_NONE ? "" : mpiq_job_string(job, job->communicators[comm].name);
}

static bool add_group(const struct mpiq_job_state *job, uint32_t index, struct mpiq_rank_set *set)
{
    const struct mpiq_job_group *group = index == MPIQ_NONE ? NULL : &job->groups[index];
    for (uint32_t i = 0; group && group->members && i < group->count; i++) {
        if (group->members[i] == MPIQ_NONE)
            continue;
        struct mpiq_world_rank name = mpiq_job_world_rank(job, group->members[i]);
        if (!mpiq_rank_set_add(set, name.world, name.rank))
            return false;
    }
    return true;
}

bool mpiq_job_communicator_members(const struct mpiq_job_state *job, uint32_t comm, struct mpiq_rank_set *set)
{
    const struct mpiq_job_communicator *row = &job->communicators[comm];
    if (row->group != MPIQ_NONE)
        return add_group(job, row->group, set) && add_group(job, row->remote, set);
    for (uint32_t i = 0; i < row->member_count; i++) {
        uint32_t process = job->ranks[job->members[row->first_member + i].rank].process;
        struct mpiq_world_rank name = mpiq_job_world_rank(job, process);
        if (process != MPIQ_NONE && !mpiq_rank_set_add(set, name.world, name.rank))
            return false;
    }
    return true;
}

struct mpiq_job_side mpiq_job_side(const struct mpiq_job_state *job, const struct mpiq_job_member *member,
                                   bool remote)
{
    const struct mpiq_job_communicator *comm = &job->communicators[member->comm];
    if (comm->flags & MPIQ_COMM_SELF)
        return (struct mpiq_job_side){.processes = &job->ranks[member->rank].process, .count = 1};
    bool other = comm->remote != MPIQ_NONE && remote != member->remote_side;
    uint32_t index = other ? comm->remote : comm->group;
    const struct mpiq_job_group *group = index == MPIQ_NONE ? NULL : &job->groups[index];
    if (!group || !group->members)
        return (struct mpiq_job_side){0};
    return (struct mpiq_job_side){.processes = group->members, .count = group->count};
}

uint32_t mpiq_job_local_process(const struct mpiq_job_state *job, const struct mpiq_job_member *member,
                                bool remote, int32_t local_rank)
{
    struct mpiq_job_side side = mpiq_job_side(job, member, remote);
    return mpiq_side_process(&side, local_rank);
}

const struct mpiq_job_member *mpiq_job_member_of(const struct mpiq_job_state *job, uint32_t rank,
                                                 uint32_t comm)
{
    const struct mpiq_job_rank *row = &job->ranks[rank];
    for (uint32_t i = 0; i < row->member_count; i++) {
        const struct mpiq_job_member *member = &job->members[job->member_order[row->first_member + i]];
        if (member->comm == comm)
            return member;
    }
    return NULL;
}

bool mpiq_job_is_lost_host(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    if (rank->process != MPIQ_NONE || rank->pid != 0 || rank->problem_count == 0)
        return false;
    const char *what = mpiq_job_string(job, job->problems[rank->first_problem].what);
    return what && strcmp(what, MPIQ_PROBLEM_HOST) == 0;
}
