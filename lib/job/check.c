/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a job that has ended: what its ranks, paused in MPI_Finalize, have left undone. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/diagnose.h"
#include "job/find.h"

bool mpiq_is_at_end(const struct mpiq_job_state *job)
{
    bool any = false;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        const struct mpiq_job_rank *rank = &job->ranks[i];
        if (rank->process == MPIQ_NONE || rank->gone)
            continue;
        if (!rank->paused_at_end)
            return false;
        any = true;
    }
    return any;
}

/* ---- objects ------------------------------------------------------------------------------------------- */

static int compare_objects(const void *left, const void *right)
{
    const struct mpiq_job_fact *a = *(const struct mpiq_job_fact *const *)left;
    const struct mpiq_job_fact *b = *(const struct mpiq_job_fact *const *)right;
    if (a->base != b->base)
        return a->base == MPIQ_OBJECT_REQUEST   ? -1
               : b->base == MPIQ_OBJECT_REQUEST ? 1
               : a->base < b->base              ? -1
                                                : 1;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->call < b->call ? -1 : a->call > b->call;
}

static bool alike(const struct mpiq_job_fact *a, const struct mpiq_job_fact *b)
{
    return a->base == b->base && a->site == b->site && a->call == b->call;
}

static void add_object(struct mpiq_analysis *analysis, const struct mpiq_job_fact *const *facts, size_t count)
{
    const struct mpiq_job_fact *first = facts[0];
    struct mpiq_finding *finding = mpiq_diagnosis_add_finding(
        analysis->diagnosis,
        first->base == MPIQ_OBJECT_REQUEST ? MPIQ_FINDING_REQUEST_LEAK : MPIQ_FINDING_NOT_FREED);
    if (!finding) {
        analysis->failed = true;
        return;
    }
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += facts[i]->count;
        mpiq_analysis_add(analysis, &finding->ranks, mpiq_check_process(analysis, facts[i]));
        mpiq_check_site(analysis, finding, facts[i]);
    }
    finding->fact = (uint32_t)(first - analysis->job->facts);
    finding->count = total;
}

static void check_objects(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_fact **facts _cleanup_free_ = calloc((size_t)job->fact_count + 1, sizeof *facts);
    size_t count = 0;
    if (!facts) {
        analysis->failed = true;
        return;
    }
    for (uint32_t i = 0; i < job->rank_count; i++) {
        const struct mpiq_job_rank *rank = &job->ranks[i];
        for (uint32_t j = 0; rank->paused_at_end && rank->process != MPIQ_NONE && j < rank->fact_count; j++) {
            const struct mpiq_job_fact *fact = &job->facts[rank->first_fact + j];
            if (fact->kind == MPIQ_FACT_OBJECT && fact->base < MPIQ_OBJECT_COUNT && fact->count > 0)
                facts[count++] = fact;
        }
    }
    if (count > 0)
        qsort(facts, count, sizeof *facts, compare_objects);
    for (size_t i = 0; i < count && !analysis->failed;) {
        size_t end = i + 1;
        while (end < count && alike(facts[i], facts[end]))
            end++;
        add_object(analysis, &facts[i], end - i);
        i = end;
    }
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static bool is_trace(const struct mpiq_job_state *job)
{
    for (uint32_t i = 0; i < job->rank_count; i++) {
        if (job->ranks[i].source == MPIQ_SOURCE_TRACE)
            return true;
    }
    return false;
}

static void note_lost(struct mpiq_analysis *analysis)
{
    struct mpiq_rank_set lost _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set unread _cleanup_(mpiq_rank_set_deinit) = {0};
    for (uint32_t process = 0; process < analysis->job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(analysis->job, process);
        if ((!rank || !rank->paused_at_end) && !is_trace(analysis->job)) /* of a trace, its problems say so */
            mpiq_analysis_add(analysis, &unread, process);
        else if (rank && rank->lost_facts > 0)
            mpiq_analysis_add(analysis, &lost, process);
    }
    const struct {
        struct mpiq_rank_set *ranks;
        enum mpiq_note_kind kind;
    } notes[] = {{&lost, MPIQ_NOTE_FACTS_LOST}, {&unread, MPIQ_NOTE_NOT_CHECKED}};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        if (notes[i].ranks->size == 0)
            continue;
        struct mpiq_note *note = mpiq_diagnosis_add_note(analysis->diagnosis, notes[i].kind);
        analysis->failed = analysis->failed || !note || !mpiq_rank_set_add_set(&note->ranks, notes[i].ranks);
    }
}

void mpiq_find_check(struct mpiq_analysis *analysis)
{
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    mpiq_check_collectives(analysis);
    mpiq_check_messages(analysis);
    check_objects(analysis);
    note_lost(analysis);
    diagnosis->verdict = MPIQ_VERDICT_FINISHED;
    diagnosis->because.reason = is_trace(analysis->job) ? MPIQ_REASON_TRACED : MPIQ_REASON_CHECKED;
}
