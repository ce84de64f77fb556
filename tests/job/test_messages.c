/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole answers: sends, receives, probes and what they wait for. */
#include "job_builder.h"
#include "suite.h"

/* Head to head: both receive first. */
static void test_receive_cycle(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_at(&job, 0, "swap", "swap.c", 10);
    job_recv(&job, 0, WORLD, 1, 7);
    job_at(&job, 1, "swap", "swap.c", 10);
    job_recv(&job, 1, WORLD, 0, 7);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

/* Head to head: both send more than goes eagerly. */
static void test_send_cycle(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 3; rank++) {
        int to = (rank + 1) % 3;
        job_at(&job, rank, "ring", "ring.c", 30);
        job_send(&job, rank, WORLD, to, 5, 1 << 20);
        job_channel(&job, rank, to, WORLD, 1, 1);
        job_operation(&job, to, WORLD, MPIQ_OPERATION_MESSAGE, rank, 5, 1 << 20);
    }
    job_expect(
        &job,
        "deadlock: none of the 3 ranks can continue\n"
        "wait_cycle ranks 0-2: Ranks 0-2 send to each other in a circle, and none has posted the receive\n");
}

static void test_self_wait(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_at(&job, 1, "lonely", "self.c", 5);
    job_recv(&job, 1, WORLD, 1, 3);
    job_expect(&job, "deadlock: 1 of 2 ranks can never continue\n"
                     "wait_cycle ranks 1: Rank 1 waits for itself in MPI_Recv\n");
}

static void test_self_communicator(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_recv(&job, 1, SELF, 0, 3);
    job_expect(&job, "deadlock: 1 of 2 ranks can never continue\n"
                     "wait_cycle ranks 1: Rank 1 waits for itself in MPI_Recv\n");
}

/* A wrong tag: the message lies there, and its sender has gone on to the end. */
static void test_wrong_tag(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_at(&job, 0, "main", "tag.c", 40);
    job_finalize(&job, 0);
    job_at(&job, 1, "work", "tag.c", 20);
    job_recv(&job, 1, WORLD, 0, 2);
    job_unexpected(&job, 1, WORLD, 0, 1, 8);
    job_channel(&job, 0, 1, WORLD, 1, 1);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "receive_unmatched ranks 1: Rank 0 sent tag 1, but rank 1 is receiving tag 2\n");
}

static void test_wrong_source(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 1, 2);
    job_at(&job, 2, "work", "source.c", 20);
    job_recv(&job, 2, WORLD, 0, 2);
    job_unexpected(&job, 2, WORLD, 1, 2, 8);
    job_channel(&job, 1, 2, WORLD, 1, 1);
    job_expect(
        &job,
        "deadlock: none of the 3 ranks can continue\n"
        "receive_unmatched ranks 2: Rank 0 never sent the message with tag 2 that rank 2 is waiting for; "
        "rank 1 has sent one\n");
}

static void test_wrong_communicator(void)
{
    struct job_builder job;
    job_init(&job, 2);
    int dup = job_comm(&job, "copy", 3, (int[]){0, 1}, 2);
    job_finalize(&job, 0);
    job_at(&job, 1, "work", "comm.c", 20);
    job_recv(&job, 1, WORLD, 0, 2);
    job_unexpected(&job, 1, dup, 0, 2, 8);
    job_channel(&job, 0, 1, dup, 1, 1);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "receive_unmatched ranks 1: Rank 0 sent tag 2 on \"copy\", but rank 1 is receiving it "
                     "on MPI_COMM_WORLD\n");
}

static void test_any_source(void)
{
    struct job_builder job;
    job_init(&job, 4);
    job_at(&job, 0, "master", "pool.c", 12);
    job_recv(&job, 0, WORLD, ANY, ANY);
    for (int rank = 1; rank < 4; rank++) {
        job_at(&job, rank, "worker", "pool.c", 50);
        job_recv(&job, rank, WORLD, 0, 1);
    }
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "receive_unmatched ranks 0: No rank will ever send the message that rank 0 is waiting "
                     "for (any tag from any rank)\n"
                     "  follows from 1: receive_unmatched ranks 1-3 suspects 0: ranks 1-3 wait in MPI_Recv "
                     "at pool.c:50 for tag 1 from rank 0\n");
}

/* A chain of ranks that leads into a circle: the circle is what explains. */
static void test_chain(void)
{
    struct job_builder job;
    job_init(&job, 6);
    job_recv(&job, 0, WORLD, 1, 1);
    job_recv(&job, 1, WORLD, 0, 1);
    for (int rank = 2; rank < 6; rank++)
        job_recv(&job, rank, WORLD, rank - 1, 1);
    job_expect(&job, "deadlock: none of the 6 ranks can continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

/* A message of the right sender under way: who waits for it may go on. */
static void test_underway(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 7);
    job_channel(&job, 1, 0, WORLD, 3, 2);
    job_expect(&job, "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n");
}

/* A rendezvous send whose receive is posted, seen before it was told. */
static void test_taken(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_send(&job, 0, WORLD, 1, 5, 100000);
    job_channel(&job, 0, 1, WORLD, 1, 1);
    job_recv(&job, 1, WORLD, 0, 6);
    job_expect(&job, "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n");
}

/* A waitall is an AND: one of its requests is enough to be stuck; a waitany an OR. */
static void test_waits(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_wait(&job, 0, "MPI_Waitall", MPIQ_WAIT_ALL);
    job_wait_receive(&job, 0, WORLD, 1, 1);
    job_wait_receive(&job, 0, WORLD, 2, 1);
    job_recv(&job, 1, WORLD, 0, 1);
    job_expect(&job, "deadlock: 2 of 3 ranks can never continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");

    job_init(&job, 3);
    job_wait(&job, 0, "MPI_Waitany", MPIQ_WAIT_ANY);
    job_wait_receive(&job, 0, WORLD, 1, 1);
    job_wait_receive(&job, 0, WORLD, 2, 1);
    job_recv(&job, 1, WORLD, 0, 1);
    job_expect(
        &job, "running: rank 2 is computing at solver.c:20 (step); 2 ranks have waited up to 1 m 0 s for it\n"
              "rank_elsewhere? ranks 2: rank 2 is computing at solver.c:20 (step); 2 ranks have waited up to "
              "1 m 0 s for it\n");
}

/* An eager send that found no room at a rank outside MPI waits for it to come, no more. */
static void test_eager(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_send(&job, 0, WORLD, 1, 1, 1000);
    for (int look = 0; look < 2; look++) {
        job.states[look][0]->operations[0].eager = true;
        job.states[look][0]->threads[0].waits[0].operations[0].eager = true;
    }
    job_channel(&job, 0, 1, WORLD, 1, 0);
    job_expect(&job, "running: rank 1 is computing at solver.c:20 (step); 1 rank has waited 1 m 0 s for it\n"
                     "rank_elsewhere? ranks 1: rank 1 is computing at solver.c:20 (step); 1 rank has waited "
                     "1 m 0 s for it\n");
}

static void test_truncation(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_send(&job, 0, WORLD, 1, 1, 100000);
    job_channel(&job, 0, 1, WORLD, 1, 0);
    job_recv(&job, 1, WORLD, 0, 1);
    job_expect(&job, "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n"
                     "truncation? ranks 1: rank 1 has room for 40 bytes in its receive of tag 1 from rank 0, "
                     "but the message has 100000 bytes\n");
}

/* Of two messages of one kind the receive gets the one that was sent first, which fits. */
static void test_first_in_first_out(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_unexpected(&job, 1, WORLD, 0, 1, 40);
    job_unexpected(&job, 1, WORLD, 0, 1, 100000);
    job_channel(&job, 0, 1, WORLD, 2, 2);
    job_recv(&job, 1, WORLD, 0, 1);
    job_expect(&job, "running: no rank is proven to be stuck\n");
}

static void test_worlds(void)
{
    struct job_builder job;
    job_init_worlds(&job, 4, 2);
    int bridge = job_intercomm(&job, "bridge", 5, (int[]){0, 1}, 2, (int[]){2, 3}, 2);
    job_at(&job, 0, "parent", "spawn.c", 10);
    job_recv(&job, 0, bridge, 1, 1);
    job_at(&job, 3, "child", "spawn.c", 80);
    job_recv(&job, 3, bridge, 0, 1);
    job_expect(&job, "deadlock: 2 of 4 ranks can never continue\n"
                     "wait_cycle ranks 0,w1:1: Ranks 0,w1:1 receive from each other, and none has sent\n");
}

static void test_probe(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_probe(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 7);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

/* Without a record nobody knows which of its requests a rank waits for: one that may come is enough. */
static void test_unpatched_choice(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_unpatched(&job);
    job_operation(&job, 0, WORLD, MPIQ_OPERATION_RECEIVE, 2, 8, 40);
    job_recv(&job, 0, WORLD, 1, 7);
    job_recv(&job, 2, WORLD, 0, 7);
    job_expect(&job,
               "running: rank 1 is computing at solver.c:20 (step); 2 ranks wait for it\n"
               "rank_elsewhere? ranks 1: rank 1 is computing at solver.c:20 (step); 2 ranks wait for it\n");
}

/* The receive that would take it asks for another tag. */
static void test_send_near_miss(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_at(&job, 0, "push", "send.c", 10);
    job_send(&job, 0, WORLD, 1, 5, 100000);
    job_operation(&job, 1, WORLD, MPIQ_OPERATION_MESSAGE, 0, 5, 100000);
    job_channel(&job, 0, 1, WORLD, 1, 1);
    job_at(&job, 1, "pull", "send.c", 20);
    job_recv(&job, 1, WORLD, 0, 6);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "send_unmatched ranks 0: Rank 0 is sending tag 5, but rank 1 is receiving tag 6\n");
}

/* Messages to all, of ranks in two groups. */
static void test_wildcard_between_groups(void)
{
    struct job_builder job;
    job_init(&job, 4);
    int bridge = job_intercomm(&job, "bridge", 5, (int[]){0, 1}, 2, (int[]){2, 3}, 2);
    job_recv(&job, 0, bridge, ANY, 1);
    job_recv(&job, 2, bridge, 0, 1);
    job_recv(&job, 3, bridge, 0, 1);
    job_expect(&job, "deadlock: 3 of 4 ranks can never continue\n"
                     "receive_unmatched ranks 0: No rank will ever send the message with tag 1 on \"bridge\" "
                     "that rank 0 is waiting for\n"
                     "  follows from 1: receive_unmatched ranks 2-3 suspects 0: ranks 2 and 3 wait in "
                     "MPI_Recv at solver.c:20 for tag 1 from rank 0 on \"bridge\"\n");
}

/* Something came in between the looks: what the queues say may be of before. */
static void test_channel_moved(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 7);
    job.look = 1;
    job_channel(&job, 1, 0, WORLD, 1, 0);
    job.look = 2;
    job_channel(&job, 1, 0, WORLD, 1, 1);
    job_expect(&job, "running: the job makes progress\n");
}

/* Rank 0 waits for 1 and for 2, 1 for 2, 2 for 0: 1 is not needed to close the circle. */
static void test_shortest_circle(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_wait(&job, 0, "MPI_Waitall", MPIQ_WAIT_ALL);
    job_wait_receive(&job, 0, WORLD, 1, 1);
    job_wait_receive(&job, 0, WORLD, 2, 1);
    job_recv(&job, 1, WORLD, 2, 1);
    job_recv(&job, 2, WORLD, 0, 1);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "wait_cycle ranks 0,2: Ranks 0 and 2 receive from each other, and none has sent\n");
}

/* The same in a circle of very many: each waits for both of its neighbours, and two of them are enough. */
static void test_large_halo(void)
{
    enum { RANKS = 2000 };
    struct job_builder job;
    job_init(&job, RANKS);
    for (int rank = 0; rank < RANKS; rank++) {
        job_wait(&job, rank, "MPI_Waitall", MPIQ_WAIT_ALL);
        job_wait_receive(&job, rank, WORLD, (rank + RANKS - 1) % RANKS, 1);
        job_wait_receive(&job, rank, WORLD, (rank + 1) % RANKS, 1);
    }
    job_expect(&job,
               "deadlock: none of the 2000 ranks can continue\n"
               "wait_cycle ranks 0,1999: Ranks 0 and 1999 receive from each other, and none has sent\n");
}

/* One of a large ring waits for the one before it, too: the rest of the ring only waits for those two. */
static void test_large_ring_with_a_short_cut(void)
{
    enum { RANKS = 2000 };
    struct job_builder job;
    job_init(&job, RANKS);
    for (int rank = 0; rank < RANKS; rank++) {
        job_wait(&job, rank, "MPI_Waitall", MPIQ_WAIT_ALL);
        job_wait_receive(&job, rank, WORLD, (rank + 1) % RANKS, 1);
        if (rank == 500)
            job_wait_receive(&job, rank, WORLD, 499, 1);
    }
    job_expect(&job,
               "deadlock: none of the 2000 ranks can continue\n"
               "wait_cycle ranks 499-500: Ranks 499 and 500 receive from each other, and none has sent\n");
}

/* Of all that one waits for, only what never comes leads to the cause. */
static void test_one_that_may_come(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_wait(&job, 0, "MPI_Waitall", MPIQ_WAIT_ALL);
    job_wait_receive(&job, 0, WORLD, 2, 1);
    job_wait_receive(&job, 0, WORLD, 1, 1);
    job_recv(&job, 1, WORLD, 0, 1);
    job_expect(&job, "deadlock: 2 of 3 ranks can never continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

/* A message that went to another rank. */
static void test_wrong_destination(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_recv(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 9);
    job_recv(&job, 2, WORLD, 0, 8);
    job_unexpected(&job, 2, WORLD, 0, 9, 4);
    job_channel(&job, 0, 2, WORLD, 2, 2);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

/* Anybody of a group is somebody else first: rank 0 in a linear barrier does not wait for itself. */
static void test_internal_wildcard(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_collective(&job, 0, WORLD, "MPI_Barrier", 1, ANY);
    job_wait_internal(&job, 0, WORLD, ANY, -16);
    job_collective(&job, 1, WORLD, "MPI_Barrier", 1, 0);
    job_at(&job, 2, "lost", "other.c", 5);
    job_recv(&job, 2, WORLD, 0, 7);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "collective_incomplete ranks 0-1 missing 2 suspects 2: Rank 2 never entered the "
                     "MPI_Barrier that the other 2 ranks are waiting in\n");
}

/* The receiver counts in 16 bits. */
static void test_channel_wraps(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 7);
    job_channel(&job, 1, 0, WORLD, 65536 + 40, 40);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

/* A buffered send is done as soon as it is posted. */
static void test_buffered(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_wait(&job, 0, "MPI_Wait", MPIQ_WAIT_REQUEST);
    job_wait_send(&job, 0, WORLD, 1, 5, 100000);
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job.states[look][0];
        state->operations[0].kind = state->threads[0].waits[0].operations[0].kind = MPIQ_OPERATION_BSEND;
    }
    job_state(&job, 1, 'S');
    job_expect(&job, "unknown: no rank moved between the looks, but none is proven to be stuck\n");
}

/* What only its owner knows how to complete may be complete any moment. */
static void test_generalized_request(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_wait(&job, 0, "MPI_Wait", MPIQ_WAIT_REQUEST);
    job_wait_receive(&job, 0, WORLD, 1, 5);
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job.states[look][0];
        state->threads[0].waits[0].operations[0].kind = MPIQ_OPERATION_OTHER;
        state->operation_count = 0;
    }
    job_recv(&job, 1, WORLD, 0, 9);
    job_expect(&job, "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n");
}

/* Who holds a lock is nowhere to be seen. */
static void test_window_lock(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_wait(&job, 0, "MPI_Win_lock", MPIQ_WAIT_RMA);
    job_recv(&job, 1, WORLD, 0, 9);
    job_expect(&job, "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n");
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"ranks that receive in a circle are a deadlock", test_receive_cycle},
        {"ranks that send in a circle are a deadlock", test_send_cycle},
        {"self wait", test_self_wait},
        {"self communicator", test_self_communicator},
        {"wrong tag", test_wrong_tag},
        {"wrong source", test_wrong_source},
        {"wrong communicator", test_wrong_communicator},
        {"any source", test_any_source},
        {"chain", test_chain},
        {"a message in transit prevents a proof", test_underway},
        {"taken", test_taken},
        {"waits", test_waits},
        {"eager", test_eager},
        {"a receive that is too small is found", test_truncation},
        {"messages match first in, first out", test_first_in_first_out},
        {"worlds", test_worlds},
        {"probe", test_probe},
        {"unpatched choice", test_unpatched_choice},
        {"send near miss", test_send_near_miss},
        {"wildcard between groups", test_wildcard_between_groups},
        {"a channel that moved between the looks proves nothing", test_channel_moved},
        {"a rank that is not needed to close the circle is left out", test_shortest_circle},
        {"large halo", test_large_halo},
        {"large ring with a short cut", test_large_ring_with_a_short_cut},
        {"only a receive that can never complete leads to the cause", test_one_that_may_come},
        {"a message to another rank does not hide the circle", test_wrong_destination},
        {"internal wildcard", test_internal_wildcard},
        {"channel wraps", test_channel_wraps},
        {"buffered", test_buffered},
        {"generalized request", test_generalized_request},
        {"window lock", test_window_lock},
        CU_TEST_INFO_NULL,
    };
    return suite_run("messages", tests);
}
