/* SPDX-License-Identifier: BSD-3-Clause */
/* known_hangs - ranks that wait where their release of the MPI library is known to hang by itself: said as a
   possibility, where nothing is proven. */
#include "names/known_hangs.h"

#include "job/find.h"

static struct mpiq_hang_match *match_of(struct mpiq_analysis *analysis, const struct mpiq_known_hang *hang,
                                        const char *library)
{
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    for (size_t i = 0; i < diagnosis->known_hang_count; i++) {
        if (diagnosis->known_hangs[i].reference == hang->reference)
            return &diagnosis->known_hangs[i];
    }
    struct mpiq_hang_match *match = mpiq_diagnosis_add_known_hang(diagnosis);
    if (!match) {
        analysis->failed = true;
        return NULL;
    }
    match->library = library;
    match->call = hang->call;
    match->where = hang->where;
    match->fixed_in = hang->fixed_in;
    match->reference = hang->reference;
    return match;
}

void mpiq_find_known_hangs(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    enum mpiq_verdict verdict = analysis->diagnosis->verdict;
    if (verdict != MPIQ_VERDICT_UNKNOWN && verdict != MPIQ_VERDICT_STALLED)
        return;
    for (uint32_t process = 0; process < job->process_count && !analysis->failed; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        const struct mpiq_rank_diagnosis *diagnosed = &analysis->diagnosis->ranks[process];
        bool waits =
            diagnosed->activity == MPIQ_ACTIVITY_BLOCKED || diagnosed->activity == MPIQ_ACTIVITY_POLLING;
        if (!rank || !diagnosed->call || !waits)
            continue;
        const char *library = mpiq_job_string(job, rank->library);
        const struct mpiq_known_hang *hang =
            mpiq_known_hang_find(library, mpiq_job_string(job, rank->pml), diagnosed->call);
        struct mpiq_hang_match *match = hang ? match_of(analysis, hang, library) : NULL;
        if (match)
            mpiq_analysis_add(analysis, &match->ranks, process);
    }
}
