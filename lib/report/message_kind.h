/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_kind - which operations in the ranks' queues are of the same kind, whatever their peer.
 *
 * Operations that differ in tag or length are kept apart as long as they are few; if they are many (a
 * backlog of numbered messages), all are one kind.
 */
#ifndef MPIQ_REPORT_MESSAGE_KIND_H
#define MPIQ_REPORT_MESSAGE_KIND_H

#include "report/page.h"
#include "base/hash_table.h"

/* Who waits for an operation. */
struct mpiq_waiter {
    const char *call; /* NULL: nobody, or not known */
    uint32_t site;
};
struct mpiq_waiter mpiq_message_waiter(const struct mpiq_page *page, uint32_t process,
                                       const struct mpiq_job_operation *operation);

/* Whether a thread is held by it: one that is complete, or was never started, holds nobody. */
bool mpiq_message_holds(const struct mpiq_job_operation *operation);

/* Whether a message has been matched to it: the actual peer and tag are those.  Of a persistent request that
   was not started they are left over from its last use. */
static inline bool mpiq_message_is_matched(const struct mpiq_job_operation *operation)
{
    return operation->status != MPIQ_STATUS_PENDING && !operation->inactive;
}

struct mpiq_message_kind {
    uint32_t process; /* of the first one */
    uint32_t operation;
    uint32_t family;   /* the first kind that differs in tag and length alone */
    uint32_t siblings; /* of a family's first kind: how many kinds it has */
    struct mpiq_waiter waiter;
};

/* All zeros but for the page is an empty one. */
struct mpiq_message_kinds {
    const struct mpiq_page *page;
    struct mpiq_message_kind *items;
    size_t count;
    struct mpiq_hash_table table;
    struct mpiq_hash_table families;
};
void mpiq_message_kinds_deinit(struct mpiq_message_kinds *kinds);

/* The kind of an operation, found or made; MPIQ_NONE without memory. */
uint32_t mpiq_message_kinds_add(struct mpiq_message_kinds *kinds, uint32_t process, uint32_t operation);

/* The kind that stands for it once all are added: its own, or its family's where that has too many. */
uint32_t mpiq_message_kinds_merged(const struct mpiq_message_kinds *kinds, uint32_t kind);

#endif
