/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy - the recorder's records of one process, copied in one go.
 *
 * The process may go on while it is copied and its memory is untrusted, so every reference is an offset that
 * is checked against the copy, and every list has a bound.
 */
#ifndef MQS_RECORDER_COPY_H
#define MQS_RECORDER_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../fetch.h"
#include "mpiq_record.h"

struct copy {
    struct mpiq_record_root root;
    unsigned char *bytes; /* of the arena; NULL: nothing was recorded */
    size_t size;
    const struct mpiq_record_request **by_comm;   /* requests in use, by communicator */
    const struct mpiq_record_request **by_handle; /* the same ones */
    size_t request_count;
};

/* Reads the root and the arena; frees what *copy held before.  mqs_no_information: the recorder is loaded,
   but MPI_Init was not seen. */
int copy_read(struct copy *copy, struct fetch *fetch, mqs_taddr_t root);
void copy_clear(struct copy *copy);

/* The record at an offset, wholly inside the copy; NULL for 0, a wrong offset or one that is not aligned. */
const void *copy_at(const struct copy *copy, uint64_t offset, size_t size);

const struct mpiq_record_comm *copy_comm(const struct copy *copy, uint32_t offset);
/* As copy_comm, for the next one in a list; *seen counts those so far.  NULL also after more than fit into
   the copy: the list is cyclic. */
const struct mpiq_record_comm *copy_listed_comm(const struct copy *copy, uint32_t offset, unsigned *seen);
const struct mpiq_record_function *copy_function(const struct copy *copy, unsigned index);
/* A group with all its runs; NULL unless their counts add up to its members. */
const struct mpiq_record_group *copy_group(const struct copy *copy, uint32_t offset);
/* Name of a datatype or an operation (or MQS_USER_OP); "" if not known. */
void copy_type_name(const struct copy *copy, uint64_t handle, char *name, size_t size);
void copy_op_name(const struct copy *copy, uint64_t handle, char *name, size_t size);

/* Nanoseconds since the epoch; 0: not known. */
int64_t copy_time(const struct copy *copy, uint64_t cycles);

/* The call that a thread is in; NULL: in none. */
const struct mpiq_record_call *copy_current_call(const struct mpiq_record_thread *thread);

/* Iterates over a communicator's requests in the order of the recorder's table; NULL at the end. */
struct copy_requests {
    const struct mpiq_record_comm *comm;
    size_t next;
};
void copy_requests_of(const struct copy *copy, const struct mpiq_record_comm *comm,
                      struct copy_requests *walk);
const struct mpiq_record_request *copy_next_request(const struct copy *copy, struct copy_requests *walk);

/* A request with that handle; NULL: there is none. */
const struct mpiq_record_request *copy_request(const struct copy *copy, uint64_t handle);

/* The next thread after *offset, which advances; *count (first 0) bounds the list.  NULL at the end. */
const struct mpiq_record_thread *copy_next_thread(const struct copy *copy, uint32_t *offset, unsigned *count);

#endif
