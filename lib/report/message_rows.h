/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_rows - the operations in the ranks' queues, with equal ones of all ranks combined.
 *
 * "Equal" means the same kind (message_kind.h), whatever the ranks on both sides.  If the peers are few they
 * are listed separately; if they are the same relative to each rank they are shown that way; otherwise they
 * are "various".
 */
#ifndef MPIQ_REPORT_MESSAGE_ROWS_H
#define MPIQ_REPORT_MESSAGE_ROWS_H

#include "report/page.h"

enum mpiq_peer_form { MPIQ_PEER_EXACT, MPIQ_PEER_RELATIVE, MPIQ_PEER_VARIOUS };

struct mpiq_message_row {
    const struct mpiq_job_operation *example;
    uint32_t process; /* the first of the ranks: whose the example is */
    struct mpiq_rank_set ranks;
    enum mpiq_peer_form form;
    int64_t distance;  /* of the peer from the rank, if RELATIVE */
    int32_t tag_least; /* of all of them; the same but for kinds that were merged */
    int32_t tag_most;
    int64_t bytes_least; /* more than the most: not known */
    int64_t bytes_most;
    uint32_t each_least; /* how many a rank has */
    uint32_t each_most;
    uint32_t counted_process; /* while collecting: rank and how many of it so far */
    uint32_t counted;
};

struct mpiq_message_rows {
    struct mpiq_message_row *items; /* those that a rank is blocked on first, then as they came */
    size_t count;
};

/* Of one queue, of the ranks that the page wants.  False without memory; deinit in any case. */
bool mpiq_message_rows_collect(const struct mpiq_page *page, enum mpiq_queue queue,
                               struct mpiq_message_rows *ret);
void mpiq_message_rows_deinit(struct mpiq_message_rows *rows);

#endif
