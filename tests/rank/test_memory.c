/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank is read in a process in which one allocation after another fails: what is missing is an error or a
 * problem of the state, never a shorter list.  The helper's reading, our DLL and the rank state as they are,
 * over a made-up process with something of everything in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mqs_extensions.h"
#include "failing_memory.h"
#include "rank/helper/reading.h"
#include "suite.h"
#include "../mqs/scenes.h"

/* ---- a scene as a target ---------------------------------------------------------------------------- */

struct mpiq_target_type {
    char name[128];
};

struct scene_target {
    struct mpiq_target target;
    struct made_up *made_up;
    int pointer_size;
    bool big_endian;
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
    (void)target;
    *ret = (struct mpiq_target_sizes){2, 4, 8, 8, 8, 1, 8, false};
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

/* ---- reading ---------------------------------------------------------------------------------------- */

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

/* The state as JSON without its time; NULL with an error.  *missed: a problem says that memory was missing.
 */
static char *read_scene(int scene, unsigned long n, bool once, bool *missed, bool *failed)
{
    struct mpiq_dll dll = linked_in();
    struct mpiq_group_table groups = {0};
    struct scene_target target = {.target = {.ops = &scene_ops}, .made_up = scene_get(scene)};
    struct mpiq_reading reading = {
        .dll = &dll, .target = &target.target, .groups = &groups, .internal = true};
    char *json = NULL;
    type_count = 0;
    *missed = false;
    fail_once = once;
    fail_at = n;
    struct mpiq_error *error = mpiq_read_state(&reading);
    if (reading.state)
        reading.state->taken_ns = 1;
    if (!error)
        error = mpiq_rank_state_to_json(reading.state, &json);
    *failed = fail_at == 0 || fail_at == 1;
    fail_at = 0;
    for (size_t i = 0; !error && i < reading.state->problem_count; i++)
        *missed |= reading.state->problems[i].code == MPIQ_ERROR_NO_MEMORY;
    mpiq_error_destroy(error);
    mpiq_rank_state_destroy(reading.state);
    mpiq_group_table_deinit(&groups);
    return json;
}

static void try_scene(int scene, bool once)
{
    bool missed = false;
    bool failed = false;
    unsigned long count = 0;
    char *whole = read_scene(scene, 0, false, &missed, &failed);
    CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
    CU_ASSERT_PTR_NOT_NULL(strstr(whole, "\"operations\":[{"));
    CU_ASSERT_PTR_NOT_NULL(strstr(whole, "\"members\":["));
    failed = true;
    for (unsigned long n = 1; failed; n++) {
        char *json = read_scene(scene, n, once, &missed, &failed);
        bool good = !json || missed || strcmp(json, whole) == 0;
        CU_ASSERT(good);
        if (!good)
            printf("\nscene %d: nobody misses allocation %lu:\n%s\n%s\n", scene, n, whole, json);
        free(json);
        count += failed;
    }
    CU_ASSERT(count > 100);
    free(whole);
}

static void one_allocation_that_fails_is_missed(void)
{
    try_scene(0, true);
    try_scene(1, true);
}

static void all_from_one_on_are_missed(void)
{
    try_scene(0, false);
    try_scene(1, false);
}

int main(void)
{
    if (MPIQ_SANITIZED)
        return 77; /* whose allocations are its own */
    CU_TestInfo tests[] = {
        {"one failed allocation is an error", one_allocation_that_fails_is_missed},
        {"all allocations failing from one on is an error", all_from_one_on_are_missed},
        CU_TEST_INFO_NULL,
    };
    return suite_run("memory", tests);
}
