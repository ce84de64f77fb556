/* SPDX-License-Identifier: BSD-3-Clause */
/* Who loses its state when all of them together take too much. */
#include <string.h>

#include "session/state_budget.h"
#include "suite.h"

enum { RANKS = 4 };

static struct mpiq_look_source items[RANKS];
static struct mpiq_look_sources sources;

static void begin(void)
{
    memset(items, 0, sizeof items);
    sources = (struct mpiq_look_sources){.items = items, .count = RANKS};
}

static void end(void)
{
    for (int i = 0; i < RANKS; i++) {
        mpiq_rank_state_destroy(items[i].looks[0]);
        mpiq_rank_state_destroy(items[i].looks[1]);
    }
}

static void give(size_t index, int look, uint64_t weight)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    state->weight = weight;
    items[index].looks[look - 1] = state;
    CU_ASSERT_PTR_NULL_FATAL(mpiq_take_state_budget(&sources, index, look));
}

static bool is_lost(size_t index, int look)
{
    const struct mpiq_rank_state *state = items[index].looks[look - 1];
    return state->weight == 0 && state->problem_count == 1 &&
           strcmp(state->problems[0].text, "its state exceeds the memory limit of all ranks together") == 0;
}

static void the_heaviest_loses(void)
{
    begin();
    give(0, 1, 1000);
    give(1, 1, MPIQ_BUDGET_POOL / 2 + 2 * MPIQ_BUDGET_SHARE);
    give(2, 1, MPIQ_BUDGET_POOL / 4);
    give(3, 1, MPIQ_BUDGET_POOL / 4);
    CU_ASSERT_FALSE(is_lost(0, 1));
    CU_ASSERT_FALSE(is_lost(1, 1));
    give(0, 2, MPIQ_BUDGET_POOL / 4); /* comes last, and means well */
    CU_ASSERT_TRUE(is_lost(1, 1));
    for (size_t i = 0; i < RANKS; i++)
        CU_ASSERT_FALSE(i != 1 && is_lost(i, 1));
    CU_ASSERT_FALSE(is_lost(0, 2));
    end();
}

static void one_that_needs_more_than_there_is_loses(void)
{
    begin();
    give(0, 1, MPIQ_BUDGET_POOL / 2);
    give(1, 1, MPIQ_BUDGET_POOL + MPIQ_BUDGET_SHARE + 1);
    CU_ASSERT_FALSE(is_lost(0, 1));
    CU_ASSERT_TRUE(is_lost(1, 1));
    give(2, 1, MPIQ_BUDGET_POOL / 2); /* nothing was taken for it */
    CU_ASSERT_FALSE(is_lost(0, 1));
    CU_ASSERT_FALSE(is_lost(2, 1));
    end();
}

static void a_share_is_everybodys_own(void)
{
    begin();
    give(0, 1, MPIQ_BUDGET_POOL + MPIQ_BUDGET_SHARE);
    for (size_t i = 1; i < RANKS; i++)
        give(i, 1, MPIQ_BUDGET_SHARE);
    for (size_t i = 0; i < RANKS; i++)
        CU_ASSERT_FALSE(is_lost(i, 1));
    end();
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"the largest state loses its budget", the_heaviest_loses},
        {"a state that exceeds the budget alone is dropped", one_that_needs_more_than_there_is_loses},
        {"no state can take another's share", a_share_is_everybodys_own},
        CU_TEST_INFO_NULL,
    };
    return suite_run("state budget", tests);
}
