/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole answers: one bug is one cause, however many ranks have it. */
#include <stdio.h>

#include "job_builder.h"
#include "suite.h"

/* Each rank receives tag 100 from the one before it, which sent tag 200. */
static void make_swapped_ring(struct job_builder *job, int ranks)
{
    job_init_sized(job, ranks);
    for (int rank = 0; rank < ranks; rank++) {
        int before = (rank + ranks - 1) % ranks;
        job_recv(job, rank, WORLD, before, 100);
        job_unexpected(job, rank, WORLD, before, 200, 8);
        job_channel(job, before, rank, WORLD, 1, 1);
    }
}

static void test_swapped_ring(void)
{
    struct job_builder job;
    make_swapped_ring(&job, 4);
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "receive_unmatched ranks 0-3: Each of ranks 0-3 receives tag 100 from rank r-1, which "
                     "sent tag 200\n");
    make_swapped_ring(&job, 24);
    job_expect(&job, "deadlock: none of the 24 ranks can continue\n"
                     "receive_unmatched ranks 0-23: Each of ranks 0-23 receives tag 100 from rank r-1, which "
                     "sent tag 200\n");
    make_swapped_ring(&job, MANY);
    job_check_size(&job, 1, 1);
}

/* In each row of four, one pair of two works on the wrong communicator. */
static void make_wrong_rows(struct job_builder *job, int ranks)
{
    job_init(job, ranks);
    for (int first = 0; first < ranks; first += 2) {
        int pair[] = {first, first + 1};
        int row = job_comm(job, "row", 10 + first, pair, 2);
        job_recv(job, first + 1, WORLD, first, 5);
        job_unexpected(job, first + 1, row, 0, 5, 4);
        job_channel(job, first, first + 1, row, 1, 1);
        job_recv(job, first, WORLD, first + 1, 6);
    }
}

static void test_wrong_rows(void)
{
    struct job_builder job;
    make_wrong_rows(&job, 4);
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "receive_unmatched ranks 1,3: Each of ranks 1 and 3 receives tag 5 on MPI_COMM_WORLD "
                     "from rank r-1, which sent it on \"row\"\n");
    make_wrong_rows(&job, 12);
    job_expect(&job, "deadlock: none of the 12 ranks can continue\n"
                     "receive_unmatched ranks 1-11:2: Each of ranks 1-11:2 receives tag 5 on MPI_COMM_WORLD "
                     "from rank r-1, which sent it on \"row\"\n");
}

/* Three that each wait for themselves. */
static void test_selves(void)
{
    struct job_builder job;
    job_init(&job, 4);
    for (int rank = 0; rank < 3; rank++)
        job_recv(&job, rank, WORLD, rank, 3);
    job_expect(&job, "deadlock: 3 of 4 ranks can never continue\n"
                     "wait_cycle ranks 0-2: Each of ranks 0-2 waits for itself in MPI_Recv\n");
    job_init_many(&job, MANY);
    for (int rank = 0; rank < MANY; rank++)
        job_recv(&job, rank, WORLD, rank, 3);
    job_check_size(&job, 1, 1);
}

/* One rank of very many went into a receive; and every other one into another collective. */
static void test_missing_of_many(void)
{
    struct job_builder job;
    job_init_many(&job, MANY);
    for (int rank = 0; rank < MANY; rank++) {
        if (rank == 1)
            job_recv(&job, rank, WORLD, MANY - 1, 99);
        else
            job_collective(&job, rank, WORLD, "MPI_Allreduce", 6, ANY);
    }
    job_check_size(&job, 1, 3);
    job_init_many(&job, MANY);
    for (int rank = 0; rank < MANY; rank++)
        job_collective(&job, rank, WORLD, rank % 2 ? "MPI_Allreduce" : "MPI_Barrier", 6, ANY);
    job_check_size(&job, 1, 2);
}

/* Many pairs of which each receives from the other. */
static void test_pairs(void)
{
    struct job_builder job;
    job_init(&job, 8);
    for (int rank = 0; rank < 8; rank++)
        job_recv(&job, rank, WORLD, rank ^ 1, 3);
    job_expect(&job,
               "deadlock: none of the 8 ranks can continue\n"
               "wait_cycle ranks 0-7: Ranks 0-7 receive from each other in 4 circles, and none has sent\n");
    job_init_many(&job, MANY);
    for (int rank = 0; rank < MANY; rank++)
        job_recv(&job, rank, WORLD, rank ^ 1, 3);
    job_check_size(&job, 1, 1);
}

/* Two barriers in opposite order: the same circle for each pair of ranks. */
static void make_opposite(struct job_builder *job, int ranks)
{
    static int all[4096];
    job_init(job, ranks);
    for (int rank = 0; rank < ranks; rank++)
        all[rank] = rank;
    int alpha = job_comm(job, "alpha", 3, all, ranks);
    int beta = job_comm(job, "beta", 4, all, ranks);
    for (int rank = 0; rank < ranks; rank++) {
        job_at(job, rank, "main", "order.c", rank % 2 ? 10 : 20);
        job_collective(job, rank, rank % 2 ? alpha : beta, "MPI_Barrier", 1, ANY);
    }
}

static void test_opposite(void)
{
    struct job_builder job;
    make_opposite(&job, 4);
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "wait_cycle ranks 0-3: Two communicators are entered in opposite order, or a call was "
                     "skipped: ranks 0 and 2 are "
                     "in MPI_Barrier on \"beta\", ranks 1 and 3 are in MPI_Barrier on \"alpha\"\n");
    make_opposite(&job, 48);
    job_expect(&job, "deadlock: none of the 48 ranks can continue\n"
                     "wait_cycle ranks 0-47: Two communicators are entered in opposite order, or a call was "
                     "skipped: ranks 0-46:2 are "
                     "in MPI_Barrier on \"beta\", ranks 1-47:2 are in MPI_Barrier on \"alpha\"\n");
    make_opposite(&job, 4096);
    job_check_size(&job, 1, 1);
}

/* The sender went on into a barrier of the same function: it is the suspect, not the ranks behind. */
static void test_moved_on(void)
{
    struct job_builder job;
    job_init(&job, 4);
    job_at(&job, 0, "main", "exchange.c", 11);
    job_recv(&job, 0, WORLD, 3, 42);
    for (int rank = 1; rank < 4; rank++) {
        job_at(&job, rank, "main", "exchange.c", 12);
        job_collective(&job, rank, WORLD, "MPI_Barrier", 1, ANY);
    }
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "receive_unmatched ranks 0 suspects 0,3: Rank 3 never sent the message with tag 42 that "
                     "rank 0 is waiting for\n"
                     "  follows from 1: collective_incomplete ranks 1-3 missing 0 suspects 0: ranks 1 and 2 "
                     "wait in MPI_Barrier at exchange.c:12 for rank 0\n");
}

/* A message with another tag is no near miss where another receive takes it. */
static void test_taken(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_operation(&job, 1, WORLD, MPIQ_OPERATION_RECEIVE, 0, 41, 4);
    job_unexpected(&job, 1, WORLD, 0, 41, 4);
    job_channel(&job, 0, 1, WORLD, 1, 1);
    job_recv(&job, 1, WORLD, 0, 14);
    job_recv(&job, 0, WORLD, 1, 7);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

/* A persistent send that was made and never started. */
static void test_never_started(void)
{
    struct job_builder job;
    job_init(&job, 2);
    struct mpiq_operation *send = job_operation(&job, 0, WORLD, MPIQ_OPERATION_SEND, 1, 5, 4);
    (void)send;
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job.states[look][0];
        state->operations[state->operation_count - 1].persistent = true;
        state->operations[state->operation_count - 1].inactive = true;
    }
    job_recv(&job, 1, WORLD, 0, 5);
    job_recv(&job, 0, WORLD, 1, 6);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "receive_unmatched ranks 1 suspects 0: Rank 0 never started its persistent send with "
                     "tag 5, which rank 1 waits for\n");
}

/* Rank 1 has left; what rank 2 has sent is for rank 0's next receive. */
static void test_left_without_an_answer(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_recv(&job, 0, WORLD, 1, 12);
    job_unexpected(&job, 0, WORLD, 2, 12, 17);
    job_channel(&job, 2, 0, WORLD, 1, 1);
    job_finalize(&job, 1);
    job_finalize(&job, 2);
    job_expect(&job,
               "deadlock: none of the 3 ranks can continue\n"
               "receive_unmatched ranks 0 suspects 1: Rank 1 is in MPI_Finalize while rank 0 still waits for "
               "a message from it\n"
               "  follows from 1: collective_incomplete ranks 1-2 missing 0 suspects 0: rank 2 waits in "
               "MPI_Finalize at solver.c:20 for rank 0\n");
}

/* Two parts of a split wait at one place, each for a rank of the circle: one bug, and one line for both. */
static void test_alike_consequences(void)
{
    static const int left[] = {0, 2, 4}, right[] = {1, 3, 5};
    struct job_builder job;
    job_init(&job, 6);
    int parts[] = {job_comm(&job, "part", 5, left, 3), job_comm(&job, "part", 6, right, 3)};
    for (int rank = 2; rank < 6; rank++) {
        job_at(&job, rank, "sum", "split.c", 30);
        job_collective(&job, rank, parts[rank % 2], "MPI_Allreduce", 2, 0);
    }
    for (int rank = 0; rank < 2; rank++) {
        job_at(&job, rank, "swap", "split.c", 20);
        job_recv(&job, rank, WORLD, 1 - rank, 7);
    }
    job_expect(&job, "deadlock: none of the 6 ranks can continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n"
                     "  follows from 1: collective_incomplete ranks 2-5 missing 0-1 suspects 0-1: ranks 2-5 "
                     "wait in MPI_Allreduce at split.c:30 for ranks 0 and 1\n");
}

/* Rank 3 waits for rank 2, rank 2 for rank 1, which computes: that is where both waits come from. */
static void test_chain_of_consequences(void)
{
    static const int first[] = {1, 2}, second[] = {2, 3};
    struct job_builder job;
    job_init(&job, 4);
    int near = job_comm(&job, "near", 5, first, 2), far = job_comm(&job, "far", 6, second, 2);
    job_state(&job, 0, 'R');
    job_state(&job, 1, 'R');
    job_at(&job, 1, "compute", "chain.c", 10);
    job_at(&job, 2, "meet", "chain.c", 20);
    job_collective(&job, 2, near, "MPI_Barrier", 1, 0);
    job_at(&job, 3, "meet", "chain.c", 30);
    job_collective(&job, 3, far, "MPI_Barrier", 1, 0);
    job_expect(&job,
               "running: rank 1 is computing at chain.c:10 (compute); 2 ranks have waited up to 1 m 0 s for "
               "it\n"
               "rank_elsewhere? ranks 1: rank 1 is computing at chain.c:10 (compute); 2 ranks have "
               "waited up to 1 m 0 s for it\n"
               "  follows from 1: collective_incomplete? ranks 2 missing 1 suspects 1: rank 2 waits in "
               "MPI_Barrier at chain.c:20 for rank 1\n"
               "  follows from 1: collective_incomplete? ranks 3 missing 2: rank 3 waits in "
               "MPI_Barrier at chain.c:30 for rank 2\n");
}

/* Both poll for what the other one sends after it. */
static void test_polling(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++) {
        job_polls(&job, rank);
        job_operation(&job, rank, WORLD, MPIQ_OPERATION_RECEIVE, 1 - rank, 9, 4);
    }
    job_collective(&job, 2, WORLD, "MPI_Barrier", 1, ANY);
    job.options.still = 61;
    job_expect(&job, "stalled: nothing has moved for 1 m 1 s, but no rank is proven to be stuck for good\n"
                     "polling_unmatched? ranks 0-1: ranks 0 and 1 poll with MPI_Test for tag 9 from each "
                     "other, and nobody will send it\n"
                     "  follows from 1: collective_incomplete? ranks 2 missing 0-1: rank 2 waits in "
                     "MPI_Barrier at solver.c:20 for ranks 0 and 1\n");
}

/* Nobody acts: that is not "running", as long as it is not known that anybody gives up. */
static void test_polling_in_vain(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_polls(&job, 0);
    job_operation(&job, 0, WORLD, MPIQ_OPERATION_RECEIVE, 1, 9, 4);
    job_recv(&job, 1, WORLD, 0, 4);
    job_expect(&job,
               "unknown: cannot tell whether the job hangs: it goes on only if rank 0 gives up polling\n"
               "polling_unmatched? ranks 0: rank 0 polls with MPI_Test for tag 9 from rank 1, which "
               "will not send it: it has waited 1 m 0 s at solver.c:20 for tag 4 from rank 0\n");
}

/* What the code around a call of MPI_Iprobe says of it, to a rank without a record of its calls. */
static void give(struct job_builder *job, int rank, enum mpiq_given_kind kind, int64_t value)
{
    for (int look = 0; look < 2; look++) {
        struct mpiq_given *given = mpiq_thread_add_given(&job->states[look][rank]->threads[0]);
        given->kind = (uint8_t)kind;
        given->value = value;
    }
}

static void test_probing_unrecorded(void)
{
    for (int knows_tag = 1; knows_tag >= 0; knows_tag--) {
        struct job_builder job;
        job_init(&job, 2);
        job_unpatched(&job);
        job_call(&job, 0, "MPI_Iprobe");
        give(&job, 0, MPIQ_GIVEN_SOURCE, 1);
        give(&job, 0, MPIQ_GIVEN_COMM, (int64_t)job.states[0][0]->communicators[WORLD].handle);
        if (knows_tag)
            give(&job, 0, MPIQ_GIVEN_TAG, 9);
        job_recv(&job, 1, WORLD, 0, 4);
        job_expect(&job,
                   knows_tag
                       ? "unknown: cannot tell whether the job hangs: it goes on only if rank 0 gives up "
                         "polling\n"
                         "polling_unmatched? ranks 0: rank 0 polls with MPI_Iprobe for tag 9 from rank 1, "
                         "which will not send it: it is waiting at solver.c:20 for tag 4 from rank 0\n"
                       : "unknown: no rank moved between the looks: rank 0 polls, and the others wait\n");
    }
}

/* A call that the rank's main thread made and that has returned, `ago` milliseconds before each look. */
static void called_last(struct job_builder *job, int rank, const char *call, int peer, int tag, int ago)
{
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job->states[look][rank];
        struct mpiq_past_call *past = mpiq_rank_state_add_past_call(state);
        past->call = mpiq_rank_state_intern(state, call);
        past->end_ns = state->taken_ns - (int64_t)ago * 1000000;
        past->comm = WORLD;
        past->peer_local = peer;
        past->tag = tag;
        past->tid = state->pid;
        snprintf(state->last_mpi_call, sizeof state->last_mpi_call, "%s", call);
        state->last_mpi_end_ns = past->end_ns;
    }
}

/* Rank 0 probes for tags 8 and 9 of rank 1 in turn, and naps between; rank 1 waits for another rank's sake.
   What the calls before the probes were for does not count. */
static void test_probing(void)
{
    struct job_builder job;
    job_init(&job, 2);
    called_last(&job, 0, "MPI_Iprobe", 1, 7, 900);
    called_last(&job, 0, "MPI_Recv", 1, 7, 800);
    called_last(&job, 0, "MPI_Iprobe", 1, 8, 3);
    called_last(&job, 0, "MPI_Iprobe", 1, 9, 2);
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job.states[look][0];
        state->taken_ns += look * INT64_C(250000000);
        state->threads[0].state = 'S';
        state->threads[0].cpu_ns = (uint64_t)look * 8000000;
        state->threads[0].frames[0].pc += (uint64_t)look;
    }
    job_unexpected(&job, 0, WORLD, 1, 7, 4);
    job_channel(&job, 1, 0, WORLD, 1, 1);
    job_recv(&job, 1, WORLD, 0, 4);
    job.options.still = 61;
    job_expect(&job, "stalled: nothing has moved for 1 m 1 s, but no rank is proven to be stuck for good\n"
                     "polling_unmatched? ranks 0: rank 0 polls with MPI_Iprobe for tag 9 from rank 1, which "
                     "will not send it: it has waited 1 m 0 s at solver.c:20 for tag 4 from rank 0\n");
}

/* Rank 1 has sent one of the two. */
static void test_probing_in_vain_for_one(void)
{
    struct job_builder job;
    job_init(&job, 2);
    called_last(&job, 0, "MPI_Iprobe", 1, 8, 3);
    called_last(&job, 0, "MPI_Iprobe", 1, 9, 2);
    job_state(&job, 0, 'S');
    job_unexpected(&job, 0, WORLD, 1, 8, 4);
    job_channel(&job, 1, 0, WORLD, 1, 1);
    job_recv(&job, 1, WORLD, 0, 4);
    job_expect(&job, "unknown: no rank moved between the looks: rank 0 polls, and the others wait\n");
}

/* A rank that uses half a processor between its probes computes. */
static void test_probing_and_computing(void)
{
    struct job_builder job;
    job_init(&job, 2);
    called_last(&job, 0, "MPI_Iprobe", 1, 9, 2);
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job.states[look][0];
        state->taken_ns += look * INT64_C(250000000);
        state->threads[0].state = 'S';
        state->threads[0].cpu_ns = (uint64_t)look * 125000000;
        state->threads[0].frames[0].pc += (uint64_t)look;
    }
    job_recv(&job, 1, WORLD, 0, 4);
    job.options.still = 61;
    job_expect(&job,
               "running: rank 0 is computing at solver.c:20 (step); 1 rank has waited 1 m 0 s for it\n"
               "rank_elsewhere? ranks 0: rank 0 is computing at solver.c:20 (step); 1 rank has waited 1 m "
               "0 s for it\n");
}

/* Two threads in collectives of one communicator. */
static void test_overlap(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_collective(&job, 0, WORLD, "MPI_Barrier", 1, ANY);
    job_thread(&job, 0, 3);
    job_collective(&job, 0, WORLD, "MPI_Bcast", 2, ANY);
    job_recv(&job, 1, WORLD, 0, 5);
    job_expect(&job, "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n"
                     "collective_overlap? ranks 0: two threads of rank 0 are in collectives on "
                     "MPI_COMM_WORLD at once, which MPI forbids: MPI_Barrier and MPI_Bcast\n");
}

/* Who has left for MPI_Finalize has entered no communicator in another order. */
static void test_left_unpatched(void)
{
    struct job_builder job;
    job_init(&job, 4);
    job_unpatched(&job);
    for (int rank = 0; rank < 4; rank++) {
        if (rank == 2)
            job_finalize(&job, rank);
        else
            job_collective(&job, rank, WORLD, "MPI_Allreduce", 1, 2);
    }
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "wait_cycle ranks 0-3 suspects 2: Rank 2 is in MPI_Finalize, but ranks 0-1,3 wait in "
                     "MPI_Allreduce\n");
}

/* One that collects in turn, where one of the others did not send: that one is the suspect. */
static void test_collecting_in_turn(void)
{
    struct job_builder job;
    job_init(&job, 5);
    job_at(&job, 0, "collect", "gather.c", 9);
    job_recv(&job, 0, WORLD, 2, 7);
    for (int rank = 1; rank < 5; rank++) {
        job_at(&job, rank, "main", "gather.c", 17);
        job_collective(&job, rank, WORLD, "MPI_Barrier", 1, ANY);
        if (rank > 2) {
            job_unexpected(&job, 0, WORLD, rank, 7, 8);
            job_channel(&job, rank, 0, WORLD, 1, 1);
        }
    }
    job_expect(&job,
               "deadlock: none of the 5 ranks can continue\n"
               "receive_unmatched ranks 0 suspects 2: Rank 2 never sent the message with tag 7 that "
               "rank 0 is waiting for; ranks 3 and 4 have sent theirs\n"
               "  follows from 1: collective_incomplete ranks 1-4 missing 0 suspects 0: rank 1 waits in "
               "MPI_Barrier at gather.c:17 for rank 0\n");
}

/* One bug is one finding where nothing is proven, too: what rank 0 waits for may be on its way. */
static void test_unproven_mismatch(void)
{
    struct job_builder job;
    job_init(&job, 4);
    for (int rank = 0; rank < 4; rank++) {
        if (rank < 2)
            job_collective(&job, rank, WORLD, "MPI_Reduce", 1, 1 - rank);
        else
            job_called(&job, rank, WORLD, "MPI_Reduce", 1);
        job_arguments(&job, rank, WORLD, rank == 1 ? 3 : 0, "MPI_SUM", 8);
        if (rank >= 2)
            job_collective(&job, rank, WORLD, "MPI_Barrier", 2, ANY);
    }
    job_channel(&job, 1, 0, WORLD, 1, 0);
    job_expect(&job,
               "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n"
               "collective_argument_mismatch? ranks 0-3 suspects 1: rank 1 called MPI_Reduce with root 3, "
               "ranks 0,2-3 with root 0 (collective 1 on MPI_COMM_WORLD)\n");
}

int main(void)
{
    CU_TestInfo tests[] = {{"a ring of wrong tags is one cause", test_swapped_ring},
                           {"wrong communicators in each row are one cause", test_wrong_rows},
                           {"ranks that wait for themselves are one cause", test_selves},
                           {"missing of many", test_missing_of_many},
                           {"pairs that wait for each other are one cause", test_pairs},
                           {"two barriers in opposite order are one cause", test_opposite},
                           {"moved on", test_moved_on},
                           {"taken by another receive", test_taken},
                           {"never started", test_never_started},
                           {"left without an answer", test_left_without_an_answer},
                           {"alike consequences", test_alike_consequences},
                           {"chain of consequences", test_chain_of_consequences},
                           {"an unmatched poll is found", test_polling},
                           {"a job that only polls is not running", test_polling_in_vain},
                           {"a probe without a record", test_probing_unrecorded},
                           {"probing", test_probing},
                           {"probing in vain for one", test_probing_in_vain_for_one},
                           {"probing and computing", test_probing_and_computing},
                           {"two threads in one communicator are found", test_overlap},
                           {"left, unpatched", test_left_unpatched},
                           {"collecting in turn", test_collecting_in_turn},
                           {"unproven mismatch", test_unproven_mismatch},
                           CU_TEST_INFO_NULL};
    return suite_run("causes", tests);
}
