/* SPDX-License-Identifier: BSD-3-Clause */
#include "words/phrases.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "words/nouns.h"
#include "words/quantities.h"

const char *mpiq_words_duration(struct mpiq_arena *arena, double seconds)
{
    char text[MPIQ_DURATION_ROOM];
    return mpiq_words_or(mpiq_arena_string(arena, mpiq_duration_text(seconds, text)));
}

const char *mpiq_words_place(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t site)
{
    char *text _cleanup_free_ = mpiq_memory_checked(mpiq_job_place_words(job, site));
    return mpiq_words_or(mpiq_arena_string(arena, text));
}

const char *mpiq_words_list(struct mpiq_arena *arena, const struct mpiq_rank_set *set)
{
    enum { MOST_ITEMS = 6 };
    char *text _cleanup_free_ = mpiq_memory_checked(mpiq_rank_set_text(set, MOST_ITEMS));
    return mpiq_words_or(mpiq_arena_string(arena, text));
}

const char *mpiq_words_ranks(struct mpiq_arena *arena, const struct mpiq_rank_set *set)
{
    enum { MOST_ITEMS = 4 };
    if (set->size == 2 && set->ranges[0].world == 0 && set->ranges[set->count - 1].world == 0)
        return WORDS(arena, "ranks %" PRIu32 " and %" PRIu32, set->ranges[0].first,
                     set->ranges[set->count - 1].last);
    if (!mpiq_rank_set_fits(set, MOST_ITEMS))
        return WORDS(arena, "%" PRIu64 " ranks", set->size);
    char *text _cleanup_free_ = mpiq_memory_checked(mpiq_rank_set_text(set, 0));
    if (!text)
        return "…";
    return WORDS(arena, "%s %s", set->size == 1 ? "rank" : "ranks", text);
}

const char *mpiq_words_rank(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t process)
{
    if (process == MPIQ_NONE)
        return "an unknown process";
    struct mpiq_world_rank name = mpiq_job_world_rank(job, process);
    if (name.world == 0)
        return WORDS(arena, "rank %" PRIu32, name.rank);
    return WORDS(arena, "rank w%" PRIu32 ":%" PRIu32, name.world, name.rank);
}

const char *mpiq_words_on(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t comm)
{
    if (comm == MPIQ_NONE || (job->communicators[comm].flags & MPIQ_COMM_WORLD && comm == 0))
        return "";
    return WORDS(arena, " on %s", mpiq_words_communicator(arena, job, comm));
}

const char *mpiq_words_communicator(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t comm)
{
    char *text _cleanup_free_ = mpiq_memory_checked(mpiq_job_communicator_words(job, comm));
    return mpiq_words_or(mpiq_arena_string(arena, text));
}

const char *mpiq_words_window(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t window)
{
    const struct mpiq_job_window *row = &job->windows[window];
    const char *name = mpiq_job_string(job, row->name);
    const char *made_by = mpiq_job_string(job, row->made_by);
    const char *place = mpiq_words_place(arena, job, row->made);
    if (!row->named && made_by && *made_by)
        return WORDS(arena, "the window made by %s%s%s", made_by, place[0] ? " at " : "", place);
    return name && *name ? WORDS(arena, "window \"%s\"", name) : "a window";
}

const char *mpiq_words_call(struct mpiq_arena *arena, const struct mpiq_job_state *job,
                            const char *collective, int64_t number, uint32_t comm)
{
    const char *name = collective ? collective : "a collective";
    const char *on = mpiq_words_on(arena, job, comm);
    return number > 0 ? WORDS(arena, "%s #%" PRId64 "%s", name, number, on) : WORDS(arena, "%s%s", name, on);
}

const char *mpiq_words_tag(struct mpiq_arena *arena, const struct mpiq_job_operation *op)
{
    return WORDS(arena, "%s", mpiq_tag_words((char[MPIQ_TAG_WORDS]){0}, op->tag_any, op->tag));
}
