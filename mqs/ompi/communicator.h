/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * communicator - the communicators that the process has now, in the order of the library's table.
 */
#ifndef MQS_OMPI_COMMUNICATOR_H
#define MQS_OMPI_COMMUNICATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "mpi_interface.h"
#include "vector.h"

/* Bits of the library's c_flags that others ask for; the same in every release that has the members we
   read. */
#define FLAG_INTRINSIC 0x4u
#define FLAG_FREED 0x10u
#define FLAG_TOPOLOGY 0x700u /* cartesian, graph, distributed graph */

struct communicator {
    mqs_taddr_t address;
    uint32_t index; /* in the library's table */
    uint32_t flags; /* the library's c_flags */
    int my_rank;
    int size;        /* of the local group */
    int remote_size; /* 0: intracommunicator */
    int references;  /* to the object; 0 if not known */
    int32_t nbc_tag; /* c_nbc_tag, 0 if not known */
    bool inter;
    bool internal; /* not the user's own */
    bool self;
    bool world;
    mqs_taddr_t local_group;
    mqs_taddr_t remote_group; /* the local one of an intracommunicator */
    mqs_taddr_t local_comm;   /* hidden, of an intercommunicator; 0 if none */
    mqs_taddr_t pml_comm;     /* the PML's own state */
    mqs_taddr_t coll;
    mqs_taddr_t collectives; /* struct ompi_mqs_collectives, 0 if none */
    mqs_taddr_t parent;      /* handle of the one an internal one serves, 0 if not known */
    uint64_t context[2];
    mqs_taddr_t unique_id;
    char name[64];
};

struct communicators {
    struct vector list;       /* of struct communicator */
    struct vector by_address; /* of struct communicator_key, sorted */
};

struct communicator_key {
    mqs_taddr_t address;
    size_t index;
};

int communicators_read(struct memory *memory, struct communicators *ret);
void communicators_clear(struct communicators *communicators);

/* The name in the bytes of a communicator. */
void communicator_name(struct memory *memory, const unsigned char *bytes, char name[64]);

/* NULL if there is none of that index, or handle. */
const struct communicator *communicator_at(const struct communicators *communicators, size_t index);
const struct communicator *communicator_find(const struct communicators *communicators, mqs_taddr_t address);

/* Says that `hidden` is the library's own, made to serve `parent`. */
void communicator_mark(struct communicators *communicators, mqs_taddr_t hidden, mqs_taddr_t parent);

/* The group that a message's peer is a rank of. */
mqs_taddr_t communicator_peers(const struct communicator *communicator);

/* Non-blocking collectives started as far as the tag counter of an unpatched library tells; -1 if not. */
int64_t communicator_nonblocking(const struct layout *layout, const struct communicators *communicators,
                                 const struct communicator *communicator);

/* The first tag of non-blocking collectives, as the process's MPI_COMM_NULL has it: they have this one and
 * all below it. */
int communicator_nbc_base(const struct layout *layout);

#endif
