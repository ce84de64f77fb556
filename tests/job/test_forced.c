/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole answers: collectives whose messages are not seen, so that the standard alone says whom they wait for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_builder.h"
#include "suite.h"

/* Shared memory: no traffic is seen, so the standard says whom they wait for. */
static void test_forced(void)
{
    struct job_builder job;
    job_init(&job, 4);
    for (int rank = 0; rank < 3; rank++) {
        job_at(&job, rank, "step", "shared.c", 12);
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, ANY);
    }
    job_called(&job, 3, WORLD, "MPI_Barrier", 2);
    job_at(&job, 3, "other", "shared.c", 40);
    job_recv(&job, 3, WORLD, 0, 1);
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "collective_incomplete ranks 0-2 missing 3 suspects 3: Rank 3 never entered the "
                     "MPI_Barrier that the other 3 ranks are waiting in\n");
}

/* Ranks 0 and 1 in a call that no traffic is seen of, rank 2 somewhere else, rank 3 waits for rank 0's
 * message. */
static void start_sparse(struct job_builder *job, const char *call)
{
    job_init(job, 4);
    for (int rank = 0; rank < 2; rank++) {
        job_at(job, rank, "step", "sparse.c", 12);
        job_collective(job, rank, WORLD, call, 3, ANY);
        job_arguments(job, rank, WORLD, 0, NULL, 8);
    }
    job_called(job, 3, WORLD, "MPI_Barrier", 2);
    job_at(job, 3, "other", "sparse.c", 40);
    job_recv(job, 3, WORLD, 0, 1);
}

/* Where each member has a count for each, some may be nothing: who waits does not wait for all that are
 * missing. */
static void test_counts_for_each(void)
{
    static const struct {
        const char *call;
        bool all; /* nobody leaves without all */
    } calls[] = {{"MPI_Alltoallv", false},      {"MPI_Alltoallw", false}, {"MPI_Allgatherv", false},
                 {"MPI_Reduce_scatter", false}, {"MPI_Gatherv", false},   {"MPI_Alltoall", true},
                 {"MPI_Allreduce", true}};
    enum { COMES, STUCK, INSIDE, SLOW, LEFT, LEAVES, CASES };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        for (int how = 0; how < CASES; how++) {
            struct job_builder job;
            start_sparse(&job, calls[i].call);
            if (how == COMES) {
                job_called(&job, 2, WORLD, "MPI_Barrier", 2); /* and computes */
            } else if (how == STUCK) {
                job_called(&job, 2, WORLD, "MPI_Barrier", 2);
                job_recv(&job, 2, WORLD, 0, 1);
            } else if (how == LEFT || how == LEAVES) {
                job_called(&job, 2, WORLD, calls[i].call, 3);
                job_arguments(&job, 2, WORLD, 0, NULL, 8);
                job_recv(&job, 2, WORLD, 0, 1);
            } else {
                job_collective(&job, 2, WORLD, calls[i].call, 3, ANY);
                job_arguments(&job, 2, WORLD, 0, NULL, 8);
            }
            if (how == SLOW)
                job.states[0][2]->cpu_ns = job.states[0][2]->threads[0].cpu_ns =
                    job.states[1][2]->threads[0].cpu_ns = job.states[1][2]->cpu_ns = 5;
            if (how == LEAVES)
                job.states[0][2]->communicators[WORLD].ordered = 2;
            char *answer = job_answer(&job);
            bool proven = strncmp(answer, "deadlock: ", 10) == 0;
            bool wanted = calls[i].all || how == STUCK || how == INSIDE || how == LEFT;
            CU_ASSERT_EQUAL(proven, wanted);
            if (proven != wanted)
                printf("\n%s, case %d: %s\n", calls[i].call, how, answer);
            free(answer);
            job_deinit(&job);
        }
    }
}

/* Shared memory, a root that does something else: those who wait for its data are stuck, not all. */
static void test_forced_root(void)
{
    struct job_builder job;
    job_init(&job, 4);
    for (int rank = 1; rank < 3; rank++) {
        job_collective(&job, rank, WORLD, "MPI_Bcast", 1, ANY);
        job_arguments(&job, rank, WORLD, 0, NULL, 8);
    }
    job_at(&job, 0, "other", "root.c", 40);
    job_recv(&job, 0, WORLD, 1, 1);
    job_expect(&job, "deadlock: 3 of 4 ranks can never continue\n"
                     "collective_incomplete ranks 1-2 missing 0,3 suspects 0: Ranks 0 and 3 never entered "
                     "the MPI_Bcast that the other 2 ranks are waiting in\n");
}

/* In a scan the higher ranks wait for the lower ones, and nobody for a higher one. */
static void test_forced_scan(void)
{
    struct job_builder job;
    job_init(&job, 4);
    for (int rank = 0; rank < 4; rank++) {
        if (rank != 2)
            job_collective(&job, rank, WORLD, "MPI_Scan", 1, ANY);
    }
    job_recv(&job, 2, WORLD, 3, 1);
    job_expect(&job, "deadlock: 2 of 4 ranks can never continue\n"
                     "collective_incomplete ranks 0-1,3 missing 2 suspects 2: Rank 2 never entered the "
                     "MPI_Scan that the other 3 ranks are waiting in\n");
}

/* A reduction's root waits for all, its leaves for nobody. */
static void test_forced_reduce(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++) {
        job_collective(&job, rank, WORLD, "MPI_Reduce", 1, ANY);
        job_arguments(&job, rank, WORLD, 0, "MPI_SUM", 8);
    }
    job_recv(&job, 2, WORLD, 0, 1);
    job_expect(&job, "deadlock: 2 of 3 ranks can never continue\n"
                     "collective_incomplete ranks 0-1 missing 2 suspects 2: Rank 2 never entered the "
                     "MPI_Reduce that the other 2 ranks are waiting in\n");
}

/* All but rank 2 are in a call on the intercommunicator of ranks 0 and 1 with 2 and 3; rank 2 waits for a
   message from a peer. */
static void start_across(struct job_builder *job, const char *call, int peer)
{
    static const int left[] = {0, 1};
    static const int right[] = {2, 3};
    job_init(job, 4);
    int across = job_intercomm(job, "across", 5, left, 2, right, 2);
    for (int rank = 0; rank < 4; rank++) {
        if (rank != 2)
            job_collective(job, rank, across, call, 1, ANY);
    }
    job_at(job, 2, "lost", "other.c", 5);
    job_recv(job, 2, WORLD, peer, 9);
}

/* Of two groups each waits for the other one alone. */
static void test_intercommunicator(void)
{
    struct job_builder job;
    start_across(&job, "MPI_Barrier", 0);
    job_expect(&job, "deadlock: 3 of 4 ranks can never continue\n"
                     "collective_incomplete ranks 0-1,3 missing 2 suspects 2: Rank 2 never entered the "
                     "MPI_Barrier on \"across\" that the other 3 ranks are waiting in\n");
}

/* A new communicator needs the word of all of both groups. */
static void test_intercommunicator_constructor(void)
{
    struct job_builder job;
    start_across(&job, "MPI_Intercomm_merge", 3);
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "collective_incomplete ranks 0-1,3 missing 2 suspects 2: Rank 2 never entered the "
                     "MPI_Intercomm_merge on \"across\" that the other 3 ranks are waiting in\n");
}

/* MPI_Intercomm_create needs all members of its local communicator; of the other side nothing is known. */
static void test_intercommunicator_made(void)
{
    static const int right[] = {2, 3};
    for (int computes = 0; computes < 2; computes++) {
        struct job_builder job;
        job_init(&job, 4);
        int half = job_comm(&job, "right", 5, right, 2);
        job_collective(&job, 2, half, "MPI_Intercomm_create", 1, ANY);
        if (!computes) {
            job_at(&job, 3, "lost", "other.c", 5);
            job_recv(&job, 3, WORLD, 2, 9);
        }
        char *answer = job_answer(&job);
        CU_ASSERT_EQUAL(strncmp(answer, "deadlock", 8) == 0, !computes);
        CU_ASSERT(computes || strstr(answer, "collective_incomplete ranks 2 missing 3"));
        free(answer);
        job_deinit(&job);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"forced", test_forced},
        {"counts for each force nobody in particular", test_counts_for_each},
        {"forced root", test_forced_root},
        {"forced scan", test_forced_scan},
        {"forced reduce", test_forced_reduce},
        {"intercommunicator", test_intercommunicator},
        {"intercommunicator constructor", test_intercommunicator_constructor},
        {"an intercommunicator is made", test_intercommunicator_made},
        CU_TEST_INFO_NULL,
    };
    return suite_run("forced", tests);
}
