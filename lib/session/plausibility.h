/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plausibility - checks what a rank says about itself against what is known otherwise: from the launcher, and
 * from the limits of a job.
 *
 * A rank's word counts only for itself.  Its identity comes from the launcher, from before it ran; the
 * number of ranks is not for it to say.
 */
#ifndef MPIQ_PLAUSIBILITY_H
#define MPIQ_PLAUSIBILITY_H

#include "session/sources.h"

/*
 * Checks what was read from a source.  A state that is impossible (mpiq_job_check_state), or that claims
 * another rank than the launcher started there, is replaced by one that says so and holds what the kernel
 * says about the process.  A wrong world size is replaced by the launcher's.  Fails only without memory.
 */
struct mpiq_error *mpiq_check_plausibility(const struct mpiq_look_source *source, int world_size,
                                           struct mpiq_rank_state **state);

/* The same of the number that each rank gives its job: those of the launched world have the one that most of
   them give, in both looks.  After a look at all of them. */
struct mpiq_error *mpiq_check_jobs(const struct mpiq_look_sources *sources, int look);

/* Replaces a state by what the kernel says about the process and what the launcher says about its identity,
   with nothing from the process itself.  Takes reason, which becomes its problem.  Fails only without
   memory. */
struct mpiq_error *mpiq_start_state_over(const struct mpiq_look_source *source, struct mpiq_error *reason,
                                         struct mpiq_rank_state **state);

/* Replaces the state of a process that claims to be what another one is by one of a process without a name.
   Takes reason, which becomes its problem. */
struct mpiq_error *mpiq_disown_state(struct mpiq_error *reason, struct mpiq_rank_state **state);

#endif
