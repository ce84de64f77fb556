/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ob1 - what PML ob1 keeps for a communicator: for each peer with which there was contact, the posted
 * receives, the unexpected and out-of-order messages, and the sequence numbers.
 */
#ifndef MQS_OMPI_OB1_H
#define MQS_OMPI_OB1_H

#include <stddef.h>
#include <stdint.h>

#include "communicator.h"
#include "list.h"
#include "memory.h"
#include "mpi_interface.h"

/* One peer's state, fetched. */
struct ob1_peer {
    int rank; /* local rank; of the remote group of an intercommunicator */
    mqs_taddr_t address;
    uint16_t expected; /* sequence number of the next message from it */
    uint16_t sent;     /* of the last message to it */
    mqs_taddr_t early; /* first of the ring of messages that came too early; 0 if none */
};

/* What is done with a peer; anything but mqs_ok ends the walk and is its result. */
typedef int (*ob1_peer_visit)(struct memory *memory, void *argument, const struct ob1_peer *peer);

/* Visits the peers of a communicator in rank order. */
int ob1_walk_peers(struct memory *memory, const struct communicator *comm, ob1_peer_visit visit,
                   void *argument);

/* Visits every posted receive of every communicator. */
int ob1_walk_posted(struct memory *memory, const struct communicators *communicators, list_visit visit,
                    void *argument);

#endif
