/* SPDX-License-Identifier: BSD-3-Clause */
/* call - what an MPI function does, by its name. */
#ifndef MPIQ_TRACE_CALL_H
#define MPIQ_TRACE_CALL_H

#include <stdbool.h>
#include <stdint.h>

/* enum mpiq_trace_call of a region with that name; *collective is its class, -1 if it is none.  A region that
   is not MPI's is MPIQ_TRACE_OUTSIDE. */
uint8_t mpiq_trace_call_of(const char *name, bool mpi, int16_t *collective);

#endif
