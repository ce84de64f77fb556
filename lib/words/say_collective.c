/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences about collectives. */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "words/nouns.h"
#include "words/quantities.h"
#include "words/say_private.h"

/* The window or the communicator of the call that the finding is about, likewise. */
static const char *on_object(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    if (finding->communicators > 0 && finding->comm != MPIQ_NONE) {
        char *text _cleanup_free_ = mpiq_memory_checked(mpiq_job_communicators_words(s->job, finding->comm));
        return WORDS(s->arena, " on %s", text ? text : "…");
    }
    if (finding->window == MPIQ_NONE)
        return mpiq_words_on(s->arena, s->job, finding->comm);
    return WORDS(s->arena, " on %s", mpiq_words_window(s->arena, s->job, finding->window));
}

/* Those in a call after those who are not were named: "the other 63 ranks" where there are no more. */
static const char *the_others(struct mpiq_speaker *s, const struct mpiq_finding *finding,
                              const struct mpiq_rank_set *others, const struct mpiq_rank_set *named)
{
    struct mpiq_rank_set all _cleanup_(mpiq_rank_set_deinit) = {0};
    uint64_t size = 0;
    if (finding->communicators == 0 && finding->comm != MPIQ_NONE) {
        if (!mpiq_job_communicator_members(s->job, finding->comm, &all))
            s->failed = true;
        size = all.size;
    } else if (finding->comm == MPIQ_NONE && s->job->world_count == 1) {
        size = s->job->process_count;
    }
    if (others->size + named->size != size || others->size < 2)
        return mpiq_words_ranks(s->arena, others);
    return WORDS(s->arena, "the other %" PRIu64 " ranks", others->size);
}

/* "MPI_Bcast", of ranks that are all in that call; "other collectives". */
static const char *call_of(const struct mpiq_speaker *s, const struct mpiq_rank_set *ranks)
{
    const char *call = NULL;
    for (uint32_t i = 0; i < ranks->count; i++) {
        for (uint32_t rank = ranks->ranges[i].first; rank <= ranks->ranges[i].last; rank++) {
            uint32_t process = mpiq_job_process(s->job, ranks->ranges[i].world, rank);
            const char *own = process == MPIQ_NONE ? NULL : s->diagnosis->ranks[process].call;
            if (!own || (call && strcmp(call, own) != 0))
                return "other collectives";
            call = own;
        }
    }
    return call ? call : "other collectives";
}

const char *mpiq_say_incomplete(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = s->arena;
    const char *call = finding->collective ? finding->collective : "collective call";
    const char *never = finding->proven ? "never" : finding->missing.size == 1 ? "has not" : "have not";
    const char *entered = finding->restarted ? "restarted" : finding->requests ? "started" : "entered";
    const char *made = mpiq_words_place(arena, s->job, finding->made);
    if (made[0])
        call = WORDS(arena, "%s (created at %s)", call, made);
    if (finding->may_have_left && finding->communicators == 0)
        return WORDS(arena, "%s %s in %s%s, %s in %s: one of the sides took another path%s",
                     mpiq_words_ranks(arena, &finding->ranks),
                     mpiq_is_plural(&finding->ranks) ? "wait" : "waits", call,
                     mpiq_words_on(arena, s->job, finding->comm), mpiq_words_ranks(arena, &finding->missing),
                     call_of(s, &finding->missing),
                     finding->roots_may_differ
                         ? ", or the roots differ"
                         : WORDS(arena, ", or the arguments of %s differ", call_of(s, &finding->missing)));
    bool few = finding->missing.size > finding->ranks.size;
    if (finding->elsewhere && finding->communicators == 0)
        return few ? WORDS(arena, "%s %s in %s%s, but %s %s not", mpiq_words_ranks(arena, &finding->ranks),
                           mpiq_is_plural(&finding->ranks) ? "are" : "is", call, on_object(s, finding),
                           the_others(s, finding, &finding->missing, &finding->ranks),
                           mpiq_is_plural(&finding->missing) ? "are" : "is")
                   : WORDS(arena, "%s %s not in the %s%s that %s %s waiting in",
                           mpiq_words_ranks(arena, &finding->missing),
                           mpiq_is_plural(&finding->missing) ? "are" : "is", call, on_object(s, finding),
                           the_others(s, finding, &finding->ranks, &finding->missing),
                           mpiq_is_plural(&finding->ranks) ? "are" : "is");
    /* The few are said first: they are whom to look at. */
    if (few && finding->communicators == 0)
        return WORDS(arena, "%s %s %s%s, which %s %s %s%s", mpiq_words_ranks(arena, &finding->ranks),
                     finding->requests ? mpiq_is_plural(&finding->ranks) ? "wait for" : "waits for"
                     : mpiq_is_plural(&finding->ranks) ? "are in"
                                                       : "is in",
                     call, on_object(s, finding), the_others(s, finding, &finding->missing, &finding->ranks),
                     never, entered, finding->proven ? "" : " so far");
    return WORDS(arena, "%s %s %s the %s%s that %s %s waiting %s%s",
                 mpiq_words_ranks(arena, &finding->missing), never, entered, call, on_object(s, finding),
                 the_others(s, finding, &finding->ranks, &finding->missing),
                 mpiq_is_plural(&finding->ranks) ? "are" : "is", finding->requests ? "for" : "in",
                 finding->proven ? "" : ", so far");
}

const char *mpiq_say_left(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const char *who = mpiq_words_ranks(s->arena, &finding->ranks);
    bool many = mpiq_is_plural(&finding->ranks);
    const char *call = WORDS(s->arena, "%s%s", finding->collective, on_object(s, finding));
    const char *others = the_others(s, finding, &finding->others, &finding->ranks);
    const char *have = mpiq_is_plural(&finding->others) ? "have" : "has";
    if (finding->proven)
        return WORDS(s->arena, "%s %s stuck in the %s that %s %s left: their arguments do not match", who,
                     many ? "are" : "is", call, others, have);
    return WORDS(s->arena, "%s %s not left the %s that %s %s left, so far: their arguments may not match",
                 who, many ? "have" : "has", call, others, have);
}

const char *mpiq_say_overlap(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    return WORDS(s->arena,
                 "two threads of %s%s are in collectives on %s at once, which MPI forbids: %s and %s",
                 finding->ranks.size > 1 ? "each of " : "", mpiq_words_ranks(s->arena, &finding->ranks),
                 mpiq_words_communicator(s->arena, s->job, finding->comm), finding->calls[0].collective,
                 finding->calls[1].collective);
}

const char *mpiq_say_stacks(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const struct mpiq_rank_set *missing = &finding->missing;
    const char *text = missing->size == 0
                           ? ""
                           : WORDS(s->arena, "%s %s outside MPI", mpiq_words_ranks(s->arena, missing),
                                   mpiq_is_plural(missing) ? "are" : "is");
    for (size_t i = 0; i < finding->call_count; i++) {
        const struct mpiq_finding_call *call = &finding->calls[i];
        text = WORDS(s->arena, "%s%s%s %s in %s", text, text[0] ? ", " : "",
                     mpiq_words_ranks(s->arena, &call->ranks), mpiq_is_plural(&call->ranks) ? "are" : "is",
                     call->collective);
    }
    return finding->others.size == 0
               ? text
               : WORDS(s->arena, "%s, and %s, the root of that %s, is not in it", text,
                       mpiq_words_ranks(s->arena, &finding->others), finding->collective);
}

/* ---- calls that differ ------------------------------------------------------------------------------ */

const char *mpiq_say_value(struct mpiq_speaker *s, const char *name, int64_t number, const char *type)
{
    return name   ? name
           : type ? WORDS(s->arena, "%" PRId64 " %s", number, type)
                  : WORDS(s->arena, "%" PRId64, number);
}

/* " at solver.c:12"; "" for nowhere. */
static const char *at(struct mpiq_speaker *s, uint32_t site)
{
    return site == MPIQ_NONE ? "" : WORDS(s->arena, " at %s", mpiq_words_place(s->arena, s->job, site));
}

/* "collective 1 on MPI_COMM_WORLD: rank 0 called MPI_Iallreduce, rank 1 called MPI_Ibcast". */
const char *mpiq_say_differing(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const char *text = WORDS(s->arena, "collective %" PRId64 " on %s:", finding->number,
                             mpiq_words_communicator(s->arena, s->job, finding->comm));
    for (size_t i = 0; i < finding->call_count; i++) {
        const struct mpiq_finding_call *call = &finding->calls[i];
        text = WORDS(s->arena, "%s%s %s called %s%s", text, i == 0 ? "" : ",",
                     mpiq_words_ranks(s->arena, &call->ranks), call->collective, at(s, call->made));
    }
    return text;
}

/* "rank 3 called MPI_Bcast with root 1, ranks 0-2 with root 0 (collective 4 on MPI_COMM_WORLD)": the fewest
   first. */
const char *mpiq_say_arguments(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    bool bytes = strcmp(finding->field, "bytes") == 0;
    bool plain = bytes || strcmp(finding->field, "count") == 0;
    const char *text = "";
    for (size_t i = finding->value_count; i-- > 0;) {
        const struct mpiq_finding_value *value = &finding->values[i];
        const char *size = mpiq_size_text(value->number, (char[MPIQ_SIZE_ROOM]){0});
        const char *call = finding->collective ? finding->collective : "a collective";
        text = WORDS(s->arena, "%s%s%s%s%s with %s%s%s%s", text, text[0] ? ", " : "",
                     mpiq_words_ranks(s->arena, &value->ranks), text[0] ? "" : " called ",
                     text[0] ? "" : call, plain ? "" : finding->field, plain ? "" : " ",
                     bytes ? size : mpiq_say_value(s, value->name, value->number, value->type),
                     at(s, value->made));
    }
    if (finding->comm == MPIQ_NONE)
        return text;
    const char *on = mpiq_words_communicator(s->arena, s->job, finding->comm);
    return finding->number > 0
               ? WORDS(s->arena, "%s (collective %" PRId64 " on %s)", text, finding->number, on)
               : WORDS(s->arena, "%s (on %s)", text, on);
}
