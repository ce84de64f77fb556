/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole answers: ranks that mpiq run --step holds before a call. */
#include <stdio.h>

#include "job_builder.h"
#include "suite.h"
#include "merge/merge.h"

/* mpiq run --step holds the rank's last thread before that call. */
static void step_before(struct job_builder *job, int rank, const char *call)
{
    job_call(job, rank, call); /* the recorder's function is on the stack */
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job->states[look][rank];
        struct mpiq_thread *thread = &state->threads[state->thread_count - 1];
        snprintf(thread->stepped, sizeof thread->stepped, "%s", call);
        thread->stepped_number = 7;
        thread->state = 'S';
        thread->sleep = MPIQ_SLEEP_TIMED_FUTEX;
    }
}

/* Whom the step mode holds goes on: however long that takes, nobody who waits for it is stuck. */
static void test_held_by_the_step_mode(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    job_called(&job, 2, WORLD, "MPI_Barrier", 2);
    step_before(&job, 2, "MPI_Barrier");
    job.options.still = 3600;
    job_expect(&job,
               "unknown: cannot tell whether the job hangs: rank 2 is held by mpiq run --step\n"
               "rank_elsewhere? ranks 2: rank 2 is held by mpiq run --step before MPI_Barrier at solver.c:20 "
               "(step); 2 ranks have waited up to 1 m 0 s for it\n"
               "  follows from 1: collective_incomplete? ranks 0-1 missing 2 suspects 2: ranks 0 and 1 "
               "wait in MPI_Barrier at solver.c:20 for rank 2\n");
}

static void test_all_held_by_the_step_mode(void)
{
    struct job_builder job;
    job_init(&job, 2);
    for (int rank = 0; rank < 2; rank++)
        step_before(&job, rank, "MPI_Recv");
    job.options.still = 3600;
    job_expect(&job, "unknown: cannot tell whether the job hangs: all ranks are held by mpiq run --step\n");
}

/* Two wait for each other, whatever the third one will do. */
static void test_stuck_beside_the_step_mode(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_recv(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 7);
    step_before(&job, 2, "MPI_Barrier");
    job_expect(&job, "deadlock: 2 of 3 ranks can never continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

/* Held before one more MPI_Test: that is no loop that goes round without end. */
static void test_polls_in_the_step_mode(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    for (int look = 0; look < 2; look++)
        snprintf(job.states[look][1]->last_mpi_call, sizeof job.states[look][1]->last_mpi_call, "MPI_Test");
    step_before(&job, 1, "MPI_Test");
    job.options.still = 3600;
    job_expect(&job,
               "unknown: cannot tell whether the job hangs: rank 1 is held by mpiq run --step\n"
               "rank_elsewhere? ranks 1: rank 1 is held by mpiq run --step before MPI_Test at solver.c:20 "
               "(step); 1 rank has waited 1 m 0 s for it\n");
}

/* One thread of the rank is held, the other waits for what the held one may send. */
static void test_thread_in_the_step_mode(void)
{
    static const int levels[] = {2, 3};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct job_builder job;
        job_init(&job, 2);
        job_recv(&job, 0, WORLD, 1, 7);
        job_recv(&job, 1, WORLD, 0, 7);
        job_thread(&job, 1, levels[i]);
        step_before(&job, 1, "MPI_Send");
        job.options.still = 3600;
        job_expect(
            &job, "unknown: cannot tell whether the job hangs: rank 1 is held by mpiq run --step\n"
                  "rank_elsewhere? ranks 1: rank 1 is held by mpiq run --step before MPI_Send at solver.c:30 "
                  "(worker); 2 ranks have waited up to 1 m 0 s for it\n");
    }
}

/* The recorder's function is on its stack, and the call has not been made. */
static void test_no_call_in_the_step_mode(void)
{
    struct job_builder job;
    struct mpiq_job_state *state;
    job_init(&job, 2);
    for (int rank = 0; rank < 2; rank++)
        step_before(&job, rank, "MPI_Recv");
    struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
    CU_ASSERT_PTR_NULL(diagnosis->ranks[0].call);
    CU_ASSERT_STRING_EQUAL(diagnosis->ranks[0].before, "MPI_Recv");
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    job_deinit(&job);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"held by the step mode", test_held_by_the_step_mode},
        {"all held by the step mode", test_all_held_by_the_step_mode},
        {"stuck beside the step mode", test_stuck_beside_the_step_mode},
        {"polls in the step mode", test_polls_in_the_step_mode},
        {"a thread in the step mode", test_thread_in_the_step_mode},
        {"no call in the step mode", test_no_call_in_the_step_mode},
        CU_TEST_INFO_NULL,
    };
    return suite_run("step_mode", tests);
}
