/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory.h"
#include "rank/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static struct mpiq_known_group *find(const struct mpiq_group_table *table, uint64_t hash)
{
    uint64_t cursor = hash;
    uint32_t i = mpiq_hash_table_next(&table->by_hash, hash, &cursor);
    return i == UINT32_MAX ? NULL : &table->groups[i];
}

struct mpiq_known_group *mpiq_group_table_find(const struct mpiq_group_table *table, uint64_t hash,
                                               uint32_t count)
{
    struct mpiq_known_group *known = hash ? find(table, hash) : NULL;
    return known && known->group.count == count ? known : NULL;
}

struct mpiq_name *mpiq_group_copy_members(const struct mpiq_group *group)
{
    struct mpiq_name *members = mpiq_memory_checked(calloc((size_t)group->count + 1, sizeof *members));
    if (members)
        memcpy(members, group->members, (size_t)group->count * sizeof *members);
    return members;
}

void mpiq_group_table_add(struct mpiq_group_table *table, const struct mpiq_group *group)
{
    if (!group->hash || find(table, group->hash))
        return;
    struct mpiq_name *members = mpiq_group_copy_members(group);
    if (!members || !mpiq_array_reserve(&table->groups, &table->capacity, table->count + 1) ||
        !mpiq_hash_table_add(&table->by_hash, group->hash, table->count)) {
        free(members);
        return;
    }
    table->groups[table->count++] =
        (struct mpiq_known_group){.group = {.hash = group->hash, .count = group->count, .members = members}};
}

void mpiq_group_table_deinit(struct mpiq_group_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        free(table->groups[i].group.members);
    free(table->groups);
    mpiq_hash_table_deinit(&table->by_hash);
    *table = (struct mpiq_group_table){0};
}
