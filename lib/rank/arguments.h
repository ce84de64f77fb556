/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arguments - what the MPI call that a thread is in was given, as its caller's code tells it: the words that
 * the target computes (target.h, call_words), with what they mean to that MPI library.
 *
 * Works for any MPI library whose handles and constants are known (Open MPI, MPICH and what shares its ABI,
 * the standard ABI), C and Fortran.  It is a hint: no proof may be built on it.
 */
#ifndef MPIQ_RANK_ARGUMENTS_H
#define MPIQ_RANK_ARGUMENTS_H

#include "state/rank_state.h"
#include "process/target.h"

/* Adds thread->given, of a thread that is in an MPI function (mpi_frame); stack is where its frames came
   from. What is not known is left out. */
void mpiq_rank_add_arguments(struct mpiq_target *target, struct mpiq_rank_state *state,
                             const struct mpiq_target_stack *stack, struct mpiq_thread *thread);

/* Whether its library is one whose arguments are understood. */
bool mpiq_rank_tells_arguments(const struct mpiq_rank_state *state);

#endif
