/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that sleep outside MPI for a lock on a file, or a mutex in shared memory, that another rank of the
   job has: the holder is the one to look at, not those that wait for it. */
#include <string.h>

#include "job/evidence.h"
#include "job/find.h"
#include "job/rank_activity.h"
#include "names/system_calls.h"

/* Waits for one lock at one place. */
struct lock {
    mpiq_string_id file;
    uint32_t holder; /* process */
    uint32_t site;
    size_t finding;
};

static struct lock *lock_of(struct mpiq_analysis *analysis, struct lock *locks, uint32_t *count,
                            const struct lock *wanted)
{
    uint32_t at = 0;
    while (at < *count && (locks[at].file != wanted->file || locks[at].holder != wanted->holder ||
                           locks[at].site != wanted->site))
        at++;
    if (at < *count || at == MPIQ_MOST_FINDINGS)
        return at < *count ? &locks[at] : NULL;
    struct mpiq_finding *made = mpiq_diagnosis_add_finding(analysis->diagnosis, MPIQ_FINDING_FILE_LOCK);
    if (!made) {
        analysis->failed = true;
        return NULL;
    }
    locks[at] = *wanted;
    locks[at].finding = analysis->diagnosis->finding_count - 1;
    (*count)++;
    return &locks[at];
}

static void describe(struct mpiq_analysis *analysis, struct mpiq_finding *finding, const struct lock *lock)
{
    finding->file = lock->file;
    mpiq_analysis_add(analysis, &finding->missing, lock->holder);
    mpiq_analysis_add(analysis, &finding->suspects, lock->holder);
    mpiq_analysis_add(analysis, &finding->others, lock->holder);
    mpiq_analysis_site(analysis, finding, lock->holder, MPIQ_NONE);
    mpiq_add_evidence_of(analysis, finding, &finding->others);
}

void mpiq_find_locks(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    struct lock locks[MPIQ_MOST_FINDINGS];
    uint32_t count = 0;
    for (uint32_t process = 0; process < job->process_count && !analysis->failed; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        for (uint32_t i = 0; rank && i < rank->thread_count; i++) {
            uint32_t thread = rank->first_thread + i;
            const struct mpiq_job_thread *row = &job->threads[thread];
            bool sure;
            struct lock wanted = {
                .file = row->file, .holder = mpiq_lock_holder(job, rank, row, &sure), .site = row->site};
            struct lock *lock = wanted.holder == MPIQ_NONE ? NULL : lock_of(analysis, locks, &count, &wanted);
            if (!lock)
                continue;
            struct mpiq_finding *finding = &analysis->diagnosis->findings[lock->finding];
            /* Who came between the looks waits for the same lock as those who are known to be stuck. */
            finding->proven = finding->proven || mpiq_is_stuck(analysis->graph, thread);
            mpiq_analysis_add(analysis, &finding->ranks, process);
            mpiq_analysis_site(analysis, finding, process, thread);
            mpiq_add_evidence(analysis, finding, process, thread, MPIQ_NONE);
        }
    }
    for (uint32_t i = 0; i < count && !analysis->failed; i++)
        describe(analysis, &analysis->diagnosis->findings[locks[i].finding], &locks[i]);
}
