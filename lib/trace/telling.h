/* SPDX-License-Identifier: BSD-3-Clause */
/* telling - what it takes to tell a replay's state: times, places, and the messages that were not received.
 */
#ifndef MPIQ_TRACE_TELLING_H
#define MPIQ_TRACE_TELLING_H

#include "state/rank_state.h"
#include "trace/replay.h"

/* Messages sent and not received, of one envelope and one place. */
struct mpiq_trace_outstanding {
    uint32_t from, to, comm, tag;
    uint32_t path; /* of the send */
    uint64_t count;
    uint64_t bytes;
    uint64_t sent;     /* of that envelope, in all */
    uint64_t received; /* the same */
};

/* Where a trace begins, in nanoseconds: 0 is "not known". */
#define MPIQ_TRACE_BEGIN_NS INT64_C(1000000000)

struct mpiq_trace_telling {
    const struct mpiq_trace_replay *replay;
    bool ended;                              /* all ranks came to their end */
    uint64_t *hashes;                        /* of groups that were told; 0: not yet */
    int32_t *comms;                          /* of each communicator, where it is in the rank state; -1 */
    struct mpiq_trace_outstanding *messages; /* by sender, communicator, receiver, tag, path */
    uint32_t message_count, message_room;
    uint64_t *unsent; /* by rank: receives without a send */
};

/* Nanoseconds as a rank state has them. */
int64_t mpiq_trace_ns(const struct mpiq_trace_replay *replay, uint64_t ticks);
/* The region of a path; NULL: none. */
const struct mpiq_trace_region *mpiq_trace_region_of(const struct mpiq_trace_replay *replay, uint32_t path);
/* "MPI_Recv"; NULL: it is no MPI call. */
const char *mpiq_trace_call_name(const struct mpiq_trace_replay *replay, uint32_t path);
/* Where a call was made: the function that made it. */
void mpiq_trace_place(const struct mpiq_trace_replay *replay, struct mpiq_rank_state *state, uint32_t path,
                      struct mpiq_place *ret);

#endif
