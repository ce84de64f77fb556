/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_job - jobs made up for the report's tests: real rank states through the real builder, and a diagnosis
 * written by hand, so that a report's text depends on nothing that lib/job decides.
 */
#ifndef MPIQ_TESTS_MADE_JOB_H
#define MPIQ_TESTS_MADE_JOB_H

#include "state/finding.h"
#include "state/job_state.h"

struct made_job {
    struct mpiq_job_state *job;
    struct mpiq_diagnosis *diagnosis;
    struct mpiq_chain *chain; /* for `why`; NULL */
};

/* Each ends the test program where memory or the builder fails: they are given, not tested, here. */

/* `size` ranks (4 or more), of which rank 1 waits for tag 99 from the last rank instead of the others'
   MPI_Bcast; the unreceived message there has tag 98. */
struct made_job made_wrong_turn(uint32_t size);
/* Each rank sends to the next one and receives from it: a cycle of all. */
struct made_job made_ring(uint32_t size);
/* `size` ranks of which no two do the same, and as many findings, notes and assumptions. */
struct made_job made_chaos(uint32_t size);
/* Two collectives under one number, two roots, a truncation; a communicator with a hostile name; a rank that
   is gone, one that is stopped, one that was not read; spawned ranks; a library that is not patched on some.
 */
struct made_job made_mixture(void);
/* Two ranks: two threads of rank 0 wait for a receive each, and 20 numbered messages lie there. */
struct made_job made_backlog(void);
/* Four ranks that go on. */
struct made_job made_running(void);
/* Nothing could be read. */
struct made_job made_nothing(void);

void made_job_deinit(struct made_job *made);

#endif
