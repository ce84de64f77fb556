/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever fails while a problem is noted: the rank state has one afterwards. */
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "state/rank_state.h"
#include "suite.h"

static bool says_no_memory(const struct mpiq_rank_state *state)
{
    for (size_t i = 0; i < state->problem_count; i++) {
        if (state->problems[i].code == MPIQ_ERROR_NO_MEMORY)
            return state->problems[i].what && state->problems[i].text;
    }
    return false;
}

static void try_problems(size_t before, bool once)
{
    unsigned long n = 0, missed = 0;
    for (bool failed = true; failed; n++) {
        struct mpiq_rank_state *state = mpiq_rank_state_create();
        for (size_t i = 0; i < before; i++)
            mpiq_rank_state_problem(state, "queues", mpiq_error_create(MPIQ_ERROR_CORRUPT, "damage %zu", i));
        struct mpiq_error *error = mpiq_error_create(MPIQ_ERROR_TIMEOUT, "it took too long");
        fail_once = once;
        fail_at = n + 1;
        mpiq_rank_state_problem(state, "threads", error);
        failed = fail_at == 0 || fail_at == 1;
        fail_at = 0;
        bool told = state->problem_count == before + 1 &&
                    strcmp(state->problems[before].text, "it took too long") == 0;
        CU_ASSERT(told != says_no_memory(state));
        CU_ASSERT(told || failed);
        missed += !told;
        char *json = NULL;
        struct mpiq_error *written = mpiq_rank_state_to_json(state, &json);
        CU_ASSERT_PTR_NULL(written);
        CU_ASSERT(json && strstr(json, told ? "it took too long" : "out of memory: "));
        mpiq_error_destroy(written);
        free(json);
        mpiq_rank_state_destroy(state);
    }
    CU_ASSERT(missed > 2);
}

static void a_problem_that_has_no_room_is_one(void)
{
    for (size_t before = 0; before < 5; before++) {
        try_problems(before, true);
        try_problems(before, false);
    }
}

int main(void)
{
    if (MPIQ_SANITIZED)
        return 77; /* whose allocations are its own */
    CU_TestInfo tests[] = {
        {"a problem without memory still counts as one", a_problem_that_has_no_room_is_one},
        CU_TEST_INFO_NULL,
    };
    return suite_run("rank state memory", tests);
}
