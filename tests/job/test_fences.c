/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole answers: fences of windows, and their end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_builder.h"
#include "suite.h"
#include "merge/merge.h"

/* How far each rank has come on a window, by the recorder. */
static void fences(struct job_builder *job, int window, const int *begun, bool synchronises)
{
    for (int look = 0; look < 2; look++) {
        for (int rank = 0; rank < job->ranks; rank++) {
            struct mpiq_window *own = &job->states[look][rank]->windows[window];
            own->fences = begun[rank];
            own->synchronises = synchronises;
        }
    }
}

static void in_fence(struct job_builder *job, int rank, int window)
{
    job_collective(job, rank, WORLD, "MPI_Win_fence", 0, ANY);
    for (int look = 0; look < 2; look++) {
        struct mpiq_wait *wait = &job->states[look][rank]->threads[0].waits[0];
        wait->kind = MPIQ_WAIT_FENCE;
        wait->window = window;
    }
}

static void in_free(struct job_builder *job, int rank, int window)
{
    job_collective(job, rank, WORLD, "MPI_Win_free", 0, ANY);
    for (int look = 0; look < 2; look++) {
        struct mpiq_wait *wait = &job->states[look][rank]->threads[0].waits[0];
        wait->kind = MPIQ_WAIT_WIN_FREE;
        wait->window = window;
        job->states[look][rank]->windows[window].freeing = true;
    }
}

static void does_not_turn(struct job_builder *job, int rank)
{
    for (int look = 0; look < 2; look++)
        job->states[look][rank]->threads[0].cpu_ns = 5;
}

/* Ranks 0 and 2 are in their second fence.  Rank 1 waits for rank 0.  A rank 3 waits for rank 1, or, if it is
   where rank 1 is, goes on. */
static void make_fence(struct job_builder *job, int ranks, const int *begun, bool synchronises, bool turns)
{
    job_init(job, ranks);
    int window = job_window(job, "field", WORLD);
    in_fence(job, 0, window);
    in_fence(job, 2, window);
    job_recv(job, 1, WORLD, 0, 99);
    if (ranks == 4 && begun[3] != 1)
        job_recv(job, 3, WORLD, 1, 98);
    fences(job, window, begun, synchronises);
    job_recorded(job);
    for (int rank = 0; !turns && rank < 3; rank += 2)
        does_not_turn(job, rank);
}

static void test_fence(void)
{
    static const struct {
        int begun[4];
        int ranks;
        bool synchronises, turns, deadlock;
    } cases[] = {
        {{2, 1, 2}, 3, true, false, true},      /* it cannot return */
        {{2, 1, 2}, 3, false, false, false},    /* it may return at once */
        {{2, 1, 2}, 3, false, true, true},      /* it does not: it waits for the only one that is missing */
        {{2, 2, 2}, 3, true, true, false},      /* all are there */
        {{2, 3, 2}, 3, true, true, false},      /* or past it */
        {{2, -1, 2}, 3, true, true, false},     /* not known */
        {{2, 1, 2, 1}, 4, true, false, true},   /* rank 3 may come, rank 1 will not */
        {{2, 1, 2, 1}, 4, false, true, false},  /* for which of them it waits is not known */
        {{2, 1, 2, -1}, 4, false, true, false}, /* rank 3 may be the one, as far as anybody knows */
        {{2, 1, 2, 2}, 4, true, true, true},    /* who has left it promises nothing for rank 1 */
        {{2, 1, 2, 2}, 4, false, true, false},  /* rank 3 has left it: they may wait for that one */
        {{2, 1, 2, 3}, 4, false, true, false},  /* or is past it */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job_builder job;
        make_fence(&job, cases[i].ranks, cases[i].begun, cases[i].synchronises, cases[i].turns);
        bool deadlock = job_is_deadlock(&job);
        CU_ASSERT_EQUAL(deadlock, cases[i].deadlock);
        if (deadlock != cases[i].deadlock)
            printf("case %zu\n", i);
    }
    struct job_builder job;
    make_fence(&job, 3, cases[0].begun, true, false);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "collective_incomplete ranks 0,2 missing 1 suspects 1: Rank 1 never entered the "
                     "MPI_Win_fence on window \"field\" that the other 2 ranks are waiting in\n");
    make_fence(&job, 3, cases[2].begun, false, true);
    does_not_turn(&job, 1); /* it may have yet to take in what others wait for */
    CU_ASSERT_FALSE(job_is_deadlock(&job));
    make_fence(&job, 3, cases[2].begun, false, true);
    for (int rank = 0; rank < 3; rank++) { /* core files: whether it turns round cannot be told */
        for (int look = 0; look < 2; look++)
            job.states[look][rank]->final = true;
    }
    CU_ASSERT_FALSE(job_is_deadlock(&job));
}

/* Missing are those that have not begun that fence: neither those in it nor those that have left it. */
static void test_who_is_missing(void)
{
    struct job_builder job;
    make_fence(&job, 6, (const int[]){2, 1, 2, 2, 0, 3}, true, false);
    job_recv(&job, 3, WORLD, 1, 98);
    job_recv(&job, 4, WORLD, 1, 97);
    job_recv(&job, 5, WORLD, 1, 96);
    char *answer = job_answer(&job);
    CU_ASSERT_PTR_NOT_NULL(strstr(
        answer, "collective_incomplete ranks 0,2 missing 1,4 suspects 1,4: Ranks 1 and 4 never entered "
                "the MPI_Win_fence on window \"field\" that ranks 0 and 2 are waiting in\n"));
    free(answer);
    job_deinit(&job);
}

/* Counts are a window's, not a communicator's. */
static void test_two_windows(void)
{
    static const int ahead[] = {2, 1};
    static const int behind[] = {1, 2};
    struct job_builder job;
    job_init(&job, 2);
    int first = job_window(&job, "first", WORLD);
    int second = job_window(&job, "second", WORLD);
    in_fence(&job, 0, first);
    in_fence(&job, 1, second);
    fences(&job, first, ahead, true);
    fences(&job, second, behind, true);
    job_recorded(&job);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "collective_incomplete ranks 0 missing 1: Rank 1 never entered the MPI_Win_fence on "
                     "window \"first\" that rank 0 is waiting in\n");
    job_init(&job, 2); /* both in the same one, and rank 1 is behind in the other */
    first = job_window(&job, "first", WORLD);
    second = job_window(&job, "second", WORLD);
    in_fence(&job, 0, first);
    in_fence(&job, 1, first);
    fences(&job, first, (const int[]){2, 2}, true);
    fences(&job, second, ahead, true);
    job_recorded(&job);
    CU_ASSERT_FALSE(job_is_deadlock(&job));
}

static void test_free(void)
{
    for (int way = 0; way < 3; way++) {
        struct job_builder job;
        job_init(&job, 3);
        int window = job_window(&job, "field", WORLD);
        fences(&job, window, way == 1 ? (const int[]){1, 2, 1} : (const int[]){1, 1, 1}, true);
        in_free(&job, 0, window);
        in_free(&job, 2, window);
        if (way == 1) /* a fence too many */
            in_fence(&job, 1, window);
        else if (way == 0)
            job_recv(&job, 1, WORLD, 0, 99);
        else
            in_free(&job, 1, window);
        job_recorded(&job);
        if (way == 0)
            job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                             "collective_incomplete ranks 0,2 missing 1 suspects 1: Rank 1 never entered the "
                             "MPI_Win_free on window \"field\" that the other 2 ranks are waiting in\n");
        else
            CU_ASSERT_EQUAL(job_is_deadlock(&job), way == 1);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"recorder: the rank missing from a fence is named", test_fence},
        {"recorder: who has not come to a fence", test_who_is_missing},
        {"recorder: fences of two windows", test_two_windows},
        {"recorder: the rank missing from MPI_Win_free is named", test_free},
        CU_TEST_INFO_NULL,
    };
    return suite_run("fences", tests);
}
