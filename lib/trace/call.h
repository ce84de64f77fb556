/* SPDX-License-Identifier: BSD-3-Clause */
/* call - what an MPI function does, by its name. */
#ifndef MPIQ_TRACE_CALL_H
#define MPIQ_TRACE_CALL_H

#include <stdbool.h>
#include <stdint.h>

/* What an MPI call does, as far as waiting is concerned. */
enum mpiq_trace_call {
    MPIQ_TRACE_OUTSIDE, /* no MPI call */
    MPIQ_TRACE_OTHER,
    MPIQ_TRACE_SEND,
    MPIQ_TRACE_BSEND,
    MPIQ_TRACE_SSEND,
    MPIQ_TRACE_RSEND,
    MPIQ_TRACE_ISSEND, /* non-blocking and synchronous */
    MPIQ_TRACE_RECEIVE,
    MPIQ_TRACE_SENDRECV,
    MPIQ_TRACE_PROBE,
    MPIQ_TRACE_WAIT,
    MPIQ_TRACE_WAITALL,
    MPIQ_TRACE_WAITANY,
    MPIQ_TRACE_WAITSOME,
    MPIQ_TRACE_TEST, /* asks and does not wait */
    MPIQ_TRACE_COLLECTIVE,
    MPIQ_TRACE_INIT,
    MPIQ_TRACE_FINALIZE,
    MPIQ_TRACE_FREE,      /* of a request */
    MPIQ_TRACE_UNRECORDED /* receives a message of which there is no record: MPI_Mrecv and the like */
};

/* enum mpiq_trace_call of a region with that name; *collective is its class, -1 if it is none.  A region that
   is not MPI's is MPIQ_TRACE_OUTSIDE. */
uint8_t mpiq_trace_call_of(const char *name, bool mpi, int16_t *collective);

#endif
