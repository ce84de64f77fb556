/* SPDX-License-Identifier: BSD-3-Clause */
/* A patched library whose message queues cannot be read (PML ucx): what blocking collectives prove all the
   same, by their counts and by whom each needs. */
#include <stdlib.h>
#include <string.h>

#include "job_builder.h"
#include "suite.h"

/* Takes the queues away: what is left is what each wait says itself. */
static void hide_queues(struct job_builder *job)
{
    for (int rank = 0; rank < job->ranks; rank++) {
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job->states[look][rank];
            state->queues = MPIQ_NO;
            state->operation_count = 0;
            for (size_t i = 0; i < state->communicator_count; i++)
                state->communicators[i].channel_count = 0;
        }
    }
}

/* Destroys the job. */
static bool is_deadlock(struct job_builder *job)
{
    hide_queues(job);
    char *answer = job_answer(job);
    bool found = strncmp(answer, "deadlock: ", 10) == 0;
    free(answer);
    job_deinit(job);
    return found;
}

static int copy(struct job_builder *job)
{
    int members[8];
    for (int rank = 0; rank < job->ranks; rank++)
        members[rank] = rank;
    return job_comm(job, "copy", 3, members, job->ranks);
}

static void test_opposite_order(void)
{
    struct job_builder job;
    job_init(&job, 2);
    int other = copy(&job);
    job_collective(&job, 0, WORLD, "MPI_Barrier", 1, 1);
    job_collective(&job, 1, other, "MPI_Barrier", 1, 0);
    hide_queues(&job);
    job_expect(&job,
               "deadlock: none of the 2 ranks can continue\n"
               "wait_cycle ranks 0-1: Two communicators are entered in opposite order, or a call was "
               "skipped: rank 0 is in MPI_Barrier on MPI_COMM_WORLD, rank 1 is in MPI_Barrier on \"copy\"\n");
    job_init(&job, 2); /* both in the same one: a message is on its way */
    job_collective(&job, 0, WORLD, "MPI_Barrier", 1, 1);
    job_collective(&job, 1, WORLD, "MPI_Barrier", 1, 0);
    CU_ASSERT_FALSE(is_deadlock(&job));
}

/* Ranks 0 and 1 are in a call and wait for each other's messages in it; rank 2 waits for rank 0 in a barrier
   of another communicator, and has not come to the call. */
static void make_three(struct job_builder *job, const char *call, int from)
{
    job_init(job, 3);
    int other = copy(job);
    job_collective(job, 0, WORLD, call, 1, from);
    job_collective(job, 1, WORLD, call, 1, 0);
    job_collective(job, 2, other, "MPI_Barrier", 1, 0);
    for (int rank = 0; rank < 2; rank++)
        job_arguments(job, rank, WORLD, 0, NULL, strcmp(call, "MPI_Allreduce") == 0 ? 8 : -1);
}

/* Whoever needs something of all cannot leave; of the others nobody knows. */
static void test_classes(void)
{
    static const struct {
        const char *call;
        bool all;
    } calls[] = {
        {"MPI_Barrier", true},         {"MPI_Allreduce", true},  {"MPI_Allgather", true},
        {"MPI_Alltoall", true},        {"MPI_Comm_dup", true},   {"MPI_Reduce_scatter_block", true},
        {"MPI_Comm_split", true},      {"MPI_Alltoallv", false}, {"MPI_Alltoallw", false},
        {"MPI_Allgatherv", false},     {"MPI_Bcast", false},     {"MPI_Reduce", false},
        {"MPI_Reduce_scatter", false}, {"MPI_Gather", false},    {"MPI_Scatter", false},
        {"MPI_Scan", false},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct job_builder job;
        make_three(&job, calls[i].call, 1);
        bool stuck = is_deadlock(&job);
        if (stuck != calls[i].all)
            printf("%s\n", calls[i].call);
        CU_ASSERT_EQUAL(stuck, calls[i].all);
        make_three(&job, calls[i].call, 2); /* a message from who has not come cannot be there */
        stuck = is_deadlock(&job);
        if (!stuck)
            printf("%s\n", calls[i].call);
        CU_ASSERT(stuck);
    }
}

/* Of nothing nobody needs anything; a barrier is one whatever it moves. */
static void test_nothing(void)
{
    static const char *const calls[] = {"MPI_Allreduce", "MPI_Barrier"};
    for (int barrier = 0; barrier < 2; barrier++) {
        struct job_builder job;
        make_three(&job, calls[barrier], 1);
        for (int rank = 0; rank < 2; rank++)
            job_arguments(&job, rank, WORLD, 0, NULL, 0);
        CU_ASSERT_EQUAL(is_deadlock(&job), barrier);
    }
}

/* The one who has not come may yet come. */
static void test_may_come(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_collective(&job, 0, WORLD, "MPI_Barrier", 1, 1);
    job_collective(&job, 1, WORLD, "MPI_Barrier", 1, 0);
    CU_ASSERT_FALSE(is_deadlock(&job));
    job_init(&job, 1); /* alone */
    job_collective(&job, 0, WORLD, "MPI_Barrier", 1, 0);
    CU_ASSERT_FALSE(is_deadlock(&job));
    job_init(&job, 2); /* in another collective of that number it may send what looks the same */
    job_collective(&job, 0, WORLD, "MPI_Bcast", 1, 1);
    job_collective(&job, 1, WORLD, "MPI_Scatterv", 1, 0);
    CU_ASSERT_FALSE(is_deadlock(&job));
    job_init(&job, 2); /* a receive of the user's: the message may be there */
    job_recv(&job, 0, WORLD, 1, 5);
    job_recv(&job, 1, WORLD, 0, 5);
    CU_ASSERT_FALSE(is_deadlock(&job));
}

int main(void)
{
    CU_TestInfo tests[] = {{"barriers in opposite order", test_opposite_order},
                           {"only collectives that need every member prove a wait", test_classes},
                           {"a collective of 0 bytes waits for nobody, a barrier does", test_nothing},
                           {"a rank that may still come prevents a proof", test_may_come},
                           CU_TEST_INFO_NULL};
    return suite_run("unread queues", tests);
}
