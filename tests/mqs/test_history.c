/* SPDX-License-Identifier: BSD-3-Clause */
/* What the recorder's DLL says of a thread's calls and of a communicator's collectives if the process ran
   while it was copied: some slots of a ring then hold a later call than the count says, or not yet the
   newest. */
#include <CUnit/Basic.h>
#include <string.h>

#include "made_up.h"
#include "mpiq_record.h"
#include "mqs_extensions.h"

enum { HISTORY = MPIQ_RECORD_HISTORY, CALLS = HISTORY + 44, RING = MPIQ_RECORD_RING, COLLECTIVES = RING + 4 };

/* The arena: offset 0 means "none". */
struct arena {
    uint64_t unused[8];
    struct mpiq_record_function function;
    struct mpiq_record_thread thread;
    struct mpiq_record_group group;
    struct mpiq_record_run run;
    struct mpiq_record_comm comm;
};

static struct arena arena;

static struct mpiq_record_call *call(uint64_t number)
{
    return &arena.thread.history[(number - 1) % HISTORY];
}

/* In cycles, which the root says are nanoseconds. */
static uint64_t begin_of(uint64_t number)
{
    return 1000 + 10 * number;
}

static void put_call(uint64_t number, bool open)
{
    *call(number) =
        (struct mpiq_record_call){.begin = begin_of(number), .end = open ? 0 : begin_of(number) + 5};
}

/* All calls have ended but the last. */
static void make_thread(void)
{
    arena = (struct arena){.function.name = "MPI_Test", .function.collective = -1};
    arena.thread.tid = 100;
    arena.thread.calls = CALLS;
    for (uint64_t number = CALLS - HISTORY + 1; number <= CALLS; number++)
        put_call(number, number == CALLS);
}

/* The process, whose records are as they stand in the arena. */
static struct made_up *open_process(void)
{
    struct made_up *made_up = made_up_create(8, false);
    struct mpiq_record_root root = {
        .byte_order = MPIQ_RECORD_BYTE_ORDER,
        .version_major = MPIQ_RECORD_VERSION_MAJOR,
        .version_minor = MPIQ_RECORD_VERSION_MINOR,
        .size = sizeof root,
        .pointer_size = 8,
        .handle_size = 4,
        .world_size = 1,
        .phase = OMPI_MQS_PHASE_RUNNING,
        .functions = offsetof(struct arena, function),
        .function_count = 1,
        .threads = offsetof(struct arena, thread),
        .comms = offsetof(struct arena, comm),
        .groups = offsetof(struct arena, group),
        .arena_used = sizeof arena,
        .first = {.cycles = 1, .ns = 1},
        .last = {.cycles = 1000000, .ns = 1000000},
    };
    mqs_taddr_t symbol = made_up_allocate(made_up, sizeof root);

    root.arena = made_up_allocate(made_up, sizeof arena);
    memcpy(root.magic, MPIQ_RECORD_MAGIC, sizeof root.magic);
    made_up_put_bytes(made_up, symbol, &root, sizeof root);
    made_up_put_bytes(made_up, root.arena, &arena, sizeof arena);
    made_up_symbol(made_up, "mpiq_record_root", symbol);
    CU_ASSERT_EQUAL_FATAL(made_up_open(made_up), mqs_ok);
    CU_ASSERT_EQUAL_FATAL(mqs_update_communicator_list(made_up_process(made_up)), mqs_ok);
    return made_up;
}

static void close_process(struct made_up *made_up)
{
    made_up_close(made_up);
    CU_ASSERT_EQUAL(made_up_counts()->blocks, 0);
    made_up_destroy(made_up);
}

/* Reads the history: one call after another, none of which is open but the last.  Returns how many. */
static int read_history(uint64_t last, bool open)
{
    struct made_up *made_up = open_process();
    mqs_process *process = made_up_process(made_up);
    const mqs_extensions *more = mqs_get_extensions();
    mqs_past_call past = {0};
    int64_t before = 0;
    int count = 0;

    CU_ASSERT_EQUAL_FATAL(more->setup_history_iterator(process), mqs_ok);
    while (more->next_past_call(process, &past) == mqs_ok) {
        CU_ASSERT_STRING_EQUAL(past.call, "MPI_Test");
        CU_ASSERT(past.begin_ns > before);
        CU_ASSERT_EQUAL(past.end_ns == 0, past.begin_ns == (int64_t)begin_of(last) && open);
        before = past.begin_ns;
        count++;
    }
    CU_ASSERT_EQUAL(before, (int64_t)begin_of(last));
    close_process(made_up);
    return count;
}

/* The slot of the oldest may be in the middle of a change. */
static void test_of_a_process_that_stood_still(void)
{
    make_thread();
    CU_ASSERT_EQUAL(read_history(CALLS, true), HISTORY - 1);
    call(CALLS)->end = call(CALLS)->begin + 1;
    CU_ASSERT_EQUAL(read_history(CALLS, false), HISTORY - 1);
}

/* The last was copied while it was open; then it ended, two more began, and the next slot was copied. */
static void test_later_calls_are_left_out(void)
{
    make_thread();
    put_call(CALLS + 1, false);
    put_call(CALLS + 2, true);
    CU_ASSERT_EQUAL(read_history(CALLS, true), HISTORY - 2);
    put_call(CALLS + 2, false);
    CU_ASSERT_EQUAL(read_history(CALLS, true), HISTORY - 2);
}

/* One slot was copied while its call was open; those after it, the last one's too, rounds later. */
static void test_no_call_but_the_last_is_open(void)
{
    const uint64_t at = CALLS - 7;

    make_thread();
    put_call(at + HISTORY, true);
    for (uint64_t number = at + 1; number <= CALLS; number++)
        put_call(number + 2 * HISTORY, false);
    CU_ASSERT_EQUAL(read_history(CALLS + 2 * HISTORY, false), HISTORY - 2);
    put_call(CALLS + 2 * HISTORY, true);
    CU_ASSERT_EQUAL(read_history(CALLS + 2 * HISTORY, true), HISTORY - 2);
}

/* ---- collectives ------------------------------------------------------------------------------------- */

static void put_collective(uint64_t number)
{
    arena.comm.ring[(number - 1) % RING] =
        (struct mpiq_record_collective){.number = number, .count = (int64_t)number, .done = 1};
}

static void make_comm(void)
{
    make_thread();
    arena.group = (struct mpiq_record_group){.count = 1, .run_count = 1, .users = 1};
    arena.run = (struct mpiq_record_run){.count = 1};
    arena.comm.handle = 0x44000000;
    arena.comm.group = offsetof(struct arena, group);
    arena.comm.flags = MPIQ_RECORD_COMM_WORLD;
    arena.comm.ordered = COLLECTIVES;
    for (uint64_t number = COLLECTIVES - RING + 1; number <= COLLECTIVES; number++)
        put_collective(number);
}

/* Reads the communicator's calls: they are those from `last` down to `first`. */
static void read_collectives(uint64_t last, uint64_t first)
{
    struct made_up *made_up = open_process();
    mqs_process *process = made_up_process(made_up);
    const mqs_extensions *more = mqs_get_extensions();
    mqs_collective_call call = {0};
    mqs_communicator comm;

    CU_ASSERT_EQUAL_FATAL(mqs_setup_communicator_iterator(process), mqs_ok);
    CU_ASSERT_EQUAL_FATAL(mqs_get_communicator(process, &comm), mqs_ok);
    CU_ASSERT_EQUAL_FATAL(more->setup_call_iterator(process, mqs_calls_recent), mqs_ok);
    for (uint64_t number = last; number >= first; number--) {
        CU_ASSERT_EQUAL_FATAL(more->next_call(process, &call), mqs_ok);
        CU_ASSERT_EQUAL(call.number, (int64_t)number);
        CU_ASSERT_EQUAL(call.count, (int64_t)number);
    }
    CU_ASSERT_EQUAL(more->next_call(process, &call), mqs_end_of_list);
    close_process(made_up);
}

static void test_collectives_have_their_own_numbers(void)
{
    make_comm();
    read_collectives(COLLECTIVES, COLLECTIVES - RING + 1);
    arena.comm.ordered++; /* counted, not yet written */
    read_collectives(COLLECTIVES, COLLECTIVES - RING + 2);
    make_comm();
    put_collective(COLLECTIVES + 1); /* after the count was copied */
    put_collective(COLLECTIVES + 2);
    read_collectives(COLLECTIVES, COLLECTIVES - RING + 3);
}

int main(void)
{
    CU_pSuite suite;

    CU_initialize_registry();
    suite = CU_add_suite("history", NULL, NULL);
    CU_ADD_TEST(suite, test_of_a_process_that_stood_still);
    CU_ADD_TEST(suite, test_later_calls_are_left_out);
    CU_ADD_TEST(suite, test_no_call_but_the_last_is_open);
    CU_ADD_TEST(suite, test_collectives_have_their_own_numbers);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    return CU_get_number_of_failures() > 0 || CU_get_error() != CUE_SUCCESS;
}
