/* SPDX-License-Identifier: BSD-3-Clause */
/* calls - MPI's calls by their names: collective classes, what blocks, what only asks, sends, receives,
   uses a window. */
#ifndef MPIQ_CALLS_H
#define MPIQ_CALLS_H

#include <stdbool.h>

/* Name of a collective class (the ones of ompi_mqs.h), and back; NULL and -1 if there is none. */
const char *mpiq_collective_name(int collective);
int mpiq_collective_class(const char *name);
/* How it behaves: 'B' blocking, 'N' non-blocking, 'P' persistent; 0 if there is none.  And whether all
   members make it in the same order. */
char mpiq_collective_kind(int collective);
bool mpiq_collective_ordered(int collective);

/* Whether an MPI function asks and does not wait (MPI_Test, MPI_Iprobe and the like): that a rank calls it
   again is no progress.  NULL is fine. */
bool mpiq_is_poll(const char *call);
/* Whether it waits for another job, which may come at any time: as a server or as a client.  NULL is fine. */
bool mpiq_is_for_job(const char *call);

/* What an MPI function may block on; by its name. */
enum mpiq_blocking {
    MPIQ_BLOCKING_NOT,     /* it comes back, or is not known */
    MPIQ_BLOCKING_RECEIVE, /* receive, probe */
    MPIQ_BLOCKING_SEND,
    MPIQ_BLOCKING_BOTH,     /* MPI_Sendrecv */
    MPIQ_BLOCKING_REQUESTS, /* MPI_Wait, MPI_Waitall and so on */
    MPIQ_BLOCKING_COLLECTIVE,
    MPIQ_BLOCKING_INIT,
    MPIQ_BLOCKING_FINALIZE
};

enum mpiq_blocking mpiq_blocking_call(const char *name);

/* What a call does with point-to-point messages.  A call that makes a request does what the request is for.
 */
enum mpiq_call_messages {
    MPIQ_CALL_SENDS = 1,
    MPIQ_CALL_RECEIVES = 2,
    MPIQ_CALL_PROBES = 4,
    MPIQ_CALL_PREPARES = 8 /* nothing before MPI_Start: MPI_Send_init */
};

/* Several of them for MPI_Sendrecv and MPI_Recv_init; MPI_Isend_c is as MPI_Send.  0: none, also for NULL. */
unsigned mpiq_call_messages(const char *name);

/* Whether it makes a window, or opens a file.  NULL: no. */
bool mpiq_call_makes_window(const char *name);
bool mpiq_call_opens_file(const char *name);

/* Whether a call of MPI's waits for what other ranks do at a window: MPI_Win_wait, MPI_Win_lock.  NULL: no.
 */
bool mpiq_call_waits_in_window(const char *name);
/* Whether it reads a window or synchronises with one, and changes nothing else; MPI_Compare_and_swap and the
   like only if they find what they look for.  And whether it always changes one.  NULL: no. */
bool mpiq_call_reads_window(const char *name);
bool mpiq_call_writes_window(const char *name);

#endif
