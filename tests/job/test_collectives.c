/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole answers: collectives that not all have come to, or not with the same arguments. */
#include <stdio.h>
#include <stdlib.h>

#include "job_builder.h"
#include "suite.h"

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
    job_expect(&job, "deadlock: none of the 64 ranks can continue\n"
                     "collective_incomplete ranks 0,2-63 missing 1 suspects 1: Rank 1 never entered the "
                     "MPI_Bcast that the other 63 ranks are waiting in\n");
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
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "collective_mismatch ranks 0-3 suspects 2: Collective 2 on MPI_COMM_WORLD: ranks 0-1,3 "
                     "called MPI_Allreduce, rank 2 called MPI_Barrier\n");
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
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "collective_argument_mismatch ranks 0-3 suspects 3: Rank 3 called MPI_Bcast with root "
                     "0, ranks 0-2 with root 3 (collective 1 on MPI_COMM_WORLD)\n");
}

static void test_wrong_op(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 3; rank++) {
        job_collective(&job, rank, WORLD, "MPI_Allreduce", 1, (rank + 1) % 3);
        job_arguments(&job, rank, WORLD, -1, rank == 1 ? "MPI_MAX" : "MPI_SUM", 80);
    }
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "collective_argument_mismatch ranks 0-2 suspects 1: Rank 1 called MPI_Allreduce with op "
                     "MPI_MAX, ranks 0 and 2 with op MPI_SUM (collective 1 on MPI_COMM_WORLD)\n");
}

/* Rank 0 has yet to come to the call whose operations differ: what holds it up is the first cause. */
static void test_wrong_op_held_up(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 1; rank < 3; rank++) {
        job_collective(&job, rank, WORLD, "MPI_Allreduce", 2, 0);
        job_arguments(&job, rank, WORLD, -1, rank == 1 ? "MPI_MAX" : "MPI_SUM", 80);
    }
    job_called(&job, 0, WORLD, "MPI_Barrier", 1);
    job_recv(&job, 0, WORLD, 1, 21);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "receive_unmatched ranks 0 suspects 1: Rank 1 never sent the message with tag 21 that "
                     "rank 0 is waiting for\n"
                     "collective_argument_mismatch ranks 1-2: Rank 2 called MPI_Allreduce with op MPI_SUM, "
                     "rank 1 with op MPI_MAX (collective 2 on MPI_COMM_WORLD)\n");
}

static void test_wrong_bytes(void)
{
    struct job_builder job;
    job_init(&job, 6);
    for (int rank = 0; rank < 6; rank++) {
        job_collective(&job, rank, WORLD, "MPI_Bcast", 1, (rank + 1) % 6);
        job_arguments(&job, rank, WORLD, 0, NULL, rank == 4 ? 800 : 400);
    }
    job_expect(&job, "deadlock: none of the 6 ranks can continue\n"
                     "collective_argument_mismatch ranks 0-5 suspects 4: Rank 4 called MPI_Bcast with 800 "
                     "bytes, ranks 0-3,5 with 400 bytes (collective 1 on MPI_COMM_WORLD)\n");
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
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "wait_cycle ranks 0-2: Ranks 0-2 wait for each other in a circle\n");
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
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "collective_incomplete ranks 0,2 missing 1 suspects 1: Rank 1 never entered the "
                     "MPI_Barrier that the other 2 ranks are waiting in\n");
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
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "collective_incomplete ranks 0 missing 1 suspects 1: Rank 1 never entered the "
                     "MPI_Barrier that rank 0 is waiting in\n");
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
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "wait_cycle ranks 0-1: Two communicators are entered in opposite order, or a call was "
                     "skipped: rank 0 is in "
                     "MPI_Barrier on \"rows\", rank 1 is in MPI_Barrier on \"columns\"\n");
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
    job_expect(&job, "deadlock: 2 of 4 ranks can never continue\n"
                     "collective_incomplete ranks 0 missing 1 suspects 1: Rank 1 never entered the "
                     "MPI_Barrier on \"half\" that rank 0 is waiting in\n");
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
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "receive_unmatched ranks 2 suspects 0: Rank 0 is in MPI_Finalize while rank 2 still "
                     "waits for a message from it\n"
                     "request_leak? ranks 1: rank 1 has called MPI_Finalize with a request never waited for "
                     "or freed: a receive from rank 0 with tag 5\n"
                     "  follows from 1: collective_incomplete ranks 0-1 missing 2 suspects 2: rank 1 waits "
                     "in MPI_Finalize at solver.c:20 for rank 2\n");
}

static void test_nonblocking(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++) {
        job_at(&job, rank, "overlap", "nb.c", 44);
        job_wait_started(&job, rank, "MPI_Ibarrier", 4, -1);
        job_operation(&job, rank, WORLD, MPIQ_OPERATION_RECEIVE, 2, -28, 0);
    }
    job_called(&job, 2, WORLD, "MPI_Bcast", 3);
    job_at(&job, 2, "lost", "nb.c", 60);
    job_recv(&job, 2, WORLD, 0, 4);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "collective_incomplete ranks 0-1 missing 2 suspects 2: Rank 2 never started the "
                     "MPI_Ibarrier that the other 2 ranks are waiting for\n");
}

/* Whom a scan waits for has come to that number, but with another collective. */
static void test_nonblocking_scan_against_blocking(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_at(&job, 0, "sum", "nb.c", 7);
    job_collective(&job, 0, WORLD, "MPI_Allreduce", 1, 1);
    job_at(&job, 1, "sum", "nb.c", 9);
    job_wait_started(&job, 1, "MPI_Iscan", 1, -1);
    job_operation(&job, 1, WORLD, MPIQ_OPERATION_RECEIVE, 0, -28, 4);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "collective_mismatch ranks 0-1: Collective 1 on MPI_COMM_WORLD: rank 0 called "
                     "MPI_Allreduce, rank 1 called MPI_Iscan\n");
}

/* The standard forces nobody to wait for the root's sake, but its large message waits for who never started.
 */
static void test_nonblocking_root(void)
{
    for (int under_way = 0; under_way < 2; under_way++) {
        struct job_builder job;
        job_init(&job, 3);
        int all[] = {0, 1, 2};
        int copy = job_comm(&job, "copy", 3, all, 3);
        job_at(&job, 0, "share", "nb.c", 4);
        job_wait_started(&job, 0, "MPI_Ibcast", 1, 0);
        for (int rank = 1; rank < 3; rank++) {
            job_at(&job, rank, "share", "nb.c", 5);
            job_collective(&job, rank, copy, "MPI_Barrier", 1, 0);
        }
        if (under_way) {
            job_operation(&job, 0, WORLD, MPIQ_OPERATION_SEND, 2, -28, 1 << 22);
            job_operation(&job, 2, WORLD, MPIQ_OPERATION_MESSAGE, 0, -28, 1 << 22);
            job_channel(&job, 0, 2, WORLD, 1, 1);
        }
        job_called(&job, 1, WORLD, "MPI_Ibcast", 1);
        if (under_way)
            job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                             "collective_incomplete ranks 0 missing 2 suspects 2: Rank 2 never started the "
                             "MPI_Ibcast that rank 0 is waiting for\n"
                             "  follows from 1: collective_incomplete ranks 1-2 missing 0: rank 1 "
                             "waits in MPI_Barrier at nb.c:5 for rank 0\n");
        else
            job_expect(&job,
                       "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n"
                       "collective_incomplete? ranks 0 missing 2 suspects 2: rank 2 has not started "
                       "the MPI_Ibcast that rank 0 is waiting for, so far\n"
                       "  follows from 1: collective_incomplete? ranks 1-2 missing 0: rank 1 "
                       "waits in MPI_Barrier at nb.c:5 for rank 0\n");
    }
}

/* Rank 0 waits for a collective and for a receive from rank 2, which computes; rank 1 has not come to the
   collective, and waits for rank 0.  The recorder does not see whether a request is complete: without data
   the collective may be. */
static void test_recorded_without_data(void)
{
    static const int64_t bytes[] = {0, 8};
    static const char *const wanted[] = {
        "running: rank 2 is computing at solver.c:20 (step); 2 ranks have waited up to 1 m 0 s for it\n"
        "rank_elsewhere? ranks 2: rank 2 is computing at solver.c:20 (step); 2 ranks have waited up to 1 m 0 "
        "s for "
        "it\n"
        "  follows from 1: collective_incomplete? ranks 0 missing 1-2: rank 0 waits in MPI_Wait at "
        "solver.c:20 for "
        "ranks 1 and 2\n",
        "deadlock: 2 of 3 ranks can never continue\n"
        "collective_incomplete ranks 0 missing 1-2 suspects 1: Rank 0 waits for MPI_Ialltoall, which the "
        "other 2 "
        "ranks never started\n"};
    for (int i = 0; i < 2; i++) {
        struct job_builder job;
        job_init(&job, 3);
        job_wait_started(&job, 0, "MPI_Ialltoall", 1, -1);
        job_wait_receive(&job, 0, WORLD, 2, 6);
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job.states[look][0];
            for (int rank = 0; rank < 3; rank++)
                job.states[look][rank]->source = MPIQ_SOURCE_RECORDER;
            state->communicators[WORLD].outstanding[0].bytes = bytes[i];
            state->threads[0].waits[0].kind = MPIQ_WAIT_ALL;
        }
        job_recv(&job, 1, WORLD, 0, 5);
        job_expect(&job, wanted[i]);
    }
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
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "collective_incomplete ranks 0-2 missing 3 suspects 3: Rank 3 never entered the "
                     "MPI_Bcast that the other 3 ranks are waiting in\n");
}

/* Rank 1 gives another root than the others, in a library that counts no calls: who has left the call, and
   who never came to it, looks the same. */
static void test_other_root_unpatched(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_unpatched(&job);
    job_collective(&job, 0, WORLD, "MPI_Gather", 4, 1);
    job_collective(&job, 1, WORLD, "MPI_Gather", 4, 2);
    job_collective(&job, 2, WORLD, "MPI_Barrier", 5, 0);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "collective_incomplete ranks 0-1 missing 2: Ranks 0 and 1 wait in MPI_Gather, rank 2 "
                     "in MPI_Barrier: one of the sides took another path, or the roots differ\n");
    job_init(&job, 3);
    job_unpatched(&job);
    job_collective(&job, 0, WORLD, "MPI_Bcast", 4, 1);
    job_collective(&job, 1, WORLD, "MPI_Bcast", 4, 0);
    job_collective(&job, 2, WORLD, "MPI_Barrier", 5, 0);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "collective_incomplete ranks 0-1 missing 2: Ranks 0 and 1 wait in MPI_Bcast, rank 2 "
                     "in MPI_Barrier: one of the sides took another path, or the roots differ\n");
    job_init(&job, 3);
    job_unpatched(&job);
    job_collective(&job, 0, WORLD, "MPI_Reduce", 4, 1);
    job_collective(&job, 1, WORLD, "MPI_Barrier", 5, 0);
    job_collective(&job, 2, WORLD, "MPI_Barrier", 5, 0);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "collective_incomplete ranks 1-2 missing 0: Rank 0 never entered the MPI_Barrier that "
                     "the other 2 ranks are waiting in\n");
}

/* Ranks 0 and 2 have left a loop in which rank 1 goes round once more, or rank 1 took another path. */
static void test_round_behind_unpatched(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_unpatched(&job);
    for (int rank = 0; rank < 3; rank++) {
        job_at(&job, rank, "iterate", "solver.c", rank == 1 ? 20 : 30);
        job_collective(&job, rank, WORLD, rank == 1 ? "MPI_Allreduce" : "MPI_Barrier", 4, rank == 1 ? 0 : 1);
    }
    job_expect(&job,
               "deadlock: none of the 3 ranks can continue\n"
               "collective_incomplete ranks 0,2 missing 1: Ranks 0 and 2 wait in MPI_Barrier, rank 1 in "
               "MPI_Allreduce: one of the sides took another path, or the arguments of MPI_Allreduce "
               "differ\n");
}

/* Rank 0 is blocked, but a collective in its background may still send what rank 1's part of it waits for. */
static void test_background(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_recv(&job, 0, WORLD, 1, 7);
    job_operation(&job, 0, WORLD, MPIQ_OPERATION_RECEIVE, 2, -28, 0);
    job_wait(&job, 1, "MPI_Barrier", MPIQ_WAIT_REQUEST);
    job_wait_internal(&job, 1, WORLD, 0, -28);
    job_expect(
        &job, "running: rank 2 is computing at solver.c:20 (step); 2 ranks have waited up to 1 m 0 s for it\n"
              "rank_elsewhere? ranks 2: rank 2 is computing at solver.c:20 (step); 2 ranks have waited up to "
              "1 m 0 s for it\n"
              "collective_incomplete? ranks 1 missing 0 suspects 0: rank 0 has not entered the MPI_Barrier "
              "that rank 1 is waiting in, so far\n");
}

/* What a library does inside a call, on a communicator of its own, is the call that the user made. */
static void test_hidden_communicator(void)
{
    static const int members[] = {0, 1, 2};
    struct job_builder job;
    job_init(&job, 3);
    job_unpatched(&job);
    int hidden = job_comm(&job, "", 9, members, 3);
    for (int rank = 0; rank < 3; rank++) {
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job.states[look][rank];
            state->communicators[hidden].flags |= MPIQ_COMM_INTERNAL;
            state->communicators[hidden].parent = state->communicators[WORLD].handle;
        }
        if (rank > 0)
            job_collective(&job, rank, hidden, "MPI_Bcast", 1, 0);
    }
    job_at(&job, 0, "lost", "other.c", 5);
    job_recv(&job, 0, WORLD, 1, 9);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "collective_incomplete ranks 1-2 missing 0 suspects 0: Rank 0 never entered the "
                     "MPI_Bcast that the other 2 ranks are waiting in\n");
}

/* With --strict, rank 1's call has not been passed on: nobody can go on, whatever the root needs. */
static void test_refused(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 3; rank++) {
        job_collective(&job, rank, WORLD, "MPI_Bcast", 1, ANY);
        job_arguments(&job, rank, WORLD, rank == 1 ? 2 : 0, NULL, 4);
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job.states[look][rank];
            struct mpiq_thread *thread = &state->threads[state->thread_count - 1];
            state->strict = true;
            if (rank == 1 && thread->wait_count > 0)
                thread->waits[thread->wait_count - 1].kind = MPIQ_WAIT_REFUSED;
        }
    }
    job_expect(
        &job,
        "deadlock: none of the 3 ranks can continue\n"
        "collective_argument_mismatch ranks 0-2 suspects 1: Rank 1 called MPI_Bcast with root 2, ranks 0 "
        "and 2 with root 0 (collective 1 on MPI_COMM_WORLD)\n");
}

/* Rank 0 has yet to come to the refused call: nobody receives what it sends first, a bug of its own. */
static void test_refused_before(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_called(&job, 0, WORLD, "MPI_Barrier", 1);
    job_send(&job, 0, WORLD, 1, 21, 1 << 20);
    job_channel(&job, 0, 1, WORLD, 1, 1);
    job_operation(&job, 1, WORLD, MPIQ_OPERATION_MESSAGE, 0, 21, 1 << 20);
    for (int rank = 0; rank < 3; rank++) {
        if (rank > 0) {
            job_collective(&job, rank, WORLD, "MPI_Reduce", 2, ANY);
            job_arguments(&job, rank, WORLD, 0, rank == 1 ? "MPI_MAX" : "MPI_SUM", 8);
        }
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job.states[look][rank];
            struct mpiq_thread *thread = &state->threads[state->thread_count - 1];
            state->strict = true;
            if (rank == 1)
                thread->waits[thread->wait_count - 1].kind = MPIQ_WAIT_REFUSED;
        }
    }
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "send_unmatched ranks 0 suspects 1: Rank 1 never received the message with tag 21 that "
                     "rank 0 is sending\n"
                     "collective_argument_mismatch ranks 1-2: Rank 2 called MPI_Reduce with op MPI_SUM, rank "
                     "1 with op MPI_MAX (collective 2 on MPI_COMM_WORLD)\n");
}

/* The same of a non-blocking call, which its thread never leaves. */
static void test_refused_start(void)
{
    struct job_builder job;
    job_init(&job, 2);
    for (int rank = 0; rank < 2; rank++) {
        job_collective(&job, rank, WORLD, rank == 1 ? "MPI_Ireduce" : "MPI_Barrier", 1, ANY);
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job.states[look][rank];
            struct mpiq_thread *thread = &state->threads[state->thread_count - 1];
            if (rank == 1 && thread->wait_count > 0)
                thread->waits[thread->wait_count - 1].kind = MPIQ_WAIT_REFUSED;
        }
    }
    job_expect(
        &job,
        "deadlock: none of the 2 ranks can continue\n"
        "collective_mismatch ranks 0-1: Collective 1 on MPI_COMM_WORLD: rank 0 called MPI_Barrier, rank 1 "
        "called MPI_Ireduce\n");
}

/* All have entered the MPI_Allgather; rank 0 waits there for a message that rank 1, which has gone on, never
   sends. */
static void all_but_one_left(struct job_builder *job, int last)
{
    job_init(job, 4);
    job_at(job, 0, "gather", "left.c", 5);
    job_collective(job, 0, WORLD, "MPI_Allgather", 1, 1);
    for (int rank = 1; rank <= last; rank++) {
        job_called(job, rank, WORLD, "MPI_Allgather", 1);
        job_at(job, rank, "gather", "left.c", 6);
    }
}

static void test_left(void)
{
    struct job_builder job;
    all_but_one_left(&job, 3);
    for (int rank = 1; rank < 4; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 2, rank - 1);
    job_expect(&job,
               "deadlock: none of the 4 ranks can continue\n"
               "collective_left ranks 0: Rank 0 is stuck in the MPI_Allgather that the other 3 ranks have "
               "left: their arguments do not match\n");
}

/* Rank 3 is stopped in the call: it has not left it. */
static void test_left_but_for_one(void)
{
    struct job_builder job;
    all_but_one_left(&job, 2);
    job_recv(&job, 1, WORLD, 0, 7);
    job_recv(&job, 2, WORLD, 1, 7);
    job_at(&job, 3, "gather", "left.c", 5);
    job_collective(&job, 3, WORLD, "MPI_Allgather", 1, ANY);
    job_state(&job, 3, 'T');
    job_expect(
        &job,
        "deadlock: 3 of 4 ranks can never continue\n"
        "receive_unmatched ranks 1 suspects 0: Rank 0 never sent the message with tag 7 that rank 1 "
        "is waiting for\n"
        "rank_stopped? ranks 3: rank 3 is stopped at left.c:5 (gather), and kill -CONT 1003 continues it\n");
}

/* Where nothing is proven, those who have left have to wait, too, and a rank that is stopped in the call has
   not left it. */
static void test_left_unproven(void)
{
    static const char *const wanted[] = {
        "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n"
        "collective_left? ranks 0: rank 0 has not left the MPI_Allgather that the other 3 ranks have left, "
        "so far: their arguments may not match\n",
        "running: rank 3 is computing at left.c:6 (gather); 2 ranks have waited up to 1 m 0 s for it\n"
        "rank_elsewhere? ranks 3: rank 3 is computing at left.c:6 (gather); 2 ranks have waited up to 1 m 0 "
        "s "
        "for it\n"
        "  follows from 1: collective_incomplete? ranks 1-2 missing 0,3: ranks 1 and 2 wait in MPI_Barrier "
        "at "
        "left.c:6 for ranks 0 and 3\n",
        "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n"
        "rank_stopped? ranks 3: rank 3 is stopped at left.c:5 (gather), and kill -CONT 1003 continues it; 2 "
        "ranks have waited up to 1 m 0 s "
        "for "
        "it\n"
        "  follows from 1: collective_incomplete? ranks 1-2 missing 0,3: ranks 1 and 2 wait in MPI_Barrier "
        "at "
        "left.c:6 for ranks 0 and 3\n"};
    for (int what = 0; what < 3; what++) {
        struct job_builder job;
        job_init(&job, 4);
        for (int rank = 0; rank < 4; rank++) {
            bool in = rank == 0 || (rank == 3 && what == 2);
            job_at(&job, rank, "gather", "left.c", in ? 5 : 6);
            if (!in)
                job_called(&job, rank, WORLD, "MPI_Allgather", 1);
            if (rank == 3 && what == 1)
                job_state(&job, rank, 'R');
            else
                job_collective(&job, rank, WORLD, in ? "MPI_Allgather" : "MPI_Barrier", in ? 1 : 2, ANY);
            if (rank == 3 && what == 2)
                job_state(&job, rank, 'T');
        }
        job_expect(&job, wanted[what]);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"bcast and receive", test_bcast_and_receive},
        {"mismatch", test_mismatch},
        {"wrong root", test_wrong_root},
        {"wrong op", test_wrong_op},
        {"wrong op held up", test_wrong_op_held_up},
        {"wrong bytes", test_wrong_bytes},
        {"legal bytes", test_legal_bytes},
        {"finalizes early", test_finalizes_early},
        {"two threads", test_two_threads},
        {"opposite order", test_opposite_order},
        {"split halves", test_split_halves},
        {"finalize", test_finalize},
        {"nonblocking", test_nonblocking},
        {"nonblocking scan against blocking", test_nonblocking_scan_against_blocking},
        {"nonblocking root", test_nonblocking_root},
        {"recorded, without data", test_recorded_without_data},
        {"unpatched", test_unpatched},
        {"other root, unpatched", test_other_root_unpatched},
        {"a round behind the others, uncounted", test_round_behind_unpatched},
        {"left by the others", test_left},
        {"left by all the others but one", test_left_but_for_one},
        {"left by the others, not proven", test_left_unproven},
        {"background", test_background},
        {"hidden communicator", test_hidden_communicator},
        {"a call that --strict has refused never ends", test_refused},
        {"what keeps members from a refused call is a bug of its own", test_refused_before},
        {"a start that --strict has refused never ends", test_refused_start},
        CU_TEST_INFO_NULL,
    };
    return suite_run("collectives", tests);
}
