/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a job that has ended: whole answers from the facts of ranks that are paused at their end. */
#include "job_builder.h"
#include "mpiq_record.h"
#include "suite.h"

enum { COMM = 7, INT = 's' << 8 | 4, FLOAT = 'f' << 8 | 4 };

static struct mpiq_fact *add(struct job_builder *job, int look, int rank, enum mpiq_fact_kind kind,
                             const char *call)
{
    struct mpiq_rank_state *state = job->states[look][rank];
    struct mpiq_fact *fact = mpiq_rank_state_add_fact(state);
    fact->kind = (uint8_t)kind;
    fact->comm = COMM;
    fact->comm_size = job->ranks;
    fact->comm_name = mpiq_rank_state_intern(state, "MPI_COMM_WORLD");
    fact->call = mpiq_rank_state_intern(state, call);
    fact->place.file = mpiq_rank_state_intern(state, "end.c");
    fact->place.line = 10 + rank;
    fact->count = 1;
    return fact;
}

/* Ranks that are paused at their end and made so many collectives. */
static void hold(struct job_builder *job, int ranks, uint64_t collectives)
{
    job_init(job, ranks);
    for (int look = 0; look < 2; look++) {
        for (int rank = 0; rank < ranks; rank++) {
            job->states[look][rank]->paused_at_end = true;
            struct mpiq_fact *comm = add(job, look, rank, MPIQ_FACT_COMMUNICATOR, NULL);
            comm->count = 0;
            comm->sum = collectives;
        }
    }
}

static void message(struct job_builder *job, int rank, bool sent, int peer, int tag, uint32_t base,
                    uint64_t count)
{
    for (int look = 0; look < 2; look++) {
        struct mpiq_fact *fact =
            add(job, look, rank, sent ? MPIQ_FACT_SENT : MPIQ_FACT_RECEIVED, sent ? "MPI_Send" : "MPI_Recv");
        fact->peer = peer;
        fact->tag = tag;
        fact->base = base;
        fact->base_name = mpiq_rank_state_intern(job->states[look][rank], base == INT     ? "MPI_INT"
                                                                          : base == FLOAT ? "MPI_FLOAT"
                                                                                          : NULL);
        fact->count = count;
        fact->sum = count;
    }
}

static void object(struct job_builder *job, int rank, enum mpiq_object kind, const char *call, int peer,
                   int tag)
{
    for (int look = 0; look < 2; look++) {
        struct mpiq_fact *fact = add(job, look, rank, MPIQ_FACT_OBJECT, call);
        fact->base = kind;
        fact->peer = peer;
        fact->tag = tag;
    }
}

/* Calls `first` to `last`, but for `without`. */
static void reduces(struct job_builder *job, int rank, int root, uint64_t first, uint64_t last,
                    uint64_t without)
{
    for (int look = 0; look < 2; look++) {
        struct mpiq_fact *fact = add(job, look, rank, MPIQ_FACT_COLLECTIVE, "MPI_Reduce");
        fact->collective = (int16_t)mpiq_collective_class("MPI_Reduce");
        fact->peer = root;
        fact->bytes = 4;
        fact->base = INT;
        fact->signature = 99;
        fact->first = first;
        fact->count = 0;
        for (uint64_t number = first; number <= last; number++) {
            fact->count += number != without;
            fact->sum += number != without ? mpiq_record_mix(number) : 0;
        }
    }
}

static void test_nothing(void)
{
    struct job_builder job;
    hold(&job, 2, 9);
    message(&job, 0, true, 1, 3, INT, 5);
    message(&job, 1, false, 0, 3, INT, 5);
    reduces(&job, 0, 0, 1, 9, 0);
    reduces(&job, 1, 0, 1, 9, 0);
    job_expect(&job, "finished: the job ended, and the check found nothing\n");
}

static void test_lost(void)
{
    struct job_builder job;
    hold(&job, 2, 0);
    message(&job, 0, true, 1, 3, INT, 5);
    message(&job, 1, false, 0, 3, INT, 3);
    job_expect(&job,
               "finished: the job ended, and the check found one thing wrong\n"
               "message_lost? ranks 0-1: rank 1 never received the last 2 of 5 messages with tag 3 that rank "
               "0 sent by MPI_Send at end.c:10 on MPI_COMM_WORLD\n");
}

/* The message may lie in a receive that nobody completed: that alone is said. */
static void test_open_receive(void)
{
    struct job_builder job;
    hold(&job, 2, 0);
    message(&job, 0, true, 1, 3, INT, 1);
    object(&job, 1, MPIQ_OBJECT_REQUEST, "MPI_Irecv", -1, -1);
    job_expect(
        &job, "finished: the job ended, and the check found one thing wrong\n"
              "request_leak? ranks 1: rank 1 never completed or freed the request that MPI_Irecv at end.c:11 "
              "started\n");
}

static void test_types(void)
{
    struct job_builder job;
    hold(&job, 2, 0);
    message(&job, 0, true, 1, 3, INT, 1);
    message(&job, 1, false, 0, 3, FLOAT, 1);
    job_expect(
        &job, "finished: the job ended, and the check found one thing wrong\n"
              "type_mismatch? ranks 0-1: rank 0 sent tag 3 as MPI_INT at end.c:10, but rank 1 received it as "
              "MPI_FLOAT at end.c:11\n");
}

/* MPI_PACKED, and what is not known, may be received as anything. */
static void test_packed(void)
{
    struct job_builder job;
    hold(&job, 2, 0);
    message(&job, 0, true, 1, 3, MPIQ_FACT_BASE_ANY, 1);
    message(&job, 1, false, 0, 3, FLOAT, 1);
    job_expect(&job, "finished: the job ended, and the check found nothing\n");
}

/* Nothing is concluded from what is missing where something was not counted. */
static void test_not_counted(void)
{
    struct job_builder job;
    hold(&job, 2, 9);
    message(&job, 0, true, 1, 3, INT, 5);
    reduces(&job, 0, 0, 1, 9, 0);
    for (int look = 0; look < 2; look++)
        job.states[look][1]->lost_facts = 1;
    job_expect(&job, "finished: the job ended, and the check found nothing\n");
}

/* The 1,234th call of 2,000, told by the difference of the sums. */
static void test_root_long_ago(void)
{
    struct job_builder job;
    hold(&job, 3, 2000);
    for (int rank = 0; rank < 3; rank++)
        reduces(&job, rank, 0, 1, 2000, rank == 1 ? 1234 : 0);
    reduces(&job, 1, 1, 1234, 1234, 0);
    job_expect(&job,
               "finished: the job ended, and the check found one thing wrong\n"
               "collective_argument_mismatch? ranks 0-2: rank 1 called MPI_Reduce with root 1, ranks 0 and 2 "
               "with root 0 (collective 1234 on MPI_COMM_WORLD)\n");
}

static void test_never_entered(void)
{
    struct job_builder job;
    hold(&job, 3, 5);
    for (int rank = 0; rank < 3; rank++)
        reduces(&job, rank, 0, 1, rank == 2 ? 4 : 5, 0);
    for (int look = 0; look < 2; look++)
        job.states[look][2]->facts[0].sum = 4;
    job_expect(&job,
               "finished: the job ended, and the check found one thing wrong\n"
               "collective_incomplete? ranks 0-1 missing 2 suspects 2: rank 2 never entered MPI_Reduce at "
               "end.c:10, collective 5 on MPI_COMM_WORLD, which ranks 0 and 1 called\n");
}

/* One that is not at its end: the answer is about what the ranks do. */
/* Calls of that name under those numbers: `times` from `first` on, every `step`th. */
static void calls(struct job_builder *job, int rank, const char *name, int line, uint64_t first,
                  uint64_t step, uint64_t times)
{
    for (int look = 0; look < 2; look++) {
        struct mpiq_fact *fact = add(job, look, rank, MPIQ_FACT_COLLECTIVE, name);
        fact->collective = (int16_t)mpiq_collective_class(name);
        fact->place.line = line;
        fact->peer = -1;
        fact->bytes = -1;
        fact->first = first;
        fact->count = times;
        for (uint64_t i = 0; i < times; i++)
            fact->sum += mpiq_record_mix(first + i * step);
    }
}

/* Each step's two collectives are swapped on one rank. */
static void test_other_order(void)
{
    struct job_builder job;
    hold(&job, 3, 10);
    for (int rank = 0; rank < 3; rank++) {
        bool swapped = rank == 1;
        calls(&job, rank, "MPI_Barrier", swapped ? 23 : 21, swapped ? 2 : 1, 2, 5);
        calls(&job, rank, "MPI_Alltoallw", swapped ? 22 : 24, swapped ? 1 : 2, 2, 5);
    }
    job_expect(
        &job,
        "finished: the job ended, and the check found one thing wrong\n"
        "collective_mismatch? ranks 0-2: collective 1 on MPI_COMM_WORLD: rank 1 called MPI_Alltoallw at "
        "end.c:22, ranks 0 and 2 called MPI_Barrier at end.c:21\n");
}

/* They are swapped once, after a million steps. */
static void test_other_order_once(void)
{
    enum { LAST = 2000000 };
    struct job_builder job;
    hold(&job, 2, LAST + 2);
    for (int rank = 0; rank < 2; rank++) {
        calls(&job, rank, "MPI_Barrier", 21, 1, 2, LAST / 2);
        calls(&job, rank, "MPI_Alltoallw", 22, 2, 2, LAST / 2);
        calls(&job, rank, "MPI_Barrier", 30 + rank, (uint64_t)(LAST + 1 + rank), 1, 1);
        calls(&job, rank, "MPI_Alltoallw", 40 + rank, (uint64_t)(LAST + 2 - rank), 1, 1);
    }
    job_expect(
        &job,
        "finished: the job ended, and the check found one thing wrong\n"
        "collective_mismatch? ranks 0-1: collective 2000001 on MPI_COMM_WORLD: rank 0 called MPI_Barrier at "
        "end.c:30, rank 1 called MPI_Alltoallw at end.c:41\n");
}

/* They are swapped more than once, and no number can be told. */
static void test_other_order_unknown(void)
{
    struct job_builder job;
    hold(&job, 2, 12);
    for (int rank = 0; rank < 2; rank++) {
        calls(&job, rank, "MPI_Barrier", 21, 1, 2, 2);
        calls(&job, rank, "MPI_Alltoallw", 22, 2, 2, 2);
        calls(&job, rank, "MPI_Barrier", 21, (uint64_t)(5 + rank), 2, 4);
        calls(&job, rank, "MPI_Alltoallw", 22, (uint64_t)(6 - rank), 2, 4);
    }
    job_expect(
        &job,
        "finished: the job ended, and the check found one thing wrong\n"
        "collective_mismatch? ranks 0-1: rank 0 called their collectives on MPI_COMM_WORLD in another order "
        "than rank 1: MPI_Barrier among them\n");
}

/* One rank made some calls more, without a number to be told. */
static void test_more_often(void)
{
    struct job_builder job;
    hold(&job, 2, 8);
    calls(&job, 0, "MPI_Barrier", 21, 1, 1, 8);
    calls(&job, 1, "MPI_Barrier", 21, 1, 1, 5);
    job_expect(&job, "finished: the job ended, and the check found one thing wrong\n"
                     "collective_mismatch? ranks 0-1: rank 0 called MPI_Barrier at end.c:21 8 times on "
                     "MPI_COMM_WORLD, rank 1 5 times\n");
}

static void test_one_is_not_held(void)
{
    struct job_builder job;
    hold(&job, 2, 0);
    message(&job, 0, true, 1, 3, INT, 5);
    for (int look = 0; look < 2; look++)
        job.states[look][1]->paused_at_end = false;
    job_expect(&job, "running: no rank is proven to be stuck\n");
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a correct job has no findings", test_nothing},
        {"a lost message is found", test_lost},
        {"an open receive may take the message", test_open_receive},
        {"different types are found", test_types},
        {"MPI_PACKED matches any type", test_packed},
        {"not counted", test_not_counted},
        {"a wrong root is found long after the call", test_root_long_ago},
        {"a collective that a rank never entered is found", test_never_entered},
        {"another order in each step is found", test_other_order},
        {"another order once, long ago, is found with number and lines", test_other_order_once},
        {"another order without a number is found", test_other_order_unknown},
        {"a call that one made more often is found", test_more_often},
        {"before all ranks are held the answer is about what they do", test_one_is_not_held},
        CU_TEST_INFO_NULL,
    };
    return suite_run("check", tests);
}
