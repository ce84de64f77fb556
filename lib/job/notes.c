/* SPDX-License-Identifier: BSD-3-Clause */
/* The assumptions of an answer, and what could not be read. */
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/rank_activity.h"
#include "job/find.h"

static void assume(struct mpiq_finder *finder, const struct mpiq_rank_set *ranks, enum mpiq_note_kind kind)
{
    if (ranks->size == 0)
        return;
    struct mpiq_note *note = mpiq_diagnosis_add_assumption(finder->diagnosis, kind);
    finder->failed = finder->failed || !note || !mpiq_rank_set_add_set(&note->ranks, ranks);
}

/* Whether a rank waits for a message from any rank with any tag, which is also what stands for a receive of
   which a trace does not say more. */
static bool waits_for_anything(const struct mpiq_job_state *job, const struct mpiq_rank_diagnosis *doing)
{
    const struct mpiq_job_wait *wait =
        doing->thread == MPIQ_NONE ? NULL : mpiq_innermost_wait(job, &job->threads[doing->thread]);
    for (uint32_t i = 0; wait && i < wait->operation_count; i++) {
        const struct mpiq_job_operation *operation = &job->operations[wait->first_operation + i];
        if (mpiq_is_receive(operation) && operation->any && operation->tag_any)
            return true;
    }
    return false;
}

void mpiq_find_assumptions(struct mpiq_finder *finder)
{
    const struct mpiq_job_state *job = finder->job;
    struct mpiq_rank_set unread _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set once _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set cores _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set silent _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set idle _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set untold _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set strict _cleanup_(mpiq_rank_set_deinit) = {0};
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        const struct mpiq_rank_diagnosis *doing = &finder->diagnosis->ranks[process];
        if (!rank) {
            mpiq_finder_add(finder, &unread, process);
            continue;
        }
        if (doing->doing == MPIQ_DOING_GONE)
            continue;
        for (uint32_t i = 0; doing->stuck && i < rank->thread_count; i++) {
            if (!mpiq_thread_taken_idle(job, rank, &job->threads[rank->first_thread + i]))
                continue;
            mpiq_finder_add(finder, &idle, process);
            break;
        }
        if (rank->strict && doing->stuck)
            mpiq_finder_add(finder, &strict, process);
        if (rank->source == MPIQ_SOURCE_TRACE && doing->stuck && waits_for_anything(job, doing))
            mpiq_finder_add(finder, &untold, process);
        if (rank->source == MPIQ_SOURCE_TRACE)
            continue;
        if (rank->core)
            mpiq_finder_add(finder, &cores, process);
        else if (rank->looks != 3)
            mpiq_finder_add(finder, &once, process);
        const struct mpiq_job_thread *thread =
            doing->thread == MPIQ_NONE ? NULL : &job->threads[doing->thread];
        bool counts = thread && finder->graph->thread_nodes[doing->thread] != MPIQ_NONE;
        if (counts && doing->doing == MPIQ_DOING_BLOCKED && !thread->record)
            mpiq_finder_add(finder, &silent, process);
    }
    assume(finder, &unread, MPIQ_NOTE_UNREAD);
    assume(finder, &once, MPIQ_NOTE_ONE_LOOK);
    assume(finder, &idle, MPIQ_NOTE_IDLE);
    assume(finder, &strict, MPIQ_NOTE_STRICT);
    assume(finder, &cores, MPIQ_NOTE_CORES);
    assume(finder, &untold, MPIQ_NOTE_ANY_MESSAGE);
    assume(finder, &silent, MPIQ_NOTE_NO_RECORD);
}

enum { MOST_NOTES = 32 };

struct note_key {
    mpiq_string_id what;
    mpiq_string_id text;
};

/* Notes what could not be read of one rank: only problems that no rank had before, and only the first `most`
   of that kind. keys: of the notes from `first` on.  False without memory. */
static bool note_rank(struct mpiq_finder *finder, uint32_t process, struct note_key keys[MOST_NOTES],
                      size_t first, size_t most)
{
    const struct mpiq_job_state *job = finder->job;
    struct mpiq_diagnosis *diagnosis = finder->diagnosis;
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
        mpiq_finder_add(finder, &diagnosis->notes[first + at].ranks, process);
    }
    return true;
}

/* What could not be read: one note for all ranks that say the same.  Whoever has many problems leaves room
   for the first ones of others. */
void mpiq_find_notes(struct mpiq_finder *finder)
{
    static const size_t most_at_first = 2;
    struct note_key keys[MOST_NOTES] = {{0}};
    const size_t first = finder->diagnosis->note_count;
    bool good = true;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t process = 0; process < finder->job->process_count && good; process++)
            good = note_rank(finder, process, keys, first, pass == 0 ? most_at_first : MOST_NOTES);
    }
    finder->failed |= !good;
}

/* What was asked for and is no rank: a file that is cut off, a program without MPI.  Each says it for itself,
   since no rank's number can. */
void mpiq_find_strangers(struct mpiq_finder *finder)
{
    const struct mpiq_job_state *job = finder->job;
    enum { MOST_STRANGERS = 32 };
    for (uint32_t i = 0, told = 0; i < job->rank_count && told < MOST_STRANGERS; i++) {
        const struct mpiq_job_rank *rank = &job->ranks[i];
        if (rank->process != MPIQ_NONE)
            continue;
        struct mpiq_note *note = mpiq_diagnosis_add_note(finder->diagnosis, MPIQ_NOTE_STRANGER);
        if (!note) {
            finder->failed = true;
            return;
        }
        note->rank = i;
        told++;
    }
}
