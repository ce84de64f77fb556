/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation - requests and messages in the shape that the interface gives them: the pending operation, for
 * every debugger, and its details for those that know the extension.
 */
#ifndef MQS_OPERATION_H
#define MQS_OPERATION_H

#include <stdbool.h>
#include <stddef.h>

#include "communicator.h"
#include "mpi_interface.h"
#include "request.h"
#include "unexpected.h"

/* The operation iterator: a class of the current communicator. */
struct operations {
    bool set_up;
    int class_; /* mqs_op_class */
    size_t next;
    size_t end;
    mqs_taddr_t comm;
};

int operations_set_up(mqs_process_info *info, const struct communicator *comm, int class_);
int operations_next(mqs_process_info *info, mqs_pending_operation *ret);

/* One request, with what is known of the collective it belongs to (-1: nothing). */
int operation_of_request(mqs_process_info *info, const struct request *request, int collective,
                         mqs_pending_operation *ret, mqs_operation_details *details);

/* A request of any kind by its address: a point-to-point one, a non-blocking collective's, another. */
int operation_of_address(mqs_process_info *info, mqs_taddr_t address, int collective, mqs_taddr_t comm,
                         mqs_pending_operation *ret, mqs_operation_details *details);

/* What only get_operation_details asks for and costs reads of its own: whether the send described last is
   eager. */
void operation_complete_details(mqs_process_info *info);

/* An envelope without a request, of a wait that names communicator, peer and tag alone. */
int operation_of_envelope(mqs_process_info *info, int kind, mqs_taddr_t comm, int peer, int tag,
                          mqs_pending_operation *ret, mqs_operation_details *details);

#endif
