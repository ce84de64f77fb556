/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks under the recorder whose library's own queues were read beside it: what they prove together, and what
   they do not. */
#include <stdlib.h>
#include <string.h>

#include "job_builder.h"
#include "suite.h"

/* Destroys the job. */
static bool is_deadlock(struct job_builder *job)
{
    char *answer = job_answer(job);
    bool found = strncmp(answer, "deadlock: ", 10) == 0;
    free(answer);
    job_deinit(job);
    return found;
}

static void record(struct job_builder *job, int rank, bool library_queues)
{
    for (int look = 0; look < 2; look++) {
        job->states[look][rank]->source = MPIQ_SOURCE_RECORDER;
        job->states[look][rank]->library_queues = library_queues;
    }
}

/* Both ranks have come to the broadcast, and each waits in it for a message of the other's. */
static void make_bcast(struct job_builder *job, bool library_queues)
{
    job_init(job, 2);
    for (int rank = 0; rank < 2; rank++) {
        job_collective(job, rank, WORLD, "MPI_Bcast", 1, ANY);
        job_operation(job, rank, WORLD, MPIQ_OPERATION_RECEIVE, 1 - rank, -17, 8)->internal = true;
        for (int look = 0; look < 2; look++)
            job->states[look][rank]->operations[0].internal = true;
        record(job, rank, library_queues);
    }
}

static void test_collective(void)
{
    struct job_builder job;
    make_bcast(&job, true);
    CU_ASSERT(is_deadlock(&job));
    make_bcast(&job, false); /* without the library's queues nobody sees those messages */
    CU_ASSERT_FALSE(is_deadlock(&job));
    make_bcast(&job, true); /* one is on its way */
    job_channel(&job, 1, 0, WORLD, 1, 0);
    CU_ASSERT_FALSE(is_deadlock(&job));
    make_bcast(&job, true); /* it may have got it, and not have gone on */
    job.states[1][0]->threads[0].polled_ns = 0;
    CU_ASSERT_FALSE(is_deadlock(&job));
}

/* The messages may be those of another collective. */
static void test_others(void)
{
    struct job_builder job;
    make_bcast(&job, true);
    for (int look = 0; look < 2; look++)
        *mpiq_communicator_add_outstanding(&job.states[look][0]->communicators[WORLD]) =
            (struct mpiq_call){.number = 2,
                               .collective = (int16_t)mpiq_collective_class("MPI_Ibarrier"),
                               .request = 0x77,
                               .root = -1};
    CU_ASSERT_FALSE(is_deadlock(&job));
    make_bcast(&job, true);
    job_thread(&job, 0, 3);
    job_collective(&job, 0, SELF, "MPI_Bcast", 1, ANY);
    CU_ASSERT_FALSE(is_deadlock(&job));
}

/* The recorder counts messages of the program, the library those of collectives too: where one end of a
   channel is known by the one and the other end by the other, equal numbers say nothing. */
static void test_unlike(void)
{
    for (int source = ANY; source <= 1; source += 2) {
        for (int ways = 0; ways < 4; ways++) {
            struct job_builder job;
            job_init(&job, 2);
            job_recv(&job, 0, WORLD, source, 5);
            job_recv(&job, 1, WORLD, 0, 6);
            job_channel(&job, 1, 0, WORLD, 3, 3);
            record(&job, 0, ways & 1);
            record(&job, 1, ways & 2);
            CU_ASSERT_EQUAL(is_deadlock(&job), ways == 0 || ways == 3);
        }
    }
}

/* Where only one end's library queues were read, a communicator may have another id at the other end: whoever
   seems to have freed it may have sent something. */
static void test_other_id(void)
{
    static const int members[] = {0, 1};
    for (int joined = 0; joined < 2; joined++) {
        struct job_builder job;
        job_init(&job, 2);
        int made = job_comm(&job, "made", 5, members, 2);
        job_recv(&job, 0, made, ANY, 7);
        job_collective(&job, 1, WORLD, "MPI_Barrier", 1, ANY);
        record(&job, 0, true);
        record(&job, 1, joined);
        for (int look = 0; look < 2; look++)
            job.states[look][1]->communicators[made].context[0] = 77;
        CU_ASSERT_EQUAL(is_deadlock(&job), joined);
    }
}

/* A large send that the library still has is not complete. */
static void test_send(void)
{
    for (int library_queues = 0; library_queues < 2; library_queues++) {
        struct job_builder job;
        job_init(&job, 2);
        job_send(&job, 0, WORLD, 1, 7, 100000);
        job_operation(&job, 1, WORLD, MPIQ_OPERATION_MESSAGE, 0, 7, 100000);
        for (int look = 0; look < 2; look++) {
            struct mpiq_operation *message = &job.states[look][1]->operations[0];
            message->queue = MPIQ_QUEUE_UNEXPECTED;
            message->eager = false;
        }
        job_recv(&job, 1, WORLD, 0, 8);
        job_channel(&job, 0, 1, WORLD, 1, 1);
        for (int rank = 0; rank < 2; rank++) {
            record(&job, rank, library_queues);
            job.states[1][rank]->threads[0].polled_ns = 0;
        }
        CU_ASSERT_EQUAL(is_deadlock(&job), library_queues);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a collective needs its own messages", test_collective},
        {"and not those of others", test_others},
        {"unlike counts prove nothing", test_unlike},
        {"nor does an id that is unlike", test_other_id},
        {"a send that is still there", test_send},
        CU_TEST_INFO_NULL,
    };
    return suite_run("joined", tests);
}
