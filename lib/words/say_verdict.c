/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict in a sentence, what it rests on, and what could not be read. */
#include <inttypes.h>
#include <string.h>

#include "words/say_private.h"

/* Those that are the same for all jobs; NULL: the others. */
static const char *const reasons[] = {
    [MPIQ_REASON_NOT_PROVEN] = "no rank is proven to be stuck",
    [MPIQ_REASON_PROGRESS] = "the job makes progress",
    [MPIQ_REASON_ENDED_WELL] = "the job ended by an error, but none of its ranks did",
    [MPIQ_REASON_LEFT] = "no rank is in MPI any more",
    [MPIQ_REASON_NOTHING_READ] = "no rank could be read",
    [MPIQ_REASON_NOTHING_KNOWN] = "what the ranks do could not be read",
    [MPIQ_REASON_HOST_UNREAD] = "cannot tell whether the job hangs: a host could not be read",
    [MPIQ_REASON_BLIND] =
        "all ranks are in MPI, and their messages could not be read, so nothing can be proven",
    [MPIQ_REASON_ONE_LOOK] =
        "the ranks wait, but they were not seen twice in the same wait: one look proves nothing",
    [MPIQ_REASON_RANKS_UNREAD] = "cannot tell whether the ranks are stuck: not all ranks could be read",
    [MPIQ_REASON_WAITS_UNREAD] =
        "cannot tell whether the ranks are stuck: not everything that the ranks wait for could be read",
    [MPIQ_REASON_NONE_MOVED] = "no rank moved between the looks, but none is proven to be stuck",
    [MPIQ_REASON_ALL_WAIT] =
        "all ranks wait in MPI and none moved between the looks, but none is proven to be stuck",
};

static const char *stuck(struct mpiq_speaker *s)
{
    uint64_t count = s->diagnosis->stuck.size, all = s->job->process_count;
    if (all == 1)
        return "the only rank can never continue";
    return count == all ? WORDS(s->arena, "none of the %" PRIu64 " ranks can continue", all)
                        : WORDS(s->arena, "%" PRIu64 " of %" PRIu64 " ranks can never continue", count, all);
}

static const char *checked(struct mpiq_speaker *s, const char *who, const char *what)
{
    size_t count = s->diagnosis->finding_count;
    return count == 0   ? WORDS(s->arena, "the job ended, and %s nothing%s", who, what)
           : count == 1 ? WORDS(s->arena, "the job ended, and %s one thing wrong", who)
                        : WORDS(s->arena, "the job ended, and %s %zu things wrong", who, count);
}

/* " (ptrace is not permitted)"; "". */
static const char *in_parentheses(struct mpiq_speaker *s, const char *detail)
{
    return detail ? WORDS(s->arena, " (%s)", detail) : "";
}

static const char *how_stopped(const struct mpiq_because *because)
{
    return because->frozen == MPIQ_NO    ? "stopped"
           : because->frozen == MPIQ_YES ? "frozen by the freezer of their control group"
                                         : "stopped or frozen";
}

const char *mpiq_say_verdict(struct mpiq_speaker *s)
{
    struct mpiq_arena *arena = s->arena;
    const struct mpiq_because *because = &s->diagnosis->because;
    const char *who = mpiq_words_ranks(arena, &because->ranks);
    const char *living = because->some_ended ? " that have not ended" : "";
    switch (because->reason) {
    case MPIQ_REASON_STUCK:
        return stuck(s);
    case MPIQ_REASON_FINDING:
        return s->diagnosis->findings[because->said_by].text;
    case MPIQ_REASON_ENDED:
        return WORDS(arena, "the job ended: %s", mpiq_say_end(s, &s->diagnosis->findings[because->said_by]));
    case MPIQ_REASON_CHECKED:
        return checked(s, "the check found", "");
    case MPIQ_REASON_TRACED:
        return checked(s, "the trace shows", " wrong");
    case MPIQ_REASON_UNREAD:
        return WORDS(arena, "cannot tell whether the job hangs: %s could not be read%s", who,
                     in_parentheses(s, because->detail));
    case MPIQ_REASON_STACKS:
    case MPIQ_REASON_ARGUMENTS:
        return WORDS(arena, "only stacks%s could be read%s, so nothing can be proven",
                     because->reason == MPIQ_REASON_ARGUMENTS ? " and the arguments of calls" : "",
                     in_parentheses(s, because->detail));
    case MPIQ_REASON_RELEASE_UNREAD:
        return WORDS(arena, "cannot tell whether the ranks are stuck: what could release %s was not readable",
                     who);
    case MPIQ_REASON_DEBUGGER:
    case MPIQ_REASON_STEPPED:
        return WORDS(arena, "cannot tell whether the job hangs: %s %s held by %s", who,
                     mpiq_is_plural(&because->ranks) ? "are" : "is",
                     because->reason == MPIQ_REASON_DEBUGGER ? mpiq_say_tracer(s, &because->ranks)
                                                             : MPIQ_STEP_MODE);
    case MPIQ_REASON_ALL_DEBUGGER:
    case MPIQ_REASON_ALL_STEPPED:
        return WORDS(arena, "cannot tell whether the job hangs: all ranks%s are held by %s", living,
                     because->reason == MPIQ_REASON_ALL_DEBUGGER ? mpiq_say_tracer(s, &because->ranks)
                                                                 : MPIQ_STEP_MODE);
    case MPIQ_REASON_STOPPED:
        return WORDS(arena, "nothing moves: all ranks%s are %s%s", living, how_stopped(because),
                     because->frozen == MPIQ_NO ? " (SIGCONT continues them)" : "");
    case MPIQ_REASON_WAIT_STOPPED:
        return WORDS(arena, "nothing moves: all ranks that wait, wait for ranks that are %s",
                     how_stopped(because));
    case MPIQ_REASON_ASLEEP:
    case MPIQ_REASON_ASLEEP_STOPPED:
        return WORDS(arena, "cannot tell whether the job hangs: all ranks%s are asleep outside MPI%s", living,
                     because->reason == MPIQ_REASON_ASLEEP ? ""
                                                           : WORDS(arena, ", or %s", how_stopped(because)));
    case MPIQ_REASON_POLLS:
        return WORDS(arena, "no rank moved between the looks: %s %s%s", who,
                     mpiq_is_plural(&because->ranks) ? "poll" : "polls",
                     because->ranks.size < s->job->process_count ? ", and the others wait" : "");
    case MPIQ_REASON_REPEATS:
        return WORDS(arena,
                     "cannot tell whether the job hangs: %s %s the same one-sided calls again and again%s",
                     who, mpiq_is_plural(&because->ranks) ? "make" : "makes",
                     because->ranks.size < s->job->process_count ? ", and the others wait" : "");
    case MPIQ_REASON_POLLS_IN_VAIN:
        return WORDS(arena, "cannot tell whether the job hangs: it goes on only if %s %s up polling", who,
                     mpiq_is_plural(&because->ranks) ? "give" : "gives");
    case MPIQ_REASON_STILL:
        return WORDS(arena, "nothing has moved for %s, but no rank is proven to be stuck for good",
                     mpiq_words_duration(arena, because->still));
    default:
        return reasons[because->reason];
    }
}

/* ---- notes --------------------------------------------------------------------------------------------- */

static const char *const notes[] = {
    [MPIQ_NOTE_UNREAD] = "not read: assumed able to act at any moment",
    [MPIQ_NOTE_ONE_LOOK] = "looked at only once: that proves nothing",
    [MPIQ_NOTE_IDLE] =
        "threads whose stacks show them waiting in the C library are assumed to wait for other threads "
        "of the same rank, and without a timeout",
    [MPIQ_NOTE_STRICT] =
        "run with --strict: standard sends wait for their receive, blocking collectives for all members; "
        "without it the program may finish, by luck",
    [MPIQ_NOTE_CORES] =
        "core files show each rank at one moment: together they are assumed to show one moment of a "
        "hung job",
    [MPIQ_NOTE_ANY_MESSAGE] =
        "the trace does not say which message a receive that never completed was for: any "
        "message is assumed to do",
    [MPIQ_NOTE_NO_RECORD] =
        "what a thread waits for is not recorded: it is assumed to be one of the operations that its "
        "call may wait for",
    [MPIQ_NOTE_FACTS_LOST] =
        "made more distinct calls than can be kept: messages and collectives were not compared",
    [MPIQ_NOTE_NOT_CHECKED] = "not checked: did not reach MPI_Finalize, or could not be read there",
};

static const char *problem(struct mpiq_speaker *s, const struct mpiq_job_problem *row)
{
    const char *what = mpiq_job_string(s->job, row->what);
    const char *text = mpiq_job_string(s->job, row->text);
    bool whole = !what || strcmp(what, MPIQ_PROBLEM_HOST) == 0; /* the sentence names it */
    return WORDS(s->arena, "%s%s%s", whole ? "" : what, whole ? "" : ": ", text ? text : "could not be read");
}

/* A file that is cut off, a program without MPI: no rank's number can tell which. */
static const char *stranger(struct mpiq_speaker *s, const struct mpiq_job_rank *rank)
{
    const struct mpiq_job_state *job = s->job;
    const char *text =
        rank->problem_count > 0 ? mpiq_job_string(job, job->problems[rank->first_problem].text) : NULL;
    const char *program = mpiq_job_string(job, rank->executable);
    text = text ? text : "its rank is not known";
    if (mpiq_job_is_lost_host(job, rank))
        return text;
    if (rank->pid == 0)
        return WORDS(s->arena, "not a rank, left out: %s", text);
    return WORDS(s->arena, "process %d (%s) is not a rank, left out: %s", rank->pid,
                 program ? mpiq_job_base_name(program) : "?", text);
}

const char *mpiq_say_note(struct mpiq_speaker *s, const struct mpiq_note *note)
{
    switch (note->kind) {
    case MPIQ_NOTE_PROBLEM:
        return problem(s, &s->job->problems[note->problem]);
    case MPIQ_NOTE_STRANGER:
        return stranger(s, &s->job->ranks[note->rank]);
    default:
        return notes[note->kind];
    }
}

const char *mpiq_say_known_hang(struct mpiq_speaker *s, const struct mpiq_hang_match *match)
{
    return WORDS(s->arena, "perhaps because of a known bug: %s may hang in %s%s; fixed in %s (%s)",
                 match->library, match->call, match->where, match->fixed_in, match->reference);
}
