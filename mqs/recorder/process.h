/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process - what is attached to the debugger's process: the copy of its records and the iterators over it.
 */
#ifndef MQS_RECORDER_PROCESS_H
#define MQS_RECORDER_PROCESS_H

#include "../entry_points.h"
#include "../vector.h"
#include "copy.h"
#include "operation.h"

struct _mqs_process_info {
    struct fetch fetch;
    mqs_image *image;
    const mqs_image_callbacks *image_callbacks;
    mqs_taddr_t root; /* address; 0: not looked up yet */
    struct copy copy;
    bool read;
    char message[256];

    bool iterating;
    const struct mpiq_record_comm *comm; /* current; NULL: none */
    uint32_t comm_at;
    unsigned comms_seen;

    struct operation_list operations; /* of the queue that is iterated */
    size_t next_operation;
    struct operation_list wait_operations;
    size_t next_wait_operation;
    mqs_operation_details details; /* of the operation returned last */
    mqs_partitions parts;          /* likewise */
    bool details_valid;

    int calls; /* mqs_call_list that is iterated, -1 none */
    uint64_t next_call;
    struct copy_requests outstanding;
    bool iterating_process_calls;
    uint64_t next_process_call;
    const struct mpiq_record_channel **channels; /* of the current communicator, by peer */
    size_t channel_count;
    size_t next_channel; /* past the one returned last */
    uint32_t thread;     /* of the wait iterator */
    unsigned threads_seen;
    uint32_t history_thread;
    unsigned history_threads_seen;
    uint64_t history_next; /* call number; 0: the next thread */
    uint64_t history_end;
    const struct mpiq_record_window *window;             /* returned last; NULL: none */
    const struct mpiq_record_window_peers *window_peers; /* of that one; NULL: none */
    uint32_t next_window;
    unsigned windows_seen;
    uint32_t next_fact; /* of the fact iterator: in the table */
    uint32_t fact_comm; /* before facts: communicators, live ones first */
    unsigned fact_comms_seen;
    bool fact_comms_freed;
};

/* Reads the records. */
int process_refresh(mqs_process_info *info);
void process_clear(mqs_process_info *info);

#endif
