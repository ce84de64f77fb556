/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * phrases - the parts that sentences are built from: ranks, places, communicators, calls.
 *
 * All strings belong to the arena.  Never returns NULL: without memory the text is "…".
 */
#ifndef MPIQ_WORDS_PHRASES_H
#define MPIQ_WORDS_PHRASES_H

#include "base/buffer.h"
#include "state/arena.h"
#include "state/job_state.h"

/* What holds ranks before their calls. */
#define MPIQ_STEP_MODE "mpiq run --step"

/* printf into the arena, never NULL. */
#define WORDS(arena, ...) mpiq_words_or(mpiq_arena_printf((arena), __VA_ARGS__))
static inline const char *mpiq_words_or(const char *text)
{
    return text ? text : "…";
}

/* What was put into a buffer, which it frees. */
const char *mpiq_words_taken(struct mpiq_arena *arena, struct mpiq_buffer *text);

/* "3 h 12 m", "5 m 10 s", "48 s"; "" if it is not known (negative). */
const char *mpiq_words_duration(struct mpiq_arena *arena, double seconds);

/* "solver.c:71", "step()", "" if nothing is known. */
const char *mpiq_words_place(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t site);

/* "rank 5", "ranks 0 and 2", "ranks 0-15,18"; "63 ranks" where naming them takes more than a few ranges. */
const char *mpiq_words_ranks(struct mpiq_arena *arena, const struct mpiq_rank_set *set);
/* "rank 5", "rank 5 of world 1". */
const char *mpiq_words_rank(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t process);

/* As mpiq_job_communicator_words. */
const char *mpiq_words_communicator(struct mpiq_arena *arena, const struct mpiq_job_state *job,
                                    uint32_t comm);
/* "window \"field\"" where the user named it, else "the window made by MPI_Win_create at field.c:8", as far
   as that is known. */
const char *mpiq_words_window(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t window);
/* " on COMMUNICATOR", "" for the first world's or for none. */
const char *mpiq_words_on(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t comm);

/* "MPI_Bcast (collective 6 on rows)", without the number where it is not known. */
const char *mpiq_words_call(struct mpiq_arena *arena, const struct mpiq_job_state *job,
                            const char *collective, int64_t number, uint32_t comm);

/* "tag 99", "any tag". */
const char *mpiq_words_tag(struct mpiq_arena *arena, const struct mpiq_job_operation *op);

#endif
