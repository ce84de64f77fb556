/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in which a rank depends on some calls of others alone: neighbourhood and persistent ones. */
#include <stdio.h>
#include <stdlib.h>
#include "job_builder.h"
#include "suite.h"

/* A rank has created the request of a persistent collective by its first call, and started it so often. */
static void started(struct job_builder *job, int rank, int starts)
{
    for (int look = 0; look < 2; look++) {
        struct mpiq_communicator *comm = &job->states[look][rank]->communicators[WORLD];
        comm->ordered = 1;
        *mpiq_communicator_add_persistent(comm) = (struct mpiq_persistent){
            .number = 1, .starts = starts, .request = 0x900, .made = {.file = "setup.c", .line = 10}};
    }
}

/* Ranks 0 and 1 have started a barrier for the second time, rank 2 but once. */
static void test_persistent(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 3; rank++)
        started(&job, rank, rank < 2 ? 2 : 1);
    job_wait_started(&job, 0, "MPI_Barrier_init", 1, -1);
    job_wait_started(&job, 1, "MPI_Barrier_init", 1, -1);
    job_at(&job, 2, "lost", "other.c", 5);
    job_recv(&job, 2, WORLD, 0, 9);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "collective_incomplete ranks 0-1 missing 2 suspects 2: Rank 2 never restarted the "
                     "MPI_Barrier_init (created at setup.c:10) that the other 2 ranks are waiting for\n");
}

/* The root waits for those who have not started theirs, but not for rank 2, who has freed its request. */
static void test_persistent_rooted(void)
{
    for (int freed = 0; freed < 2; freed++) {
        struct job_builder job;
        job_init(&job, 3);
        started(&job, 0, 1);
        started(&job, 1, 1);
        if (!freed)
            started(&job, 2, 0);
        job_wait_started(&job, 0, "MPI_Reduce_init", 1, 0);
        for (int rank = 1; rank < 3; rank++) {
            job_at(&job, rank, "lost", "other.c", 5);
            job_recv(&job, rank, WORLD, 0, 9);
        }
        char *answer = job_answer(&job);
        CU_ASSERT_EQUAL(strncmp(answer, "deadlock", 8) == 0, !freed);
        free(answer);
        job_deinit(&job);
    }
}

/* A persistent scan waits for lower ranks alone: rank 1 for nobody, rank 3 for rank 2. */
static void test_persistent_scan(void)
{
    struct job_builder job;
    job_init(&job, 4);
    for (int rank = 0; rank < 4; rank++)
        started(&job, rank, rank == 2 ? 1 : 2);
    job_wait_started(&job, 3, "MPI_Scan_init", 1, -1);
    job_at(&job, 2, "lost", "other.c", 5);
    job_recv(&job, 2, WORLD, 0, 9);
    job_at(&job, 0, "lost", "other.c", 6);
    job_recv(&job, 0, WORLD, 2, 9);
    char *answer = job_answer(&job);
    CU_ASSERT_EQUAL(strncmp(answer, "deadlock", 8), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "collective_incomplete ranks 3 missing 2"));
    free(answer);
    job_deinit(&job);

    /* The lowest that waits has nobody below it who could hold it. */
    job_init(&job, 2);
    started(&job, 0, 2);
    started(&job, 1, 1);
    job_wait_started(&job, 0, "MPI_Scan_init", 1, -1);
    job_recv(&job, 1, WORLD, 0, 9);
    answer = job_answer(&job);
    CU_ASSERT_NOT_EQUAL(strncmp(answer, "deadlock", 8), 0);
    free(answer);
    job_deinit(&job);
}

/* With a count for each member, rank 0 waits for one of those who have not started, all of whom are stuck;
   not if one of them still computes, nor if one who has started has not gone round in MPI since. */
static void test_persistent_counts(void)
{
    enum { STUCK, COMPUTES, QUIET, WAYS };
    for (int way = 0; way < WAYS; way++) {
        struct job_builder job;
        job_init(&job, 4);
        for (int rank = 0; rank < 4; rank++)
            started(&job, rank, rank < 2 ? 1 : 0);
        for (int rank = 0; rank < 2; rank++) {
            job_wait_started(&job, rank, "MPI_Alltoallv_init", 1, -1);
            if (way == QUIET && rank == 1)
                job.states[0][1]->cpu_ns = job.states[0][1]->threads[0].cpu_ns =
                    job.states[1][1]->threads[0].cpu_ns = job.states[1][1]->cpu_ns = 5;
        }
        for (int rank = 2; rank < 4; rank++) {
            job_at(&job, rank, "lost", "other.c", 5);
            if (way != COMPUTES || rank == 2)
                job_recv(&job, rank, WORLD, 0, 9);
        }
        char *answer = job_answer(&job);
        CU_ASSERT_EQUAL(strncmp(answer, "deadlock", 8) == 0, way == STUCK);
        free(answer);
        job_deinit(&job);
    }
}

/* Without its neighbour a rank cannot leave: 0 and 1 wait for 2, and nobody for 3, who has not come either.
 */
static void test_neighbours(void)
{
    struct job_builder job;
    job_init(&job, 4);
    for (int rank = 0; rank < 2; rank++) {
        job_collective(&job, rank, WORLD, "MPI_Neighbor_alltoall", 1, ANY);
        job_source(&job, rank, WORLD, 1, 1 - rank);
        job_source(&job, rank, WORLD, 1, 2);
        job_source(&job, rank, WORLD, 2, 3); /* of another call */
    }
    for (int rank = 2; rank < 4; rank++) {
        job_at(&job, rank, "lost", "other.c", 5);
        job_recv(&job, rank, WORLD, 0, 9);
    }
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "collective_incomplete ranks 0-1 missing 2 suspects 2: Rank 2 never entered the "
                     "MPI_Neighbor_alltoall that ranks 0 and 1 are waiting in\n"
                     "  follows from 1: receive_unmatched ranks 2-3 suspects 0: rank 3 waits in MPI_Recv at "
                     "other.c:5 for tag 9 from rank 0\n");
}

/* Rank 1 acts: it may yet come.  So may rank 2, for whom nobody waits. */
static void test_neighbour_acts(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_collective(&job, 0, WORLD, "MPI_Neighbor_alltoallv", 1, ANY);
    job_source(&job, 0, WORLD, 1, 2);
    job_at(&job, 1, "work", "other.c", 5);
    job_at(&job, 2, "lost", "other.c", 9);
    job_recv(&job, 2, WORLD, 1, 9);
    job_expect(&job,
               "running: rank 1 is computing at other.c:5 (work); 2 ranks have waited up to 1 m 0 s for it\n"
               "rank_elsewhere? ranks 1: rank 1 is computing at other.c:5 (work); 2 ranks have waited up to "
               "1 m 0 s for it\n"
               "collective_incomplete? ranks 0 missing 2 suspects 2: rank 2 has not entered the "
               "MPI_Neighbor_alltoallv that rank 0 is waiting in, so far\n");
}

/* Ranks 0 and 1 need rank 2, which waits in a barrier of the same number: it sends nothing before that ends.
   In another neighbourhood collective its message may be taken for the right one. */
static void test_neighbour_is_elsewhere(void)
{
    for (int other = 0; other < 2; other++) {
        struct job_builder job;
        job_init(&job, 3);
        for (int rank = 0; rank < 2; rank++) {
            job_collective(&job, rank, WORLD, "MPI_Neighbor_allgather", 1, ANY);
            job_source(&job, rank, WORLD, 1, 2);
        }
        job_collective(&job, 2, WORLD, other ? "MPI_Neighbor_allgatherv" : "MPI_Barrier", 1, ANY);
        if (other)
            job_source(&job, 2, WORLD, 1, 0);
        char *answer = job_answer(&job);
        CU_ASSERT_EQUAL(strstr(answer, "none of the 3 ranks can continue") != NULL, other == 0);
        free(answer);
        job_deinit(&job);
    }
}

/* Neighbours are not known where no traffic is seen: nothing is proven by those who are none. */
static void test_neighbourhood(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_collective(&job, 0, WORLD, "MPI_Neighbor_allgather", 1, ANY);
    job_collective(&job, 1, WORLD, "MPI_Neighbor_allgather", 1, ANY);
    job_at(&job, 2, "lost", "other.c", 5);
    job_recv(&job, 2, WORLD, 0, 9);
    job_expect(&job, "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n"
                     "collective_incomplete? ranks 0-1 missing 2 suspects 2: rank 2 has not entered the "
                     "MPI_Neighbor_allgather that the other 2 ranks are waiting in, so far\n");
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"persistent", test_persistent},
        {"persistent, with a root", test_persistent_rooted},
        {"persistent scan", test_persistent_scan},
        {"persistent, with a count for each", test_persistent_counts},
        {"neighbourhood", test_neighbourhood},
        {"neighbours", test_neighbours},
        {"a neighbour acts", test_neighbour_acts},
        {"a neighbour is elsewhere", test_neighbour_is_elsewhere},
        CU_TEST_INFO_NULL,
    };
    return suite_run("neighbours", tests);
}
