/* SPDX-License-Identifier: BSD-3-Clause */
/* rank_state_private - the elements of a rank state with nothing known: the initial value of an added
   element, and what JSON leaves out. */
#ifndef MPIQ_RANK_STATE_PRIVATE_H
#define MPIQ_RANK_STATE_PRIVATE_H

#include "state/rank_state.h"
#include "state/schema.h"

extern const struct mpiq_operation mpiq_operation_unknown;
extern const struct mpiq_operation mpiq_wait_operation_unknown;
extern const struct mpiq_call mpiq_call_unknown;
extern const struct mpiq_coll_count mpiq_coll_count_unknown;
extern const struct mpiq_channel mpiq_channel_unknown;
extern const struct mpiq_tag_count mpiq_tag_count_unknown;
extern const struct mpiq_frame mpiq_frame_unknown;
extern const struct mpiq_given mpiq_given_unknown;
extern const struct mpiq_problem mpiq_problem_unknown;
extern const struct mpiq_communicator mpiq_communicator_unknown;
extern const struct mpiq_place mpiq_place_unknown;
extern const struct mpiq_end mpiq_end_unknown;
extern const struct mpiq_call_source mpiq_call_source_unknown;
extern const struct mpiq_persistent mpiq_persistent_unknown;
extern const struct mpiq_window_lock mpiq_window_lock_unknown;
extern const struct mpiq_local_rank mpiq_local_rank_unknown;
extern const struct mpiq_window mpiq_window_unknown;
extern const struct mpiq_past_call mpiq_past_call_unknown;
extern const struct mpiq_fact mpiq_fact_unknown;
extern const struct mpiq_wait mpiq_wait_unknown;
extern const struct mpiq_thread mpiq_thread_unknown;
extern const struct mpiq_rank_state mpiq_rank_state_unknown;

/* A whole rank state as JSON. */
extern const struct mpiq_schema mpiq_rank_state_schema;

#endif
