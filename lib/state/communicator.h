/* SPDX-License-Identifier: BSD-3-Clause */
/* communicator - a communicator as one rank knows it: its groups, collective calls and counts of messages. */
#ifndef MPIQ_COMMUNICATOR_H
#define MPIQ_COMMUNICATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/operation.h"

/* One collective call: a ring entry, or outstanding. */
struct mpiq_call {
    int64_t number; /* running number from 1; 0: unordered */
    int64_t count;
    int64_t bytes;    /* count × datatype size; -1 not known */
    int64_t begin_ns; /* since the epoch; 0 not known */
    uint64_t caller;
    uint64_t request; /* 0: blocking */
    int32_t root;
    int32_t tid;
    int16_t collective; /* class: see mpiq_rank_state.collective_names */
    bool done;
    const char *datatype;      /* name; NULL not known */
    const char *op;            /* name of a predefined one; NULL otherwise */
    struct mpiq_place started; /* what `caller` resolves to */
};

/* A neighbourhood collective that has not ended: it needs the data of that member, which has to enter it. */
struct mpiq_call_source {
    int64_t number; /* running number of the call */
    int32_t local;  /* rank in the communicator */
};

/* A request of a persistent collective. */
struct mpiq_persistent {
    int64_t number; /* running number of the call that made it */
    int64_t starts;
    uint64_t request;
    uint64_t caller;
    struct mpiq_place made; /* what `caller` resolves to */
};

struct mpiq_coll_count {
    int16_t collective;
    bool active;
    uint32_t count;
};

/* Members of one group: in JSON a run of them is a few bytes, which without a bound could ask for any memory.
   A fuzzing build takes less: its limits of time and memory are those of a small job. */
#ifndef MPIQ_GROUP_MAX
#define MPIQ_GROUP_MAX (UINT32_C(1) << 20)
#endif

/* Members in rank order.  Kept once for all ranks of a look by hash: see `group` of the communicator. */
struct mpiq_group {
    uint64_t hash; /* of the members' names; never 0: computed by the reader where the library
                      does not keep it, FNV-1a as ompi_mqs.h says */
    uint32_t count;
    struct mpiq_name *members; /* NULL: this hash's members were sent with an earlier rank of the look */
};

/* How many messages of one tag were sent or received on a channel; or, with a cell, one of the sums over the
   messages of many tags that mpiq_record.h explains. */
#define MPIQ_TAG_CELLS 24 /* as MPIQ_RECORD_CELLS */

struct mpiq_tag_count {
    uint64_t messages;
    uint64_t bytes;
    uint64_t tags;   /* sum of the tags; without a cell: the tag */
    uint64_t hashes; /* of a cell: sum of the tags' hashes */
    int32_t cell;    /* -1: messages of one tag alone */
    bool received;   /* received from the peer; else sent to it */
};

/* The traffic with one peer, told by sequence numbers or counts. */
struct mpiq_channel {
    int32_t peer_local;
    uint32_t sent;     /* number of the next message to it; the first one has 1 */
    uint32_t expected; /* number of the next message from it */
    bool counted;      /* `expected` counts receives that the program has completed: what was sent and not
                          received is told by the tag counts, not by the library's queues */
    bool unclear;      /* counted, but the counts may be off */
    bool bytes_known;  /* counted: the sums of bytes are complete */
    struct mpiq_tag_count *tags;
    size_t tag_count;
};

enum {
    MPIQ_COMM_INTER = 1,
    MPIQ_COMM_INTERNAL = 2,
    MPIQ_COMM_FREED = 4,
    MPIQ_COMM_SELF = 8,
    MPIQ_COMM_WORLD = 16,
    MPIQ_COMM_TOPOLOGY = 32
};

struct mpiq_communicator {
    uint64_t handle;
    uint64_t context[2]; /* the same on all members; two disjoint communicators may share it */
    char name[64];
    int32_t local_rank;
    uint32_t flags;  /* MPIQ_COMM_ */
    uint64_t parent; /* handle of the one an internal one serves; 0 */
    struct mpiq_group local;
    struct mpiq_group remote;       /* count 0 for an intracommunicator */
    int64_t ordered;                /* running number of the last ordered call; -1 not kept */
    int64_t nonblocking;            /* non-blocking collectives started; -1 not known */
    struct mpiq_coll_count *counts; /* those not 0 */
    size_t count_count;
    struct mpiq_call *calls; /* the ring, newest first */
    size_t call_count;
    struct mpiq_call *outstanding;
    size_t outstanding_count;
    struct mpiq_call_source *sources;
    size_t source_count;
    struct mpiq_persistent *persistent;
    size_t persistent_count;
    struct mpiq_channel *channels;
    size_t channel_count;
    char made_by[48];       /* "MPI_Comm_dup": the call that made it; "" not known */
    uint64_t made_caller;   /* return address of that call; 0 not known */
    struct mpiq_place made; /* what it resolves to */
};

#endif
