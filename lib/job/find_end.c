/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that has ended by an error or a crash, as the records of its ranks tell: which rank ended first, by
 * what and where, and what the others were doing.
 *
 * The first is the one: the others are ended by the launcher, or fail because it is gone.
 */
#include <string.h>

#include "job/evidence.h"
#include "job/find.h"
#include "names/errors.h"

bool mpiq_has_ended(const struct mpiq_job_state *job)
{
    bool any = false;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        const struct mpiq_job_rank *rank = &job->ranks[i];
        if (rank->process != MPIQ_NONE && (rank->end.kind == MPIQ_END_NONE || !rank->final))
            return false;
        any = any || rank->process != MPIQ_NONE;
    }
    return any;
}

/* Whether it ended as it should. */
static bool is_fine(const struct mpiq_job_rank *rank)
{
    bool badly = rank->end.kind == MPIQ_END_SIGNAL || rank->end.kind == MPIQ_END_ABORT ||
                 (rank->end.kind == MPIQ_END_EXIT && rank->end.code != 0);
    return rank->end.kind == MPIQ_END_LIVES || (rank->phase >= MPIQ_PHASE_FINALIZED && !badly);
}

static bool is_terminated(const struct mpiq_end *end)
{
    return end->kind == MPIQ_END_SIGNAL && end->code == 15; /* SIGTERM */
}

/* Whether whoever ends ranks that are left may have ended it so. */
static bool may_be_ended(const struct mpiq_end *end)
{
    return end->kind == MPIQ_END_UNKNOWN || is_terminated(end) ||
           (end->kind == MPIQ_END_SIGNAL && end->code == 9 /* SIGKILL */);
}

/* By what it did itself, in a way that need not follow from another rank's end: an error in MPI may. */
static bool ended_by_itself(const struct mpiq_job_rank *rank)
{
    return rank->end.kind == MPIQ_END_ABORT || rank->end.kind == MPIQ_END_EXIT ||
           (rank->end.kind == MPIQ_END_SIGNAL && !is_terminated(&rank->end));
}

/* NULL: none has.  Launchers end the ranks that are left by SIGTERM: where one has ended by itself, that came
   before, whenever it was noticed. */
static const struct mpiq_job_rank *first_to_end(const struct mpiq_job_state *job)
{
    const struct mpiq_job_rank *first = NULL;
    bool any = false;
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        any = any || (rank && !is_fine(rank) && ended_by_itself(rank));
    }
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (rank && !is_fine(rank) && !(any && is_terminated(&rank->end)) &&
            (!first || rank->end.order < first->end.order))
            first = rank;
    }
    return first;
}

/* Whether a rank ended as the first one did, and for itself: none of what MPI does stands behind
   MPI_Finalize. */
static bool ended_alike(const struct mpiq_job_rank *first, const struct mpiq_job_rank *rank)
{
    return first->end.kind == MPIQ_END_EXIT && rank->end.kind == MPIQ_END_EXIT &&
           first->end.code == rank->end.code && first->phase == MPIQ_PHASE_FINALIZED &&
           rank->phase == MPIQ_PHASE_FINALIZED;
}

const struct mpiq_ending *mpiq_describe_end(struct mpiq_analysis *analysis, const struct mpiq_job_rank *rank)
{
    const char *library = mpiq_job_string(analysis->job, rank->library);
    struct mpiq_ending *ending = mpiq_arena_alloc(analysis->arena, sizeof *ending);
    if (!ending) {
        analysis->failed = true;
        return NULL;
    }
    *ending = (struct mpiq_ending){
        .end = rank->end, .fine = is_fine(rank), .may_be_ended = may_be_ended(&rank->end)};
    if (rank->end.kind == MPIQ_END_SIGNAL)
        ending->signal = mpiq_signal_name(rank->end.code);
    if (rank->end.kind == MPIQ_END_ERROR && library)
        ending->error_class = mpiq_error_class(library, rank->end.code);
    return ending;
}

/* ---- all of it -------------------------------------------------------------------------------------------
 */

/* Where a rank that was not in MPI called it last; MPIQ_NONE: not known. */
static uint32_t last_site_of(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    const struct mpiq_job_past_call *last = NULL;
    for (uint32_t i = 0; i < rank->past_count; i++) {
        const struct mpiq_job_past_call *call = &job->past_calls[rank->first_past + i];
        last = !last || call->begin_ns > last->begin_ns ? call : last;
    }
    return last ? last->site : MPIQ_NONE;
}

/* How a rank that is not the first ended; NULL: it may just have gone with it. */
static const struct mpiq_ending *own_end(struct mpiq_analysis *analysis, const struct mpiq_job_rank *rank)
{
    bool finalized = rank->phase >= MPIQ_PHASE_FINALIZED && is_fine(rank);
    return rank->end.kind != MPIQ_END_LIVES && !finalized && may_be_ended(&rank->end)
               ? NULL
               : mpiq_describe_end(analysis, rank);
}

static void add_evidence(struct mpiq_analysis *analysis, struct mpiq_finding *finding,
                         const struct mpiq_job_rank *row, bool first)
{
    const struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[row->process];
    size_t before = finding->evidence_count;
    mpiq_add_evidence(analysis, finding, row->process, MPIQ_NONE, MPIQ_NONE);
    if (analysis->failed || finding->evidence_count == before)
        return;
    struct mpiq_evidence *evidence = &finding->evidence[before];
    evidence->remark = MPIQ_REMARK_END;
    evidence->last_site =
        rank->call || rank->site != MPIQ_NONE ? MPIQ_NONE : last_site_of(analysis->job, row);
    evidence->ending = first ? NULL : own_end(analysis, row);
}

/* Members of the rank's communicators that call other collectives, or with other arguments, than it. */
static void find_mismatches(struct mpiq_analysis *analysis, const struct mpiq_job_rank *rank)
{
    const struct mpiq_job_state *job = analysis->job;
    size_t before = analysis->diagnosis->finding_count;
    for (uint32_t comm = 0; comm < job->communicator_count && analysis->diagnosis->finding_count == before;
         comm++) {
        const struct mpiq_job_member *member = mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm);
        if (member && member->ordered > 0 && !(job->communicators[comm].flags & MPIQ_COMM_INTERNAL))
            mpiq_find_mismatches(analysis, comm, member->ordered, false);
    }
}

/* What the library may have ended that rank for, which then is the cause; MPIQ_NONE: not known. */
static uint32_t cause_of_error(const struct mpiq_analysis *analysis, const struct mpiq_ending *ending,
                               uint32_t process)
{
    const struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    struct mpiq_world_rank name = mpiq_job_world_rank(analysis->job, process);
    for (uint32_t i = 0; ending->end.kind == MPIQ_END_ERROR && i < diagnosis->finding_count; i++) {
        enum mpiq_finding_kind kind = diagnosis->findings[i].kind;
        if (kind == MPIQ_FINDING_COLLECTIVE_MISMATCH || kind == MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH ||
            mpiq_rank_set_contains(&diagnosis->findings[i].ranks, name.world, name.rank))
            return i;
    }
    return MPIQ_NONE;
}

void mpiq_find_end(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    const struct mpiq_job_rank *first = first_to_end(job);
    diagnosis->ended = true;
    diagnosis->verdict = MPIQ_VERDICT_FINISHED;
    diagnosis->because.reason = MPIQ_REASON_ENDED_WELL;
    if (!first)
        return;
    const struct mpiq_ending *ending = mpiq_describe_end(analysis, first);
    if (ending && ending->end.kind == MPIQ_END_ERROR && diagnosis->finding_count == 0)
        find_mismatches(analysis, first);
    uint32_t cause = ending ? cause_of_error(analysis, ending, first->process) : MPIQ_NONE;
    struct mpiq_finding *finding =
        ending ? mpiq_diagnosis_add_finding(diagnosis, MPIQ_FINDING_RANK_GONE) : NULL;
    if (!finding) {
        analysis->failed = true;
        return;
    }
    finding->ending = ending;
    finding->proven = true;
    finding->consequence_of = cause;
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (rank && (rank == first || ended_alike(first, rank)))
            mpiq_analysis_add(analysis, &finding->ranks, process);
    }
    mpiq_analysis_site(analysis, finding, first->process, MPIQ_NONE);
    diagnosis->because.reason = MPIQ_REASON_ENDED;
    diagnosis->because.said_by = (uint32_t)(finding - diagnosis->findings);
    struct mpiq_finding *told = cause == MPIQ_NONE ? finding : &diagnosis->findings[cause];
    /* Who ends a whole job ends its ranks in any order. */
    if (!is_terminated(&first->end) && finding->ranks.size == 1 && told->suspects.size == 0 &&
        told->kind != MPIQ_FINDING_COLLECTIVE_MISMATCH &&
        told->kind != MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH)
        mpiq_analysis_add(analysis, &told->suspects, first->process);
    add_evidence(analysis, told, first, true);
    for (uint32_t process = 0; process < job->process_count && !analysis->failed; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (rank && rank != first)
            add_evidence(analysis, told, rank, ended_alike(first, rank));
    }
}
