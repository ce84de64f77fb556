/* SPDX-License-Identifier: BSD-3-Clause */
/* The members that have not entered a collective call, found once per call. */
#include "base/cleanup.h"
#include "job/collective.h"
#include "job/waits.h"

static const struct mpiq_finding *incomplete(const struct mpiq_analysis *analysis, uint32_t comm,
                                             uint32_t window, int collective, int64_t number)
{
    const struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &diagnosis->findings[i];
        if (finding->kind == MPIQ_FINDING_COLLECTIVE_INCOMPLETE && finding->comm == comm &&
            finding->window == window && finding->number == number &&
            (number > 0 || finding->collective == mpiq_collective_name(collective)))
            return finding;
    }
    return NULL;
}

static void find(struct mpiq_analysis *analysis, struct mpiq_pending *pending)
{
    const struct mpiq_finding *finding =
        incomplete(analysis, pending->comm, pending->window, pending->collective, pending->number);
    if (finding) {
        /* Those outside MPI_Comm_create_group may be no members of its group. */
        if (!finding->elsewhere || !mpiq_collective_is_tagged(pending->collective))
            pending->ranks = mpiq_arena_ranks(analysis, &finding->missing);
        return;
    }
    if (pending->comm == MPIQ_NONE || pending->number <= 0)
        return;
    struct mpiq_rank_set set _cleanup_(mpiq_rank_set_deinit) = {0};
    const struct mpiq_job_communicator *comm = &analysis->job->communicators[pending->comm];
    for (uint32_t i = 0; i < comm->member_count; i++) {
        const struct mpiq_job_member *member = &analysis->job->members[comm->first_member + i];
        if (member->ordered >= 0 && member->ordered < pending->number)
            mpiq_analysis_add(analysis, &set, analysis->job->ranks[member->rank].process);
    }
    pending->ranks = mpiq_arena_ranks(analysis, &set);
}

struct mpiq_ranks mpiq_pending_members(struct mpiq_analysis *analysis, uint32_t comm, uint32_t window,
                                       int collective, int64_t number)
{
    for (uint32_t i = 0; i < analysis->pending_count; i++) {
        const struct mpiq_pending *known = &analysis->pending[i];
        if (known->comm == comm && known->window == window && known->collective == collective &&
            known->number == number)
            return known->ranks;
    }
    if (analysis->pending_count == MPIQ_MOST_PENDING)
        return (struct mpiq_ranks){0};
    struct mpiq_pending *pending = &analysis->pending[analysis->pending_count++];
    *pending =
        (struct mpiq_pending){.comm = comm, .window = window, .collective = collective, .number = number};
    find(analysis, pending);
    return pending->ranks;
}
