/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * words - what the graph says of a rank, in words: what it does, and what it waits for.
 *
 * All strings belong to the arena.  Never returns NULL: without memory the text is "…".
 */
#ifndef MPIQ_JOB_WORDS_H
#define MPIQ_JOB_WORDS_H

#include "job/graph.h"
#include "words/phrases.h"

/* "the lock on shared.log that rank 0 holds", "a lock on shared.log": what that thread of a process sleeps
 * for. */
const char *mpiq_words_lock(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t process,
                            const struct mpiq_job_thread *thread);

/* What waiting for an operation of that rank (NULL: not known whose) means: "tag 99 from rank 63", "rank 3 to
   receive 4000 bytes with tag 7", "MPI_Ibcast #4 to complete". */
const char *mpiq_words_operation(struct mpiq_arena *arena, const struct mpiq_job_state *job,
                                 const struct mpiq_job_rank *rank, uint32_t operation);

/* What a held thread waits for, "" if that cannot be said. */
const char *mpiq_words_waits_for(struct mpiq_arena *arena, const struct mpiq_wait_graph *graph,
                                 uint32_t thread);

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
