/* SPDX-License-Identifier: BSD-3-Clause */
#include "words/phrases.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "words/nouns.h"
#include "words/put.h"
#include "words/quantities.h"

const char *mpiq_words_taken(struct mpiq_arena *arena, struct mpiq_buffer *text)
{
    const char *ret = text->failed ? NULL : mpiq_arena_string(arena, mpiq_buffer_text(text));
    mpiq_buffer_deinit(text);
    if (!ret)
        mpiq_memory_miss();
    return mpiq_words_or(ret);
}

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

const char *mpiq_words_ranks(struct mpiq_arena *arena, const struct mpiq_rank_set *set)
{
    enum { MOST_ITEMS = 4 };
    struct mpiq_buffer text = {0};
    if (set->size != 2 && !mpiq_rank_set_fits(set, MOST_ITEMS))
        return WORDS(arena, "%" PRIu64 " ranks", set->size);
    mpiq_put_ranks_named(&text, &(struct mpiq_ranks){set->ranges, set->count, set->size});
    return mpiq_words_taken(arena, &text);
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
    struct mpiq_buffer text = {0};
    mpiq_put_on(job, &text, comm);
    return mpiq_words_taken(arena, &text);
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
    struct mpiq_buffer text = {0};
    mpiq_put_numbered(job, &text, collective ? collective : "a collective", number, comm);
    return mpiq_words_taken(arena, &text);
}

const char *mpiq_words_tag(struct mpiq_arena *arena, const struct mpiq_job_operation *op)
{
    return WORDS(arena, "%s", mpiq_tag_words((char[MPIQ_TAG_WORDS]){0}, op->tag_any, op->tag));
}
