/* SPDX-License-Identifier: BSD-3-Clause */
/* groups - members of groups by hash: each is sent, and fetched, once for all ranks. */
#ifndef MPIQ_RANK_GROUPS_H
#define MPIQ_RANK_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "state/rank_state.h"

struct mpiq_kept_group {
    struct mpiq_group group; /* hash 0: a free slot */
    unsigned look;           /* for the caller: when it was given out last */
};

struct mpiq_group_table {
    struct mpiq_kept_group *slots;
    size_t room; /* a power of two */
    size_t count;
};

/* The group with that hash and count, the table's own; NULL. */
struct mpiq_kept_group *mpiq_group_table_find(const struct mpiq_group_table *table, uint64_t hash,
                                              uint32_t count);
/* Keeps a copy; without memory, or where another group has the hash, it does not. */
void mpiq_group_table_add(struct mpiq_group_table *table, const struct mpiq_group *group);
void mpiq_group_table_deinit(struct mpiq_group_table *table);

/* A copy of its members, which the caller frees; NULL without memory. */
struct mpiq_name *mpiq_group_copy_members(const struct mpiq_group *group);

#endif
