/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_parts - what made-up jobs are put together of: ranks with their communicators, threads and queues, and
 * what a diagnosis says of them.
 *
 * None fails: where memory or a builder does, the test program ends and says so.  What they return belongs to
 * the rank state, or the diagnosis, that they add it to.
 */
#ifndef MPIQ_TESTS_MADE_PARTS_H
#define MPIQ_TESTS_MADE_PARTS_H

#include "made_job.h"
#include "state/rank_state.h"

/* The number of the first world; of another one, if there is, any other. */
enum { WORLD_JOB = 7 };

/* The pointer, which is not NULL. */
void *must(void *pointer);
void must_be(bool good);
/* The error is NULL. */
void no_error(struct mpiq_error *error);

/* A rank of a patched library that computes; add_rank takes it. */
struct mpiq_rank_state *new_rank(uint32_t job, uint32_t rank, uint32_t size);
/* Its MPI_COMM_WORLD. */
struct mpiq_communicator *add_world(struct mpiq_rank_state *state);
/* A communicator of some ranks of the first world besides MPI_COMM_WORLD. */
struct mpiq_communicator *add_part(struct mpiq_rank_state *state, const char *name, uint64_t context,
                                   const uint32_t *ranks, uint32_t count);
/* How many calls of a collective were made there; active: the last one has not returned. */
void add_count(struct mpiq_communicator *comm, int collective, uint32_t count, bool active);
/* A thread at a place of the user's code; call may be "". */
void add_thread(struct mpiq_rank_state *state, const char *call, const char *file, int line,
                const char *function);
/* On MPI_COMM_WORLD, pending; peer may be MPIQ_ANY. */
struct mpiq_operation *add_operation(struct mpiq_rank_state *state, enum mpiq_queue queue,
                                     enum mpiq_operation_kind kind, int32_t peer, int32_t tag, int64_t bytes);
/* Seen twice, a millisecond apart; destroys it. */
void add_rank(struct mpiq_job_state *job, struct mpiq_rank_state *state);

/* Takes the job, to which nothing is added any more: every rank with a thread is blocked there. */
struct made_job finished(struct mpiq_job_state *job, enum mpiq_verdict verdict);
/* The operation of a process in a queue, the first one; MPIQ_NONE. */
uint32_t operation_of(const struct mpiq_job_state *job, uint32_t process, enum mpiq_queue queue);
/* A text of the diagnosis. */
const char *words(struct made_job *made, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Ranks as a text has them ("0,2-4"), and where they are; the other strings have to last. */
void add_site(struct mpiq_finding *finding, const char *ranks, const char *call, const char *file, int line,
              const char *function);

/* A finding about these ranks; the text has to last. */
struct mpiq_finding *cause(struct made_job *made, enum mpiq_finding_kind kind, const char *ranks,
                           const char *suspects, const char *text);
/* What a rank may wait for: a message on MPI_COMM_WORLD, a collective that `missing` have not entered. */
struct mpiq_wait_part message(enum mpiq_wait_part_kind kind, uint32_t peer, int32_t tag, int64_t bytes);
struct mpiq_wait_part collective(struct made_job *made, const char *name, int64_t number,
                                 const char *missing);
/* A wait for that alone, which these ranks could end. */
struct mpiq_waits_for *wait_for(struct made_job *made, struct mpiq_wait_part part, const char *ranks);
/* A line of evidence, at the place where the first of the ranks is; all of them wait for that. */
struct mpiq_evidence *evidence(struct made_job *made, struct mpiq_finding *finding, const char *ranks,
                               const struct mpiq_waits_for *wait, const char *note);

#endif
