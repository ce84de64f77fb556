/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages longer than the receive that takes them. */
#include "job/find.h"
#include "job/graph.h"

void mpiq_find_truncations(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    uint32_t found = 0;
    for (uint32_t process = 0; process < job->process_count && found < MPIQ_MOST_FINDINGS; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        for (uint32_t i = 0; rank && i < rank->operation_count && found < MPIQ_MOST_FINDINGS; i++) {
            uint32_t index = rank->first_operation + i;
            const struct mpiq_job_operation *op = &job->operations[index];
            if (op->queue != MPIQ_QUEUE_RECEIVES || op->kind != MPIQ_OPERATION_RECEIVE || op->internal ||
                op->bytes < 0 || op->status == MPIQ_STATUS_COMPLETE)
                continue;
            uint32_t other = analysis->diagnosis->partner[index];
            int64_t bytes = op->status == MPIQ_STATUS_MATCHED ? mpiq_job_more(job, op)->actual_bytes
                            : other != MPIQ_NONE              ? job->operations[other].bytes
                                                              : -1;
            if (bytes <= op->bytes)
                continue;
            struct mpiq_finding *finding =
                mpiq_diagnosis_add_finding(analysis->diagnosis, MPIQ_FINDING_TRUNCATION);
            if (!finding) {
                analysis->failed = true;
                return;
            }
            found++;
            finding->comm = op->comm;
            finding->operation = index;
            finding->other = other;
            mpiq_analysis_add(analysis, &finding->ranks, process);
            mpiq_analysis_site(analysis, finding, process, MPIQ_NONE);
            finding->bytes = bytes;
        }
    }
}
