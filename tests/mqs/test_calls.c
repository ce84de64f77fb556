/* SPDX-License-Identifier: BSD-3-Clause */
/* What the DLL says of a patched library's records of collective calls, on made-up processes. */
#include "fixture.h"

/* The newest of what the process and its communicators remember, in time; nothing of records that are
 * shorter. */
static void test_when_the_last_collective_ended(void)
{
    static const uint64_t ends[] = {1000500, 1000900};
    const uint64_t second = 1000000000;

    ALL_VARIANTS
    {
        mqs_taddr_t records[2];
        mqs_process *process;
        mqs_taddr_t root;
        int64_t end = -1;

        open_process(v, 4, 0);
        root = patched_root();
        PUT(root, ompi_mqs_root, first.cycles, 1000000);
        PUT(root, ompi_mqs_root, first.ns, second);
        PUT(root, ompi_mqs_root, last.cycles, 1001000);
        PUT(root, ompi_mqs_root, last.ns, 2 * second);
        for (int i = 0; i < 2; i++) {
            records[i] = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_collectives));
            PUT(records[i], ompi_mqs_collectives, size, sizeof(struct ompi_mqs_collectives));
            PUT(records[i], ompi_mqs_collectives, classes, OMPI_MQS_HOT);
            PUT(records[i], ompi_mqs_collectives, end_cycles, ends[i]);
        }
        PUT(root, ompi_mqs_root, process, records[0]);
        made_up_set(mpi->memory, mpi->world, "ompi_communicator_t", "c_mqs", records[1]);
        set_up();
        process = made_up_process(mpi->memory);
        CU_ASSERT_EQUAL(more->get_last_end(process, &end), mqs_ok);
        CU_ASSERT_EQUAL(end, (int64_t)(second + second / 10 * 9));
        PUT(records[0], ompi_mqs_collectives, size, offsetof(struct ompi_mqs_collectives, end_cycles));
        CU_ASSERT_EQUAL(more->get_last_end(process, &end), mqs_no_information);
        CU_ASSERT_EQUAL(end, (int64_t)(second + second / 10 * 9));
        close_process();
    }
}

static struct {
    mqs_taddr_t record, ring;
    mqs_taddr_t awaited; /* once what lies here was fetched, it makes `more` calls */
    uint64_t calls, more;
} running;

/* The number of each call is its count, too. */
static void make_call(void)
{
    mqs_taddr_t call = running.ring + running.calls % OMPI_MQS_RING * sizeof(struct ompi_mqs_call);

    running.calls++;
    PUT(running.record, ompi_mqs_collectives, position, running.calls * OMPI_MQS_POSITION);
    PUT(call, ompi_mqs_call, collective, OMPI_MQS_bcast);
    PUT(call, ompi_mqs_call, count, running.calls);
}

static void make_more_calls(struct made_up *made_up, mqs_taddr_t address, size_t size)
{
    if (running.awaited >= address && running.awaited - address < size) {
        made_up_after_fetch(made_up, NULL);
        for (; running.more > 0; running.more--) {
            make_call();
        }
    }
}

static void run_while_its_calls_are_read(const struct variant *v, bool after_ring, uint64_t calls,
                                         uint64_t more_calls)
{
    mqs_collective_call call;
    uint64_t count = 0;

    open_process(v, 4, 0);
    patched_root();
    running.calls = 0;
    running.more = more_calls;
    running.record = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_collectives));
    running.ring = made_up_allocate(mpi->memory, OMPI_MQS_RING * sizeof(struct ompi_mqs_call));
    running.awaited = after_ring ? running.ring : running.record;
    PUT(running.record, ompi_mqs_collectives, size, sizeof(struct ompi_mqs_collectives));
    PUT(running.record, ompi_mqs_collectives, classes, OMPI_MQS_HOT);
    PUT(running.record, ompi_mqs_collectives, ring, running.ring);
    while (running.calls < calls) {
        make_call();
    }
    made_up_set(mpi->memory, mpi->world, "ompi_communicator_t", "c_mqs", running.record);
    set_up();
    made_up_after_fetch(mpi->memory, make_more_calls);
    CU_ASSERT_EQUAL(more->setup_call_iterator(made_up_process(mpi->memory), mqs_calls_recent), mqs_ok);
    CU_ASSERT_EQUAL(running.more, 0);
    while (more->next_call(made_up_process(mpi->memory), &call) == mqs_ok) {
        CU_ASSERT_EQUAL(call.number, (int64_t)(calls - count));
        CU_ASSERT_EQUAL(call.count, call.number);
        count++;
    }
    CU_ASSERT_EQUAL(count, more_calls >= OMPI_MQS_RING          ? 0
                           : calls < OMPI_MQS_RING - more_calls ? calls
                                                                : OMPI_MQS_RING - more_calls);
    close_process();
}

/* A later call that lies where an earlier one was is not taken for that one. */
static void test_calls_of_a_running_process(void)
{
    static const uint64_t numbers[] = {0, 1, 5, 15, 16, 17, 40};
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

    ALL_VARIANTS
    {
        for (int i = 0; i < NUMBERS * NUMBERS; i++) {
            run_while_its_calls_are_read(v, false, numbers[i / NUMBERS], numbers[i % NUMBERS]);
            if (numbers[i / NUMBERS] > 0) { /* else it is not read */
                run_while_its_calls_are_read(v, true, numbers[i / NUMBERS], numbers[i % NUMBERS]);
            }
        }
    }
}

int main(void)
{
    CU_pSuite suite;

    CU_initialize_registry();
    suite = CU_add_suite("calls", NULL, NULL);
    CU_ADD_TEST(suite, test_when_the_last_collective_ended);
    CU_ADD_TEST(suite, test_calls_of_a_running_process);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    return CU_get_number_of_failures() > 0 || CU_get_error() != CUE_SUCCESS;
}
