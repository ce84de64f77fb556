/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partitioned - partitioned sends and receives (MPI_Psend_init, MPI_Precv_init), as part/persist keeps them.
 *
 * The component makes each of point-to-point messages on communicators of its own: one in each direction to
 * set it up, then one a partition of the sender's.  It has all requests in one list, from their making until
 * they are freed.
 */
#ifndef MQS_OMPI_PARTITIONED_H
#define MQS_OMPI_PARTITIONED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "mqs_extensions.h"
#include "vector.h"

struct partitioned {
    mqs_taddr_t address;
    mqs_taddr_t comm;
    mqs_taddr_t datatype;
    mqs_taddr_t buffer;
    mqs_taddr_t inner; /* a request of its own that has to complete first; 0: none, or not known */
    uint64_t count;    /* elements of a partition */
    uint64_t bytes;    /* of all of them */
    int64_t parts;     /* partitions: the sender's where they are known, else its own */
    int64_t missing;   /* of them, not marked ready or not arrived; -1: not known */
    int32_t peer;
    int32_t tag;
    uint8_t state; /* enum request_state */
    bool send;
    bool complete;
    bool freed;
    bool moves;     /* the library may send for it without a call of the program's */
    char which[64]; /* the missing ones, "3" or "0-2,5"; ends in "..." where they are too many */
};

struct partitioned_requests {
    struct vector list; /* of struct partitioned, in the order in which they were made */
    const struct partitioned **by_address;
    mqs_taddr_t comm;    /* communicators of the library's own: of the partitions; 0: not made yet */
    mqs_taddr_t setting; /* of the messages that set them up */
};

int partitioned_read(struct memory *memory, struct partitioned_requests *ret);
void partitioned_clear(struct partitioned_requests *requests);

/* The one at an address, or NULL: a binary search. */
const struct partitioned *partitioned_find(const struct partitioned_requests *requests, mqs_taddr_t address);

#endif
