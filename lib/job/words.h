/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * words - builds the sentences of a diagnosis from their parts.
 *
 * All strings belong to the arena.  Never returns NULL: without memory the text is "…".
 */
#ifndef MPIQ_WORDS_H
#define MPIQ_WORDS_H

#include "job/graph.h"
#include "state/arena.h"

/* printf into the arena, never NULL. */
#define WORDS(arena, ...) mpiq_words_or(mpiq_arena_printf((arena), __VA_ARGS__))
static inline const char *mpiq_words_or(const char *text)
{
    return text ? text : "…";
}

/* "3 h 12 m", "5 m 10 s", "48 s"; "" if it is not known (negative). */
const char *mpiq_words_duration(struct mpiq_arena *arena, double seconds);

/* "solver.c:71", "step()", "" if nothing is known. */
const char *mpiq_words_place(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t site);

/* "rank 5", "ranks 0 and 2", "ranks 0-15,18"; "63 ranks" where naming them takes more than a few ranges. */
const char *mpiq_words_ranks(struct mpiq_arena *arena, const struct mpiq_rank_set *set);
/* "5", "0-4" as in a list. */
const char *mpiq_words_list(struct mpiq_arena *arena, const struct mpiq_rank_set *set);
/* "rank 5", "rank 5 of world 1". */
const char *mpiq_words_rank(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t process);

/* "the lock on shared.log that rank 0 holds", "a lock on shared.log": what that thread of a process sleeps
 * for. */
const char *mpiq_words_lock(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t process,
                            const struct mpiq_job_thread *thread);

/* As mpiq_job_communicator_words. */
const char *mpiq_words_communicator(struct mpiq_arena *arena, const struct mpiq_job_state *job,
                                    uint32_t comm);
/* "window \"field\"" where the user named it, else "the window made by MPI_Win_create at field.c:8", as far
   as that is known. */
const char *mpiq_words_window(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t window);
/* " on COMMUNICATOR", "" for the first world's or for none. */
const char *mpiq_words_on(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t comm);

/* "MPI_Bcast #6 on rows", without the number where it is not known. */
const char *mpiq_words_call(struct mpiq_arena *arena, const struct mpiq_job_state *job,
                            const char *collective, int64_t number, uint32_t comm);

/* What waiting for an operation of that rank (NULL: not known whose) means: "tag 99 from rank 63", "rank 3 to
   receive 4000 bytes with tag 7", "MPI_Ibcast #4 to complete". */
const char *mpiq_words_operation(struct mpiq_arena *arena, const struct mpiq_job_state *job,
                                 const struct mpiq_job_rank *rank, uint32_t operation);

/* What a held thread waits for, "" if that cannot be said. */
const char *mpiq_words_waits_for(struct mpiq_arena *arena, const struct mpiq_wait_graph *graph,
                                 uint32_t thread);

/* "tag 99", "any tag". */
const char *mpiq_words_tag(struct mpiq_arena *arena, const struct mpiq_job_operation *op);

/* Call and reason of a held thread: "MPI_Bcast #6", "MPI_Recv for tag 99 from rank 63"; of several operations
   that one, if it is not MPIQ_NONE. */
const char *mpiq_words_wait(struct mpiq_arena *arena, const struct mpiq_wait_graph *graph, uint32_t thread,
                            uint32_t operation);

/* What a rank does, after its name and "it" or "they": "has waited 3 h 12 m at solver.c:71 for …". */
const char *mpiq_words_does(struct mpiq_arena *arena, const struct mpiq_wait_graph *graph, uint32_t process,
                            bool plural);

/* The same without how long, for telling whether two do alike. */
const char *mpiq_words_behaviour(struct mpiq_arena *arena, const struct mpiq_wait_graph *graph,
                                 uint32_t process);

/* "is asleep in futex() at pool.c:12 (worker)", of a thread. */
const char *mpiq_words_sleeps(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t thread);

#endif
