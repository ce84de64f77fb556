/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_state_private - the elements of a rank state with nothing known (the initial value of an added
 * element, and what JSON leaves out), and how a rank state is read from JSON.
 */
#ifndef MPIQ_RANK_STATE_PRIVATE_H
#define MPIQ_RANK_STATE_PRIVATE_H

#include "state/rank_state.h"
#include "state/schema.h"
#include "state/schema_shape.h"

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

/* rank_state_values.c, for tables of fields: a collective's number by its name, a context id, flags of a
   communicator. */
void mpiq_collective_write(struct mpiq_text *text, const void *member);
const char *mpiq_collective_read(struct mpiq_parser *parser, void *member);
void mpiq_context_write(struct mpiq_text *text, const void *member);
const char *mpiq_context_read(struct mpiq_parser *parser, void *member);
size_t mpiq_context_numbers(void *member, struct mpiq_number *ret);
void mpiq_flags_write(struct mpiq_text *text, const void *member);
const char *mpiq_flags_read(struct mpiq_parser *parser, void *member);

/* rank_state_valid.c.  NULL: an element that was read may stand so; else what is wrong with the value of
 * *key.
 */
const char *mpiq_valid_tag_count(struct mpiq_schema_parser *parser, const void *element, const char **key);
const char *mpiq_valid_operation(struct mpiq_schema_parser *parser, const void *element, const char **key);
const char *mpiq_valid_communicator(struct mpiq_schema_parser *parser, const void *element, const char **key);
const char *mpiq_valid_wait(struct mpiq_schema_parser *parser, const void *element, const char **key);
const char *mpiq_valid_window(struct mpiq_schema_parser *parser, const void *element, const char **key);
const char *mpiq_valid_past_call(struct mpiq_schema_parser *parser, const void *element, const char **key);
const char *mpiq_valid_fact(struct mpiq_schema_parser *parser, const void *element, const char **key);
const char *mpiq_valid_thread(struct mpiq_schema_parser *parser, const void *element, const char **key);
const char *mpiq_valid_rank_state(struct mpiq_schema_parser *parser, const void *element, const char **key);

/* A whole rank state as JSON. */
extern const struct mpiq_schema mpiq_rank_state_schema;

#endif
