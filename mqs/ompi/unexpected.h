/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unexpected - messages that arrived before their receive was posted, or before a message sent earlier, and
 * the sequence numbers of their channels.
 */
#ifndef MQS_OMPI_UNEXPECTED_H
#define MQS_OMPI_UNEXPECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "communicator.h"
#include "memory.h"
#include "mpi_interface.h"
#include "vector.h"

struct message {
    mqs_taddr_t fragment;
    mqs_taddr_t buffer; /* where the bytes that came are; 0 if none did */
    uint64_t length;    /* of the whole message */
    uint32_t sequence;  /* 16 bits, unrolled from the next expected one */
    int source;
    int tag;
    bool eager; /* all of it is here */
    bool early; /* one sent before it is missing */
};

/* Of the current communicator: per sender in the order they were sent, senders by rank. */
struct messages {
    struct vector list; /* of struct message */
};

/* ERROR_LAYOUT where the rows of ob1 are missing. */
int messages_read(struct memory *memory, const struct communicator *comm, struct messages *ret);
void messages_clear(struct messages *messages);

struct channels {
    struct vector list; /* of mqs_channel */
    size_t next;
    bool set_up;
};

/* mqs_no_information where the rows of ob1 are missing. */
int channels_read(struct memory *memory, const struct communicator *comm, struct channels *ret);
void channels_clear(struct channels *channels);

#endif
