/* SPDX-License-Identifier: BSD-3-Clause */
/* A collective call that all members have entered, and that some of them have left while others still wait in
   it: what those expect does not fit what the rest has given. */
#include "job/collective.h"
#include "job/evidence.h"
#include "job/find.h"
#include "job/waits.h"

/* Whether a member has returned from its call of that number. */
static bool has_left(const struct mpiq_analysis *analysis, uint32_t process,
                     const struct mpiq_finding *finding)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    const struct mpiq_job_member *member =
        rank ? mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), finding->comm) : NULL;
    if (!member || member->ordered < finding->number)
        return false;
    const struct mpiq_job_call *call = mpiq_numbered_call(job, member, finding->number);
    return !call || call->done;
}

/* Whether a process that has left waits somewhere else, and waited there in both looks: then those in the
   call are not merely the last ones to leave. */
static bool waits_elsewhere(const struct mpiq_analysis *analysis, uint32_t process)
{
    const struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[process];
    return rank->activity == MPIQ_ACTIVITY_BLOCKED && rank->thread != MPIQ_NONE &&
           analysis->job->threads[rank->thread].same_wait == MPIQ_YES;
}

bool mpiq_find_left(struct mpiq_analysis *analysis, struct mpiq_finding *finding)
{
    const struct mpiq_job_state *job = analysis->job;
    /* Which of several requests that somebody waits for is complete is not always known. */
    if (finding->comm == MPIQ_NONE || finding->number <= 0 || finding->window != MPIQ_NONE ||
        finding->requests)
        return false;
    const struct mpiq_job_communicator *comm = &job->communicators[finding->comm];
    const uint32_t groups[] = {comm->group, comm->remote};
    for (int side = 0; side < 2; side++) {
        const struct mpiq_job_group *group = groups[side] == MPIQ_NONE ? NULL : &job->groups[groups[side]];
        for (uint32_t i = 0; group && group->members && i < group->count; i++) {
            uint32_t process = group->members[i];
            struct mpiq_world_rank who = mpiq_job_world_rank(job, process);
            if (process == MPIQ_NONE)
                return false;
            if (mpiq_rank_set_contains(&finding->ranks, who.world, who.rank))
                continue;
            if (!has_left(analysis, process, finding) ||
                (!finding->proven && !waits_elsewhere(analysis, process)))
                return false;
            mpiq_analysis_add(analysis, &finding->others, process);
        }
    }
    if (finding->others.size == 0)
        return false;
    finding->kind = MPIQ_FINDING_COLLECTIVE_LEFT;
    mpiq_add_evidence_of(analysis, finding, &finding->others);
    return true;
}
