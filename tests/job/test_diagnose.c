/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole answers to jobs that hang, and to some that do not. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_builder.h"

static void expect(struct job_builder *job, const char *wanted)
{
    char *answer = job_answer(job);
    bool same = strcmp(answer, wanted) == 0;
    CU_ASSERT(same);
    if (!same)
        printf("\n--- wanted\n%s--- got\n%s---\n", wanted, answer);
    free(answer);
    job_deinit(job);
}

/* 63 ranks in MPI_Bcast, the root of it waits for one of them. */
static void test_bcast_and_receive(void)
{
    struct job_builder job;
    job_init(&job, 64);
    job.waited = 11520.4;
    for (int rank = 0; rank < 64; rank++) {
        if (rank == 1)
            continue;
        job_at(&job, rank, "share", "solver.c", 88);
        int parent = rank == 0 ? 1 : rank <= 4 ? 0 : rank - 3;
        job_collective(&job, rank, WORLD, "MPI_Bcast", 6, parent == rank ? 0 : parent);
    }
    job_called(&job, 1, WORLD, "MPI_Bcast", 5);
    job_at(&job, 1, "refine", "solver.c", 71);
    job_recv(&job, 1, WORLD, 63, 99);
    job_unexpected(&job, 2, WORLD, 1, 98, 4);
    job_channel(&job, 1, 2, WORLD, 1, 1);
    expect(&job,
           "deadlock: none of the 64 ranks can ever go on\n"
           "collective_incomplete ranks 0,2-63 missing 1 suspects 1: 63 ranks are in MPI_Bcast #6 at "
           "solver.c:88; rank 1 is not: it has waited 3 h 12 m at solver.c:71 for tag 99 from rank 63, "
           "which is itself in that Bcast\n"
           "receive_unmatched ranks 1: rank 1 has waited 3 h 12 m in MPI_Recv at solver.c:71 for tag 99 "
           "from rank 63; rank 63 has been in MPI_Bcast #6 at solver.c:88 for 3 h 12 m\n"
           "wait_cycle ranks 1,63: 2 ranks wait for each other in a circle: rank 1 in MPI_Recv for tag 99 "
           "from rank 63 at solver.c:71, rank 63 in MPI_Bcast #6 at solver.c:88\n");
}

/* Head to head: both receive first. */
static void test_receive_cycle(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_at(&job, 0, "swap", "swap.c", 10);
    job_recv(&job, 0, WORLD, 1, 7);
    job_at(&job, 1, "swap", "swap.c", 10);
    job_recv(&job, 1, WORLD, 0, 7);
    expect(&job,
           "deadlock: none of the 2 ranks can ever go on\n"
           "wait_cycle ranks 0-1: 2 ranks wait for each other in a circle: rank 0 in MPI_Recv for tag 7 "
           "from rank 1 at swap.c:10, rank 1 in MPI_Recv for tag 7 from rank 0 at swap.c:10\n");
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
    expect(&job,
           "deadlock: none of the 3 ranks can ever go on\n"
           "wait_cycle ranks 0-2: 3 ranks wait for each other in a circle: rank 0 in MPI_Send for rank 1 "
           "to receive 1048576 bytes with tag 5 at ring.c:30, rank 1 in MPI_Send for rank 2 to receive "
           "1048576 bytes with tag 5 at ring.c:30, rank 2 in MPI_Send for rank 0 to receive 1048576 bytes "
           "with tag 5 at ring.c:30\n");
}

static void test_self_wait(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_at(&job, 1, "lonely", "self.c", 5);
    job_recv(&job, 1, WORLD, 1, 3);
    expect(&job, "deadlock: 1 of 2 ranks can never go on\n"
                 "wait_cycle ranks 1: rank 1 waits for itself: it is in MPI_Recv for tag 3 from rank 1\n");
}

static void test_self_communicator(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_recv(&job, 1, SELF, 0, 3);
    expect(&job, "deadlock: 1 of 2 ranks can never go on\n"
                 "wait_cycle ranks 1: rank 1 waits for itself: it is in MPI_Recv for tag 3 from rank 1 on "
                 "MPI_COMM_SELF\n");
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
    expect(&job,
           "deadlock: none of the 2 ranks can ever go on\n"
           "collective_incomplete ranks 0 missing 1 suspects 1: rank 0 is in MPI_Finalize at tag.c:40; "
           "rank 1 is not: it has waited 1 m 0 s at tag.c:20 for tag 2 from rank 0, which is itself in "
           "that Finalize\n"
           "receive_unmatched ranks 1: rank 1 has waited 1 m 0 s in MPI_Recv at tag.c:20 for tag 2 from "
           "rank 0; rank 0 has been in MPI_Finalize at tag.c:40 for 1 m 0 s; a message from rank 0 with "
           "tag 1 lies there unreceived\n");
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
    expect(&job,
           "deadlock: none of the 3 ranks can ever go on\n"
           "collective_incomplete ranks 0-1 missing 2 suspects 2: ranks 0-1 are in MPI_Barrier #1 at "
           "solver.c:20; rank 2 is not: it has waited 1 m 0 s at source.c:20 for tag 2 from rank 0, which "
           "is itself in that Barrier\n"
           "receive_unmatched ranks 2: rank 2 has waited 1 m 0 s in MPI_Recv at source.c:20 for tag 2 "
           "from rank 0; rank 0 has been in MPI_Barrier #1 at solver.c:20 for 1 m 0 s; a message from "
           "rank 1 with tag 2 lies there unreceived\n"
           "wait_cycle ranks 0,2: 2 ranks wait for each other in a circle: rank 0 in MPI_Barrier #1 at "
           "solver.c:20, rank 2 in MPI_Recv for tag 2 from rank 0 at source.c:20\n");
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
    expect(&job,
           "deadlock: none of the 2 ranks can ever go on\n"
           "collective_incomplete ranks 0 missing 1 suspects 1: rank 0 is in MPI_Finalize at solver.c:20; "
           "rank 1 is not: it has waited 1 m 0 s at comm.c:20 for tag 2 from rank 0, which is itself in "
           "that Finalize\n"
           "receive_unmatched ranks 1: rank 1 has waited 1 m 0 s in MPI_Recv at comm.c:20 for tag 2 from "
           "rank 0; rank 0 has been in MPI_Finalize at solver.c:20 for 1 m 0 s; a message from rank 0 "
           "with tag 2 on copy lies there unreceived\n");
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
    expect(&job,
           "deadlock: none of the 4 ranks can ever go on\n"
           "receive_unmatched ranks 0: rank 0 has waited 1 m 0 s in MPI_Recv at pool.c:12 for any tag "
           "from any rank, and no rank that could send it ever will\n"
           "receive_unmatched ranks 1-3: ranks 1-3 have waited 1 m 0 s in MPI_Recv at pool.c:50 for tag 1 "
           "from rank 0; rank 0 has waited 1 m 0 s at pool.c:12 for any tag from any rank\n");
}

static void test_mismatch(void)
{
    struct job_builder job;
    job_init(&job, 4);
    for (int rank = 0; rank < 4; rank++) {
        job_called(&job, rank, WORLD, "MPI_Bcast", 1);
        job_at(&job, rank, "step", "mix.c", rank == 2 ? 31 : 30);
        job_collective(&job, rank, WORLD, rank == 2 ? "MPI_Barrier" : "MPI_Allreduce", 2, (rank + 1) % 4);
    }
    expect(&job,
           "deadlock: none of the 4 ranks can ever go on\n"
           "collective_mismatch ranks 0-3 suspects 2: collective call #2 is not the same for all: ranks "
           "0-1,3 called MPI_Allreduce at mix.c:30 and rank 2 called MPI_Barrier at mix.c:31\n"
           "wait_cycle ranks 2-3: 2 ranks wait for each other in a circle: rank 2 in MPI_Barrier #2 at "
           "mix.c:31, rank 3 in MPI_Allreduce #2 at mix.c:30\n");
}

static void test_wrong_root(void)
{
    struct job_builder job;
    job_init(&job, 4);
    for (int rank = 0; rank < 4; rank++) {
        job_at(&job, rank, "share", "root.c", 9);
        job_collective(&job, rank, WORLD, "MPI_Bcast", 1, rank == 3 ? 0 : 3);
        job_arguments(&job, rank, WORLD, rank == 3 ? 0 : 3, NULL, 400);
    }
    expect(&job, "deadlock: none of the 4 ranks can ever go on\n"
                 "collective_argument_mismatch ranks 0-3 suspects 3: MPI_Bcast #1 is called with different "
                 "roots: 3 by ranks 0-2 and 0 by rank 3\n");
}

static void test_wrong_op(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 3; rank++) {
        job_collective(&job, rank, WORLD, "MPI_Allreduce", 1, (rank + 1) % 3);
        job_arguments(&job, rank, WORLD, -1, rank == 1 ? "MPI_MAX" : "MPI_SUM", 80);
    }
    expect(&job,
           "deadlock: none of the 3 ranks can ever go on\n"
           "collective_argument_mismatch ranks 0-2 suspects 1: MPI_Allreduce #1 is called with different "
           "operations: MPI_SUM by ranks 0,2 and MPI_MAX by rank 1\n");
}

static void test_wrong_bytes(void)
{
    struct job_builder job;
    job_init(&job, 6);
    for (int rank = 0; rank < 6; rank++) {
        job_collective(&job, rank, WORLD, "MPI_Bcast", 1, (rank + 1) % 6);
        job_arguments(&job, rank, WORLD, 0, NULL, rank == 4 ? 800 : 400);
    }
    expect(&job, "deadlock: none of the 6 ranks can ever go on\n"
                 "collective_argument_mismatch ranks 0-5 suspects 4: MPI_Bcast #1 is called with different "
                 "lengths in bytes: 400 by 5 ranks and 800 by rank 4\n");
}

/* Legal differences: lengths of a gather's parts. */
static void test_legal_bytes(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 3; rank++) {
        job_called(&job, rank, WORLD, "MPI_Gatherv", 1);
        job_arguments(&job, rank, WORLD, 0, NULL, 100 * rank);
        job_collective(&job, rank, WORLD, "MPI_Barrier", 2, (rank + 1) % 3);
    }
    expect(&job, "deadlock: none of the 3 ranks can ever go on\n"
                 "wait_cycle ranks 0-2: 3 ranks wait for each other in a circle: rank 0 in MPI_Barrier #2 at "
                 "solver.c:20, rank 1 in MPI_Barrier #2 at solver.c:20, rank 2 in MPI_Barrier #2 at "
                 "solver.c:20\n");
}

/* A rank finalizes while the others are in a barrier. */
static void test_finalizes_early(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_collective(&job, 0, WORLD, "MPI_Barrier", 2, 1);
    job_collective(&job, 2, WORLD, "MPI_Barrier", 2, 1);
    job_called(&job, 1, WORLD, "MPI_Barrier", 1);
    job_finalize(&job, 1);
    expect(&job, "deadlock: none of the 3 ranks can ever go on\n"
                 "collective_incomplete ranks 0,2 missing 1 suspects 1: ranks 0,2 are in MPI_Barrier #2 at "
                 "solver.c:20; rank 1 is not: it has been in MPI_Finalize at solver.c:20 for 1 m 0 s\n"
                 "collective_incomplete ranks 1 missing 0,2: rank 1 is in MPI_Finalize at solver.c:20; ranks "
                 "0,2 are not: they have been in MPI_Barrier #2 at solver.c:20 for 1 m 0 s\n");
}

static void test_finished(void)
{
    struct job_builder job;
    job_init(&job, 2);
    for (int rank = 0; rank < 2; rank++)
        job_phase(&job, rank, MPIQ_PHASE_FINALIZED);
    expect(&job, "finished: no rank is in MPI any more\n");
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
    expect(&job,
           "deadlock: none of the 6 ranks can ever go on\n"
           "wait_cycle ranks 0-1: 2 ranks wait for each other in a circle: rank 0 in MPI_Recv for tag 1 "
           "from rank 1 at solver.c:20, rank 1 in MPI_Recv for tag 1 from rank 0 at solver.c:20\n");
}

/* A message of the right sender under way: who waits for it may go on. */
static void test_underway(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 7);
    job_channel(&job, 1, 0, WORLD, 3, 2);
    expect(&job, "running: no rank is proven to be stuck\n");
}

/* A rendezvous send whose receive is posted, seen before it was told. */
static void test_taken(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_send(&job, 0, WORLD, 1, 5, 100000);
    job_channel(&job, 0, 1, WORLD, 1, 1);
    job_recv(&job, 1, WORLD, 0, 6);
    expect(&job, "running: no rank is proven to be stuck\n");
}

/* One number, two threads: each is in a barrier of its own. */
static void test_two_threads(void)
{
    struct job_builder job;
    job_init(&job, 2);
    int second = job_comm(&job, "second", 3, (int[]){0, 1}, 2);
    job_at(&job, 0, "one", "two.c", 10);
    job_collective(&job, 0, WORLD, "MPI_Barrier", 1, 1);
    job_thread(&job, 0, 3);
    job_at(&job, 0, "two", "two.c", 20);
    job_collective(&job, 0, second, "MPI_Barrier", 1, 1);
    job_at(&job, 1, "lost", "two.c", 30);
    job_recv(&job, 1, WORLD, 0, 9);
    expect(&job,
           "deadlock: none of the 2 ranks can ever go on\n"
           "collective_incomplete ranks 0 missing 1 suspects 1: rank 0 is in MPI_Barrier #1 at two.c:10; "
           "rank 1 is not: it has waited 1 m 0 s at two.c:30 for tag 9 from rank 0, which is itself in "
           "that Barrier\n"
           "collective_incomplete ranks 0 missing 1 suspects 1: rank 0 is in MPI_Barrier #1 on second at "
           "two.c:20; rank 1 is not: it has waited 1 m 0 s at two.c:30 for tag 9 from rank 0, which is "
           "itself in that Barrier\n"
           "receive_unmatched ranks 1: rank 1 has waited 1 m 0 s in MPI_Recv at two.c:30 for tag 9 from "
           "rank 0; rank 0 has been in MPI_Barrier #1 at two.c:10 for 1 m 0 s\n"
           "wait_cycle ranks 0-1: 2 ranks wait for each other in a circle: rank 0 in MPI_Barrier #1 at "
           "two.c:10, rank 1 in MPI_Recv for tag 9 from rank 0 at two.c:30\n");
}

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
    expect(&job,
           "deadlock: none of the 4 ranks can ever go on\n"
           "collective_incomplete ranks 0-2 missing 3 suspects 3: ranks 0-2 are in MPI_Barrier #3 at "
           "shared.c:12; rank 3 is not: it has waited 1 m 0 s at shared.c:40 for tag 1 from rank 0, which "
           "is itself in that Barrier\n"
           "receive_unmatched ranks 3: rank 3 has waited 1 m 0 s in MPI_Recv at shared.c:40 for tag 1 "
           "from rank 0; rank 0 has been in MPI_Barrier #3 at shared.c:12 for 1 m 0 s\n"
           "wait_cycle ranks 0,3: 2 ranks wait for each other in a circle: rank 0 in MPI_Barrier #3 at "
           "shared.c:12, rank 3 in MPI_Recv for tag 1 from rank 0 at shared.c:40\n");
}

/* Two communicators, entered in opposite order. */
static void test_opposite_order(void)
{
    struct job_builder job;
    job_init(&job, 2);
    int rows = job_comm(&job, "rows", 3, (int[]){0, 1}, 2);
    int columns = job_comm(&job, "columns", 4, (int[]){0, 1}, 2);
    job_at(&job, 0, "a", "order.c", 10);
    job_collective(&job, 0, rows, "MPI_Barrier", 1, 1);
    job_at(&job, 1, "b", "order.c", 20);
    job_collective(&job, 1, columns, "MPI_Barrier", 1, 0);
    expect(&job,
           "deadlock: none of the 2 ranks can ever go on\n"
           "collective_incomplete ranks 0 missing 1: rank 0 is in MPI_Barrier #1 on rows at order.c:10; "
           "rank 1 is not: it has been in MPI_Barrier #1 on columns at order.c:20 for 1 m 0 s\n"
           "collective_incomplete ranks 1 missing 0: rank 1 is in MPI_Barrier #1 on columns at "
           "order.c:20; rank 0 is not: it has been in MPI_Barrier #1 on rows at order.c:10 for 1 m 0 s\n"
           "wait_cycle ranks 0-1: 2 ranks wait for each other in a circle: rank 0 in MPI_Barrier #1 on "
           "rows at order.c:10, rank 1 in MPI_Barrier #1 on columns at order.c:20\n");
}

/* Halves of a split share their context: one half is in a barrier that the other never sees. */
static void test_split_halves(void)
{
    struct job_builder job;
    job_init(&job, 4);
    for (int rank = 0; rank < 4; rank++)
        job.look = 0;
    int half = job_comm(&job, "half", 4, (int[]){0, 1}, 2);
    /* the other half, under the same context */
    for (int look = 0; look < 2; look++) {
        for (int rank = 2; rank < 4; rank++) {
            struct mpiq_communicator *comm = &job.states[look][rank]->communicators[half];
            comm->context[1] = 4;
            snprintf(comm->name, sizeof comm->name, "half");
            comm->local.count = 2;
            comm->local.hash = 77;
            free(comm->local.members);
            comm->local.members = calloc(2, sizeof *comm->local.members);
            comm->local.members[0] = (struct mpiq_name){.job = 100, .rank = 2};
            comm->local.members[1] = (struct mpiq_name){.job = 100, .rank = 3};
            comm->local_rank = rank - 2;
        }
    }
    job_collective(&job, 0, half, "MPI_Barrier", 1, 1);
    job_recv(&job, 1, half, 0, 9);
    job_unexpected(&job, 3, half, 0, 9, 4);
    job_channel(&job, 2, 3, half, 1, 1);
    expect(&job, "deadlock: 2 of 4 ranks can never go on\n"
                 "collective_incomplete ranks 0 missing 1 suspects 1: rank 0 is in MPI_Barrier #1 on half at "
                 "solver.c:20; rank 1 is not: it has waited 1 m 0 s at solver.c:20 for tag 9 from rank 0 on "
                 "half, which is itself in that Barrier\n"
                 "receive_unmatched ranks 1: rank 1 has waited 1 m 0 s in MPI_Recv at solver.c:20 for tag 9 "
                 "from rank 0 on half; rank 0 has been in MPI_Barrier #1 on half at solver.c:20 for 1 m 0 s\n"
                 "wait_cycle ranks 0-1: 2 ranks wait for each other in a circle: rank 0 in MPI_Barrier #1 on "
                 "half at solver.c:20, rank 1 in MPI_Recv for tag 9 from rank 0 on half at solver.c:20\n");
}

static void test_gone(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++) {
        job_at(&job, rank, "step", "gone.c", 12);
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    }
    job_state(&job, 2, 'Z');
    expect(&job, "deadlock: 2 of 3 ranks can never go on\n"
                 "rank_gone ranks 2: rank 2 has ended; 2 ranks have waited up to 1 m 0 s for it\n"
                 "collective_incomplete ranks 0-1 missing 2 suspects 2: ranks 0-1 are in MPI_Barrier #3 at "
                 "gone.c:12; rank 2 is not: it has ended\n");
}

static void test_stopped(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    job_called(&job, 2, WORLD, "MPI_Barrier", 2);
    job_state(&job, 2, 'T');
    expect(&job,
           "stalled: nothing moved between the two looks, and all who wait, wait in the end for ranks "
           "that are stopped or asleep outside MPI\n"
           "rank_stopped? ranks 2: rank 2 is stopped at solver.c:20 (step); 2 ranks have waited up to 1 m "
           "0 s for it\n"
           "collective_incomplete? ranks 0-1 missing 2 suspects 2: ranks 0-1 are in MPI_Barrier #3 at "
           "solver.c:20; rank 2 is not: it is stopped at solver.c:20 (step)\n");
}

static void test_asleep(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    job_called(&job, 2, WORLD, "MPI_Barrier", 2);
    job_at(&job, 2, "load", "io.c", 7);
    job_state(&job, 2, 'S');
    expect(&job,
           "stalled: nothing moved between the two looks, and all who wait, wait in the end for ranks "
           "that are stopped or asleep outside MPI\n"
           "rank_elsewhere? ranks 2: rank 2 is asleep at io.c:7 (load); 2 ranks have waited up to 1 m 0 s "
           "for it\n"
           "collective_incomplete? ranks 0-1 missing 2 suspects 2: ranks 0-1 are in MPI_Barrier #3 at "
           "solver.c:20; rank 2 is not: it is asleep at io.c:7 (load)\n");
}

static void test_computing(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    job_called(&job, 2, WORLD, "MPI_Barrier", 2);
    expect(&job,
           "running: no rank is proven to be stuck\n"
           "rank_elsewhere? ranks 2: rank 2 is computing at solver.c:20 (step); 2 ranks have waited up to "
           "1 m 0 s for it\n"
           "collective_incomplete? ranks 0-1 missing 2 suspects 2: ranks 0-1 are in MPI_Barrier #3 at "
           "solver.c:20; rank 2 is not: it is computing at solver.c:20 (step)\n");
}

static void test_unread(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    job.unread[2] = true;
    expect(&job, "unknown: nothing moved between the two looks, but what the ranks wait for could not all be "
                 "read: it may come at any moment\n");
}

static void test_finalize(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_at(&job, 0, "main", "end.c", 90);
    job_finalize(&job, 0);
    job_finalize(&job, 1);
    job_at(&job, 2, "work", "end.c", 50);
    job_recv(&job, 2, WORLD, 0, 4);
    job_operation(&job, 1, WORLD, MPIQ_OPERATION_RECEIVE, 0, 5, 8);
    expect(&job,
           "deadlock: none of the 3 ranks can ever go on\n"
           "collective_incomplete ranks 0-1 missing 2 suspects 2: ranks 0-1 are in MPI_Finalize; rank 2 "
           "is not: it has waited 1 m 0 s at end.c:50 for tag 4 from rank 0, which is itself in that "
           "Finalize\n"
           "receive_unmatched ranks 2: rank 2 has waited 1 m 0 s in MPI_Recv at end.c:50 for tag 4 from "
           "rank 0; rank 0 has been in MPI_Finalize at end.c:90 for 1 m 0 s\n"
           "request_leak? ranks 1: rank 1 has called MPI_Finalize with a request never waited for or "
           "freed: a receive from rank 0 with tag 5\n");
}

/* A deadlocked part beside one that goes on. */
static void test_part(void)
{
    struct job_builder job;
    job_init(&job, 4);
    job_recv(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 7);
    job_polls(&job, 2);
    expect(&job,
           "deadlock: 2 of 4 ranks can never go on\n"
           "wait_cycle ranks 0-1: 2 ranks wait for each other in a circle: rank 0 in MPI_Recv for tag 7 "
           "from rank 1 at solver.c:20, rank 1 in MPI_Recv for tag 7 from rank 0 at solver.c:20\n");
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
    expect(&job,
           "deadlock: 2 of 3 ranks can never go on\n"
           "wait_cycle ranks 0-1: 2 ranks wait for each other in a circle: rank 0 in MPI_Waitall for tag "
           "1 from rank 1 at solver.c:20, rank 1 in MPI_Recv for tag 1 from rank 0 at solver.c:20\n");

    job_init(&job, 3);
    job_wait(&job, 0, "MPI_Waitany", MPIQ_WAIT_ANY);
    job_wait_receive(&job, 0, WORLD, 1, 1);
    job_wait_receive(&job, 0, WORLD, 2, 1);
    job_recv(&job, 1, WORLD, 0, 1);
    expect(&job,
           "running: no rank is proven to be stuck\n"
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
    expect(&job,
           "running: no rank is proven to be stuck\n"
           "rank_elsewhere? ranks 1: rank 1 is computing at solver.c:20 (step); 1 rank has waited 1 m 0 s "
           "for it\n");
}

static void test_truncation(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_send(&job, 0, WORLD, 1, 1, 100000);
    job_channel(&job, 0, 1, WORLD, 1, 0);
    job_recv(&job, 1, WORLD, 0, 1);
    expect(&job, "running: no rank is proven to be stuck\n"
                 "truncation? ranks 1: rank 1 has room for 40 bytes in its receive of tag 1 from rank 0, but "
                 "the message has 100000\n");
}

static void test_one_look(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job.one_look = true;
    job_recv(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 7);
    expect(&job, "unknown: the ranks wait, but they were not seen twice in the same wait: one look proves "
                 "nothing\n");
}

/* The same places, but other waits: a ping-pong at full speed. */
static void test_ping_pong(void)
{
    struct job_builder job;
    job_init(&job, 2);
    for (int look = 1; look <= 2; look++) {
        job.look = look;
        job_recv(&job, 0, WORLD, 1, 7);
        job_recv(&job, 1, WORLD, 0, 7);
    }
    expect(&job, "running: the job makes progress\n");
}

static void test_nonblocking(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++) {
        job_at(&job, rank, "overlap", "nb.c", 44);
        job_wait(&job, rank, "MPI_Wait", MPIQ_WAIT_REQUEST);
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job.states[look][rank];
            struct mpiq_call *call = mpiq_communicator_add_outstanding(&state->communicators[WORLD]);
            *call = (struct mpiq_call){.number = 4,
                                       .root = -1,
                                       .bytes = -1,
                                       .request = 0x900,
                                       .tid = state->pid,
                                       .collective = (int16_t)mpiq_collective_class("MPI_Ibarrier")};
            state->communicators[WORLD].ordered = 4;
            *mpiq_wait_add_operation(&state->threads[0].waits[0]) =
                (struct mpiq_operation){.request = 0x900,
                                        .kind = MPIQ_OPERATION_COLLECTIVE,
                                        .comm = WORLD,
                                        .peer = {.rank = -1},
                                        .peer_local = ANY,
                                        .bytes = -1,
                                        .collective = -1,
                                        .queue = MPIQ_QUEUE_WAIT};
        }
        job_operation(&job, rank, WORLD, MPIQ_OPERATION_RECEIVE, 2, -28, 0);
    }
    job_called(&job, 2, WORLD, "MPI_Bcast", 3);
    job_at(&job, 2, "lost", "nb.c", 60);
    job_recv(&job, 2, WORLD, 0, 4);
    expect(&job,
           "deadlock: none of the 3 ranks can ever go on\n"
           "collective_incomplete ranks 0-1 missing 2 suspects 2: ranks 0-1 wait for MPI_Ibarrier #4 at "
           "nb.c:44; rank 2 is not: it has waited 1 m 0 s at nb.c:60 for tag 4 from rank 0, which is "
           "itself in that Ibarrier\n"
           "receive_unmatched ranks 2: rank 2 has waited 1 m 0 s in MPI_Recv at nb.c:60 for tag 4 from "
           "rank 0; rank 0 has waited 1 m 0 s at nb.c:44 for MPI_Ibarrier #4 to complete\n"
           "wait_cycle ranks 0,2: 2 ranks wait for each other in a circle: rank 0 in MPI_Wait for "
           "MPI_Ibarrier #4 to complete at nb.c:44, rank 2 in MPI_Recv for tag 4 from rank 0 at nb.c:60\n");
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
    expect(&job,
           "deadlock: 2 of 4 ranks can never go on\n"
           "wait_cycle ranks 0,w1:1: 2 ranks wait for each other in a circle: rank 0 in MPI_Recv for tag "
           "1 from rank w1:1 on bridge at spawn.c:10, rank w1:1 in MPI_Recv for tag 1 from rank 0 on "
           "bridge at spawn.c:80\n");
}

static void test_threads(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    job_thread(&job, 0, 3);
    job_recv(&job, 1, WORLD, 0, 7);
    expect(&job, "running: no rank is proven to be stuck\n"); /* rank 0's other thread may send it */

    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    job_thread(&job, 0, 3);
    job_recv(&job, 0, WORLD, 1, 8);
    job_recv(&job, 1, WORLD, 0, 7);
    expect(&job,
           "deadlock: none of the 2 ranks can ever go on\n"
           "wait_cycle ranks 0-1: 2 ranks wait for each other in a circle: rank 0 in MPI_Recv for tag 7 "
           "from rank 1 at solver.c:20, rank 1 in MPI_Recv for tag 7 from rank 0 at solver.c:20\n");
}

static void test_probe(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_probe(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 7);
    expect(&job,
           "deadlock: none of the 2 ranks can ever go on\n"
           "wait_cycle ranks 0-1: 2 ranks wait for each other in a circle: rank 0 in MPI_Probe for tag 7 "
           "from rank 1 at solver.c:20, rank 1 in MPI_Recv for tag 7 from rank 0 at solver.c:20\n");
}

static void test_unpatched(void)
{
    struct job_builder job;
    job_init(&job, 4);
    job_unpatched(&job);
    for (int rank = 0; rank < 3; rank++) {
        job_at(&job, rank, "share", "solver.c", 88);
        job_collective(&job, rank, WORLD, "MPI_Bcast", 6, 3);
    }
    job_at(&job, 3, "refine", "solver.c", 71);
    job_recv(&job, 3, WORLD, 0, 99);
    expect(&job,
           "deadlock: none of the 4 ranks can ever go on\n"
           "collective_incomplete ranks 0-2 missing 3 suspects 3: ranks 0-2 are in MPI_Bcast at "
           "solver.c:88; rank 3 is not: it is waiting at solver.c:71 for tag 99 from rank 0, which is "
           "itself in that Bcast\n"
           "receive_unmatched ranks 3: rank 3 is waiting in MPI_Recv at solver.c:71 for tag 99 from rank "
           "0; rank 0 is in MPI_Bcast at solver.c:88\n"
           "wait_cycle ranks 0,3: 2 ranks wait for each other in a circle: rank 0 in MPI_Bcast at "
           "solver.c:88, rank 3 in MPI_Recv for tag 99 from rank 0 at solver.c:71\n");
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("diagnose", NULL, NULL);
    CU_add_test(suite, "bcast and receive", test_bcast_and_receive);
    CU_add_test(suite, "receive cycle", test_receive_cycle);
    CU_add_test(suite, "send cycle", test_send_cycle);
    CU_add_test(suite, "self wait", test_self_wait);
    CU_add_test(suite, "self communicator", test_self_communicator);
    CU_add_test(suite, "wrong tag", test_wrong_tag);
    CU_add_test(suite, "wrong source", test_wrong_source);
    CU_add_test(suite, "wrong communicator", test_wrong_communicator);
    CU_add_test(suite, "any source", test_any_source);
    CU_add_test(suite, "mismatch", test_mismatch);
    CU_add_test(suite, "wrong root", test_wrong_root);
    CU_add_test(suite, "wrong op", test_wrong_op);
    CU_add_test(suite, "wrong bytes", test_wrong_bytes);
    CU_add_test(suite, "legal bytes", test_legal_bytes);
    CU_add_test(suite, "finalizes early", test_finalizes_early);
    CU_add_test(suite, "finished", test_finished);
    CU_add_test(suite, "chain", test_chain);
    CU_add_test(suite, "underway", test_underway);
    CU_add_test(suite, "taken", test_taken);
    CU_add_test(suite, "two threads", test_two_threads);
    CU_add_test(suite, "forced", test_forced);
    CU_add_test(suite, "opposite order", test_opposite_order);
    CU_add_test(suite, "split halves", test_split_halves);
    CU_add_test(suite, "gone", test_gone);
    CU_add_test(suite, "stopped", test_stopped);
    CU_add_test(suite, "asleep", test_asleep);
    CU_add_test(suite, "computing", test_computing);
    CU_add_test(suite, "unread", test_unread);
    CU_add_test(suite, "finalize", test_finalize);
    CU_add_test(suite, "part", test_part);
    CU_add_test(suite, "waits", test_waits);
    CU_add_test(suite, "eager", test_eager);
    CU_add_test(suite, "truncation", test_truncation);
    CU_add_test(suite, "one look", test_one_look);
    CU_add_test(suite, "ping pong", test_ping_pong);
    CU_add_test(suite, "nonblocking", test_nonblocking);
    CU_add_test(suite, "worlds", test_worlds);
    CU_add_test(suite, "threads", test_threads);
    CU_add_test(suite, "probe", test_probe);
    CU_add_test(suite, "unpatched", test_unpatched);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures > 0;
}
