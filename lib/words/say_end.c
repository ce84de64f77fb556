/* SPDX-License-Identifier: BSD-3-Clause */
/* How the ranks of a job that has ended did. */
#include <string.h>

#include "words/say_private.h"

static const char *signal_words(struct mpiq_arena *arena, const struct mpiq_ending *ending)
{
    const char *hint = ending->end.code == 9 /* SIGKILL */ ? " (out of memory, or killed from outside)" : "";
    return ending->signal ? WORDS(arena, "%s%s", ending->signal, hint)
                          : WORDS(arena, "signal %d", ending->end.code);
}

/* "called MPI_Abort with code 7 at solver.c:12". */
static const char *end_words(struct mpiq_speaker *s, uint32_t process, const struct mpiq_ending *ending)
{
    struct mpiq_arena *arena = s->arena;
    const struct mpiq_rank_diagnosis *rank = &s->diagnosis->ranks[process];
    const struct mpiq_job_rank *row = mpiq_job_rank_of(s->job, process);
    const char *place = mpiq_words_place(arena, s->job, rank->site);
    const char *at = place[0] ? WORDS(arena, " at %s", place) : "";
    const char *in = rank->call ? WORDS(arena, " in %s", rank->call) : "";
    const char *finalized = !row || row->phase < MPIQ_PHASE_FINALIZING ? ", without MPI_Finalize"
                            : row->phase == MPIQ_PHASE_FINALIZED       ? ", after MPI_Finalize"
                                                                       : "";
    int code = ending->end.code;
    switch ((enum mpiq_end_kind)ending->end.kind) {
    case MPIQ_END_ABORT:
        return WORDS(arena, "called MPI_Abort with code %d%s%s", code,
                     rank->call && strcmp(rank->call, "MPI_Abort") != 0 ? in : "", at);
    case MPIQ_END_SIGNAL:
        return WORDS(arena, "was ended%s by %s%s%s", ending->may_be_ended ? " first," : "",
                     signal_words(arena, ending), in, at);
    case MPIQ_END_ERROR:
        return WORDS(arena, "failed%s%s with %s", in, at,
                     ending->error_class ? ending->error_class : WORDS(arena, "error %d", code));
    case MPIQ_END_EXIT:
        return WORDS(arena, "exited with status %d%s%s%s", code, in, at, finalized);
    default:
        return WORDS(arena, "ended%s%s: it is not known how", in, at);
    }
}

const char *mpiq_say_end(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const struct mpiq_rank_range *range = finding->ranks.ranges;
    return WORDS(s->arena, "%s %s", mpiq_words_ranks(s->arena, &finding->ranks),
                 end_words(s, mpiq_job_process(s->job, range->world, range->first), finding->ending));
}

/* What of a rank that is not the first says that it did not just go with it; NULL: nothing. */
static const char *own_end(struct mpiq_speaker *s, const struct mpiq_evidence *evidence)
{
    const struct mpiq_ending *ending = evidence->ending;
    if (!ending)
        return NULL;
    if (ending->end.kind == MPIQ_END_LIVES)
        return "it has not ended";
    return ending->fine ? "had called MPI_Finalize"
                        : WORDS(s->arena, "then it %s", end_words(s, evidence->process, ending));
}

const char *mpiq_say_own_end(struct mpiq_speaker *s, const struct mpiq_evidence *evidence)
{
    const char *own = own_end(s, evidence);
    const char *place = mpiq_words_place(s->arena, s->job, evidence->last_site);
    const char *last = place[0] ? WORDS(s->arena, "that was at %s", place) : NULL;
    return own && last ? WORDS(s->arena, "%s; %s", last, own) : own ? own : last;
}
