/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank is read in a process in which one allocation after another fails: what is missing is an error or a
 * problem of the state, never a shorter list.  The helper's reading, our DLL and the rank state as they are,
 * over a made-up process with something of everything in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "scene_target.h"
#include "suite.h"
#include "../mqs/scenes.h"

/* The state as JSON without its time; NULL with an error.  *missed: a problem says that memory was missing.
 */
static char *read_scene(int scene, unsigned long n, bool once, bool *missed, bool *failed)
{
    struct made_up *made_up = scene_get(scene);
    struct mpiq_rank_state *state = NULL;
    char *json = NULL;
    *missed = false;
    fail_once = once;
    fail_at = n;
    struct mpiq_error *error = scene_look(made_up, &state);
    if (state)
        state->taken_ns = 1;
    if (!error)
        error = mpiq_rank_state_to_json(state, &json);
    *failed = fail_at == 0 || fail_at == 1;
    fail_at = 0;
    for (size_t i = 0; !error && i < state->problem_count; i++)
        *missed |= state->problems[i].code == MPIQ_ERROR_NO_MEMORY;
    mpiq_error_destroy(error);
    mpiq_rank_state_destroy(state);
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
