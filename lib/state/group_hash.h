/* SPDX-License-Identifier: BSD-3-Clause */
/* group_hash - identifies a group: a hash of its members, in order, that nobody can forge. */
#ifndef MPIQ_GROUP_HASH_H
#define MPIQ_GROUP_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "state/rank_state.h"

/* Never 0. */
uint64_t mpiq_group_hash(const struct mpiq_name *members, uint32_t count);

#endif
