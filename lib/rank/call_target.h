/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_target - the MPI function that a thread's program called and that has left no frame of its own, as it
 * ended in a jump to another function: MPICH builds MPI_Waitany, MPI_Waitsome and others so.  The call
 * instruction says which it is.
 */
#ifndef MPIQ_RANK_CALL_TARGET_H
#define MPIQ_RANK_CALL_TARGET_H

#include "process/target.h"
#include "state/rank_state.h"

/* Of a thread on whose stack no MPI function was found: sets mpi_call, mpi_frame and user_frame if its
   program has called one.  x86-64; what cannot be determined stays unknown. */
void mpiq_rank_find_called(struct mpiq_target *target, const struct mpiq_rank_state *state,
                           struct mpiq_thread *thread);

/* The MPI function that begins at an address, as the standard spells it ("MPI_Irecv"); false: another
   function begins there.  *ret_fortran: it is one of the binding that passes everything by reference. */
bool mpiq_rank_function_at(struct mpiq_target *target, uint64_t address, char *ret, size_t size,
                           bool *ret_fortran);

#endif
