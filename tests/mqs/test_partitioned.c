/* SPDX-License-Identifier: BSD-3-Clause */
/* What the DLL says of partitioned sends and receives, on made-up processes of 5.0. */
#include "fixture.h"

#include <stdio.h>
#include <time.h>

enum { QUEUED = -2, NOT_READY = -1, UNDERWAY = 0, DONE = 1 }; /* the component's flags of a partition */

#define MANY 65536 /* as many as the DLL reads */

#define ALL_OF_5_0 \
    ALL_VARIANTS   \
    if (v->line5)

/* The partitions of the n-th operation of a class. */
static mqs_partitions partitions(int class_, int n, mqs_operation_details *details)
{
    mqs_partitions ret = {0};
    mqs_pending_operation op;

    CU_ASSERT_EQUAL_FATAL(operation(class_, n, &op, details), mqs_ok);
    CU_ASSERT_EQUAL(op.status, mqs_st_pending);
    CU_ASSERT_EQUAL(op.desired_global_rank, 3);
    CU_ASSERT_EQUAL(op.desired_tag, 7);
    CU_ASSERT_EQUAL_FATAL(more->get_partitions(made_up_process(mpi->memory), &ret), mqs_ok);
    return ret;
}

static mqs_taddr_t put(bool send, bool set_up, const int *flags, const mqs_taddr_t *inner)
{
    return made_up_mpi_partitioned(mpi, &(struct made_up_partitioned){.send = send,
                                                                      .set_up = set_up,
                                                                      .comm = mpi->world,
                                                                      .peer = 3,
                                                                      .tag = 7,
                                                                      .parts = 6,
                                                                      .flags = flags,
                                                                      .inner = {inner[0], inner[1]}});
}

static void test_missing_partitions(void)
{
    ALL_OF_5_0
    {
        static const int arriving[] = {UNDERWAY, UNDERWAY, UNDERWAY, DONE, DONE, UNDERWAY};
        static const int ready[] = {DONE, UNDERWAY, NOT_READY, NOT_READY, UNDERWAY, DONE};
        static const int queued[] = {QUEUED, NOT_READY, NOT_READY, NOT_READY, QUEUED, QUEUED};
        static const mqs_taddr_t inner[] = {0x1230, 0x4560};
        mqs_operation_details details;
        mqs_partitions found;
        mqs_taddr_t receive;
        mqs_taddr_t answering;

        open_process(v, 4, 0);
        receive = put(false, true, arriving, inner);
        answering = put(false, false, arriving, inner);
        put(true, true, ready, inner);
        put(true, false, queued, inner);
        set_up();

        found = partitions(mqs_pending_receives, 0, &details);
        CU_ASSERT_EQUAL(details.kind, mqs_kind_precv);
        CU_ASSERT_EQUAL(details.request, receive);
        CU_ASSERT_EQUAL(found.partitions, 6);
        CU_ASSERT_EQUAL(found.missing, 4);
        CU_ASSERT_STRING_EQUAL(found.which, "0-2,5");
        CU_ASSERT_EQUAL(found.inner, inner[0]);
        CU_ASSERT_EQUAL(found.moves, 0);

        /* It waits for the message that sets it up, and answers that one without a call of the program's. */
        found = partitions(mqs_pending_receives, 1, &details);
        CU_ASSERT_EQUAL(details.request, answering);
        CU_ASSERT_EQUAL(found.missing, -1);
        CU_ASSERT_EQUAL(found.inner, inner[1]);
        CU_ASSERT_EQUAL(found.moves, 1);

        found = partitions(mqs_pending_sends, 0, &details);
        CU_ASSERT_EQUAL(details.kind, mqs_kind_psend);
        CU_ASSERT_EQUAL(found.missing, 2);
        CU_ASSERT_STRING_EQUAL(found.which, "2-3");
        CU_ASSERT_EQUAL(found.inner, inner[0]);
        CU_ASSERT_EQUAL(found.moves, 0);

        found = partitions(mqs_pending_sends, 1, &details);
        CU_ASSERT_EQUAL(found.missing, 3);
        CU_ASSERT_STRING_EQUAL(found.which, "1-3");
        CU_ASSERT_EQUAL(found.inner, inner[1]);
        CU_ASSERT_EQUAL(found.moves, 1);
        close_process();
    }
}

/* Processor time of a walk through all receives; with `ask` of the partitions of each. */
static double walk(int count, bool ask)
{
    mqs_process *process = made_up_process(mpi->memory);
    clock_t begin = clock();
    mqs_operation_details details;
    mqs_partitions partitions;
    mqs_pending_operation op;
    int found = 0;

    CU_ASSERT_EQUAL_FATAL(mqs_setup_operation_iterator(process, mqs_pending_receives), mqs_ok);
    while (mqs_next_operation(process, &op) == mqs_ok) {
        found += !ask || (more->get_operation_details(process, &details) == mqs_ok &&
                          more->get_partitions(process, &partitions) == mqs_ok && partitions.missing == 1);
    }
    CU_ASSERT_EQUAL(found, count);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/* To find the request of each operation takes no more than to read them all, however many there are. */
static void test_many_requests(void)
{
    static const int flag[] = {UNDERWAY};
    double read;
    double asked;

    open_process(&variants[1], 4, 0);
    for (int i = 0; i < MANY; i++) {
        made_up_mpi_partitioned(
            mpi, &(struct made_up_partitioned){
                     .set_up = true, .comm = mpi->world, .peer = 3, .tag = i, .parts = 1, .flags = flag});
    }
    set_up();
    read = walk(MANY, false);
    asked = walk(MANY, true);
    printf("%d partitioned requests: read in %.3f s, told with their partitions in %.3f s ", MANY, read,
           asked);
    CU_ASSERT(asked < 3 * read);
    close_process();
}

int main(void)
{
    CU_pSuite suite;

    CU_initialize_registry();
    suite = CU_add_suite("partitioned", NULL, NULL);
    CU_ADD_TEST(suite, test_missing_partitions);
    CU_ADD_TEST(suite, test_many_requests);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    return CU_get_number_of_failures() > 0 || CU_get_error() != CUE_SUCCESS;
}
