/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group_json - processes' names and groups of them as JSON.
 *
 * A name is [job, rank].  A group is {"hash": "0x…", "count": N, "members": [run, …]}, where a run is [job,
 * first rank, length], or [job, first rank, length, stride] where ranks are not consecutive (rank -1 stays
 * -1); without "members", the members are not given.
 */
#ifndef MPIQ_STATE_GROUP_JSON_H
#define MPIQ_STATE_GROUP_JSON_H

#include "base/json_parser.h"
#include "base/json_text.h"
#include "state/rank_state.h"
#include "state/schema_shape.h"

/* Members of all groups of a text, with which the parser's budget begins. */
#define MPIQ_GROUPS_MAX (4 * MPIQ_GROUP_MAX)

/* For tables of fields: member is a struct mpiq_name, or a struct mpiq_group. */
void mpiq_name_write(struct mpiq_text *text, const void *member);
const char *mpiq_name_read(struct mpiq_parser *parser, void *member);
void mpiq_group_write(struct mpiq_text *text, const void *member);
const char *mpiq_group_read(struct mpiq_parser *parser, void *member);
/* Of a group whose members are not told: hash and count. */
size_t mpiq_name_numbers(void *member, struct mpiq_number *ret);
size_t mpiq_group_numbers(void *member, struct mpiq_number *ret);

#endif
