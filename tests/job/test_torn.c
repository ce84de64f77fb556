/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at ranks that move, read piece by piece: whoever is proven never to go on never does.  And once
 * nobody can do anything any more, all who have not come to the end are proven stuck.
 *
 * Usage: test_torn [CASES [FIRST SEED]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_builder.h"
#include "simulator.h"
#include "suite.h"

static uint64_t cases = 20000;
static uint64_t first_seed = 1;
static struct simulator sim;
static struct simulator before;
static bool complaining;

/* at_rest: those who wait go round between the looks, though nothing happens. */
static struct mpiq_diagnosis *look_twice(struct mpiq_job_state **job, int pause, bool at_rest)
{
    *job = mpiq_job_state_create();
    for (int look = 1; look <= 2; look++) {
        for (int rank = 0; at_rest && look == 2 && rank < sim.ranks; rank++)
            sim_step_rank(&sim, rank);
        for (int rank = 0; rank < sim.ranks; rank++) {
            struct mpiq_rank_state *state = sim_look(&sim, rank, look, pause);
            mpiq_error_destroy(mpiq_job_state_add(*job, look, state));
            mpiq_rank_state_destroy(state);
        }
    }
    mpiq_error_destroy(mpiq_job_state_finish(*job));
    struct mpiq_diagnosis *diagnosis = NULL;
    mpiq_error_destroy(mpiq_diagnose(*job, NULL, &diagnosis));
    return diagnosis;
}

static void complain(uint64_t seed, const char *what, int rank, const struct mpiq_diagnosis *diagnosis)
{
    complaining = true;
    printf("seed %llu, %s: rank %d %s\n", (unsigned long long)seed, sim.patched ? "patched" : "not patched",
           rank, what);
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        printf("  %s\n", diagnosis->findings[i].text);
    sim_print(&before);
    CU_FAIL("a look is not right");
}

/* Whether what is not known without a record, or moves in a loop of tests, keeps a job at rest from being
   proven stuck. */
static bool can_be_proven(void)
{
    bool all_end = true;
    for (int rank = 0; rank < sim.ranks; rank++) {
        enum sim_kind kind = sim.rank[rank].program[sim.rank[rank].at].kind;
        all_end = all_end && kind == SIM_END;
        if (kind == SIM_TEST || (kind == SIM_SHARED && !sim.patched))
            return false;
    }
    return !all_end;
}

/* A pair of looks at `before`, which moves on meanwhile, against what becomes of it in the end. */
static bool check_looks(uint64_t seed, int pause, bool at_rest, unsigned *proven)
{
    struct mpiq_job_state *job;
    struct mpiq_diagnosis *diagnosis = look_twice(&job, pause, at_rest);
    struct simulator now = sim;
    sim_settle(&sim);
    bool good = true;
    for (int rank = 0; good && rank < sim.ranks; rank++) {
        bool stuck = diagnosis->ranks[rank].stuck;
        *proven += stuck;
        if (stuck && sim.rank[rank].ended != now.rank[rank].ended) {
            complain(seed, "is said to be stuck, but goes on", rank, diagnosis);
            good = false;
        } else if (at_rest && !stuck && can_be_proven()) {
            complain(seed, "will never go on, but is not said to be stuck", rank, diagnosis);
            good = false;
        }
    }
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(job);
    sim = now;
    return good;
}

/* One job: a few pairs of looks while it runs, one when nothing moves any more. */
static void try_job(uint64_t seed, unsigned *moving, unsigned *settled)
{
    enum { ROUNDS = 5 };
    sim_make(&sim, seed, seed % 3 != 0);
    bool good = true;
    for (int round = 0; round < ROUNDS && good; round++) {
        for (uint64_t steps = seed * 7 % 40 * (uint64_t)round; steps > 0; steps--)
            sim_step(&sim);
        before = sim;
        good = check_looks(seed, round % 4, false, moving);
    }
    sim_settle(&sim);
    before = sim;
    if (good)
        check_looks(seed, 0, true, settled);
}

static void test_torn_looks(void)
{
    unsigned moving = 0;
    unsigned settled = 0;
    for (uint64_t i = 0; i < cases && !complaining; i++)
        try_job(first_seed + i, &moving, &settled);
    printf("%llu jobs, proven stuck %u times while others moved, %u at rest\n", (unsigned long long)cases,
           moving, settled);
    CU_ASSERT(moving > cases / 20);
    CU_ASSERT(settled > cases / 4);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cases = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    CU_TestInfo tests[] = {{"nobody is said to be stuck who goes on", test_torn_looks}, CU_TEST_INFO_NULL};
    return suite_run("torn looks", tests);
}
