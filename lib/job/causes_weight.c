/* SPDX-License-Identifier: BSD-3-Clause */
/* Which finding of a family is nearest to the bug: the one with the lowest weight. */
#include <string.h>

#include "base/hash_table.h"
#include "job/causes.h"
#include "job/collective.h"

static bool has_near_miss(const struct mpiq_finding *finding)
{
    return finding->never_started != MPIQ_NONE || finding->astray ||
           (finding->near_miss_count > 0 && finding->near_misses[0].differs != MPIQ_MISS_DESTINATION);
}

bool mpiq_is_of_message(const struct mpiq_finding *finding)
{
    return finding->kind == MPIQ_FINDING_RECEIVE_UNMATCHED || finding->kind == MPIQ_FINDING_SEND_UNMATCHED;
}

/* Whether all ranks of a finding have yet to come to the call that another one is about. */
static bool is_behind(const struct mpiq_analysis *analysis, const struct mpiq_finding *finding,
                      const struct mpiq_finding *call)
{
    const struct mpiq_job_state *job = analysis->job;
    for (uint32_t i = 0; i < finding->ranks.count; i++) {
        const struct mpiq_rank_range *range = &finding->ranks.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++) {
            const struct mpiq_job_rank *row =
                mpiq_job_rank_of(job, mpiq_job_process(job, range->world, rank));
            const struct mpiq_job_member *member =
                row ? mpiq_job_member_of(job, (uint32_t)(row - job->ranks), call->comm) : NULL;
            if (!member || member->ordered < 0 || member->ordered >= call->number)
                return false;
        }
    }
    return finding->ranks.size > 0;
}

/* Whether a call with arguments that do not fit is held up by a message that members wait for who have yet to
   come to it: that is a bug of its own, and the one that hangs. */
static bool is_held_up(const struct mpiq_analysis *analysis, const struct mpiq_finding *call)
{
    for (size_t i = 0; call->comm != MPIQ_NONE && i < analysis->diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &analysis->diagnosis->findings[i];
        if (finding->proven && finding->root == call->root && mpiq_is_of_message(finding) &&
            is_behind(analysis, finding, call))
            return true;
    }
    return false;
}

uint8_t mpiq_finding_weight(const struct mpiq_analysis *analysis, const struct mpiq_finding *finding)
{
    if (finding->failed != MPIQ_NONE) /* of two, the one that is found first */
        return 0;
    switch (finding->kind) {
    case MPIQ_FINDING_COLLECTIVE_OVERLAP:
    case MPIQ_FINDING_COLLECTIVE_MISMATCH:
        return 0;
    case MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH:
        return is_held_up(analysis, finding) ? MPIQ_WEIGHT_HELD_UP : 1;
    case MPIQ_FINDING_RANK_GONE:
    case MPIQ_FINDING_RANK_STOPPED:
        return 2;
    case MPIQ_FINDING_RANK_ELSEWHERE:
        return 3;
    case MPIQ_FINDING_COLLECTIVE_LEFT:
    case MPIQ_FINDING_WINDOW_WAIT:
    case MPIQ_FINDING_FILE_LOCK:
        return 5;
    case MPIQ_FINDING_RECEIVE_UNMATCHED:
    case MPIQ_FINDING_SEND_UNMATCHED:
        return has_near_miss(finding) ? 4 : 8;
    case MPIQ_FINDING_POLLING_UNMATCHED:
        return has_near_miss(finding) ? 4 : 9;
    case MPIQ_FINDING_WAIT_CYCLE: /* one through a single collective says little beside that collective */
        return finding->through == 1 ? 11 : 6;
    case MPIQ_FINDING_COLLECTIVE_INCOMPLETE: /* one that waits for the rest comes behind what explains it */
        return finding->parted     ? 5       /* before the circle it closes */
               : finding->outside  ? 10
               : finding->piled    ? 9
               : finding->requests ? 5 /* never started: before the circle it closes */
                                   : 7;
    case MPIQ_FINDING_TRUNCATION:
        return 12;
    case MPIQ_FINDING_REQUEST_LEAK:
        return 13;
    case MPIQ_FINDING_UNEXPECTED_BACKLOG:
        return 14;
    case MPIQ_FINDING_MESSAGE_LOST:
    case MPIQ_FINDING_TYPE_MISMATCH:
    case MPIQ_FINDING_NOT_FREED:
    case MPIQ_FINDING_STACKS_DIFFER:
        break;
    }
    return 15;
}

bool mpiq_is_of_waits(const struct mpiq_finding *finding)
{
    switch (finding->kind) {
    case MPIQ_FINDING_TRUNCATION:
    case MPIQ_FINDING_REQUEST_LEAK:
    case MPIQ_FINDING_UNEXPECTED_BACKLOG:
    case MPIQ_FINDING_MESSAGE_LOST:
    case MPIQ_FINDING_TYPE_MISMATCH:
    case MPIQ_FINDING_NOT_FREED:
    case MPIQ_FINDING_STACKS_DIFFER:
        return false;
    default:
        return true;
    }
}
