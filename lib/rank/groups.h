/* SPDX-License-Identifier: BSD-3-Clause */
/* groups - members of groups, by hash: each group is fetched and sent once for all ranks. */
#ifndef MPIQ_RANK_GROUPS_H
#define MPIQ_RANK_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "state/rank_state.h"

struct mpiq_known_group {
    struct mpiq_group group;
    unsigned look; /* for the caller: when it was given out last */
};

struct mpiq_group_table {
    struct mpiq_known_group *groups;
    uint32_t count;
    uint32_t capacity;
    struct mpiq_hash_table by_hash;
};

/* The group with that hash and count, or NULL; the table's own, valid until the next one is added. */
struct mpiq_known_group *mpiq_group_table_find(const struct mpiq_group_table *table, uint64_t hash,
                                               uint32_t count);
/* Keeps a copy, unless a group with that hash is there or memory is short. */
void mpiq_group_table_add(struct mpiq_group_table *table, const struct mpiq_group *group);
void mpiq_group_table_deinit(struct mpiq_group_table *table);

/* A copy of its members, which the caller frees; NULL without memory. */
struct mpiq_name *mpiq_group_copy_members(const struct mpiq_group *group);

#endif
