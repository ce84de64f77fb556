/* SPDX-License-Identifier: BSD-3-Clause */
/* operation - one message as one side sees it: a send, a receive, a probe, or one that nobody has received.
 */
#ifndef MPIQ_OPERATION_H
#define MPIQ_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "state/place.h"

/* A process by the library's own name. */
struct mpiq_name {
    uint32_t job; /* the library's number of the job (MPI_COMM_WORLD) */
    int32_t rank; /* in that job's MPI_COMM_WORLD; -1: nobody, or not known */
};

/* X(identifier, word in JSON) */
#define MPIQ_OPERATION_KINDS(X) \
    X(SEND, "send")             \
    X(BSEND, "bsend")           \
    X(SSEND, "ssend")           \
    X(RSEND, "rsend")           \
    X(RECEIVE, "receive")       \
    X(PROBE, "probe")           \
    X(MESSAGE, "message")       \
    X(COLLECTIVE, "collective") \
    X(OTHER, "other")           \
    X(PSEND, "psend")           \
    X(PRECV, "precv")

enum mpiq_operation_kind {
#define MPIQ_ENUM(id, word) MPIQ_OPERATION_##id,
    MPIQ_OPERATION_KINDS(MPIQ_ENUM)
#undef MPIQ_ENUM
};

#define MPIQ_OPERATION_STATUSES(X) \
    X(PENDING, "pending")          \
    X(MATCHED, "matched")          \
    X(COMPLETE, "complete")

enum mpiq_operation_status {
#define MPIQ_ENUM(id, word) MPIQ_STATUS_##id,
    MPIQ_OPERATION_STATUSES(MPIQ_ENUM)
#undef MPIQ_ENUM
};

/* Which list an operation was found in. */
enum mpiq_queue { MPIQ_QUEUE_SENDS, MPIQ_QUEUE_RECEIVES, MPIQ_QUEUE_UNEXPECTED, MPIQ_QUEUE_WAIT };

#define MPIQ_ANY (-1) /* of a local rank: any source */

/* A message as one side sees it.  Lengths in bytes; -1 where not known. */
struct mpiq_operation {
    uint64_t request;  /* the library's request; 0: an unexpected message has none */
    uint64_t sequence; /* order of posting (of arrival) on this communicator */
    uint64_t buffer;
    uint64_t caller; /* return address of the MPI call that started it; 0 not known */
    int64_t bytes;
    int64_t actual_bytes;  /* valid from matched on */
    uint32_t comm;         /* index in the rank's communicators */
    int32_t peer_local;    /* local rank of the other side; MPIQ_ANY */
    struct mpiq_name peer; /* rank -1 for any, or not known */
    int32_t tag;           /* valid unless tag_any */
    int32_t actual_local;  /* valid from matched on; -1 not known */
    struct mpiq_name actual;
    int32_t actual_tag;
    int16_t collective; /* class of the collective it belongs to, -1 */
    uint8_t kind;       /* enum mpiq_operation_kind */
    uint8_t status;     /* enum mpiq_operation_status */
    uint8_t queue;      /* enum mpiq_queue */
    bool tag_any;
    bool persistent;
    bool inactive; /* persistent, not started */
    bool internal; /* a collective's traffic, not the user's */
    bool eager;    /* a send that needs but room; a message that came whole */
    bool system_buffer;
    bool freed;
    bool out_of_order; /* unexpected, and an earlier one is still missing */
    bool cancelled;
    bool unnamed;              /* `request` is not the library's own for this message, which is not known */
    const char *datatype;      /* name, interned in the rank state; NULL not known */
    struct mpiq_place started; /* what `caller` resolves to */

    /* Of a partitioned one (PSEND, PRECV); partitions are the sender's, once they are known. */
    int64_t partitions;
    int64_t missing;   /* of them, not marked ready (a send), not arrived (a receive); -1 not known */
    const char *which; /* those: "3", "0-2,5"; interned; NULL not known */
    uint64_t inner;    /* a request of the library's own that has to complete first; 0 none, or not known */
    bool moves;        /* the library may send for it without another call of the program's */
};

#endif
