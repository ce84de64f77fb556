/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "error.h"
#include "operation.h"
#include "operations.h"

int operations_set_up(struct library *library, struct operations *operations, const struct communicator *comm,
                      int class_)
{
    int code;

    operations_clear(operations);
    switch (class_) {
    case mqs_pending_sends:
    case mqs_pending_receives:
        code = library_requests(library);
        if (code == mqs_ok) {
            requests_of(&library->requests, class_ == mqs_pending_sends, comm->address, &operations->next,
                        &operations->end);
            code = library_partitioned(library);
            code = code == mqs_no_information ? mqs_ok : code;
        }
        break;
    case mqs_unexpected_messages:
        code = library_queues(library);
        if (code == mqs_ok) {
            code = messages_read(&library->memory, comm, &operations->messages);
        }
        operations->end = operations->messages.list.count;
        break;
    default:
        return ERROR_ARGUMENT;
    }
    if (code == mqs_ok) {
        operations->class_ = class_;
        operations->comm = comm->address;
        operations->set_up = true;
    }
    return code;
}

/* Partitioned requests come after the others. */
static const struct partitioned *next_partitioned(struct library *library, struct operations *operations)
{
    const struct vector *list = &library->partitioned.list;

    if (operations->class_ == mqs_unexpected_messages || library_partitioned(library) != mqs_ok) {
        return NULL;
    }
    while (operations->next_partitioned < list->count) {
        const struct partitioned *item =
            &((const struct partitioned *)list->items)[operations->next_partitioned++];

        if (item->comm == operations->comm && item->send == (operations->class_ == mqs_pending_sends)) {
            return item;
        }
    }
    return NULL;
}

int operations_next(struct library *library, struct operations *operations, mqs_pending_operation *ret,
                    mqs_operation_details *details)
{
    const struct communicator *comm = communicator_find(&library->communicators, operations->comm);
    const struct partitioned *partitioned;

    if (!operations->set_up || comm == NULL) {
        return ERROR_ORDER;
    }
    while (operations->next < operations->end) {
        size_t at = operations->next++;

        if (operations->class_ == mqs_unexpected_messages) {
            const struct message *message = &((const struct message *)operations->messages.list.items)[at];

            if (message->tag < 0 && !operations->show_internal) {
                continue;
            }
            operation_of_message(library, comm, message, ret, details);
        } else {
            const struct request *request = operations->class_ == mqs_pending_sends
                                                ? library->requests.sends[at]
                                                : library->requests.receives[at];

            if (library_is_own(library, request) && !operations->show_internal) {
                continue;
            }
            if (operation_of_request(library, request, -1, ret, details) != mqs_ok) {
                continue;
            }
        }
        return mqs_ok;
    }
    partitioned = next_partitioned(library, operations);
    if (partitioned == NULL) {
        return mqs_end_of_list;
    }
    operation_of_partitioned(library, partitioned, ret, details);
    return mqs_ok;
}

void operations_clear(struct operations *operations)
{
    bool show_internal = operations->show_internal;

    messages_clear(&operations->messages);
    memset(operations, 0, sizeof *operations);
    operations->show_internal = show_internal;
}
