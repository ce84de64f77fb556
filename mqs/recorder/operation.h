/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation - sends, receives and probes from the records, as the interface's operations: requests, and the
 * blocking calls that threads are in, which have no request.
 */
#ifndef MQS_RECORDER_OPERATION_H
#define MQS_RECORDER_OPERATION_H

#include "copy.h"
#include "mqs_extensions.h"

struct operation {
    mqs_pending_operation plain;
    mqs_operation_details details;
    uint64_t begin;       /* cycles: the order of posting */
    mqs_partitions parts; /* parts.partitions is 0 if it is not partitioned */
};

/* Ordered by posting. */
struct operation_list {
    struct operation *operations;
    size_t count;
    size_t capacity;
};

void operations_clear(struct operation_list *list);

/* All operations of a class on a communicator. */
int operations_of_queue(const struct copy *copy, const struct mpiq_record_comm *comm, int class_,
                        struct operation_list *list);

/* What a thread waits for in the call it is in; `fetch` reads its array of requests. */
int operations_of_wait(const struct copy *copy, struct fetch *fetch, const struct mpiq_record_thread *thread,
                       const struct mpiq_record_call *call, struct operation_list *list);

/* World rank of a communicator's local rank (in its remote group, if any); MQS_INVALID_PROCESS: none. */
int operation_world_rank(const struct copy *copy, const struct mpiq_record_comm *comm, int32_t local);

#endif
