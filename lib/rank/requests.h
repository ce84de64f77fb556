/* SPDX-License-Identifier: BSD-3-Clause */
/* requests - which calls have made the requests that MPI_Wait and the like wait for, and what those were
   given: as the code of the function that waits tells it (process/call_history.h).  A hint, as all arguments
   are. */
#ifndef MPIQ_RANK_REQUESTS_H
#define MPIQ_RANK_REQUESTS_H

#include "rank/arguments.h"

/* Adds them to thread->given, of a thread in a call that waits for requests. */
void mpiq_rank_add_requests(struct mpiq_target *target, struct mpiq_rank_state *state,
                            const struct mpiq_target_stack *stack, struct mpiq_thread *thread);

#endif
