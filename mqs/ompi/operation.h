/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation - requests and messages in the shape that the interface gives them: the pending operation, for
 * every debugger, and its details for those that know the extension.
 */
#ifndef MQS_OMPI_OPERATION_H
#define MQS_OMPI_OPERATION_H

#include "communicator.h"
#include "library.h"
#include "mqs_extensions.h"
#include "request.h"
#include "unexpected.h"

/* One request, with what is known of the collective it belongs to (-1: nothing). */
int operation_of_request(struct library *library, const struct request *request, int collective,
                         mqs_pending_operation *ret, mqs_operation_details *details);

/* A request of any kind by its address: a point-to-point one, a non-blocking collective's, another. */
int operation_of_address(struct library *library, mqs_taddr_t address, int collective, mqs_taddr_t comm,
                         mqs_pending_operation *ret, mqs_operation_details *details);

/* A partitioned send or receive. */
void operation_of_partitioned(struct library *library, const struct partitioned *request,
                              mqs_pending_operation *ret, mqs_operation_details *details);

/* What of the one described last has no place in its details; mqs_no_information if it is none. */
int operation_partitions(struct library *library, const mqs_operation_details *details, mqs_partitions *ret);

/* What only get_operation_details asks for and costs reads of its own: whether the send described last is
   eager. */
void operation_complete_details(struct library *library, mqs_operation_details *details);

/* A message that came before its receive. */
void operation_of_message(struct library *library, const struct communicator *comm,
                          const struct message *message, mqs_pending_operation *ret,
                          mqs_operation_details *details);

/* An envelope without a request, of a wait that names communicator, peer and tag alone. */
int operation_of_envelope(struct library *library, int kind, mqs_taddr_t comm, int peer, int tag,
                          mqs_pending_operation *ret, mqs_operation_details *details);

#endif
