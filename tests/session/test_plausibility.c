/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers that ranks give their job, of looks written as literals. */
#include <stdio.h>
#include <string.h>

#include "session/plausibility.h"
#include "session/unread.h"
#include "suite.h"

enum { RANKS = 2 };

static struct mpiq_look_source items[RANKS];
static const struct mpiq_look_sources sources = {.items = items, .count = RANKS, .world_size = RANKS};

static void begin(void)
{
    static char job[] = "pmi@99";
    memset(items, 0, sizeof items);
    for (int rank = 0; rank < RANKS; rank++) {
        items[rank].pid = 100 + rank;
        items[rank].rank = rank;
        items[rank].nspace = job;
    }
}

static void end(void)
{
    for (int i = 0; i < 2 * RANKS; i++)
        mpiq_rank_state_destroy(items[i / 2].looks[i % 2]);
}

static void add_unread(int rank, int look)
{
    struct mpiq_error *reason = mpiq_error_create(MPIQ_ERROR_INTERNAL, "the process that read it crashed");
    CU_ASSERT_PTR_NULL_FATAL(mpiq_unread(&items[rank], RANKS, reason, &items[rank].looks[look - 1]));
}

static void add_read(int rank, int look, uint32_t job)
{
    struct mpiq_rank_state *state = items[rank].looks[look - 1] = mpiq_rank_state_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    state->source = MPIQ_SOURCE_RECORDER;
    state->name = (struct mpiq_name){.job = job, .rank = rank};
    state->world_size = RANKS;
}

/* All that was read of all of them is of one job. */
static void check_one_job(uint32_t job)
{
    for (int look = 1; look <= 2; look++)
        CU_ASSERT_PTR_NULL(mpiq_check_jobs(&sources, look));
    for (int i = 0; i < 2 * RANKS; i++) {
        const struct mpiq_rank_state *state = items[i / 2].looks[i % 2];
        CU_ASSERT_TRUE(!state || state->name.job == job);
    }
}

/* One that could be read only later, and one that was read only then, or never again, are of no other job. */
static void a_rank_is_of_one_job_in_both_looks(void)
{
    for (uint32_t job = 0; job < 8; job += 7) {
        begin();
        add_unread(0, 1);
        add_read(0, 2, job);
        CU_ASSERT_PTR_NULL_FATAL(mpiq_unread_gone(&items[1], RANKS, &items[1].looks[0]));
        check_one_job(job);
        end();
        begin();
        add_read(0, 1, job);
        add_unread(0, 2);
        add_unread(1, 1);
        add_unread(1, 2);
        check_one_job(job);
        end();
    }
}

/* Nobody's memory says anything, and one rank's environment has no name for the job. */
static void a_job_without_a_name_is_one(void)
{
    begin();
    add_unread(0, 1);
    add_read(0, 2, 0);
    items[0].looks[1]->source = MPIQ_SOURCE_CALLS;
    CU_ASSERT_PTR_NULL_FATAL(mpiq_unread_gone(&items[1], RANKS, &items[1].looks[0]));
    check_one_job(0);
    end();
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a rank is of one job in both looks", a_rank_is_of_one_job_in_both_looks},
        {"a job without a name is one", a_job_without_a_name_is_one},
        CU_TEST_INFO_NULL,
    };
    return suite_run("plausibility", tests);
}
