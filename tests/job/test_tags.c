/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that make a communicator, given different tags. */
#include "job_builder.h"
#include "suite.h"

/* The rank is in MPI_Comm_create_group with that tag; members of one group have the same number. */
static void creates(struct job_builder *job, int rank, int tag, uint32_t group)
{
    job_collective(job, rank, WORLD, "MPI_Comm_create_group", 0, ANY);
    job_past(job, rank, "MPI_Comm_create_group", &(struct mpiq_past_call){.tag = tag, .tag_group = group});
}

/* Rank 3 is no member. */
static void test_one_differs(void)
{
    struct job_builder job;
    job_init(&job, 4);
    for (int rank = 0; rank < 3; rank++)
        creates(&job, rank, rank == 1 ? 5 : 4, 77);
    job_expect(&job,
               "running: no rank is proven to be stuck\n"
               "collective_argument_mismatch? ranks 0-2 suspects 1: rank 1 called MPI_Comm_create_group "
               "with tag 5, ranks 0 and 2 with tag 4 (on MPI_COMM_WORLD)\n");
}

/* Two groups, each with a tag of its own. */
static void test_groups_apart(void)
{
    struct job_builder job;
    job_init(&job, 4);
    creates(&job, 0, 4, 77);
    creates(&job, 2, 5, 78);
    job_expect(&job, "running: no rank is proven to be stuck\n"
                     "collective_incomplete? ranks 0,2 missing 1,3: ranks 1 and 3 are not in the "
                     "MPI_Comm_create_group that the other 2 ranks are waiting in\n");
}

/* Rank 1 has come through the call that rank 0 is still in, and is in the next one. */
static void test_one_ahead(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_past(&job, 1, "MPI_Comm_create_group",
             &(struct mpiq_past_call){.end_ns = 2, .tag = 4, .tag_group = 77});
    creates(&job, 0, 4, 77);
    creates(&job, 1, 5, 77);
    job_expect(&job, "running: no rank is proven to be stuck\n"
                     "collective_incomplete? ranks 0-1 missing 2: rank 2 is not in the "
                     "MPI_Comm_create_group that the other 2 ranks are waiting in\n");
}

/* Without the recorder: whether a rank has posted the receive of the other's message. */
static void test_by_receives(void)
{
    for (int posted = 0; posted < 2; posted++) {
        struct job_builder job;
        job_init(&job, 2);
        for (int rank = 0; rank < 2; rank++) {
            job_collective(&job, rank, WORLD, "MPI_Comm_create_group", 0, ANY);
            if (posted)
                job_operation(&job, rank, WORLD, MPIQ_OPERATION_RECEIVE, 1 - rank, 4 + rank, 4);
            for (int look = 0; look < 2; look++) {
                struct mpiq_given *given = mpiq_thread_add_given(&job.states[look][rank]->threads[0]);
                given->kind = MPIQ_GIVEN_TAG;
                given->value = 4 + rank;
            }
        }
        job_expect(&job,
                   posted ? "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for "
                            "good\n"
                            "collective_argument_mismatch? ranks 0-1: rank 1 called "
                            "MPI_Comm_create_group with tag 5, rank 0 with tag 4 (on MPI_COMM_WORLD)\n"
                          : "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for "
                            "good\n");
    }
}

/* The leaders of both halves need each other; the tags of their members are not used. */
static void test_leaders(void)
{
    static const int low[] = {0, 1}, high[] = {2, 3};
    struct job_builder job;
    job_init(&job, 4);
    int halves[] = {job_comm(&job, "low", 5, low, 2), job_comm(&job, "high", 6, high, 2)};
    for (int rank = 0; rank < 4; rank++) {
        job_collective(&job, rank, halves[rank / 2], "MPI_Intercomm_create", 1, ANY);
        job_past(&job, rank, "MPI_Intercomm_create",
                 &(struct mpiq_past_call){.tag = rank == 0 ? 4 : 5 + rank, .tag_group = rank % 2 ? 0 : 77});
    }
    job_expect(&job,
               "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n"
               "collective_argument_mismatch? ranks 0,2: rank 2 called MPI_Intercomm_create with tag 7, "
               "rank 0 with tag 4\n");
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"one of the group differs", test_one_differs}, {"groups apart may differ", test_groups_apart},
        {"one that is a call ahead", test_one_ahead},   {"known by receives", test_by_receives},
        {"the leaders of two groups", test_leaders},    CU_TEST_INFO_NULL};
    return suite_run("tags", tests);
}
