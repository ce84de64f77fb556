/* SPDX-License-Identifier: BSD-3-Clause */
/* group - expands the runs of a group to the members of a communicator. */
#ifndef MQS_RECORDER_GROUP_H
#define MQS_RECORDER_GROUP_H

#include "copy.h"
#include "mqs_extensions.h"

/* All members, in rank order, into the caller's array: ranks in our world or MQS_INVALID_PROCESS. */
int group_ranks(const struct copy *copy, uint32_t group, int *ret);
/* The same as names; a member of another world has a name that no process has. */
int group_names(const struct copy *copy, uint32_t group, mqs_process_name *ret);
/* Number of members; -1: corrupt. */
int64_t group_size(const struct copy *copy, uint32_t group);

#endif
