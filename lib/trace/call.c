/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/call.h"

#include <stddef.h>
#include <string.h>

#include "state/rank_state.h"

static const struct {
    const char *name; /* after MPI_ */
    uint8_t call;
} calls[] = {
    {"Send", MPIQ_TRACE_SEND},
    {"Bsend", MPIQ_TRACE_BSEND},
    {"Ssend", MPIQ_TRACE_SSEND},
    {"Rsend", MPIQ_TRACE_RSEND},
    {"Issend", MPIQ_TRACE_ISSEND},
    {"Recv", MPIQ_TRACE_RECEIVE},
    {"Sendrecv", MPIQ_TRACE_SENDRECV},
    {"Sendrecv_replace", MPIQ_TRACE_SENDRECV},
    {"Probe", MPIQ_TRACE_PROBE},
    {"Mprobe", MPIQ_TRACE_PROBE},
    {"Wait", MPIQ_TRACE_WAIT},
    {"Waitall", MPIQ_TRACE_WAITALL},
    {"Waitany", MPIQ_TRACE_WAITANY},
    {"Waitsome", MPIQ_TRACE_WAITSOME},
    {"Test", MPIQ_TRACE_TEST},
    {"Testall", MPIQ_TRACE_TEST},
    {"Testany", MPIQ_TRACE_TEST},
    {"Testsome", MPIQ_TRACE_TEST},
    {"Request_get_status", MPIQ_TRACE_TEST},
    {"Iprobe", MPIQ_TRACE_TEST},
    {"Init", MPIQ_TRACE_INIT},
    {"Init_thread", MPIQ_TRACE_INIT},
    {"Finalize", MPIQ_TRACE_FINALIZE},
    {"Request_free", MPIQ_TRACE_FREE},
    {"Mrecv", MPIQ_TRACE_UNRECORDED},
    {"Imrecv", MPIQ_TRACE_UNRECORDED},
    {"Isendrecv", MPIQ_TRACE_UNRECORDED},
    {"Isendrecv_replace", MPIQ_TRACE_UNRECORDED},
};

uint8_t mpiq_trace_call_of(const char *name, bool mpi, int16_t *collective)
{
    *collective = -1;
    if (!mpi || strncmp(name, "MPI_", 4) != 0)
        return mpi ? MPIQ_TRACE_OTHER : MPIQ_TRACE_OUTSIDE;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, name + 4) == 0)
            return calls[i].call;
    }
    *collective = (int16_t)mpiq_collective_class(name);
    return *collective >= 0 && mpiq_collective_kind(*collective) == 'B' ? MPIQ_TRACE_COLLECTIVE
                                                                        : MPIQ_TRACE_OTHER;
}
