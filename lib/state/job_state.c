/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/job_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct mpiq_job_operation_more mpiq_job_no_more = {
    .actual_bytes = -1,
    .actual = MPIQ_NONE,
    .actual_local = -1,
    .missing = -1,
};

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

const struct mpiq_job_window_view *mpiq_job_window_view_of(const struct mpiq_job_state *job, uint32_t process,
                                                           uint32_t window)
{
    const struct mpiq_job_window *row = &job->windows[window];
    uint32_t low = 0;
    uint32_t high = row->view_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct mpiq_job_window_view *view = &job->window_views[row->first_view + middle];
        uint32_t at = job->ranks[view->rank].process;
        if (at == process)
            return view;
        if (at < process)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const char *mpiq_job_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

const char *mpiq_context_text(const struct mpiq_job_communicator *comm, char text[static MPIQ_CONTEXT_ROOM])
{
    if (comm->context[0] == 0)
        snprintf(text, MPIQ_CONTEXT_ROOM, "%" PRIu64, comm->context[1]);
    else if (comm->context[0] > UINT32_MAX) /* a hash */
        snprintf(text, MPIQ_CONTEXT_ROOM, "%08" PRIx64, comm->context[0] >> 32);
    else
        snprintf(text, MPIQ_CONTEXT_ROOM, "%" PRIu64 ":%" PRIu64, comm->context[0], comm->context[1]);
    return text;
}

const struct mpiq_job_member *mpiq_job_member_of_process(const struct mpiq_job_state *job, uint32_t process,
                                                         uint32_t comm)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    return rank ? mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm) : NULL;
}
