/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/find.h"

uint32_t mpiq_check_process(const struct mpiq_analysis *analysis, const struct mpiq_job_fact *fact)
{
    return analysis->job->ranks[fact->rank].process;
}

uint32_t mpiq_check_comm_index(const struct mpiq_analysis *analysis, const struct mpiq_job_fact *fact)
{
    const struct mpiq_job_state *job = analysis->job;
    for (uint32_t i = 0; fact->comm != 0 && i < job->communicator_count; i++) {
        if (job->communicators[i].context[1] == fact->comm)
            return i;
    }
    return MPIQ_NONE;
}

void mpiq_check_site(struct mpiq_analysis *analysis, struct mpiq_finding *finding,
                     const struct mpiq_job_fact *fact)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_site *place = fact->site == MPIQ_NONE ? NULL : &job->sites[fact->site];
    const char *call = mpiq_job_string(job, fact->call);
    const char *file = place ? mpiq_job_string(job, place->file) : NULL;
    const char *function = place ? mpiq_job_string(job, place->function) : NULL;
    struct mpiq_finding_site *site = NULL;
    for (size_t i = 0; i < finding->site_count && !site; i++) {
        struct mpiq_finding_site *other = &finding->sites[i];
        if (other->call == call && other->file == file && other->function == function &&
            other->line == (place ? place->line : 0))
            site = other;
    }
    if (!site && finding->site_count >= MPIQ_MOST_SITES)
        return;
    if (!site) {
        site = mpiq_finding_add_site(finding);
        if (!site) {
            analysis->failed = true;
            return;
        }
        site->call = call;
        site->file = file;
        site->function = function;
        site->line = place ? place->line : 0;
    }
    mpiq_analysis_add(analysis, &site->ranks, mpiq_check_process(analysis, fact));
}
