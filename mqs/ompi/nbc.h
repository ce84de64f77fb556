/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nbc - requests of non-blocking collectives that libnbc has not finished, and the point-to-point requests
 * inside them.  Only a patched library says which collective it is (collective).
 */
#ifndef MQS_OMPI_NBC_H
#define MQS_OMPI_NBC_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"
#include "mpi_interface.h"
#include "vector.h"

struct nbc_request {
    mqs_taddr_t address;
    mqs_taddr_t comm;
    int tag;           /* of its messages */
    int collective;    /* class, -1 if not known */
    mqs_taddr_t inner; /* array of its current round's requests */
    int inner_count;
};

struct nbc_requests {
    struct vector list; /* of struct nbc_request, oldest first */
    struct nbc_request **by_address;
    struct nbc_request **by_message; /* by communicator, then tag */
};

/* mqs_no_information where libnbc is not there or cannot be read. */
int nbc_read(struct memory *memory, struct nbc_requests *ret);
void nbc_clear(struct nbc_requests *nbc);

struct nbc_request *nbc_find(const struct nbc_requests *nbc, mqs_taddr_t address);

/* The one that a message of this communicator and tag belongs to, or NULL. */
const struct nbc_request *nbc_of_message(const struct nbc_requests *nbc, mqs_taddr_t comm, int tag);

#endif
