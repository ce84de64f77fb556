/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole answers: locks outside MPI that ranks sleep for: on files, in shared memory, of an interpreter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_builder.h"
#include "suite.h"
#include "merge/merge.h"

/* Rank `rank` sleeps for a lock on a file that rank 0 has. */
static void wait_for_lock(struct job_builder *job, int rank, enum mpiq_sleep sleep)
{
    job_state(job, rank, 'S');
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job->states[look][rank];
        struct mpiq_thread *thread = &state->threads[0];
        snprintf(state->architecture, sizeof state->architecture, "x86-64");
        thread->sleep = sleep;
        thread->system_call = 72; /* fcntl */
        thread->lock_holder = job->states[look][0]->pid;
        thread->file = mpiq_rank_state_intern(state, "/home/me/run.log");
    }
}

/* A lock of a process's own is as good a wait as any; another kind, which nobody knows who may release, is
 * none. */
static void test_file_lock(void)
{
    struct job_builder job;
#define ONE_LOCK                                                                                  \
    "file_lock ranks 1-2 missing 0 suspects 0: Rank 0 holds the lock on run.log and has been in " \
    "MPI_Barrier (collective 1) at solver.c:20 for 1 m 0 s; ranks 1 and 2 wait for that lock\n"
    static const struct {
        enum mpiq_sleep second; /* how rank 2 sleeps; OTHER: it has come to the lock between the looks */
        const char *answer;
    } rows[] = {
        {MPIQ_SLEEP_LOCK, "deadlock: none of the 3 ranks can continue\n" ONE_LOCK},
        {MPIQ_SLEEP_OTHER, "deadlock: 2 of 3 ranks can never continue\n" ONE_LOCK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        job_init(&job, 3);
        job_collective(&job, 0, WORLD, "MPI_Barrier", 1, ANY);
        wait_for_lock(&job, 1, MPIQ_SLEEP_LOCK);
        wait_for_lock(&job, 2, rows[i].second);
        job_expect(&job, rows[i].answer);
    }
#undef ONE_LOCK

    job_init(&job, 3); /* its holder goes on */
    job_state(&job, 0, 'S');
    wait_for_lock(&job, 1, MPIQ_SLEEP_LOCK);
    job_collective(&job, 2, WORLD, "MPI_Barrier", 1, ANY);
    struct mpiq_job_state *state;
    struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
    CU_ASSERT_NOT_EQUAL(diagnosis->verdict, MPIQ_VERDICT_DEADLOCK);
    CU_ASSERT_EQUAL(diagnosis->findings[0].kind, MPIQ_FINDING_RANK_ELSEWHERE);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    job_deinit(&job);

    job_init(&job, 2);
    job_collective(&job, 0, WORLD, "MPI_Barrier", 1, ANY);
    wait_for_lock(&job, 1, MPIQ_SLEEP_OTHER);
    diagnosis = job_diagnose(&job, &state);
    CU_ASSERT_NOT_EQUAL(diagnosis->verdict, MPIQ_VERDICT_DEADLOCK);
    CU_ASSERT_EQUAL(diagnosis->findings[0].kind, MPIQ_FINDING_FILE_LOCK);
    CU_ASSERT(!diagnosis->findings[0].proven);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    job_deinit(&job);
}

/* Another thread of its owner's may unlock a mutex: who has it is named, and nothing is proven. */
static void test_shared_mutex(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_collective(&job, 0, WORLD, "MPI_Barrier", 1, ANY);
    job_state(&job, 1, 'S');
    job_sleeps(&job, 1, MPIQ_SLEEP_OTHER, "pthread_mutex_lock");
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job.states[look][1];
        struct mpiq_thread *thread = &state->threads[0];
        snprintf(state->architecture, sizeof state->architecture, "x86-64");
        thread->system_call = 202; /* futex */
        thread->partner = job.states[look][0]->pid;
        thread->partner_state = 'S';
    }
    struct mpiq_job_state *state;
    struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
    CU_ASSERT_NOT_EQUAL(diagnosis->verdict, MPIQ_VERDICT_DEADLOCK);
    CU_ASSERT_NOT_EQUAL(diagnosis->verdict, MPIQ_VERDICT_RUNNING);
    CU_ASSERT_EQUAL(diagnosis->findings[0].kind, MPIQ_FINDING_FILE_LOCK);
    CU_ASSERT(!diagnosis->findings[0].proven);
    CU_ASSERT(mpiq_rank_set_contains(&diagnosis->findings[0].suspects, 0, 0));
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    job_deinit(&job);
}

/* Only the thread that initialised MPI may call it.  Where that is not the process's first one, what that one
   sleeps for keeps nobody from it. */
static void test_file_lock_beside_mpi(void)
{
    for (int calls = 0; calls < 2; calls++) {
        struct job_builder job;
        job_init(&job, 2);
        job_collective(&job, 0, WORLD, "MPI_Barrier", 1, ANY);
        wait_for_lock(&job, 1, MPIQ_SLEEP_LOCK);
        job_thread(&job, 1, 1);
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *rank = job.states[look][1];
            struct mpiq_past_call *past = mpiq_rank_state_add_past_call(rank);
            past->call = mpiq_rank_state_intern(rank, "MPI_Barrier");
            past->tid = rank->threads[calls].tid;
            past->comm = -1;
        }
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_EQUAL(diagnosis->verdict, calls ? MPIQ_VERDICT_RUNNING : MPIQ_VERDICT_DEADLOCK);
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

/* A thread that waits for Python's interpreter lock wakes all the time, and acts no sooner than the one that
   has it.  If it is not known which that is, the job is not running for it. */
static void test_interpreter_lock(void)
{
    enum { OTHERS_COMPUTE, STUCK, NOT_KNOWN, COUNT };
    for (int how = 0; how < COUNT; how++) {
        bool stuck = how != OTHERS_COMPUTE;
        struct job_builder job;
        job_init(&job, 2);
        job_recv(&job, 0, WORLD, 1, 7);
        job_thread(&job, 0, 3); /* computes, or waits */
        job_thread(&job, 0, 3);
        job_recv(&job, 1, WORLD, 0, 7);
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job.states[look][0];
            for (size_t i = stuck ? 1 : 2; i < 3; i++) {
                state->threads[i].interpreter = true;
                state->threads[i].owner = how == NOT_KNOWN ? 0 : state->threads[stuck ? 0 : 1].tid;
                state->threads[i].state = look ? 'R' : 'S';
                state->threads[i].cpu_ns = look ? 50000000 : 0;
            }
        }
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        static const enum mpiq_verdict verdicts[] = {MPIQ_VERDICT_RUNNING, MPIQ_VERDICT_DEADLOCK,
                                                     MPIQ_VERDICT_UNKNOWN};
        CU_ASSERT_EQUAL(diagnosis->verdict, verdicts[how]);
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a file lock", test_file_lock},
        {"a mutex of another rank", test_shared_mutex},
        {"a file lock beside MPI", test_file_lock_beside_mpi},
        {"an interpreter lock", test_interpreter_lock},
        CU_TEST_INFO_NULL,
    };
    return suite_run("locks", tests);
}
