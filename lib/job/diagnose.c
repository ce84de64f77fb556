/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/diagnose.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "job/rank_activity.h"
#include "job/find.h"
#include "job/causes.h"
#include "job/evidence.h"
#include "job/waits.h"

static void describe_ranks(struct mpiq_analysis *analysis)
{
    for (uint32_t process = 0; process < analysis->job->process_count; process++) {
        struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[process];
        rank->stuck = mpiq_analysis_stuck(analysis, process);
        if (rank->stuck)
            mpiq_analysis_add(analysis, &analysis->diagnosis->stuck, process);
    }
    for (size_t i = 0; i < analysis->diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &analysis->diagnosis->findings[i];
        const struct mpiq_rank_set *sets[] = {&finding->ranks, &finding->missing};
        for (int j = 0; finding->proven && j < 2; j++) {
            for (uint32_t k = 0; k < sets[j]->count; k++) {
                const struct mpiq_rank_range *range = &sets[j]->ranges[k];
                for (uint32_t r = range->first; r <= range->last; r++)
                    analysis->diagnosis->ranks[mpiq_job_process(analysis->job, range->world, r)].cause = true;
            }
        }
    }
}

static struct mpiq_error *no_memory(void)
{
    return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory: the job cannot be diagnosed");
}

struct mpiq_error *mpiq_diagnose(const struct mpiq_job_state *job,
                                 const struct mpiq_diagnose_options *options, struct mpiq_diagnosis **ret)
{
    if (!job->finished)
        return mpiq_error_create(MPIQ_ERROR_INTERNAL, "a job state is diagnosed before its end");
    unsigned missed = mpiq_memory_missed();
    struct mpiq_diagnosis *diagnosis = mpiq_diagnosis_create(job->process_count, job->operation_count);
    if (!diagnosis)
        return no_memory();
    mpiq_rank_activities(job, diagnosis);
    struct mpiq_explanation explanation = {0};
    struct mpiq_analysis analysis = {.job = job, .diagnosis = diagnosis, .arena = diagnosis->arena};
    if (options)
        analysis.options = *options;
    if (analysis.options.stall_after <= 0)
        analysis.options.stall_after = MPIQ_STALL_AFTER;
    struct mpiq_wait_graph *graph = mpiq_wait_graph_create(job, diagnosis, diagnosis->partner);
    analysis.graph = graph;
    analysis.explanation = &explanation;
    analysis.failed = !graph || !mpiq_explain(graph, &explanation);
    void (*const finders[])(struct mpiq_analysis *) = {
        mpiq_note_stack_waits,
        mpiq_find_failed_collectives,
        mpiq_find_collectives,
        mpiq_find_messages,
        mpiq_find_failed_messages,
        mpiq_find_cycles,
        mpiq_find_truncations,
        mpiq_find_overlaps,
        mpiq_find_windows,
        mpiq_find_locks,
        mpiq_find_polling,
        mpiq_find_ranks,
        mpiq_find_stacks,
        mpiq_find_leftovers,
        mpiq_find_waits,
        mpiq_find_causes,
        mpiq_finish_evidence,
        mpiq_note_failures,
        mpiq_finish_findings,
        mpiq_add_other_threads,
        describe_ranks,
        mpiq_find_verdict,
        mpiq_find_assumptions,
        mpiq_find_notes,
        mpiq_find_strangers,
        mpiq_find_known_hangs,
    };
    /* Of ranks that are paused at their end, nobody asks what they wait for. */
    void (*const at_end[])(struct mpiq_analysis *) = {mpiq_find_check, mpiq_find_notes};
    void (*const after_end[])(struct mpiq_analysis *) = {
        mpiq_find_truncations, mpiq_find_waits, mpiq_find_end, mpiq_finish_evidence, mpiq_find_notes};
    bool ended = mpiq_has_ended(job), at = !ended && mpiq_is_at_end(job);
    size_t count = ended ? sizeof after_end / sizeof *after_end
                   : at  ? sizeof at_end / sizeof *at_end
                         : sizeof finders / sizeof *finders;
    for (size_t i = 0; i < count && !analysis.failed; i++)
        (ended ? after_end : at ? at_end : finders)[i](&analysis);
    mpiq_explanation_deinit(&explanation);
    mpiq_wait_graph_destroy(graph);
    if (analysis.failed || mpiq_memory_missed() != missed) { /* a sentence may be shorter than it is */
        mpiq_diagnosis_destroy(diagnosis);
        return no_memory();
    }
    *ret = diagnosis;
    return NULL;
}
