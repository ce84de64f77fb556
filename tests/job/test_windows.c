/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole answers: windows, their epochs and locks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_builder.h"
#include "suite.h"
#include "merge/merge.h"

/* Rank 1 keeps a lock of rank 0 and waits in a barrier for all others, which want that lock. */
static void make_lock(struct job_builder *job, int ranks)
{
    job_init_sized(job, ranks);
    int window = job_window(job, "field", WORLD);
    job_lock(job, 1, window, 0, MPIQ_LOCK_EXCLUSIVE, true);
    job_collective(job, 1, WORLD, "MPI_Barrier", 1, ANY);
    for (int rank = 0; rank < ranks; rank += rank ? 1 : 2) {
        job_lock(job, rank, window, 0, MPIQ_LOCK_SHARED, false);
        job_wait_window(job, rank, "MPI_Win_lock", MPIQ_WAIT_LOCK, window, 0, MPIQ_LOCK_SHARED);
    }
}

static void test_lock(void)
{
    struct job_builder job;
    make_lock(&job, 4);
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "window_wait ranks 0,2-3 missing 1 suspects 1: Rank 1 holds an exclusive lock on window "
                     "\"field\" of rank 0 and is in MPI_Barrier; ranks 0,2-3 wait for that lock\n");
    make_lock(&job, 24);
    job_expect(&job,
               "deadlock: none of the 24 ranks can continue\n"
               "window_wait ranks 0,2-23 missing 1 suspects 1: Rank 1 holds an exclusive lock on window "
               "\"field\" of rank 0 and is in MPI_Barrier; ranks 0,2-23 wait for that lock\n");
    make_lock(&job, MANY);
    job_check_size(&job, 1, 1);
}

/* A window that the user gave no name is known by the call that made it. */
static void test_unnamed(void)
{
    struct job_builder job;
    job_init(&job, 3);
    int window = job_window(&job, "rdma window 3", WORLD);
    for (int look = 0; look < 2; look++) {
        for (int rank = 0; rank < 3; rank++) {
            struct mpiq_window *row = &job.states[look][rank]->windows[window];
            strcpy(row->made_by, "MPI_Win_allocate");
            row->made = (struct mpiq_place){.file = "counter.c", .line = 5};
        }
    }
    job_lock(&job, 1, window, 0, MPIQ_LOCK_EXCLUSIVE, true);
    job_recv(&job, 1, WORLD, 2, 5);
    job_lock(&job, 2, window, 0, MPIQ_LOCK_EXCLUSIVE, false);
    job_wait_window(&job, 2, "MPI_Win_lock", MPIQ_WAIT_LOCK, window, 0, MPIQ_LOCK_EXCLUSIVE);
    job_expect(&job,
               "deadlock: 2 of 3 ranks can never continue\n"
               "window_wait ranks 2 missing 1 suspects 1: Rank 1 holds an exclusive lock at rank 0 on the "
               "window made by MPI_Win_allocate at counter.c:5 and is in MPI_Recv; rank 2 waits for that "
               "lock\n");
}

/* All even ranks hold a shared lock and wait in a barrier; all odd ones want an exclusive one. */
static void make_shared(struct job_builder *job, int ranks)
{
    job_init_sized(job, ranks);
    int window = job_window(job, "field", WORLD);
    for (int rank = 0; rank < ranks; rank++) {
        job_lock(job, rank, window, 0, rank % 2 ? MPIQ_LOCK_EXCLUSIVE : MPIQ_LOCK_SHARED, rank % 2 == 0);
        if (rank % 2)
            job_wait_window(job, rank, "MPI_Win_lock", MPIQ_WAIT_LOCK, window, 0, MPIQ_LOCK_EXCLUSIVE);
        else
            job_collective(job, rank, WORLD, "MPI_Barrier", 1, ANY);
    }
}

static void test_many_holders(void)
{
    struct job_builder job;
    make_shared(&job, 24);
    job_expect(&job,
               "deadlock: none of the 24 ranks can continue\n"
               "window_wait ranks 1-23:2 missing 0-22:2 suspects 0-22:2: Ranks 0-22:2 hold a shared lock "
               "on window \"field\" of rank 0; ranks 1-23:2 wait for that lock\n");
    make_shared(&job, MANY);
    job_check_size(&job, 1, 1);
}

/* MPI_Win_lock_all waits for one exclusive lock at any rank. */
static void test_lock_all(void)
{
    struct job_builder job;
    job_init(&job, 3);
    int window = job_window(&job, "field", WORLD);
    job_lock(&job, 2, window, 1, MPIQ_LOCK_EXCLUSIVE, true);
    job_recv(&job, 2, WORLD, 0, 5);
    for (int rank = 0; rank < 2; rank++)
        job_wait_window(&job, rank, "MPI_Win_lock_all", MPIQ_WAIT_LOCK, window, ANY, MPIQ_LOCK_SHARED);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "window_wait ranks 0-1 missing 2 suspects 2: Rank 2 holds an exclusive lock on window "
                     "\"field\" and is in MPI_Recv; ranks 0 and 1 wait for that lock\n");
}

/* Shared locks do not exclude each other, a holder that goes on will unlock, of a rank that asks twice nobody
   knows, and another rank's lock is none of this one's. */
static void test_lock_free(void)
{
    for (int how = 0; how < 4; how++) {
        struct job_builder job;
        job_init(&job, 2);
        int window = job_window(&job, "field", WORLD);
        job_lock(&job, how != 2, window, how == 3, how ? MPIQ_LOCK_EXCLUSIVE : MPIQ_LOCK_SHARED, true);
        if (how != 1)
            job_recv(&job, 1, WORLD, 0, 5);
        job_wait_window(&job, 0, "MPI_Win_lock", MPIQ_WAIT_LOCK, window, 0, MPIQ_LOCK_SHARED);
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_NOT_EQUAL(diagnosis->verdict, MPIQ_VERDICT_DEADLOCK);
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

/* Rank 0 ends its epoch at rank 2, where rank 1 has a lock, too: the library may have put rank 0 off till
 * now. */
static void make_unlock(struct job_builder *job, const char *call, enum mpiq_wait_kind kind)
{
    job_init(job, 3);
    int window = job_window(job, "field", WORLD);
    for (int rank = 0; rank < 2; rank++)
        job_lock(job, rank, window, 2, MPIQ_LOCK_EXCLUSIVE, true);
    job_wait_window(job, 0, call, kind, window, 2, MPIQ_LOCK_NONE);
    job_collective(job, 1, WORLD, "MPI_Barrier", 1, ANY);
    job_collective(job, 2, WORLD, "MPI_Barrier", 1, ANY);
}

static void test_unlock(void)
{
    struct job_builder job;
    make_unlock(&job, "MPI_Win_unlock", MPIQ_WAIT_UNLOCK);
    job_expect(&job, "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n"
                     "window_wait? ranks 0 missing 1 suspects 1: rank 0 waits in MPI_Win_unlock on window "
                     "\"field\", where rank 1 has a lock that excludes its own\n"
                     "  follows from 1: collective_incomplete? ranks 1-2 missing 0: rank 2 waits in "
                     "MPI_Barrier at solver.c:20 for rank 0\n");
    make_unlock(&job, "MPI_Win_flush", MPIQ_WAIT_FLUSH);
    job.waited = 1;
    struct mpiq_job_state *state;
    struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
    const struct mpiq_waits_for *wait = diagnosis->ranks[0].waits_for;
    CU_ASSERT_EQUAL(wait->parts[0].kind, MPIQ_PART_WINDOW);
    CU_ASSERT_EQUAL(wait->ranks.size, 2);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    job_deinit(&job);
}

/* Both end an epoch: one of them has the lock, and will be through. */
static void test_both_unlock(void)
{
    struct job_builder job;
    make_unlock(&job, "MPI_Win_unlock", MPIQ_WAIT_UNLOCK);
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *one = job.states[look][1];
        one->threads[0].wait_count = 0;
        one->communicators[0].call_count = 0;
        one->communicators[0].ordered = 0;
    }
    job_wait_window(&job, 1, "MPI_Win_unlock", MPIQ_WAIT_UNLOCK, 0, 2, MPIQ_LOCK_NONE);
    char *answer = job_answer(&job);
    CU_ASSERT_PTR_NULL(strstr(answer, "window_wait"));
    CU_ASSERT_PTR_NULL(strstr(answer, "deadlock"));
    free(answer);
    job_deinit(&job);
}

/* The target of a flush has ended. */
static void test_flush_of_nobody(void)
{
    struct job_builder job;
    job_init(&job, 2);
    int window = job_window(&job, "field", WORLD);
    job_lock(&job, 0, window, 1, MPIQ_LOCK_SHARED, true);
    job_wait_window(&job, 0, "MPI_Win_flush", MPIQ_WAIT_FLUSH, window, 1, MPIQ_LOCK_NONE);
    job_state(&job, 1, 'Z');
    job_expect(&job,
               "deadlock: 1 of 2 ranks can never continue\n"
               "rank_gone ranks 1: Rank 1 has ended; 1 rank has waited 1 m 0 s for it\n"
               "  follows from 1: window_wait ranks 0 missing 1 suspects 1: rank 0 waits in MPI_Win_flush "
               "at solver.c:20 for rank 1\n");
}

static void test_post_start(void)
{
    struct job_builder job;
    job_init(&job, 3);
    int window = job_window(&job, "halo", WORLD);
    job_start(&job, 0, window, 1);
    job_start(&job, 0, window, 2);
    job_post(&job, 1, window, 0);
    job_wait_window(&job, 0, "MPI_Win_start", MPIQ_WAIT_START, window, ANY, MPIQ_LOCK_NONE);
    job_wait_window(&job, 1, "MPI_Win_wait", MPIQ_WAIT_WAIT, window, ANY, MPIQ_LOCK_NONE);
    job_recv(&job, 2, WORLD, 0, 5);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "window_wait ranks 0 missing 2 suspects 2: Rank 2 never posted window \"halo\" "
                     "(MPI_Win_post), which rank 0 waits for in MPI_Win_start\n"
                     "  follows from 1: window_wait ranks 1 missing 0 suspects 0: rank 1 waits in "
                     "MPI_Win_wait at solver.c:20 for rank 0\n");
}

/* Rank 0 waits for two origins.  Rank 1 has completed its access, and waits in a barrier for rank 0; rank 2
   has not, and does what `other` says. */
static void make_one_completed(struct job_builder *job, bool open)
{
    job_init(job, 3);
    int window = job_window(job, "halo", WORLD);
    job_post(job, 0, window, 1);
    job_post(job, 0, window, 2);
    job_wait_window(job, 0, "MPI_Win_wait", MPIQ_WAIT_WAIT, window, ANY, MPIQ_LOCK_NONE);
    job_collective(job, 1, WORLD, "MPI_Barrier", 1, ANY);
    if (open)
        job_start(job, 2, window, 0);
}

static void test_one_completed(void)
{
    struct job_builder job;
    for (int open = 0; open < 2; open++) { /* rank 2 computes, before its access and within it */
        make_one_completed(&job, open);
        char *answer = job_answer(&job);
        CU_ASSERT_PTR_NULL(strstr(answer, "deadlock"));
        CU_ASSERT_PTR_NULL(strstr(answer, "window_wait"));
        free(answer);
        job_deinit(&job);
    }
    make_one_completed(&job, true);
    job_recv(&job, 2, WORLD, 0, 5);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "window_wait ranks 0 missing 2 suspects 2: Rank 2 never completed the access to window "
                     "\"halo\" (MPI_Win_complete) that rank 0 waits for\n"
                     "  follows from 1: collective_incomplete ranks 1 missing 0,2: rank 1 waits in "
                     "MPI_Barrier at solver.c:20 for ranks 0 and 2\n");
}

/* Rank 1 is on its way out of MPI_Win_complete: rank 0 has its word, and has ended its exposure. */
static void test_completed_on_the_way(void)
{
    struct job_builder job;
    job_init(&job, 2);
    int window = job_window(&job, "halo", WORLD);
    job_collective(&job, 0, WORLD, "MPI_Barrier", 1, ANY);
    job_start(&job, 1, window, 0);
    job_wait_window(&job, 1, "MPI_Win_complete", MPIQ_WAIT_COMPLETE, window, ANY, MPIQ_LOCK_NONE);
    for (int look = 0; look < 2; look++) /* it was not given the processor */
        job.states[look][1]->threads[0].cpu_ns = 5;
    char *answer = job_answer(&job);
    CU_ASSERT_PTR_NULL(strstr(answer, "deadlock"));
    free(answer);
    job_deinit(&job);
}

/* The recorder sees that a rank is in MPI_Win_lock or MPI_Win_start, not that it waits there. */
static void test_passing(void)
{
    for (int polls = 0; polls < 2; polls++) {
        for (int kind = 0; kind < 2; kind++) {
            struct job_builder job;
            if (kind == 0) {
                make_lock(&job, 2);
            } else {
                job_init(&job, 2);
                int window = job_window(&job, "halo", WORLD);
                job_start(&job, 0, window, 1);
                job_wait_window(&job, 0, "MPI_Win_start", MPIQ_WAIT_START, window, ANY, MPIQ_LOCK_NONE);
                job_collective(&job, 1, WORLD, "MPI_Barrier", 1, ANY);
            }
            job_recorded(&job);
            for (int look = 0; !polls && look < 2; look++)
                job.states[look][0]->threads[0].cpu_ns = 5;
            CU_ASSERT_EQUAL(job_is_deadlock(&job), polls == 1);
        }
    }
}

/* Between epochs the recorder tells the groups of all epochs so far: who is in MPI_Win_complete may be about
   to leave one that is over, and who has accessed the window before may have done so in this one. */
static void test_earlier_epochs(void)
{
    for (int before = 0; before < 2; before++) {
        struct job_builder job;
        job_init(&job, 2);
        int window = job_window(&job, "halo", WORLD);
        job_collective(&job, 0, WORLD, "MPI_Barrier", 1, ANY);
        job_start(&job, 1, window, 0);
        job_wait_window(&job, 1, "MPI_Win_complete", MPIQ_WAIT_COMPLETE, window, ANY, MPIQ_LOCK_NONE);
        job_recorded(&job);
        for (int look = 0; before && look < 2; look++)
            mpiq_window_add_exposure(&job.states[look][0]->windows[window], 1);
        CU_ASSERT_EQUAL(job_is_deadlock(&job), before == 0);
    }
    struct job_builder job;
    make_one_completed(&job, false); /* rank 1 has accessed it before, rank 2 never has */
    job_recorded(&job);
    for (int look = 0; look < 2; look++)
        mpiq_window_add_access(&job.states[look][1]->windows[0], 0);
    job_recv(&job, 2, WORLD, 0, 5);
    char *answer = job_answer(&job);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "window_wait ranks 0 missing 2 suspects 2"));
    free(answer);
    job_deinit(&job);
}

/* Each rank starts an access epoch at the next one, and none has posted. */
static void make_ring(struct job_builder *job, int ranks)
{
    job_init_sized(job, ranks);
    int window = job_window(job, "halo", WORLD);
    for (int rank = 0; rank < ranks; rank++) {
        job_start(job, rank, window, (rank + 1) % ranks);
        job_wait_window(job, rank, "MPI_Win_start", MPIQ_WAIT_START, window, ANY, MPIQ_LOCK_NONE);
    }
}

static void test_ring_of_starts(void)
{
    struct job_builder job;
    make_ring(&job, 4);
    job_expect(&job,
               "deadlock: none of the 4 ranks can continue\n"
               "window_wait ranks 0-3 missing 0-3: Each of ranks 0-3 waits in MPI_Win_start for rank r+1, "
               "which never posted window \"halo\" (MPI_Win_post)\n");
    make_ring(&job, MANY);
    job_check_size(&job, 1, 1);
}

/* Each even rank starts an access epoch at the next one, which is in a barrier. */
static void make_pairs(struct job_builder *job, int ranks)
{
    job_init_sized(job, ranks);
    int window = job_window(job, "halo", WORLD);
    for (int rank = 0; rank < ranks; rank++) {
        if (rank % 2) {
            job_collective(job, rank, WORLD, "MPI_Barrier", 1, ANY);
            continue;
        }
        job_start(job, rank, window, rank + 1);
        job_wait_window(job, rank, "MPI_Win_start", MPIQ_WAIT_START, window, ANY, MPIQ_LOCK_NONE);
    }
}

static void test_pairs(void)
{
    struct job_builder job;
    make_pairs(&job, 4);
    job_expect(&job,
               "deadlock: none of the 4 ranks can continue\n"
               "window_wait ranks 0,2 missing 1,3 suspects 1,3: Each of ranks 0 and 2 waits in MPI_Win_start "
               "for rank r+1, which never posted window \"halo\" (MPI_Win_post)\n");
    make_pairs(&job, 24);
    job_expect(&job, "deadlock: none of the 24 ranks can continue\n"
                     "window_wait ranks 0-22:2 missing 1-23:2 suspects 1-23:2: Each of ranks 0-22:2 waits in "
                     "MPI_Win_start for rank r+1, which never posted window \"halo\" (MPI_Win_post)\n");
    make_pairs(&job, MANY);
    job_check_size(&job, 1, 1);
}

/* Rank 0 is in MPI_Finalize with the window; nobody has a lock. */
static void test_left_with_window(void)
{
    struct job_builder job;
    job_init(&job, 3);
    int window = job_window(&job, "field", WORLD);
    job_lock(&job, 1, window, 0, MPIQ_LOCK_EXCLUSIVE, false);
    job_wait_window(&job, 1, "MPI_Win_lock", MPIQ_WAIT_LOCK, window, 0, MPIQ_LOCK_EXCLUSIVE);
    job_finalize(&job, 0);
    job_finalize(&job, 2);
    char *answer = job_answer(&job);
    const char *cause =
        "window_wait? ranks 1 missing 0 suspects 0: rank 0 is in MPI_Finalize and has not freed window "
        "\"field\", which rank 1 waits for in MPI_Win_lock\n";
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, cause));
    CU_ASSERT_PTR_NULL(strstr(answer, "release"));
    if (!strstr(answer, cause))
        puts(answer);
    free(answer);
    job_deinit(&job);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a rank in MPI_Finalize with the window is what a lock waits for", test_left_with_window},
        {"lock", test_lock},
        {"many holders", test_many_holders},
        {"unnamed", test_unnamed},
        {"lock all", test_lock_all},
        {"lock that may be free", test_lock_free},
        {"unlock", test_unlock},
        {"both unlock", test_both_unlock},
        {"a flush to a rank that has ended waits for that rank", test_flush_of_nobody},
        {"post and start", test_post_start},
        {"one has completed", test_one_completed},
        {"completed, on the way out", test_completed_on_the_way},
        {"recorder: only polling proves a wait in a call that may return", test_passing},
        {"recorder: an epoch that may be over prevents a proof", test_earlier_epochs},
        {"ring of starts", test_ring_of_starts},
        {"pairs", test_pairs},
        CU_TEST_INFO_NULL};
    return suite_run("windows", tests);
}
