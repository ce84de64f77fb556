/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_pairing - which message in the MPI library's queues is which of the recorder's.
 *
 * The recorder knows most requests by the library's handles.  Of a blocking call, and of the halves of
 * MPI_Isendrecv, it has no handle: these are told by their envelopes and the order of posting.
 */
#ifndef MPIQ_RANK_REQUEST_PAIRING_H
#define MPIQ_RANK_REQUEST_PAIRING_H

#include <stdbool.h>

#include "base/hash_table.h"
#include "state/rank_state.h"

#define MPIQ_NO_PAIR UINT32_MAX

struct mpiq_request_pairs {
    const struct mpiq_rank_state *own;
    const struct mpiq_rank_state *state;
    struct mpiq_hash_table requests; /* of the library's operations */
    struct mpiq_hash_table unnamed;  /* of the recorder's, those without a handle */
    uint32_t *partner;               /* of each operation of the recorder's without a handle */
};

/* comms[i]: which communicator of `state`, the recorder's, is number i of `own`, the library's; or
   MPIQ_NO_PAIR.  False: an operation of `own` is of no communicator, or there is no memory.  Both states have
   to stay as they are until mpiq_request_pairs_deinit, which follows in any case. */
bool mpiq_request_pairs_init(struct mpiq_request_pairs *pairs, const struct mpiq_rank_state *state,
                             const struct mpiq_rank_state *own, const uint32_t *comms);
void mpiq_request_pairs_deinit(struct mpiq_request_pairs *pairs);

/* The index of the same message among the library's operations, for an operation of the recorder's, also one
   of a wait; MPIQ_NO_PAIR: it is in no queue, so it is complete, or it is not known which one it is. */
uint32_t mpiq_request_pairs_find(const struct mpiq_request_pairs *pairs, const struct mpiq_operation *record);

/* A send of any mode, or a receive. */
bool mpiq_is_message(const struct mpiq_operation *op);

#endif
