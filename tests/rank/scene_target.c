/* SPDX-License-Identifier: BSD-3-Clause */
#include "scene_target.h"

#include <stdio.h>
#include <string.h>

#include "mqs_extensions.h"
#include "rank/helper/reading.h"

struct mpiq_target_type {
    char name[128];
};

struct scene_target {
    struct mpiq_target target;
    struct made_up *made_up;
};

static struct mpiq_target_type types[512];
static size_t type_count;

static struct made_up *scene_of(struct mpiq_target *target)
{
    return ((struct scene_target *)target)->made_up;
}

static struct mpiq_error *read_memory(struct mpiq_target *target, uint64_t address, size_t size, void *buffer)
{
    const unsigned char *bytes = made_up_find(scene_of(target), address, size);
    if (!bytes)
        return mpiq_error_create_address(MPIQ_ERROR_UNMAPPED, address, "nothing is mapped there");
    memcpy(buffer, bytes, size);
    return NULL;
}

static struct mpiq_error *find_symbol(struct mpiq_target *target, const char *name, uint64_t *ret)
{
    mqs_taddr_t found = made_up_find_symbol(scene_of(target), name);
    if (!found)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no such symbol");
    *ret = found;
    return NULL;
}

static struct mpiq_error *find_type(struct mpiq_target *target, const char *name,
                                    const struct mpiq_target_type **ret)
{
    if (made_up_size(scene_of(target), name) < 0 || type_count == sizeof types / sizeof *types)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no such type");
    snprintf(types[type_count].name, sizeof types[type_count].name, "%s", name);
    *ret = &types[type_count++];
    return NULL;
}

static struct mpiq_error *field_offset(struct mpiq_target *target, const struct mpiq_target_type *type,
                                       const char *member, uint64_t *ret)
{
    int offset = made_up_offset(scene_of(target), type->name, member);
    if (offset < 0)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no such member");
    *ret = (uint64_t)offset;
    return NULL;
}

static struct mpiq_error *type_size(struct mpiq_target *target, const struct mpiq_target_type *type,
                                    uint64_t *ret)
{
    *ret = (uint64_t)made_up_size(scene_of(target), type->name);
    return NULL;
}

static struct mpiq_error *sizes_of(struct mpiq_target *target, struct mpiq_target_sizes *ret)
{
    uint8_t pointer = (uint8_t)made_up_pointer_size(scene_of(target));
    *ret = (struct mpiq_target_sizes){2,       4, pointer, 8,
                                      pointer, 1, pointer, made_up_is_big_endian(scene_of(target))};
    return NULL;
}

static const struct mpiq_target_ops scene_ops = {
    .kind = "made-up",
    .read = read_memory,
    .find_symbol = find_symbol,
    .find_type = find_type,
    .field_offset = field_offset,
    .type_size = type_size,
    .sizes = sizes_of,
};

static struct mpiq_dll linked_in(void)
{
    static char path[] = "the DLL";
    struct mpiq_dll dll = {.path = path, .has_extensions = true, .extensions = *mqs_get_extensions()};
#define TAKE(type, name, arguments) dll.name = name;
    MPIQ_DLL_REQUIRED(TAKE)
    MPIQ_DLL_OPTIONAL(TAKE)
#undef TAKE
    mqs_setup_basic_callbacks(&mpiq_basic_callbacks);
    return dll;
}

struct mpiq_error *scene_look(struct made_up *made_up, struct mpiq_rank_state **ret)
{
    struct mpiq_dll dll = linked_in();
    struct mpiq_group_table groups = {0};
    struct scene_target target = {.target = {.ops = &scene_ops}, .made_up = made_up};
    struct mpiq_reading reading = {
        .dll = &dll, .target = &target.target, .groups = &groups, .internal = true};
    type_count = 0;
    struct mpiq_error *error = mpiq_read_state(&reading);
    *ret = reading.state;
    mpiq_group_table_deinit(&groups);
    return error;
}
