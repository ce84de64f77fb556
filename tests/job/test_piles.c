/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank waits for a message from one that is in a collective: whether that one forgot the message, or the
   other one left out the collective. */
#include <stdio.h>

#include "job_builder.h"
#include "suite.h"

/* Four ranks in a loop of exchange(), at halo.c:13, and norm(), at halo.c:40, both called by main: rank 1 is
   in the exchange and waits for rank 2, the others are in the norm, their `number`th. */
static void begin(struct job_builder *job, int number)
{
    job_init(job, 4);
    for (int rank = 0; rank < 4; rank++) {
        job_at(job, rank, rank == 1 ? "exchange" : "norm", "halo.c", rank == 1 ? 13 : 40);
        job_called_by(job, rank, "main", "halo.c", rank == 1 ? 71 : 72);
        for (int i = 1; i < number; i++)
            job_called(job, rank, WORLD, "MPI_Allreduce", i);
    }
}

static void end(struct job_builder *job, int number)
{
    for (int rank = 0; rank < 4; rank++) {
        if (rank != 1)
            job_collective(job, rank, WORLD, "MPI_Allreduce", number, 1);
    }
    job_recv(job, 1, WORLD, 2, 7);
}

/* One more of a rank's last calls. */
static void past(struct job_builder *job, int rank, const char *call, const char *function, int line)
{
    struct mpiq_past_call arguments = {
        .begin_ns = 1000, .end_ns = 2000, .peer_local = -1, .tag = -1, .root = -1, .bytes = -1};
    job_past(job, rank, call, &arguments);
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job->states[look][rank];
        state->history[state->history_count - 1].place =
            (struct mpiq_place){.function = mpiq_rank_state_intern(state, function),
                                .file = mpiq_rank_state_intern(state, "halo.c"),
                                .line = line};
    }
}

#define FORGOTTEN                                                                                            \
    "deadlock: none of the 4 ranks can continue\n"                                                           \
    "receive_unmatched ranks 1 suspects 2: Rank 2 never sent the message with tag 7 that rank 1 is waiting " \
    "for\n"                                                                                                  \
    "  follows from 1: collective_incomplete ranks 0,2-3 missing 1 suspects 1: ranks 0 and 3 wait in "       \
    "MPI_Allreduce at halo.c:40 for rank 1\n"
#define LEFT_OUT(suspects)                                                                         \
    "deadlock: none of the 4 ranks can continue\n"                                                 \
    "collective_incomplete ranks 0,2-3 missing 1 suspects " suspects ": Rank 1 never entered the " \
    "MPI_Allreduce that the other 3 ranks are waiting in\n"

/* Seen standing still, both look the same: both are named. */
static void test_nothing_but_stacks(void)
{
    struct job_builder job;
    begin(&job, 1);
    end(&job, 1);
    job_expect(&job, LEFT_OUT("1-2"));
}

/* Rank 1 has sent what rank 3 has yet to ask for: it is a round ahead.  What lies at rank 2 says nothing:
   that one may have left out the exchange. */
static void test_sent_ahead(void)
{
    for (int to = 2; to <= 3; to++) {
        struct job_builder job;
        begin(&job, 1);
        end(&job, 1);
        job_unexpected(&job, to, WORLD, 1, 7, 4);
        job_channel(&job, 1, to, WORLD, 1, 1);
        job_expect(&job, to == 2 ? LEFT_OUT("1-2") : LEFT_OUT("1"));
    }
}

/* Who was in the exchange more often since the norm that both made last is ahead; as often, it is rank 1 that
   left out the norm in between. */
static void test_last_calls(void)
{
    for (int passes = 0; passes < 2; passes++) {
        struct job_builder job;
        begin(&job, 2);
        for (int rank = 0; rank < 4; rank++) {
            for (int i = 0; i < 3 - rank; i++) /* what was before does not count */
                past(&job, rank, "MPI_Waitall", "exchange", 13);
            past(&job, rank, "MPI_Allreduce", "norm", 40);
            for (int i = 0; i < (rank == 1 ? passes : 1); i++)
                past(&job, rank, "MPI_Waitall", "exchange", 13);
        }
        end(&job, 2);
        job_expect(&job, passes == 0 ? FORGOTTEN : LEFT_OUT("1"));
    }
}

/* Of several threads nobody knows which calls came after which. */
static void test_threads(void)
{
    struct job_builder job;
    begin(&job, 2);
    for (int rank = 0; rank < 4; rank++) {
        past(&job, rank, "MPI_Allreduce", "norm", 40);
        past(&job, rank, "MPI_Waitall", "exchange", 13);
    }
    for (int look = 0; look < 2; look++)
        job.states[look][2]->history[1].tid++;
    end(&job, 2);
    job_expect(&job, LEFT_OUT("1-2"));
}

/* Rank 2 never comes to where rank 1 waits: that is other code, and says nothing. */
static void test_other_code(void)
{
    struct job_builder job;
    begin(&job, 2);
    for (int rank = 0; rank < 4; rank++)
        past(&job, rank, "MPI_Allreduce", "norm", 40);
    past(&job, 1, "MPI_Waitall", "exchange", 13);
    end(&job, 2);
    job_expect(&job, LEFT_OUT("1-2"));
}

/* Of one whose call failed since then it is known that it went wrong. */
static void test_failed(void)
{
    for (int failed = 1; failed <= 2; failed++) {
        for (int before = 0; before < 2; before++) {
            struct job_builder job;
            begin(&job, 2);
            if (!before)
                past(&job, failed, "MPI_Allreduce", "norm", 40);
            past(&job, failed, "MPI_Isend", "send_all", 5);
            for (int look = 0; look < 2; look++) {
                struct mpiq_rank_state *state = job.states[look][failed];
                state->history[state->history_count - 1].error = 4;
            }
            for (int rank = 0; rank < 4; rank++) {
                if (before || rank != failed)
                    past(&job, rank, "MPI_Allreduce", "norm", 40);
            }
            end(&job, 2);
            job_expect(&job, before ? LEFT_OUT("1-2") : failed == 2 ? FORGOTTEN : LEFT_OUT("1"));
        }
    }
}

/* A turn that is not passed on: all but the first in the line wait for what that one gets. */
static void test_turn(void)
{
    for (int unpatched = 0; unpatched < 2; unpatched++) {
        struct job_builder job;
        job_init(&job, 6);
        if (unpatched)
            job_unpatched(&job);
        for (int rank = 0; rank < 6; rank++) {
            job_at(&job, rank, rank < 3 ? "main" : "take_turn", "turn.c", rank < 3 ? 31 : 8);
            if (rank < 3) {
                job_collective(&job, rank, WORLD, "MPI_Barrier", 1, rank + 3);
            } else {
                job_called_by(&job, rank, "main", "turn.c", 30);
                job_recv(&job, rank, WORLD, rank - 1, 11);
            }
        }
        job_expect(&job,
                   "deadlock: none of the 6 ranks can continue\n"
                   "receive_unmatched ranks 3 suspects 2: Rank 2 never sent the message with tag 11 that "
                   "rank 3 is waiting for\n"
                   "  follows from 1: collective_incomplete ranks 0-2 missing 3-5 suspects 3-5: ranks 0 "
                   "and 1 wait in MPI_Barrier at turn.c:31 for ranks 3-5\n");
    }
}

/* Each of one half waits for its partner of the other half, which is in the barrier: all of them are named,
   and nobody to look at first. */
static void test_halves(void)
{
    struct job_builder job;
    job_init(&job, 8);
    for (int rank = 0; rank < 8; rank++) {
        job_at(&job, rank, "main", "models.c", rank < 4 ? 31 : 20);
        if (rank < 4)
            job_collective(&job, rank, WORLD, "MPI_Barrier", 1, ANY);
        else
            job_recv(&job, rank, WORLD, rank - 4, 5);
    }
    job_expect(&job,
               "deadlock: none of the 8 ranks can continue\n"
               "receive_unmatched ranks 4-7: Each of ranks 4-7 waits for a message with tag 5 from rank "
               "r-4, which never sent it\n");
}

/* More wait than are in the collective: of those it is not said that they are to look at, nor of the one that
   they wait for. */
static void test_many(void)
{
    struct job_builder job;
    job_init(&job, 5);
    for (int rank = 0; rank < 5; rank++) {
        job_at(&job, rank, rank < 2 ? "norm" : "exchange", "halo.c", rank < 2 ? 40 : 13);
        job_called_by(&job, rank, "main", "halo.c", rank < 2 ? 72 : 71);
        if (rank < 2)
            job_collective(&job, rank, WORLD, "MPI_Allreduce", 1, 2);
        else
            job_recv(&job, rank, WORLD, 0, 7);
    }
    job_expect(&job,
               "deadlock: none of the 5 ranks can continue\n"
               "collective_incomplete ranks 0-1 missing 2-4: Ranks 0 and 1 are in MPI_Allreduce, which the "
               "other 3 ranks never entered\n");
}

int main(void)
{
    CU_TestInfo tests[] = {{"nothing but stacks", test_nothing_but_stacks},
                           {"sent ahead", test_sent_ahead},
                           {"last calls", test_last_calls},
                           {"several threads", test_threads},
                           {"other code", test_other_code},
                           {"a failed call", test_failed},
                           {"a turn that is not passed on", test_turn},
                           {"two halves", test_halves},
                           {"many who wait", test_many},
                           CU_TEST_INFO_NULL};
    return suite_run("piles", tests);
}
