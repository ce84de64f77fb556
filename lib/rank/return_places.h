/* SPDX-License-Identifier: BSD-3-Clause */
/* return_places - the source lines of return addresses. */
#ifndef MPIQ_RANK_RETURN_PLACES_H
#define MPIQ_RANK_RETURN_PLACES_H

#include "state/rank_state.h"
#include "process/target.h"
#include "rank/objects.h"

/*
 * Fills in the places of all calls, requests, communicators, windows and past calls of which the state has a
 * return address: the line in the user's code that called MPI.  Calls made by a binding without debug
 * information, or by a tool's wrapper of an MPI function, have no place.  Whatever cannot be determined
 * stays unknown.
 */
void mpiq_rank_add_return_places(struct mpiq_target *target, struct mpiq_rank_objects *objects,
                                 struct mpiq_rank_state *state);

/* Of a process that has ended without leaving the stack of a thread: the thread is where the call was made
   that has not returned. */
void mpiq_rank_add_last_calls(struct mpiq_rank_state *state);

#endif
