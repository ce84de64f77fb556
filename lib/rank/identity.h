/* SPDX-License-Identifier: BSD-3-Clause */
/* identity - who a process is and what state it is in, without its MPI library. */
#ifndef MPIQ_RANK_IDENTITY_H
#define MPIQ_RANK_IDENTITY_H

#include "state/rank_state.h"
#include "process/target.h"

/* Reads name, world size and namespace from the environment that the launcher gave the process.  Values
   already in state are kept.  Whatever the environment does not say stays unknown. */
void mpiq_rank_identify(struct mpiq_target *target, struct mpiq_rank_state *state);

/* What the system says: pid, host (else what the launcher calls it), executable, state, processor time. */
void mpiq_rank_add_status(struct mpiq_target *target, const struct mpiq_target_status *status,
                          struct mpiq_rank_state *state);

/* The MPI library's name and release, unless the state has them already, and its file. */
void mpiq_rank_add_library(struct mpiq_target *target, struct mpiq_rank_state *state);

/* Nanoseconds since the epoch. */
int64_t mpiq_now_ns(void);

#endif
