/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/order.h"

#include <string.h>

#include "base/cleanup.h"

static uint8_t weigh(const struct mpiq_finding *finding)
{
    /* One that went to another rank may well have been meant for it. */
    bool near_miss = finding->near_miss_count > 0 && finding->near_misses[0].differs != MPIQ_MISS_DESTINATION;
    uint8_t base = 0;
    switch (finding->kind) {
    case MPIQ_FINDING_COLLECTIVE_MISMATCH:
    case MPIQ_FINDING_COLLECTIVE_OVERLAP:
        base = 0;
        break;
    case MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH:
        base = 1;
        break;
    case MPIQ_FINDING_RANK_GONE:
    case MPIQ_FINDING_RANK_STOPPED:
    case MPIQ_FINDING_RANK_ELSEWHERE:
        base = 2;
        break;
    case MPIQ_FINDING_COLLECTIVE_INCOMPLETE: /* one that waits for the rest comes behind what explains it */
        base = finding->weight ? 7 : 3;
        break;
    case MPIQ_FINDING_WINDOW_WAIT:
        base = 4;
        break;
    case MPIQ_FINDING_RECEIVE_UNMATCHED:
    case MPIQ_FINDING_SEND_UNMATCHED:
    case MPIQ_FINDING_POLLING_UNMATCHED:
        base = near_miss ? 4 : 6;
        break;
    case MPIQ_FINDING_WAIT_CYCLE: /* one through a collective says little beside what it leads through */
        base = finding->weight ? 7 : 5;
        break;
    case MPIQ_FINDING_TRUNCATION:
        base = 8;
        break;
    case MPIQ_FINDING_REQUEST_LEAK:
        base = 9;
        break;
    case MPIQ_FINDING_UNEXPECTED_BACKLOG:
        base = 10;
        break;
    case MPIQ_FINDING_MESSAGE_LOST:
    case MPIQ_FINDING_TYPE_MISMATCH:
    case MPIQ_FINDING_NOT_FREED:
    case MPIQ_FINDING_STACKS_DIFFER:
        base = 11;
        break;
    }
    return base + (finding->proven ? 0 : 16);
}

/* Whether each rank of a set is in one of two others. */
static bool is_within_both(const struct mpiq_rank_set *set, const struct mpiq_rank_set *a,
                           const struct mpiq_rank_set *b)
{
    struct mpiq_rank_set both _cleanup_(mpiq_rank_set_deinit) = {0};
    return mpiq_rank_set_add_set(&both, a) && mpiq_rank_set_add_set(&both, b) &&
           mpiq_rank_set_includes(&both, set);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether each place of a finding is one of another's. */
static bool has_sites(const struct mpiq_finding *finding, const struct mpiq_finding *other)
{
    for (size_t i = 0; i < other->site_count; i++) {
        const struct mpiq_finding_site *wanted = &other->sites[i];
        size_t j = 0;
        while (j < finding->site_count &&
               !(finding->sites[j].line == wanted->line && same_text(finding->sites[j].call, wanted->call) &&
                 same_text(finding->sites[j].file, wanted->file) &&
                 mpiq_rank_set_includes(&finding->sites[j].ranks, &wanted->ranks)))
            j++;
        if (j == finding->site_count)
            return false;
    }
    return true;
}

/* Whether all of a set are in a collective on that communicator: in call `number`, or (later) behind it. */
static bool are_in_call(const struct mpiq_job_state *job, const struct mpiq_diagnosis *diagnosis,
                        const struct mpiq_rank_set *set, const struct mpiq_finding *call, bool later)
{
    for (uint32_t i = 0; i < set->count; i++) {
        for (uint32_t rank = set->ranges[i].first; rank <= set->ranges[i].last; rank++) {
            uint32_t process = mpiq_job_process(job, set->ranges[i].world, rank);
            const struct mpiq_rank_diagnosis *doing = &diagnosis->ranks[process];
            if (doing->comm != call->comm || doing->number < call->number ||
                (!later && doing->number != call->number))
                return false;
        }
    }
    return true;
}

/* Whether a collective that not all came to says what one who is missing waits for. */
static bool incomplete_says(const struct mpiq_finding *incomplete, const struct mpiq_finding *finding)
{
    if (!incomplete->whole)
        return false;
    switch (finding->kind) {
    case MPIQ_FINDING_RECEIVE_UNMATCHED:
    case MPIQ_FINDING_SEND_UNMATCHED:
        return finding->near_miss_count == 0 &&
               mpiq_rank_set_includes(&incomplete->missing, &finding->ranks) &&
               has_sites(incomplete, finding);
    case MPIQ_FINDING_WAIT_CYCLE: /* a circle through several collectives is more than any of them */
        return finding->weight == 1 &&
               is_within_both(&finding->ranks, &incomplete->ranks, &incomplete->missing) &&
               has_sites(incomplete, finding);
    default:
        return false;
    }
}

/* Whether a finding follows from calls that do not fit together: its ranks are in them, or wait behind them.
 */
static bool mismatch_says(const struct mpiq_job_state *job, const struct mpiq_diagnosis *diagnosis,
                          const struct mpiq_finding *mismatch, const struct mpiq_finding *finding)
{
    switch (finding->kind) {
    case MPIQ_FINDING_COLLECTIVE_INCOMPLETE:
        return finding->comm == mismatch->comm && finding->number > mismatch->number &&
               are_in_call(job, diagnosis, &finding->missing, mismatch, false);
    case MPIQ_FINDING_WAIT_CYCLE:
        return finding->weight > 0 && are_in_call(job, diagnosis, &finding->ranks, mismatch, true);
    default:
        return false;
    }
}

static bool says(const struct mpiq_job_state *job, const struct mpiq_diagnosis *diagnosis,
                 const struct mpiq_finding *said, const struct mpiq_finding *finding)
{
    if (said == finding || (finding->proven && !said->proven))
        return false;
    switch (said->kind) {
    case MPIQ_FINDING_COLLECTIVE_INCOMPLETE:
        return incomplete_says(said, finding);
    case MPIQ_FINDING_COLLECTIVE_MISMATCH:
    case MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH:
        return mismatch_says(job, diagnosis, said, finding);
    case MPIQ_FINDING_WAIT_CYCLE: /* a circle of messages alone says what each of them is */
        return (finding->kind == MPIQ_FINDING_RECEIVE_UNMATCHED ||
                finding->kind == MPIQ_FINDING_SEND_UNMATCHED) &&
               finding->near_miss_count == 0 && said->weight == 0 &&
               mpiq_rank_set_includes(&said->ranks, &finding->ranks);
    default:
        return false;
    }
}

static bool is_said(const struct mpiq_job_state *job, const struct mpiq_diagnosis *diagnosis,
                    const struct mpiq_finding *finding)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        if (says(job, diagnosis, &diagnosis->findings[i], finding))
            return true;
    }
    return false;
}

void mpiq_order_findings(const struct mpiq_job_state *job, struct mpiq_diagnosis *diagnosis)
{
    for (size_t i = diagnosis->finding_count; i-- > 0;) {
        if (!is_said(job, diagnosis, &diagnosis->findings[i]))
            continue;
        struct mpiq_finding said = diagnosis->findings[i];
        memmove(&diagnosis->findings[i], &diagnosis->findings[i + 1],
                (diagnosis->finding_count - 1 - i) * sizeof said);
        diagnosis->findings[diagnosis->finding_count - 1] = said;
        mpiq_diagnosis_drop_finding(diagnosis);
    }
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        diagnosis->findings[i].weight = weigh(&diagnosis->findings[i]);
    /* Few findings, and equal ones stay in their order: an insertion. */
    for (size_t i = 1; i < diagnosis->finding_count; i++) {
        struct mpiq_finding moved = diagnosis->findings[i];
        size_t at = i;
        for (; at > 0 && diagnosis->findings[at - 1].weight > moved.weight; at--)
            diagnosis->findings[at] = diagnosis->findings[at - 1];
        diagnosis->findings[at] = moved;
    }
}
