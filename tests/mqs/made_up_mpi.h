/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_up_mpi - a made-up process that runs Open MPI: structures as either release line has them,
 * communicators, groups, requests and messages as the test wants them.
 */
#ifndef MADE_UP_MPI_H
#define MADE_UP_MPI_H

#include "made_up.h"

#define MADE_UP_JOBID 0x12340001u

struct made_up_mpi {
    struct made_up *memory;
    bool line5; /* structures of 5.0, else of 4.1 */
    int size;   /* of the world */
    int rank;
    mqs_taddr_t table; /* ompi_mpi_communicators */
    mqs_taddr_t table_array;
    mqs_taddr_t *procs; /* of the world; may be sentinels */
    mqs_taddr_t world;
    mqs_taddr_t self;
    mqs_taddr_t sends; /* the free lists */
    mqs_taddr_t receives;
    mqs_taddr_t send_chunk; /* next item in them */
    mqs_taddr_t receive_chunk;
    mqs_taddr_t integer; /* a datatype of 4 bytes */
    mqs_taddr_t libnbc;
    mqs_taddr_t partitioned; /* the list of partitioned requests, of 5.0 alone */
    uint64_t receive_sequence;
};

/* requests: room in each free list. */
struct made_up_mpi *made_up_mpi_create(int pointer_size, bool big_endian, bool line5, int size, int rank,
                                       int requests);
void made_up_mpi_destroy(struct made_up_mpi *mpi);

/* The world group's processes; remote ones as sentinels if asked for. */
mqs_taddr_t made_up_mpi_proc(struct made_up_mpi *mpi, uint32_t jobid, uint32_t vpid, bool sentinel);
mqs_taddr_t made_up_mpi_group(struct made_up_mpi *mpi, int count, const mqs_taddr_t *procs);

/* A communicator in slot `index`; remote 0 for an intracommunicator. */
mqs_taddr_t made_up_mpi_communicator(struct made_up_mpi *mpi, int index, const char *name, mqs_taddr_t group,
                                     mqs_taddr_t remote, int rank);

struct made_up_request {
    bool send;
    int type;  /* enum pml_type, 0: as send says */
    int state; /* enum request_state, 0: active */
    uint64_t complete;
    bool delivered; /* req_pml_complete */
    bool persistent;
    mqs_taddr_t comm;
    int peer;
    int tag;
    int mode;
    uint64_t count;
    uint64_t sequence;
    int status_source;
    int status_tag; /* 0: any, not matched */
    uint64_t status_bytes;
};

mqs_taddr_t made_up_mpi_request(struct made_up_mpi *mpi, const struct made_up_request *request);

struct made_up_partitioned {
    bool send;
    bool set_up;    /* both sides know of each other */
    bool restarted; /* not for the first time */
    bool complete;
    mqs_taddr_t comm;
    int peer;
    int tag;
    int parts;            /* at most 64 */
    const int *flags;     /* of each part */
    mqs_taddr_t inner[2]; /* the requests of its parts, all of them the first; that it is set up by */
};

/* An active partitioned request of 10 integers a part: of 5.0 alone. */
mqs_taddr_t made_up_mpi_partitioned(struct made_up_mpi *mpi, const struct made_up_partitioned *partitioned);

/* ob1's state of a peer of a communicator, made when first asked for. */
mqs_taddr_t made_up_mpi_peer(struct made_up_mpi *mpi, mqs_taddr_t comm, int rank);

/* A message from a peer: eager if length <= 4096, else a rendezvous. */
mqs_taddr_t made_up_mpi_message(struct made_up_mpi *mpi, mqs_taddr_t comm, int source, int tag,
                                uint64_t length, int sequence);

/* A fragment of those that came too early, not in any list yet. */
mqs_taddr_t made_up_mpi_fragment(struct made_up_mpi *mpi, int source, int tag, uint64_t length, int sequence);

/* Makes a list in zeroed memory; appends an item to one. */
void made_up_mpi_empty_list(struct made_up_mpi *mpi, mqs_taddr_t list);
void made_up_mpi_append(struct made_up_mpi *mpi, mqs_taddr_t list, mqs_taddr_t item);

#endif
