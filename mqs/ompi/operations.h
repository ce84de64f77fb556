/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operations - the operation iterator: the pending sends, posted receives or unexpected messages of a
 * communicator.
 */
#ifndef MQS_OMPI_OPERATIONS_H
#define MQS_OMPI_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "communicator.h"
#include "library.h"
#include "mqs_extensions.h"
#include "unexpected.h"

struct operations {
    bool show_internal; /* mqs_option_internal; outlives operations_clear */
    bool set_up;
    int class_; /* mqs_op_class */
    size_t next;
    size_t end;
    size_t next_partitioned;
    mqs_taddr_t comm;
    struct messages messages; /* of that class */
};

int operations_set_up(struct library *library, struct operations *operations, const struct communicator *comm,
                      int class_);
int operations_next(struct library *library, struct operations *operations, mqs_pending_operation *ret,
                    mqs_operation_details *details);
void operations_clear(struct operations *operations);

#endif
