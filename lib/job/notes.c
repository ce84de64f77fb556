/* SPDX-License-Identifier: BSD-3-Clause */
/* The assumptions of an answer, and what could not be read. */
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/rank_activity.h"
#include "job/find.h"

static void assume(struct mpiq_analysis *analysis, const struct mpiq_rank_set *ranks,
                   enum mpiq_note_kind kind)
{
    if (ranks->size == 0)
        return;
    struct mpiq_note *note = mpiq_diagnosis_add_assumption(analysis->diagnosis, kind);
    analysis->failed = analysis->failed || !note || !mpiq_rank_set_add_set(&note->ranks, ranks);
}

/* Whether a rank waits for a message from any rank with any tag, which is also what stands for a receive of
   which a trace does not say more. */
static bool waits_for_anything(const struct mpiq_job_state *job, const struct mpiq_rank_diagnosis *diagnosed)
{
    const struct mpiq_job_wait *wait =
        diagnosed->thread == MPIQ_NONE ? NULL : mpiq_innermost_wait(job, &job->threads[diagnosed->thread]);
    for (uint32_t i = 0; wait && i < wait->operation_count; i++) {
        const struct mpiq_job_operation *operation = &job->operations[wait->first_operation + i];
        if (mpiq_is_receive(operation) && operation->any && operation->tag_any)
            return true;
    }
    return false;
}

void mpiq_find_assumptions(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    struct mpiq_rank_set unread _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set once _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set cores _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set silent _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set idle _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set untold _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set strict _cleanup_(mpiq_rank_set_deinit) = {0};
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        const struct mpiq_rank_diagnosis *diagnosed = &analysis->diagnosis->ranks[process];
        if (!rank) {
            mpiq_analysis_add(analysis, &unread, process);
            continue;
        }
        if (diagnosed->activity == MPIQ_ACTIVITY_GONE)
            continue;
        for (uint32_t i = 0; diagnosed->stuck && i < rank->thread_count; i++) {
            if (!mpiq_thread_taken_idle(job, rank, &job->threads[rank->first_thread + i]))
                continue;
            mpiq_analysis_add(analysis, &idle, process);
            break;
        }
        if (rank->strict && diagnosed->stuck)
            mpiq_analysis_add(analysis, &strict, process);
        if (rank->source == MPIQ_SOURCE_TRACE && diagnosed->stuck && waits_for_anything(job, diagnosed))
            mpiq_analysis_add(analysis, &untold, process);
        if (rank->source == MPIQ_SOURCE_TRACE)
            continue;
        if (rank->final)
            mpiq_analysis_add(analysis, &cores, process);
        else if (rank->looks != 3)
            mpiq_analysis_add(analysis, &once, process);
        const struct mpiq_job_thread *thread =
            diagnosed->thread == MPIQ_NONE ? NULL : &job->threads[diagnosed->thread];
        bool counts = thread && analysis->graph->thread_nodes[diagnosed->thread] != MPIQ_NONE;
        if (counts && diagnosed->activity == MPIQ_ACTIVITY_BLOCKED && !thread->has_wait_record)
            mpiq_analysis_add(analysis, &silent, process);
    }
    assume(analysis, &unread, MPIQ_NOTE_UNREAD);
    assume(analysis, &once, MPIQ_NOTE_ONE_LOOK);
    assume(analysis, &idle, MPIQ_NOTE_IDLE);
    assume(analysis, &strict, MPIQ_NOTE_STRICT);
    assume(analysis, &cores, MPIQ_NOTE_CORES);
    assume(analysis, &untold, MPIQ_NOTE_ANY_MESSAGE);
    assume(analysis, &silent, MPIQ_NOTE_NO_RECORD);
}

enum { MOST_NOTES = 32 };

struct note_key {
    mpiq_string_id what;
    mpiq_string_id text;
};

/* Notes what could not be read of one rank: only problems that no rank had before, and only the first `most`
   of that kind. keys: of the notes from `first` on.  False without memory. */
static bool note_rank(struct mpiq_analysis *analysis, uint32_t process, struct note_key keys[MOST_NOTES],
                      size_t first, size_t most)
{
    const struct mpiq_job_state *job = analysis->job;
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    size_t fresh = 0;
    for (uint32_t i = 0; rank && i < rank->problem_count; i++) {
        const struct mpiq_job_problem *problem = &job->problems[rank->first_problem + i];
        const size_t kept = diagnosis->note_count - first;
        size_t at = 0;
        /* A call's arguments in the program's memory go with the process. */
        const char *told = mpiq_job_string(job, problem->what);
        if (rank->end.kind != MPIQ_END_NONE && told && strcmp(told, "waits") == 0)
            continue;
        while (at < kept && (keys[at].what != problem->what || keys[at].text != problem->text))
            at++;
        if (at == MOST_NOTES || (at == kept && fresh++ >= most))
            continue;
        if (at == kept) {
            struct mpiq_note *note = mpiq_diagnosis_add_note(diagnosis, MPIQ_NOTE_PROBLEM);
            if (!note)
                return false;
            keys[at] = (struct note_key){.what = problem->what, .text = problem->text};
            note->problem = rank->first_problem + i;
        }
        mpiq_analysis_add(analysis, &diagnosis->notes[first + at].ranks, process);
    }
    return true;
}

/* What could not be read: one note for all ranks that say the same.  Whoever has many problems leaves room
   for the first ones of others. */
void mpiq_find_notes(struct mpiq_analysis *analysis)
{
    static const size_t most_at_first = 2;
    struct note_key keys[MOST_NOTES] = {{0}};
    const size_t first = analysis->diagnosis->note_count;
    bool good = true;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t process = 0; process < analysis->job->process_count && good; process++)
            good = note_rank(analysis, process, keys, first, pass == 0 ? most_at_first : MOST_NOTES);
    }
    analysis->failed |= !good;
}

/* What was asked for and is no rank: a file that is cut off, a program without MPI.  Each says it for itself,
   since no rank's number can. */
void mpiq_find_strangers(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    enum { MOST_STRANGERS = 32 };
    for (uint32_t i = 0, told = 0; i < job->rank_count && told < MOST_STRANGERS; i++) {
        const struct mpiq_job_rank *rank = &job->ranks[i];
        if (rank->process != MPIQ_NONE)
            continue;
        struct mpiq_note *note = mpiq_diagnosis_add_note(analysis->diagnosis, MPIQ_NOTE_STRANGER);
        if (!note) {
            analysis->failed = true;
            return;
        }
        note->rank = i;
        told++;
    }
}
