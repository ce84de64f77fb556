/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences about what a job at its end has counted. */
#include <inttypes.h>
#include <string.h>

#include "words/say_private.h"

static const struct mpiq_job_fact *fact_of(const struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    return &s->job->facts[finding->fact];
}

/* " at solver.c:12"; "" if that is not known. */
static const char *at(struct mpiq_speaker *s, uint32_t site)
{
    const char *place = mpiq_words_place(s->arena, s->job, site);
    return place[0] ? WORDS(s->arena, " at %s", place) : "";
}

/* Of a fact: its communicator may have been freed. */
static const char *comm_of(struct mpiq_speaker *s, const struct mpiq_job_fact *fact)
{
    const char *name = mpiq_job_string(s->job, fact->comm_name);
    if (!name || !name[0])
        return "a communicator without a name";
    return strncmp(name, "MPI_COMM_", 9) == 0 ? name : WORDS(s->arena, "communicator \"%s\"", name);
}

/* ---- objects ------------------------------------------------------------------------------------------- */

static const struct {
    const char *noun;
    const char *made;
    const char *undone;
} objects[MPIQ_OBJECT_COUNT] = {
    [MPIQ_OBJECT_COMMUNICATOR] = {"communicator", "made", "freed"},
    [MPIQ_OBJECT_DATATYPE] = {"datatype", "made", "freed"},
    [MPIQ_OBJECT_GROUP] = {"group", "made", "freed"},
    [MPIQ_OBJECT_WINDOW] = {"window", "made", "freed"},
    [MPIQ_OBJECT_FILE] = {"file", "opened", "closed"},
    [MPIQ_OBJECT_OP] = {"operation", "made", "freed"},
    [MPIQ_OBJECT_REQUEST] = {"request", "started", "completed or freed"},
    [MPIQ_OBJECT_PERSISTENT] = {"persistent request", "made", "freed"},
};

const char *mpiq_say_not_freed(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const struct mpiq_job_fact *fact = fact_of(s, finding);
    const char *call = mpiq_job_string(s->job, fact->call);
    const char *noun = objects[fact->base].noun;
    bool each = finding->count == finding->ranks.size;
    return WORDS(s->arena, "%s never %s %s that %s%s %s", mpiq_words_ranks(s->arena, &finding->ranks),
                 objects[fact->base].undone,
                 each ? WORDS(s->arena, "the %s", noun)
                      : WORDS(s->arena, "%" PRIu64 " %ss", finding->count, noun),
                 call ? call : "a call", at(s, fact->site), objects[fact->base].made);
}

/* ---- messages ------------------------------------------------------------------------------------------ */

const char *mpiq_say_lost(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = s->arena;
    const struct mpiq_job_fact *fact = fact_of(s, finding);
    uint64_t sent = finding->count, lost = finding->lost;
    const char *what = sent == 1      ? "the message"
                       : lost == sent ? WORDS(arena, "the %" PRIu64 " messages", sent)
                       : lost == 1    ? WORDS(arena, "the last of %" PRIu64 " messages", sent)
                                   : WORDS(arena, "the last %" PRIu64 " of %" PRIu64 " messages", lost, sent);
    return WORDS(arena, "%s never received %s with tag %d that %s sent by %s%s on %s",
                 mpiq_words_rank(arena, s->job, finding->to), what, fact->tag,
                 mpiq_words_rank(arena, s->job, finding->from), mpiq_job_string(s->job, fact->call),
                 at(s, fact->site), comm_of(s, fact));
}

const char *mpiq_say_types(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const struct mpiq_job_fact *sent = fact_of(s, finding);
    const struct mpiq_job_fact *received = &s->job->facts[finding->received_fact];
    return WORDS(s->arena, "%s sent tag %d as %s%s, but %s received it as %s%s",
                 mpiq_words_rank(s->arena, s->job, finding->from), sent->tag,
                 mpiq_job_string(s->job, sent->base_name), at(s, sent->site),
                 mpiq_words_rank(s->arena, s->job, finding->to), mpiq_job_string(s->job, received->base_name),
                 at(s, received->site));
}

/* ---- collectives --------------------------------------------------------------------------------------- */

static const char *who(struct mpiq_speaker *s, const struct mpiq_finding_side *side)
{
    const struct mpiq_rank_set ranks = mpiq_borrowed_set(&side->ranks);
    return mpiq_words_ranks(s->arena, &ranks);
}

/* "MPI_Bcast at solver.c:12 or io.c:7". */
static const char *call_words(struct mpiq_speaker *s, const struct mpiq_finding_side *side)
{
    const char *other = mpiq_words_place(s->arena, s->job, side->or_site);
    return WORDS(s->arena, "%s%s%s%s", side->collective, at(s, side->site), other[0] ? " or " : "", other);
}

/* The number is not known: how the members differ all the same. */
static const char *order_words(struct mpiq_speaker *s, const struct mpiq_finding *finding, const char *comm)
{
    const struct mpiq_finding_side *first = &finding->sides[0];
    const struct mpiq_finding_side *second = finding->side_count > 1 ? &finding->sides[1] : NULL;
    if (!second)
        return WORDS(s->arena, "%s called %s on %s, the other ranks did not", who(s, first),
                     call_words(s, first), comm);
    if (first->times != second->times)
        return WORDS(s->arena, "%s called %s %" PRIu64 " times on %s, %s %" PRIu64 " times", who(s, first),
                     call_words(s, first), first->times, comm, who(s, second), second->times);
    return WORDS(s->arena, "%s called their collectives on %s in another order than %s: %s among them",
                 who(s, first), comm, who(s, second), first->collective);
}

const char *mpiq_say_sides(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = s->arena;
    const struct mpiq_finding_side *first = &finding->sides[0];
    const struct mpiq_finding_side *second = finding->side_count > 1 ? &finding->sides[1] : NULL;
    const char *comm = comm_of(s, fact_of(s, finding));
    int64_t number = finding->number;
    if (number == 0)
        return order_words(s, finding, comm);
    if (!second && finding->missing.size > 0)
        return WORDS(arena, "%s never entered %s, collective %" PRId64 " on %s, which %s called",
                     mpiq_words_ranks(arena, &finding->missing), call_words(s, first), number, comm,
                     who(s, first));
    if (!second)
        return WORDS(arena, "collective %" PRId64 " on %s: %s called %s, the other ranks did not", number,
                     comm, who(s, first), call_words(s, first));
    if (finding->field)
        return WORDS(arena, "%s called %s with %s %s, %s with %s %s (collective %" PRId64 " on %s)",
                     who(s, first), first->collective, finding->field,
                     mpiq_say_value(s, first->name, first->number, NULL), who(s, second), finding->field,
                     mpiq_say_value(s, second->name, second->number, NULL), number, comm);
    const char *text = WORDS(arena, "collective %" PRId64 " on %s:", number, comm);
    for (size_t i = 0; i < finding->side_count; i++)
        text = WORDS(arena, "%s%s %s called %s", text, i ? "," : "", who(s, &finding->sides[i]),
                     call_words(s, &finding->sides[i]));
    return text;
}
