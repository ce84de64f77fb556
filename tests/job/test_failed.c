/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that returned an error and that others wait for. */
#include "job_builder.h"
#include "suite.h"
#include "merge/merge.h"

enum { ERR_TAG = 4, ERR_AMODE = 21 };

static void failed(struct job_builder *job, int rank, const char *call, int error, int peer, int tag)
{
    job_past(job, rank, call,
             &(struct mpiq_past_call){
                 .begin_ns = 100, .end_ns = 110, .error = error, .peer_local = peer, .tag = tag});
}

/* The rank is in that collective, and its calls are kept since before those that fail. */
static void waits(struct job_builder *job, int rank, const char *call)
{
    job_collective(job, rank, WORLD, call, 1, ANY);
    job_past(job, rank, call, &(struct mpiq_past_call){.begin_ns = 90, .peer_local = -1, .tag = -1});
}

/* Rank 1's MPI_File_open failed; before: all have failed once already, which the program dealt with. */
static void test_collective(void)
{
    for (int before = 0; before < 2; before++) {
        struct job_builder job;
        job_init(&job, 3);
        for (int rank = 0; rank < 3; rank++) {
            if (before)
                job_past(&job, rank, "MPI_File_open",
                         &(struct mpiq_past_call){
                             .begin_ns = 10, .end_ns = 20, .error = ERR_AMODE, .peer_local = -1, .tag = -1});
            if (rank != 1)
                waits(&job, rank, "MPI_File_open");
        }
        failed(&job, 1, "MPI_File_open", ERR_AMODE, -1, -1);
        job_recv(&job, 1, WORLD, 0, 5);
        job_expect(&job,
                   "deadlock: none of the 3 ranks can continue\n"
                   "collective_incomplete ranks 0,2 missing 1 suspects 1: Rank 1's MPI_File_open returned "
                   "MPI_ERR_AMODE, and it went on; ranks 0 and 2 wait in theirs\n");
    }
}

/* All have failed as often: nobody waits for rank 1's. */
static void test_as_often(void)
{
    struct job_builder job;
    job_init(&job, 2);
    failed(&job, 0, "MPI_File_open", ERR_AMODE, -1, -1);
    waits(&job, 0, "MPI_File_open");
    failed(&job, 1, "MPI_File_open", ERR_AMODE, -1, -1);
    job_recv(&job, 1, WORLD, 0, 5);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "collective_incomplete ranks 0 missing 1 suspects 1: Rank 1 never entered the "
                     "MPI_File_open that rank 0 is waiting in\n");
}

/* What is kept of rank 0's calls begins after rank 1's failure: it may have failed then, too. */
static void test_not_kept(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_collective(&job, 0, WORLD, "MPI_File_open", 1, ANY);
    job_past(&job, 0, "MPI_File_open",
             &(struct mpiq_past_call){.begin_ns = 120, .peer_local = -1, .tag = -1});
    failed(&job, 1, "MPI_File_open", ERR_AMODE, -1, -1);
    job_recv(&job, 1, WORLD, 0, 5);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "collective_incomplete ranks 0 missing 1 suspects 1: Rank 1 never entered the "
                     "MPI_File_open that rank 0 is waiting in\n");
}

/* Rank 1 tried again, and that went well. */
static void test_tried_again(void)
{
    struct job_builder job;
    job_init(&job, 2);
    waits(&job, 0, "MPI_File_open");
    failed(&job, 1, "MPI_File_open", ERR_AMODE, -1, -1);
    job_past(&job, 1, "MPI_File_open",
             &(struct mpiq_past_call){.begin_ns = 120, .end_ns = 130, .peer_local = -1, .tag = -1});
    job_recv(&job, 1, WORLD, 0, 5);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "collective_incomplete ranks 0 missing 1 suspects 1: Rank 1 never entered the "
                     "MPI_File_open that rank 0 is waiting in\n");
}

/* Rank 1's send failed, of the message that rank 0 waits for, or of one with another tag. */
static void test_message(void)
{
    for (int other = 0; other < 2; other++) {
        struct job_builder job;
        job_init(&job, 2);
        failed(&job, 1, "MPI_Send", ERR_TAG, 0, 5 + other);
        job_recv(&job, 0, WORLD, 1, 5);
        job_recv(&job, 1, WORLD, 0, 7);
        job_expect(&job,
                   other ? "deadlock: none of the 2 ranks can continue\n"
                           "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n"
                         : "deadlock: none of the 2 ranks can continue\n"
                           "receive_unmatched ranks 0 suspects 1: Rank 1's MPI_Send returned MPI_ERR_TAG, "
                           "and it went on; rank 0 waits for its message with tag 5\n");
    }
}

/* Rank 1's receive failed, which rank 0's send is for. */
static void test_receive(void)
{
    struct job_builder job;
    job_init(&job, 2);
    failed(&job, 1, "MPI_Recv", ERR_TAG, 0, 5);
    job_send(&job, 0, WORLD, 1, 5, 100000);
    job_operation(&job, 1, WORLD, MPIQ_OPERATION_MESSAGE, 0, 5, 100000);
    job_channel(&job, 0, 1, WORLD, 1, 1);
    job_recv(&job, 1, WORLD, 0, 7);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "send_unmatched ranks 0: Rank 1's MPI_Recv returned MPI_ERR_TAG, and it went on; rank 0 "
                     "sends it a message with tag 5\n");
}

static void receives(struct job_builder *job, int64_t begin, int tag, int line)
{
    job_past(job, 0, "MPI_Irecv",
             &(struct mpiq_past_call){.begin_ns = begin,
                                      .end_ns = begin + 1,
                                      .peer_local = 1,
                                      .tag = tag,
                                      .place = {.file = "solver.c", .line = line}});
}

/* Which of rank 0's calls made the request for which its MPI_Waitall failed: the last one of that envelope,
   unless there are some at other places. */
static void test_made(void)
{
    for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
        struct job_builder job;
        struct mpiq_job_state *state;
        job_init(&job, 2);
        receives(&job, 60, 5, elsewhere ? 12 : 10);
        receives(&job, 70, 5, 10);
        receives(&job, 80, 6, 11);
        failed(&job, 0, "MPI_Waitall", ERR_TAG, 1, 5);
        receives(&job, 120, 5, 10);
        job_recv(&job, 0, WORLD, 1, 7);
        job_recv(&job, 1, WORLD, 0, 7);
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_EQUAL_FATAL(state->past_call_count, 5);
        const struct mpiq_job_past_call *wait = &state->past_calls[3];
        CU_ASSERT_TRUE(elsewhere ? wait->made == MPIQ_NONE
                                 : wait->made != MPIQ_NONE && state->past_calls[wait->made].begin_ns == 70);
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {{"a collective", test_collective},
                           {"all have failed as often", test_as_often},
                           {"calls are not kept so far back", test_not_kept},
                           {"tried again", test_tried_again},
                           {"a send", test_message},
                           {"a receive", test_receive},
                           {"who made the request that failed", test_made},
                           CU_TEST_INFO_NULL};
    return suite_run("failed calls", tests);
}
