/* SPDX-License-Identifier: BSD-3-Clause */
/* job_communicator - a communicator of a job (job_state.h), what each member knows of it, and the calls
 * there. */
#ifndef MPIQ_JOB_COMMUNICATOR_H
#define MPIQ_JOB_COMMUNICATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "state/index.h"

/* Members in rank order, for all who have this group. */
struct mpiq_job_group {
    uint64_t hash;
    uint32_t count;
    uint32_t *members; /* processes; NULL: nobody told them */
};

/* One communicator of the job.  All MPI_COMM_SELFs are one, with no group and the flag MPIQ_COMM_SELF. */
struct mpiq_job_communicator {
    uint64_t context[2];
    mpiq_string_id name;   /* "MPI_COMM_WORLD"; 0: nobody named it */
    uint32_t flags;        /* MPIQ_COMM_ */
    uint32_t group;        /* in groups */
    uint32_t remote;       /* the other group of an intercommunicator; MPIQ_NONE.  Which of the two
                              is `group` does not depend on who was read first */
    uint32_t user;         /* the communicator the user called on: itself, or of an internal one the
                              one it serves; itself if that is not known */
    uint32_t first_member; /* in members: those read, by (group, local rank) */
    uint32_t member_count;
    mpiq_string_id made_by; /* "MPI_Comm_dup": the call that made it; 0 not known */
    uint32_t made;          /* in sites: where that was; MPIQ_NONE */
    uint8_t named_by;       /* enum mpiq_named_by */
};

/* Who gave a communicator its name. */
enum mpiq_named_by {
    MPIQ_NAMED_BY_USER,    /* or by MPI: MPI_COMM_WORLD */
    MPIQ_NAMED_BY_LIBRARY, /* Open MPI: "MPI COMMUNICATOR 3 DUP FROM 0" */
    MPIQ_NAMED_BY_CONTEXT  /* by us: "communicator 5" */
};

/* What one rank knows of one communicator. */
struct mpiq_job_member {
    uint64_t handle;
    int64_t ordered;     /* running number of the last ordered call; -1 not kept */
    int64_t nonblocking; /* non-blocking collectives started; -1 not known */
    uint32_t rank;       /* in ranks */
    uint32_t comm;       /* in communicators */
    int32_t local_rank;
    bool remote_side; /* intercommunicator: its own group is the communicator's `remote` */
    bool freed;
    uint32_t first_count; /* in counts: those not 0 */
    uint32_t count_count;
    uint32_t first_call; /* in calls: the ring, newest first */
    uint32_t call_count;
    uint32_t first_outstanding; /* in calls too */
    uint32_t outstanding_count;
    uint32_t first_source; /* in call_sources */
    uint32_t source_count;
    uint32_t first_persistent; /* in persistent */
    uint32_t persistent_count;
    uint32_t first_channel; /* in channels: by process */
    uint32_t channel_count;
};

/* A collective call without what differs from rank to rank; equal ones exist once. */
struct mpiq_call_shape {
    int64_t number; /* running number from 1; 0: unordered */
    int64_t count;
    int64_t bytes; /* -1 not known */
    int32_t root;
    int32_t collective; /* no narrower: shapes are compared as bytes, so there is no padding */
    mpiq_string_id datatype;
    mpiq_string_id op;
};

/* A request of a persistent collective. */
struct mpiq_job_persistent {
    int64_t number; /* running number of the call that made it */
    int64_t starts;
    uint64_t request;
    uint32_t made; /* in sites; MPIQ_NONE */
};

struct mpiq_job_call {
    int64_t begin_ns; /* since the epoch; 0 not known */
    uint64_t request; /* 0: blocking */
    uint32_t shape;   /* in shapes */
    uint32_t started; /* in sites: who called it; MPIQ_NONE */
    int32_t tid : 31;
    bool done : 1;
};

/* As mpiq_channel, with the process on the other side. */
struct mpiq_job_channel {
    uint32_t peer;
    uint32_t sent;
    uint32_t expected;
    bool sent_moved : 1; /* not the same in both looks */
    bool expected_moved : 1;
    bool counted : 1; /* see mpiq_channel */
    bool unclear : 1;
    bool bytes_known : 1;
    bool settled : 1;   /* what was sent to the peer and not received stands among its unexpected messages */
    uint32_t first_tag; /* in the builder's tags, until the job state is finished */
    uint32_t tag_count;
};

#endif
