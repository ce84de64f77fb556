/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Job states made at random from a known relation of waiting: what is proven must be what a slow and obvious
 * reference says, every time.
 *
 * Usage: test_random [CASES [FIRST SEED]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"
#include "suite.h"
#include "merge/merge.h"

static uint64_t cases = 100000;
static uint64_t first_seed = 1;

static bool agrees(const struct model *model, unsigned *stuck_count)
{
    bool stuck[MOST_RANKS];
    model_reference(model, stuck);
    struct job_builder job;
    model_build(model, &job);
    struct mpiq_job_state *state;
    struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
    bool good = true;
    bool any = false;
    for (int rank = 0; rank < model->ranks; rank++) {
        uint32_t process = mpiq_job_process(state, 0, (uint32_t)rank);
        bool proven = process != MPIQ_NONE && diagnosis->ranks[process].stuck; /* NONE: none was read */
        good = good && proven == stuck[rank];
        any = any || stuck[rank];
        *stuck_count += stuck[rank];
    }
    good = good && (diagnosis->verdict == MPIQ_VERDICT_DEADLOCK) == any;
    good = good && (!any || (diagnosis->finding_count > 0 && diagnosis->findings[0].proven));
    if (!good) {
        model_print(model);
        for (int rank = 0; rank < (int)diagnosis->rank_count; rank++)
            printf("rank %d: reference %s, diagnosis %s\n", rank, stuck[rank] ? "stuck" : "may go on",
                   diagnosis->ranks[rank].stuck ? "stuck" : "may go on");
        printf("%s, %zu findings\n", mpiq_verdict_word(diagnosis->verdict), diagnosis->finding_count);
    }
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    job_deinit(&job);
    return good;
}

static void test_reference(void)
{
    unsigned stuck = 0;
    for (uint64_t i = 0; i < cases; i++) {
        struct model model;
        model_make(&model, first_seed + i);
        if (!agrees(&model, &stuck)) {
            printf("seed %llu\n", (unsigned long long)(first_seed + i));
            CU_FAIL("not as the reference says");
            return;
        }
    }
    printf("%llu jobs, %u stuck ranks\n", (unsigned long long)cases, stuck);
    CU_ASSERT(stuck > cases / 4); /* the random jobs are worth something */
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cases = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    CU_TestInfo tests[] = {{"random jobs are judged as by the reference model", test_reference},
                           CU_TEST_INFO_NULL};
    return suite_run("random jobs", tests);
}
