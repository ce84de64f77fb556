/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request - the point-to-point requests that the process has, those on stacks included.
 *
 * They come from the chunks of the PML's two free lists and from the lists of posted receives, where a
 * probe's request, which is on the stack of the probing thread, is linked.  All are read once per look, when
 * first asked for, and sorted in posted order.
 */
#ifndef MQS_OMPI_REQUEST_H
#define MQS_OMPI_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "communicator.h"
#include "memory.h"
#include "mpi_interface.h"
#include "vector.h"

/* Of the library: ompi_request_type_t. */
enum request_type {
    REQUEST_IS_PML = 0,
    REQUEST_IS_COLL = 4,
    REQUEST_IS_NULL = 5,
    REQUEST_IS_COMM = 7,
    REQUEST_IS_PART = 8
};

/* ompi_request_state_t */
enum request_state { REQUEST_INVALID, REQUEST_INACTIVE, REQUEST_ACTIVE, REQUEST_CANCELLED };

/* mca_pml_base_request_type_t */
enum pml_type { PML_NULL, PML_SEND, PML_RECV, PML_IPROBE, PML_PROBE, PML_IMPROBE, PML_MPROBE };

/* mca_pml_base_send_mode_t */
enum send_mode { MODE_SYNCHRONOUS, MODE_COMPLETE, MODE_BUFFERED, MODE_READY, MODE_STANDARD };

#define ANY_SOURCE (-1)
#define ANY_TAG (-1)

/* req_complete: pending, complete, or else the address of what a thread waits on. */
#define COMPLETE_PENDING 0
#define COMPLETE_DONE 1

struct request {
    mqs_taddr_t address;
    mqs_taddr_t comm;
    mqs_taddr_t datatype;
    mqs_taddr_t buffer;        /* as the user gave it */
    mqs_taddr_t system_buffer; /* where a buffered send's data lie; 0 if none */
    mqs_taddr_t complete;      /* COMPLETE_ or a sync object */
    mqs_taddr_t next;          /* of the list it is linked in */
    mqs_taddr_t endpoint;      /* a send's, 0 if not known */
    uint64_t count;
    uint64_t bytes_packed; /* of a send: length; of a receive: what came, once matched */
    uint64_t status_bytes;
    uint64_t sequence;
    int32_t peer;
    int32_t tag;
    int32_t status_source;
    int32_t status_tag;
    uint8_t pml_type; /* enum pml_type */
    uint8_t state;    /* enum request_state */
    uint8_t mode;     /* enum send_mode, of a send */
    bool persistent;
    bool freed;
    bool delivered; /* the PML is done with it */
    bool cancelled;
    bool receiver_known; /* a rendezvous send that its receiver has answered */
};

struct requests {
    struct vector list;        /* of struct request */
    struct vector elsewhere;   /* likewise: those in no chunk, while they are looked for */
    struct request **sends;    /* by communicator, then in posted order */
    struct request **receives; /* likewise; probes included */
    struct request **by_address;
    size_t send_count;
    size_t receive_count;
};

/* Reads them all; those linked in lists of posted receives by way of the communicators. */
int requests_read(struct memory *memory, const struct communicators *communicators, struct requests *ret);
void requests_clear(struct requests *requests);

/* The part of the sends (or receives) that belongs to a communicator: [*first, *end). */
void requests_of(const struct requests *requests, bool sends, mqs_taddr_t comm, size_t *first, size_t *end);

/* One that was read, or NULL. */
const struct request *request_find(const struct requests *requests, mqs_taddr_t address);

/* Any point-to-point request by address, whether in the lists or not; ERROR_REQUESTS if it is none. */
int request_read(struct memory *memory, mqs_taddr_t address, struct request *ret);

/* The library's traffic, not the user's. */
bool request_is_internal(const struct request *request);

bool request_is_send(const struct request *request);

/* Whether it has ended.  A buffered send is complete for its caller at once; it ends when it is delivered. */
bool request_is_done(const struct request *request);

#endif
