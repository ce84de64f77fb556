/* SPDX-License-Identifier: BSD-3-Clause */
/* What was seen at different moments, or has not been noticed yet, proves nothing: of each case one in which
   the job hangs, and one in which it may go on. */
#include <stdlib.h>
#include <string.h>

#include "job_builder.h"
#include "suite.h"

/* Destroys the job. */
static bool says(struct job_builder *job, const char *what)
{
    char *answer = job_answer(job);
    bool found = strstr(answer, what) != NULL;
    free(answer);
    job_deinit(job);
    return found;
}

static bool is_deadlock(struct job_builder *job)
{
    return says(job, "deadlock: ");
}

/* How much of the processor a rank's thread got after the first look had ended. */
static void polled(struct job_builder *job, int rank, int64_t ns)
{
    job->states[1][rank]->threads[0].polled_ns = ns;
}

/* Rank 0 wants a lock that rank 1 holds, which waits for a message from rank 0. */
static void make_lock(struct job_builder *job, int ranks, int target)
{
    job_init(job, ranks);
    int window = job_window(job, "field", WORLD);
    job_lock(job, 0, window, target, MPIQ_LOCK_EXCLUSIVE, false);
    job_wait_window(job, 0, "MPI_Win_lock", MPIQ_WAIT_LOCK, window, target, MPIQ_LOCK_EXCLUSIVE);
    job_lock(job, 1, window, target, MPIQ_LOCK_SHARED, true);
    job_recv(job, 1, WORLD, 0, 5);
}

/* The holder had the lock in one of the looks alone. */
static void test_moved(void)
{
    struct job_builder job;
    for (int moved = 0; moved < 2; moved++) {
        make_lock(&job, 3, 2);
        if (moved)
            job.states[0][1]->windows[0].lock_count = 0;
        CU_ASSERT_EQUAL(is_deadlock(&job), !moved);
    }
    /* It posted, and came to MPI_Finalize, after its part in the window was read. */
    for (int moved = 0; moved < 2; moved++) {
        job_init(&job, 2);
        int window = job_window(&job, "halo", WORLD);
        job_start(&job, 0, window, 1);
        job_wait_window(&job, 0, "MPI_Win_start", MPIQ_WAIT_START, window, ANY, MPIQ_LOCK_NONE);
        job.look = moved ? 2 : 0;
        job_finalize(&job, 1);
        CU_ASSERT_EQUAL(is_deadlock(&job), !moved);
    }
}

/* A lock on its own memory: rank 2, which computes, may be the one that holds it. */
static void test_own_lock(void)
{
    struct job_builder job;
    for (int others = 0; others < 2; others++) {
        for (int target = 0; target < 2; target++) {
            make_lock(&job, 4, target ? 3 : 0);
            if (others)
                job_lock(&job, 2, 0, target ? 3 : 0, MPIQ_LOCK_SHARED, true);
            CU_ASSERT_EQUAL(is_deadlock(&job), !others || target);
        }
    }
    make_lock(&job, 3, 0); /* the last holder may have given it back */
    polled(&job, 0, 0);
    CU_ASSERT_FALSE(is_deadlock(&job));
    make_lock(&job, 3, ANY); /* MPI_Win_lock_all may wait for its own one alone */
    polled(&job, 0, 0);
    CU_ASSERT_FALSE(is_deadlock(&job));
    make_lock(&job, 3, 2);
    polled(&job, 0, 0);
    CU_ASSERT(is_deadlock(&job));
}

/* Rank 0 completes its access to ranks 1 and 2.  Rank 1 has not posted, or not any more, and waits for a
   message from rank 0; rank 2 has posted, and waits for one from rank 3, which computes. */
static void make_complete(struct job_builder *job)
{
    job_init(job, 4);
    int window = job_window(job, "halo", WORLD);
    job_start(job, 0, window, 1);
    job_start(job, 0, window, 2);
    job_wait_window(job, 0, "MPI_Win_complete", MPIQ_WAIT_COMPLETE, window, ANY, MPIQ_LOCK_NONE);
    job_recv(job, 1, WORLD, 0, 5);
    job_post(job, 2, window, 0);
    job_recv(job, 2, WORLD, 3, 5);
}

static void test_complete(void)
{
    struct job_builder job;
    make_complete(&job);
    CU_ASSERT(is_deadlock(&job));
    for (int rank = 0; rank < 3; rank++) { /* it may have yet to notice, or to take in */
        make_complete(&job);
        polled(&job, rank, 0);
        CU_ASSERT_FALSE(is_deadlock(&job));
    }
    make_complete(&job); /* what nobody has read may take in anything */
    job.unread[2] = true;
    CU_ASSERT_FALSE(is_deadlock(&job));
}

/* Rank 0 ends its exposure to rank 1, whose access is open: it may be the next one. */
static void test_exposure(void)
{
    struct job_builder job;
    for (int turned = 0; turned < 2; turned++) {
        job_init(&job, 2);
        int window = job_window(&job, "halo", WORLD);
        job_post(&job, 0, window, 1);
        job_wait_window(&job, 0, "MPI_Win_wait", MPIQ_WAIT_WAIT, window, ANY, MPIQ_LOCK_NONE);
        job_start(&job, 1, window, 0);
        job_recv(&job, 1, WORLD, 0, 5);
        polled(&job, 0, turned ? 3000000 : 0);
        CU_ASSERT_EQUAL(is_deadlock(&job), turned);
    }
}

/* Rank 1 has completed, and begun its next access; it is rank 2 that rank 0 waits for, which computes. */
static void test_next_access(void)
{
    struct job_builder job;
    for (int both = 0; both < 2; both++) {
        job_init(&job, 3);
        int window = job_window(&job, "halo", WORLD);
        job_post(&job, 0, window, 1);
        job_post(&job, 0, window, 2);
        job_wait_window(&job, 0, "MPI_Win_wait", MPIQ_WAIT_WAIT, window, ANY, MPIQ_LOCK_NONE);
        job_start(&job, 1, window, 0);
        job_recv(&job, 1, WORLD, 0, 5);
        if (both)
            job_recv(&job, 2, WORLD, 0, 5);
        CU_ASSERT_EQUAL(is_deadlock(&job), both);
    }
}

/* A rank that has come to MPI_Finalize during the second look may have sent after its counts were read. */
static void test_late_finalize(void)
{
    struct job_builder job;
    for (int late = 0; late < 2; late++) {
        job_init(&job, 2);
        job_recv(&job, 0, WORLD, 1, 5);
        job.look = late ? 2 : 0;
        job_finalize(&job, 1);
        CU_ASSERT_EQUAL(is_deadlock(&job), !late);
    }
}

/* A rank in the last fence of MPI_Finalize still answers; one that is through does not. */
static void test_last_fence(void)
{
    struct job_builder job;
    for (int through = 0; through < 2; through++) {
        job_init(&job, 2);
        int window = job_window(&job, "field", WORLD);
        job_lock(&job, 0, window, 1, MPIQ_LOCK_EXCLUSIVE, true);
        job_wait_window(&job, 0, "MPI_Win_unlock", MPIQ_WAIT_UNLOCK, window, 1, MPIQ_LOCK_NONE);
        if (through)
            job_phase(&job, 1, MPIQ_PHASE_FINALIZED);
        else
            job_finalize(&job, 1);
        CU_ASSERT_EQUAL(is_deadlock(&job), through);
    }
}

/* All have been in a collective for long, but not in the wait that they are in now. */
static void test_stalled(void)
{
    struct job_builder job;
    for (int waited = 0; waited < 2; waited++) {
        job_init(&job, 2);
        job.waited = 90;
        for (int rank = 0; rank < 2; rank++)
            job_collective(&job, rank, WORLD, "MPI_Alltoall", 1, ANY);
        for (int look = 0; !waited && look < 2; look++)
            job.states[look][1]->threads[0].waits[0].begin_ns += INT64_C(85000000000);
        CU_ASSERT_EQUAL(says(&job, "stalled: "), waited);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {{"another moment", test_moved},
                           {"a lock of its own", test_own_lock},
                           {"the end of an access", test_complete},
                           {"the end of an exposure", test_exposure},
                           {"the next access", test_next_access},
                           {"MPI_Finalize in the second look", test_late_finalize},
                           {"the last fence", test_last_fence},
                           {"stalled", test_stalled},
                           CU_TEST_INFO_NULL};
    return suite_run("moments", tests);
}
