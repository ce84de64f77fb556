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
        if (rank->process != MPIQ_NONE && rank->end.kind == MPIQ_END_NONE)
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

/* Whether whoever ends ranks that are left may have ended it so. */
static bool may_be_ended(const struct mpiq_end *end)
{
    return end->kind == MPIQ_END_UNKNOWN ||
           (end->kind == MPIQ_END_SIGNAL && (end->code == 15 /* SIGTERM */ || end->code == 9 /* SIGKILL */));
}

/* NULL: none has. */
static const struct mpiq_job_rank *first_to_end(const struct mpiq_job_state *job)
{
    const struct mpiq_job_rank *first = NULL;
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (rank && !is_fine(rank) && (!first || rank->end.order < first->end.order))
            first = rank;
    }
    return first;
}

/* ---- words -----------------------------------------------------------------------------------------------
 */

static const char *signal_words(struct mpiq_arena *arena, int32_t number)
{
    const char *name = mpiq_signal_name(number);
    const char *hint = number == 9 /* SIGKILL */ ? " (out of memory, or killed from outside)" : "";
    return name ? WORDS(arena, "%s%s", name, hint) : WORDS(arena, "signal %d", number);
}

/* "called MPI_Abort with code 7 at solver.c:12". */
static const char *end_words(struct mpiq_finder *finder, const struct mpiq_job_rank *row,
                             const struct mpiq_ending *ending)
{
    struct mpiq_arena *arena = finder->arena;
    const struct mpiq_rank_diagnosis *rank = &finder->diagnosis->ranks[row->process];
    const char *place = mpiq_words_place(arena, finder->job, rank->site);
    const char *at = place[0] ? WORDS(arena, " at %s", place) : "";
    const char *in = rank->call ? WORDS(arena, " in %s", rank->call) : "";
    const char *finalized = row->phase < MPIQ_PHASE_FINALIZING   ? ", without MPI_Finalize"
                            : row->phase == MPIQ_PHASE_FINALIZED ? ", after MPI_Finalize"
                                                                 : "";
    switch ((enum mpiq_end_kind)ending->end.kind) {
    case MPIQ_END_ABORT:
        return WORDS(arena, "called MPI_Abort with code %d%s%s", ending->end.code,
                     rank->call && strcmp(rank->call, "MPI_Abort") != 0 ? in : "", at);
    case MPIQ_END_SIGNAL:
        return WORDS(arena, "was ended%s by %s%s%s", may_be_ended(&ending->end) ? " first," : "",
                     signal_words(arena, ending->end.code), in, at);
    case MPIQ_END_ERROR:
        return WORDS(arena, "failed%s%s with %s", in, at,
                     ending->error_class ? ending->error_class : WORDS(arena, "error %d", ending->end.code));
    case MPIQ_END_EXIT:
        return WORDS(arena, "exited with status %d%s%s%s", ending->end.code, in, at, finalized);
    default:
        return WORDS(arena, "ended%s%s: it is not known how", in, at);
    }
}

/* NULL without memory. */
static const struct mpiq_ending *describe(struct mpiq_finder *finder, const struct mpiq_job_rank *rank)
{
    const char *library = mpiq_job_string(finder->job, rank->library);
    struct mpiq_ending *ending = mpiq_arena_alloc(finder->arena, sizeof *ending);
    if (!ending) {
        finder->failed = true;
        return NULL;
    }
    *ending = (struct mpiq_ending){.end = rank->end};
    if (rank->end.kind == MPIQ_END_SIGNAL)
        ending->signal = mpiq_signal_name(rank->end.code);
    if (rank->end.kind == MPIQ_END_ERROR && library)
        ending->error_class = mpiq_error_class(library, rank->end.code);
    return ending;
}

/* ---- all of it -------------------------------------------------------------------------------------------
 */

/* Where a rank that was not in MPI called it last; NULL: not known. */
static const char *last_call_words(struct mpiq_finder *finder, const struct mpiq_job_rank *rank)
{
    const struct mpiq_job_state *job = finder->job;
    const struct mpiq_job_past_call *last = NULL;
    for (uint32_t i = 0; i < rank->past_count; i++) {
        const struct mpiq_job_past_call *call = &job->past_calls[rank->first_past + i];
        last = !last || call->begin_ns > last->begin_ns ? call : last;
    }
    const char *place = last ? mpiq_words_place(finder->arena, job, last->site) : "";
    return place[0] ? WORDS(finder->arena, "that was at %s", place) : NULL;
}

/* What of a rank that is not the first says that it did not just go with it; NULL: nothing. */
static const char *own_end(struct mpiq_finder *finder, const struct mpiq_job_rank *rank)
{
    if (rank->end.kind == MPIQ_END_LIVES)
        return "it has not ended";
    if (rank->phase >= MPIQ_PHASE_FINALIZED && is_fine(rank))
        return "had called MPI_Finalize";
    const struct mpiq_ending *ending = may_be_ended(&rank->end) ? NULL : describe(finder, rank);
    return ending ? WORDS(finder->arena, "then it %s", end_words(finder, rank, ending)) : NULL;
}

static void add_evidence(struct mpiq_finder *finder, struct mpiq_finding *finding,
                         const struct mpiq_job_rank *row, bool first)
{
    const struct mpiq_rank_diagnosis *rank = &finder->diagnosis->ranks[row->process];
    size_t before = finding->evidence_count;
    mpiq_add_evidence(finder, finding, row->process, MPIQ_NONE, MPIQ_NONE);
    if (finder->failed || finding->evidence_count == before)
        return;
    const char *last = rank->call || rank->site != MPIQ_NONE ? NULL : last_call_words(finder, row);
    const char *own = first ? NULL : own_end(finder, row);
    finding->evidence[before].note = own && last ? WORDS(finder->arena, "%s; %s", last, own)
                                     : own       ? own
                                                 : last;
}

/* Members of the rank's communicators that call other collectives, or with other arguments, than it. */
static void find_mismatches(struct mpiq_finder *finder, const struct mpiq_job_rank *rank)
{
    const struct mpiq_job_state *job = finder->job;
    size_t before = finder->diagnosis->finding_count;
    for (uint32_t comm = 0; comm < job->communicator_count && finder->diagnosis->finding_count == before;
         comm++) {
        const struct mpiq_job_member *member = mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm);
        if (member && member->ordered > 0 && !(job->communicators[comm].flags & MPIQ_COMM_INTERNAL))
            mpiq_find_mismatches(finder, comm, member->ordered, false);
    }
}

/* What the library may have ended that rank for, which then is the cause; MPIQ_NONE: not known. */
static uint32_t cause_of_error(const struct mpiq_finder *finder, const struct mpiq_ending *ending,
                               uint32_t process)
{
    const struct mpiq_diagnosis *diagnosis = finder->diagnosis;
    struct mpiq_world_rank name = mpiq_job_world_rank(finder->job, process);
    for (uint32_t i = 0; ending->end.kind == MPIQ_END_ERROR && i < diagnosis->finding_count; i++) {
        enum mpiq_finding_kind kind = diagnosis->findings[i].kind;
        if (kind == MPIQ_FINDING_COLLECTIVE_MISMATCH || kind == MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH ||
            mpiq_rank_set_contains(&diagnosis->findings[i].ranks, name.world, name.rank))
            return i;
    }
    return MPIQ_NONE;
}

void mpiq_find_end(struct mpiq_finder *finder)
{
    const struct mpiq_job_state *job = finder->job;
    struct mpiq_diagnosis *diagnosis = finder->diagnosis;
    const struct mpiq_job_rank *first = first_to_end(job);
    diagnosis->ended = true;
    diagnosis->verdict = MPIQ_VERDICT_FINISHED;
    diagnosis->text = "the job ended by an error, but none of its ranks did";
    if (!first)
        return;
    const struct mpiq_ending *ending = describe(finder, first);
    if (ending && ending->end.kind == MPIQ_END_ERROR && diagnosis->finding_count == 0)
        find_mismatches(finder, first);
    uint32_t cause = ending ? cause_of_error(finder, ending, first->process) : MPIQ_NONE;
    struct mpiq_finding *finding =
        ending ? mpiq_diagnosis_add_finding(diagnosis, MPIQ_FINDING_RANK_GONE) : NULL;
    if (!finding) {
        finder->failed = true;
        return;
    }
    finding->ending = ending;
    finding->proven = true;
    finding->consequence_of = cause;
    finding->text = WORDS(finder->arena, "%s %s", mpiq_words_rank(finder->arena, job, first->process),
                          end_words(finder, first, ending));
    mpiq_finder_add(finder, &finding->ranks, first->process);
    mpiq_finder_site(finder, finding, first->process, MPIQ_NONE);
    diagnosis->text = WORDS(finder->arena, "the job ended: %s", finding->text);
    struct mpiq_finding *told = cause == MPIQ_NONE ? finding : &diagnosis->findings[cause];
    /* Who ends a whole job ends its ranks in any order. */
    bool from_outside = ending->end.kind == MPIQ_END_SIGNAL && ending->end.code == 15; /* SIGTERM */
    if (!from_outside && told->suspects.size == 0 && told->kind != MPIQ_FINDING_COLLECTIVE_MISMATCH &&
        told->kind != MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH)
        mpiq_finder_add(finder, &told->suspects, first->process);
    add_evidence(finder, told, first, true);
    for (uint32_t process = 0; process < job->process_count && !finder->failed; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (rank && rank != first)
            add_evidence(finder, told, rank, false);
    }
}
