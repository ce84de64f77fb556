/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads of one rank in collectives of one communicator at once, which the standard forbids. */
#include "job/collective.h"
#include "job/evidence.h"
#include "job/find.h"

struct pair {
    uint32_t process;
    uint32_t threads[2];
    struct mpiq_thread_collective in[2];
};

static bool find_pair(const struct mpiq_analysis *analysis, uint32_t process, struct pair *ret)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    enum { MOST_THREADS = 64 };
    for (uint32_t i = 0; rank && i + 1 < rank->thread_count && i < MOST_THREADS; i++) {
        const struct mpiq_job_thread *a = &job->threads[rank->first_thread + i];
        if (a->same_wait != MPIQ_YES)
            continue;
        mpiq_thread_collective(job, rank, a, &ret->in[0]);
        if (ret->in[0].collective < 0 || ret->in[0].comm == MPIQ_NONE || !a->has_wait_record)
            continue;
        for (uint32_t j = i + 1; j < rank->thread_count && j < MOST_THREADS; j++) {
            const struct mpiq_job_thread *b = &job->threads[rank->first_thread + j];
            if (b->same_wait != MPIQ_YES || !b->has_wait_record)
                continue;
            mpiq_thread_collective(job, rank, b, &ret->in[1]);
            if (ret->in[1].collective < 0 || ret->in[1].comm != ret->in[0].comm)
                continue;
            ret->process = process;
            ret->threads[0] = rank->first_thread + i;
            ret->threads[1] = rank->first_thread + j;
            return true;
        }
    }
    return false;
}

static bool same_pair(const struct mpiq_job_state *job, const struct pair *a, const struct pair *b)
{
    for (int i = 0; i < 2; i++) {
        if (a->in[i].collective != b->in[i].collective ||
            job->threads[a->threads[i]].site != job->threads[b->threads[i]].site)
            return false;
    }
    return mpiq_same_communicator(job, a->in[0].comm, b->in[0].comm);
}

static struct mpiq_finding *new_finding(struct mpiq_analysis *analysis, const struct pair *pair)
{
    struct mpiq_finding *finding =
        mpiq_diagnosis_add_finding(analysis->diagnosis, MPIQ_FINDING_COLLECTIVE_OVERLAP);
    if (!finding) {
        analysis->failed = true;
        return NULL;
    }
    finding->comm = pair->in[0].comm;
    for (int i = 0; i < 2; i++) {
        struct mpiq_finding_call *call = mpiq_finding_add_call(finding);
        if (call)
            call->collective = mpiq_collective_name(pair->in[i].collective);
        analysis->failed = analysis->failed || !call;
    }
    return finding;
}

static void add_pair(struct mpiq_analysis *analysis, struct mpiq_finding *finding, const struct pair *pair)
{
    mpiq_analysis_add(analysis, &finding->ranks, pair->process);
    for (size_t i = 0; i < 2 && i < finding->call_count; i++) {
        mpiq_analysis_add(analysis, &finding->calls[i].ranks, pair->process);
        mpiq_analysis_site(analysis, finding, pair->process, pair->threads[i]);
        mpiq_analysis_since(analysis, finding, pair->process, pair->threads[i]);
        mpiq_add_evidence(analysis, finding, pair->process, pair->threads[i], MPIQ_NONE);
        finding->proven = finding->proven || mpiq_is_stuck(analysis->graph, pair->threads[i]);
    }
}

void mpiq_find_overlaps(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    struct pair pairs[MPIQ_MOST_FINDINGS];
    size_t findings[MPIQ_MOST_FINDINGS];
    uint32_t count = 0;
    for (uint32_t process = 0; process < job->process_count && !analysis->failed; process++) {
        struct pair pair;
        if (!find_pair(analysis, process, &pair))
            continue;
        uint32_t at = 0;
        while (at < count && !same_pair(job, &pairs[at], &pair))
            at++;
        if (at == MPIQ_MOST_FINDINGS)
            continue;
        if (at == count) {
            if (!new_finding(analysis, &pair))
                return;
            findings[count] = analysis->diagnosis->finding_count - 1;
            pairs[count++] = pair;
        }
        add_pair(analysis, &analysis->diagnosis->findings[findings[at]], &pair);
    }
}
