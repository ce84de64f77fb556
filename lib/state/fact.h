/* SPDX-License-Identifier: BSD-3-Clause */
/* fact - what a rank that is paused at its end tells the check (mpiq run --check). */
#ifndef MPIQ_FACT_H
#define MPIQ_FACT_H

#include <stdint.h>

#include "state/place.h"

/* Calls that are alike, or something made and not freed, of a rank that is paused at its end: mpiq_record.h
   says what the members mean.  Kind 0 is a communicator that the others name. */
#define MPIQ_FACT_KINDS(X)          \
    X(COMMUNICATOR, "communicator") \
    X(SENT, "sent")                 \
    X(RECEIVED, "received")         \
    X(COLLECTIVE, "collective")     \
    X(OBJECT, "object")

enum mpiq_fact_kind {
#define MPIQ_ENUM(id, word) MPIQ_FACT_##id,
    MPIQ_FACT_KINDS(MPIQ_ENUM)
#undef MPIQ_ENUM
};

/* `base` of an object. */
enum mpiq_object {
    MPIQ_OBJECT_COMMUNICATOR,
    MPIQ_OBJECT_DATATYPE,
    MPIQ_OBJECT_GROUP,
    MPIQ_OBJECT_WINDOW,
    MPIQ_OBJECT_FILE,
    MPIQ_OBJECT_OP,
    MPIQ_OBJECT_REQUEST,    /* active: of a receive with its peer and tag */
    MPIQ_OBJECT_PERSISTENT, /* a persistent request that is not active */
    MPIQ_OBJECT_COUNT
};

enum { MPIQ_FACT_BASE_NONE, MPIQ_FACT_BASE_ANY }; /* values of `base` that are no type's code */

struct mpiq_fact {
    uint8_t kind;       /* enum mpiq_fact_kind */
    int16_t collective; /* class; -1 */
    int32_t peer;       /* rank in this one's MPI_COMM_WORLD, -1; of a collective the root, local */
    int32_t tag;
    int32_t comm_size;   /* members, of both groups */
    uint32_t comm_flags; /* MPIQ_COMM_ */
    uint32_t base;       /* code of the elements' type; of an object what it is */
    int64_t bytes;       /* -1: not known */
    uint64_t comm;       /* the same on all members; 0: none, or not certain */
    uint64_t count;
    uint64_t sum;
    uint64_t first;
    uint64_t signature;
    uint64_t caller;
    const char *call;      /* "MPI_Send" */
    const char *comm_name; /* NULL: it has none */
    const char *base_name; /* "MPI_INT" */
    const char *op;
    struct mpiq_place place; /* what `caller` resolves to */
};

#endif
