/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned sends and receives: whom they wait for, and when nobody can tell. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "job_builder.h"
#include "suite.h"

enum { TAG = 5, START = 40, MISSING = 3 };

/* The request in the rank's queues, or in its first wait, of that look. */
static struct mpiq_operation *find(struct mpiq_rank_state *state, uint64_t request, bool wait)
{
    struct mpiq_operation *operations = wait ? state->threads[0].waits[0].operations : state->operations;
    size_t count = wait ? state->threads[0].waits[0].operation_count : state->operation_count;
    for (size_t i = 0; i < count; i++) {
        if (operations[i].request == request)
            return &operations[i];
    }
    return NULL;
}

static void make_partitioned(struct mpiq_rank_state *state, struct mpiq_operation *op, bool send,
                             const char *which, uint64_t inner)
{
    op->kind = send ? MPIQ_OPERATION_PSEND : MPIQ_OPERATION_PRECV;
    op->queue = op->queue == MPIQ_QUEUE_WAIT ? MPIQ_QUEUE_WAIT
                : send                       ? MPIQ_QUEUE_SENDS
                                             : MPIQ_QUEUE_RECEIVES;
    op->persistent = true;
    op->partitions = 4;
    op->missing = which ? 1 : -1;
    op->which = which ? mpiq_rank_state_intern(state, which) : NULL;
    op->inner = inner;
}

/* Rank 1 waits for partition 3 of rank 0, which it knows as a message on the library's own communicator; rank
   0 waits for rank 1. */
struct scene {
    struct job_builder job;
    int library;    /* the library's own communicator */
    uint64_t send;  /* rank 0's request */
    uint64_t inner; /* of rank 1: the message of its partition 3 */
};

static void set_up(struct scene *scene)
{
    struct job_builder *job = &scene->job;
    job_init(job, 2);
    const int members[] = {0, 1};
    scene->library = job_comm(job, "", 7, members, 2);
    job_recv(job, 0, WORLD, 1, 9);
    scene->send = job_operation(job, 0, WORLD, MPIQ_OPERATION_SEND, 1, TAG, 16)->request;
    scene->inner =
        job_operation(job, 1, scene->library, MPIQ_OPERATION_RECEIVE, 0, START + MISSING, 4)->request;
    job_wait(job, 1, "MPI_Wait", MPIQ_WAIT_REQUEST);
    uint64_t receive = job_wait_receive(job, 1, WORLD, 0, TAG);
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state **states = job->states[look];
        make_partitioned(states[0], find(states[0], scene->send, false), true, "3", 0);
        make_partitioned(states[1], find(states[1], receive, false), false, "3", scene->inner);
        make_partitioned(states[1], find(states[1], receive, true), false, "3", scene->inner);
    }
}

static struct mpiq_operation *of_look(struct scene *scene, int look, int rank, uint64_t request)
{
    return find(scene->job.states[look][rank], request, false);
}

#define PROVEN                                                                                     \
    "deadlock: none of the 2 ranks can continue\n"                                                 \
    "wait_cycle ranks 0-1: Ranks 0 and 1 wait for each other: rank 1 waits for partition 3 of 4, " \
    "tag 5 from rank 0\n"
#define NOT_PROVEN "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n"

static void test_partition_not_ready(void)
{
    struct scene scene;
    set_up(&scene);
    job_expect(&scene.job, PROVEN);
}

/* The message of the partition is on its way. */
static void test_underway(void)
{
    struct scene scene;
    set_up(&scene);
    job_channel(&scene.job, 0, 1, scene.library, 4, 3);
    job_expect(&scene.job, NOT_PROVEN);
}

/* A partition was marked ready before the library could send it: it does so by itself. */
static void test_queued(void)
{
    struct scene scene;
    set_up(&scene);
    for (int look = 0; look < 2; look++)
        of_look(&scene, look, 0, scene.send)->moves = true;
    job_expect(&scene.job, NOT_PROVEN);
}

/* The same in the first look alone: what was sent since may not be counted yet. */
static void test_queued_before(void)
{
    struct scene scene;
    set_up(&scene);
    of_look(&scene, 0, 0, scene.send)->moves = true;
    job_expect(&scene.job, "running: the job makes progress\n");
}

/* Another pair's does not matter. */
static void test_queued_for_another(void)
{
    struct scene scene;
    set_up(&scene);
    for (int look = 0; look < 2; look++) {
        of_look(&scene, look, 0, scene.send)->moves = true;
        of_look(&scene, look, 0, scene.send)->tag = TAG + 1;
    }
    job_expect(&scene.job, PROVEN);
}

/* The message has come since the request was read. */
static void test_arrived_since(void)
{
    struct scene scene;
    set_up(&scene);
    for (int look = 0; look < 2; look++)
        of_look(&scene, look, 1, scene.inner)->status = MPIQ_STATUS_COMPLETE;
    job_expect(&scene.job, NOT_PROVEN);
}

/* Not known which message it waits for. */
static void test_no_inner(void)
{
    struct scene scene;
    set_up(&scene);
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = scene.job.states[look][1];
        for (size_t i = 0; i < state->operation_count; i++)
            state->operations[i].inner = 0;
    }
    job_expect(&scene.job, NOT_PROVEN);
}

/* Who waits for a send of its own of which it has not marked all partitions ready waits for itself. */
static void test_own_not_ready(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_wait(&job, 0, "MPI_Wait", MPIQ_WAIT_REQUEST);
    uint64_t send = job_wait_send(&job, 0, WORLD, 1, TAG, 16);
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job.states[look][0];
        make_partitioned(state, find(state, send, false), true, "0-1", 0);
        make_partitioned(state, find(state, send, true), true, "0-1", 0);
        find(state, send, false)->missing = find(state, send, true)->missing = 2;
    }
    job_expect(&job, "deadlock: 1 of 2 ranks can never continue\n"
                     "wait_cycle ranks 0: Rank 0 waits for itself in MPI_Wait: rank 0 waits for its own "
                     "MPI_Pready of partitions 0-1 of 4, tag 5 to rank 1\n");
}

/* A thread outside MPI may mark them ready. */
static void test_another_thread(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_wait(&job, 0, "MPI_Wait", MPIQ_WAIT_REQUEST);
    uint64_t send = job_wait_send(&job, 0, WORLD, 1, TAG, 16);
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job.states[look][0];
        state->thread_level = 3;
        make_partitioned(state, find(state, send, false), true, "3", 0);
        make_partitioned(state, find(state, send, true), true, "3", 0);
        struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
        thread->tid = state->threads[0].tid + 1;
        thread->state = 'R';
        thread->has_wait_record = true;
    }
    job_state(&job, 1, 'S');
    job_expect(&job, "running: no rank is proven to be stuck\n");
}

static void count(struct job_builder *job, int rank, uint64_t messages, bool received)
{
    for (int look = 0; look < 2; look++) {
        struct mpiq_communicator *comm = &job->states[look][rank]->communicators[WORLD];
        job->states[look][rank]->source = MPIQ_SOURCE_RECORDER;
        for (size_t i = 0; i < comm->channel_count; i++)
            comm->channels[i].counted = true;
        if (messages > 0)
            *mpiq_channel_add_tag(&comm->channels[0]) =
                (struct mpiq_tag_count){.messages = messages, .tags = TAG, .cell = -1, .received = received};
    }
}

/* Of the same job the recorder alone knows: rank 0's send has begun, after `taken` others, and how many of
   its partitions are missing. */
static void set_up_recorded(struct job_builder *job, int sent, int taken, int64_t missing)
{
    job_init(job, 2);
    job_recv(job, 0, WORLD, 1, 9);
    uint64_t send = job_operation(job, 0, WORLD, MPIQ_OPERATION_SEND, 1, TAG, 16)->request;
    job_wait(job, 1, "MPI_Wait", MPIQ_WAIT_REQUEST);
    uint64_t receive = job_wait_receive(job, 1, WORLD, 0, TAG);
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state **states = job->states[look];
        make_partitioned(states[0], find(states[0], send, false), true, missing > 0 ? "3" : NULL, 0);
        find(states[0], send, false)->missing = missing;
        make_partitioned(states[1], find(states[1], receive, false), false, NULL, 0);
        make_partitioned(states[1], find(states[1], receive, true), false, NULL, 0);
    }
    job_channel(job, 0, 1, WORLD, sent, taken);
    count(job, 0, (uint64_t)sent, false);
    count(job, 1, (uint64_t)taken, true);
}

static void test_recorded(void)
{
    struct job_builder job;
    set_up_recorded(&job, 1, 0, 1);
    job_expect(&job, PROVEN);
    set_up_recorded(&job, 8, 7, 1);
    job_expect(&job, PROVEN);
    set_up_recorded(&job, 1, 0, 0); /* all are ready: it may come at any time */
    job_expect(&job, NOT_PROVEN);
    set_up_recorded(&job, 1, 0, -1);
    job_expect(&job, NOT_PROVEN);
    set_up_recorded(&job, 8, 6, 1); /* an earlier one, which is complete, may be for it */
    job_expect(&job, NOT_PROVEN);
    set_up_recorded(&job, 1, 0, 1); /* there is one more, of which the tag is not known */
    job_channel(&job, 0, 1, WORLD, 2, 0);
    job_expect(&job, NOT_PROVEN);
}

/* The receive that waits for a send that was not started waits for its sender. */
static void test_recorded_not_started(void)
{
    struct job_builder job;
    set_up_recorded(&job, 7, 7, 1);
    for (int look = 0; look < 2; look++)
        job.states[look][0]->operations[1].inactive = true;
    job_expect(&job,
               "deadlock: none of the 2 ranks can continue\n"
               "wait_cycle ranks 0-1: Ranks 0 and 1 wait for each other: rank 1 waits for 4 partitions, "
               "tag 5 from rank 0\n");
}

/* A send to another receiver is not the one that it waits for, whatever that lacks. */
static void test_recorded_to_another(void)
{
    struct job_builder job;
    set_up_recorded(&job, 7, 7, 1);
    uint64_t other = job_operation(&job, 0, WORLD, MPIQ_OPERATION_SEND, 0, TAG, 16)->request;
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job.states[look][0];
        state->operations[1].inactive = true;
        make_partitioned(state, find(state, other, false), true, "2", 0);
    }
    job_expect(&job,
               "deadlock: none of the 2 ranks can continue\n"
               "wait_cycle ranks 0-1: Ranks 0 and 1 wait for each other: rank 1 waits for 4 partitions, "
               "tag 5 from rank 0\n");
}

/* Rank 1 waits for two messages that rank 0 never sends; does a partitioned send of rank 0's cast doubt on
 * that? */
static void wait_for_two(struct job_builder *job, bool partitioned)
{
    job_init(job, 2);
    job_recv(job, 0, WORLD, 1, 9);
    uint64_t send = partitioned ? job_operation(job, 0, WORLD, MPIQ_OPERATION_SEND, 1, TAG, 16)->request : 0;
    job_wait(job, 1, "MPI_Waitall", MPIQ_WAIT_ALL);
    job_wait_receive(job, 1, WORLD, 0, TAG + 1);
    job_wait_receive(job, 1, WORLD, 0, TAG + 2);
    job_channel(job, 0, 1, WORLD, 0, 0);
    count(job, 0, 0, false);
    count(job, 1, 0, true);
    for (int look = 0; look < 2 && partitioned; look++)
        make_partitioned(job->states[look][0], find(job->states[look][0], send, false), true, NULL, 0);
}

static void test_beside_messages(void)
{
    for (int partitioned = 0; partitioned < 2; partitioned++) {
        struct job_builder job;
        wait_for_two(&job, partitioned);
        char *answer = job_answer(&job);
        CU_ASSERT_EQUAL(strncmp(answer, "deadlock", 8) == 0, !partitioned);
        free(answer);
        job_deinit(&job);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"partition not ready", test_partition_not_ready},
        {"in_transit", test_underway},
        {"queued", test_queued},
        {"queued before", test_queued_before},
        {"queued for another", test_queued_for_another},
        {"arrived since", test_arrived_since},
        {"no inner", test_no_inner},
        {"own not ready", test_own_not_ready},
        {"another thread", test_another_thread},
        {"recorded", test_recorded},
        {"recorded, not started", test_recorded_not_started},
        {"recorded, to another", test_recorded_to_another},
        {"beside messages", test_beside_messages},
        CU_TEST_INFO_NULL,
    };
    return suite_run("partitioned", tests);
}
