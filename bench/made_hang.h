/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_hang - the rank states of one made-up hang of any size, ten operations each.
 *
 * All ranks but one are in MPI_Allreduce #7, each waiting for internal traffic of its tree's parent; one
 * waits for a tag that nobody sends.  Beside that each rank has three receives posted to its right, three
 * large sends under way to its left, and three messages that lie unexpected and announce such sends.
 */
#ifndef BENCH_MADE_HANG_H
#define BENCH_MADE_HANG_H

#include "state/rank_state.h"

/* One record that is filled anew for each rank, with the members of its world; the program ends without
   memory.  The caller destroys it. */
struct mpiq_rank_state *made_hang_state(int ranks);
void made_hang_fill(struct mpiq_rank_state *state, int rank, int ranks, int look);
void made_hang_operation(struct mpiq_rank_state *state, size_t at, enum mpiq_operation_kind kind, int peer,
                         int tag);

#endif
