/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/groups.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct mpiq_kept_group *find_slot(struct mpiq_kept_group *slots, size_t room, uint64_t hash)
{
    size_t slot = (size_t)(hash ^ hash >> 32) & (room - 1);
    while (slots[slot].group.hash && slots[slot].group.hash != hash)
        slot = (slot + 1) & (room - 1);
    return &slots[slot];
}

struct mpiq_kept_group *mpiq_group_table_find(const struct mpiq_group_table *table, uint64_t hash,
                                              uint32_t count)
{
    if (!table->room || !hash)
        return NULL;
    struct mpiq_kept_group *kept = find_slot(table->slots, table->room, hash);
    return kept->group.hash && kept->group.count == count ? kept : NULL;
}

static bool grow(struct mpiq_group_table *table)
{
    size_t room = table->room ? table->room * 2 : 64;
    struct mpiq_kept_group *slots = calloc(room, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < table->room; i++) {
        if (table->slots[i].group.hash)
            *find_slot(slots, room, table->slots[i].group.hash) = table->slots[i];
    }
    free(table->slots);
    table->slots = slots;
    table->room = room;
    return true;
}

struct mpiq_name *mpiq_group_copy_members(const struct mpiq_group *group)
{
    struct mpiq_name *members = calloc((size_t)group->count + 1, sizeof *members);
    if (members)
        memcpy(members, group->members, (size_t)group->count * sizeof *members);
    return members;
}

void mpiq_group_table_add(struct mpiq_group_table *table, const struct mpiq_group *group)
{
    if (!group->hash || (table->count * 2 >= table->room && !grow(table)))
        return;
    struct mpiq_kept_group *slot = find_slot(table->slots, table->room, group->hash);
    if (slot->group.hash)
        return;
    struct mpiq_name *members = mpiq_group_copy_members(group);
    if (!members)
        return;
    slot->group = (struct mpiq_group){.hash = group->hash, .count = group->count, .members = members};
    table->count++;
}

void mpiq_group_table_deinit(struct mpiq_group_table *table)
{
    for (size_t i = 0; i < table->room; i++)
        free(table->slots[i].group.members);
    free(table->slots);
    *table = (struct mpiq_group_table){0};
}
