/* SPDX-License-Identifier: BSD-3-Clause */
/* What the DLL says of requests, messages and waits, on made-up processes of both word sizes, both byte
   orders and both release lines. */
#include "fixture.h"

static void test_states(void)
{
    ALL_VARIANTS
    {
        /* What req_complete, the state and the status say together. */
        static const struct {
            int state;
            uint64_t complete;
            bool persistent;
            int status_tag;
            int expected;
            int flags;
        } rows[] = {
            {2, 0, false, 0, mqs_st_pending, 0},
            {2, 0x7ffc1230, false, 0, mqs_st_pending, 0}, /* a waiter's sync object: pending */
            {2, 0x7ffc1200, false, 0, mqs_st_pending, 0}, /* its low byte is zero */
            {2, 0x7ffc1201, false, 0, mqs_st_pending, 0}, /* its low byte is one */
            {2, 0, false, 7, mqs_st_matched, 0},
            {2, 1, false, 7, mqs_st_complete, 0},
            {2, 0, true, 0, mqs_st_pending, mqs_operation_persistent},
            {1, 1, true, 7, mqs_st_complete, mqs_operation_persistent | mqs_operation_inactive},
        };
        mqs_operation_details details;
        mqs_pending_operation op;

        open_process(v, 4, 0);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            struct made_up_request r = {.comm = mpi->world,
                                        .peer = 3,
                                        .tag = 7,
                                        .count = 10,
                                        .state = rows[i].state,
                                        .complete = rows[i].complete,
                                        .persistent = rows[i].persistent,
                                        .status_tag = rows[i].status_tag,
                                        .status_source = 3,
                                        .status_bytes = 24,
                                        .sequence = i};

            made_up_mpi_request(mpi, &r);
        }
        set_up();
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            CU_ASSERT_EQUAL_FATAL(operation(mqs_pending_receives, (int)i, &op, &details), mqs_ok);
            CU_ASSERT_EQUAL(op.status, rows[i].expected);
            CU_ASSERT_EQUAL(details.flags, rows[i].flags);
            CU_ASSERT_EQUAL(op.desired_length, 40);
            CU_ASSERT_EQUAL(op.desired_global_rank, 3);
            if (op.status != mqs_st_pending && (details.flags & mqs_operation_inactive) == 0) {
                CU_ASSERT_EQUAL(op.actual_length, 24);
                CU_ASSERT_EQUAL(op.actual_global_rank, 3);
                CU_ASSERT_EQUAL(op.actual_tag, 7);
            }
        }
        CU_ASSERT_EQUAL(operation(mqs_pending_receives, sizeof rows / sizeof rows[0], &op, NULL),
                        mqs_end_of_list);
        close_process();
    }
}

static void test_posted_order(void)
{
    ALL_VARIANTS
    {
        static const uint64_t receives[] = {5, 2, 9, 1};
        /* Two peers; the second one's numbers have wrapped. */
        static const struct {
            int peer;
            uint64_t sequence;
        } sends[] = {{1, 2}, {2, 1}, {1, 1}, {2, 0xffff}, {2, (uint64_t)(int64_t)(int16_t)0xfffe}};
        static const int order[] = {2, 0, 4, 3, 1};
        mqs_operation_details details;
        mqs_pending_operation op;

        open_process(v, 4, 0);
        for (int i = 0; i < 4; i++) {
            made_up_mpi_request(mpi, &(struct made_up_request){
                                         .comm = mpi->world, .peer = -1, .tag = i, .sequence = receives[i]});
        }
        for (int i = 0; i < 5; i++) {
            made_up_mpi_request(mpi, &(struct made_up_request){.send = true,
                                                               .comm = mpi->world,
                                                               .peer = sends[i].peer,
                                                               .tag = i,
                                                               .mode = 4,
                                                               .sequence = sends[i].sequence});
        }
        set_up();
        for (int i = 0, last = 0; i < 4; i++) {
            CU_ASSERT_EQUAL(operation(mqs_pending_receives, i, &op, &details), mqs_ok);
            CU_ASSERT((int)details.sequence > last);
            last = (int)details.sequence;
        }
        for (int i = 0; i < 5; i++) {
            CU_ASSERT_EQUAL(operation(mqs_pending_sends, i, &op, NULL), mqs_ok);
            CU_ASSERT_EQUAL(op.desired_tag, order[i]);
        }
        close_process();
    }
}

static void test_kinds(void)
{
    static const struct {
        struct made_up_request request;
        int kind;
        int status;
    } rows[] = {
        {{.send = true, .mode = 4}, mqs_kind_send, mqs_st_pending},
        {{.send = true, .mode = 0}, mqs_kind_ssend, mqs_st_pending},
        {{.send = true, .mode = 3}, mqs_kind_rsend, mqs_st_pending},
        {{.send = true, .mode = 2}, mqs_kind_bsend, mqs_st_pending},
        {{.send = true, .mode = 2, .complete = 1}, mqs_kind_bsend, mqs_st_pending}, /* for its caller alone */
        {{.send = true, .mode = 2, .complete = 1, .delivered = true}, mqs_kind_bsend, mqs_st_complete},
        {{.send = true, .mode = 4, .complete = 1}, mqs_kind_send, mqs_st_complete},
        {{.type = 2}, mqs_kind_receive, mqs_st_pending},
        {{.type = 4}, mqs_kind_probe, mqs_st_pending},
        {{.type = 6}, mqs_kind_probe, mqs_st_pending},
        {{.type = 6, .complete = 1, .status_tag = 9, .status_bytes = 12}, mqs_kind_message, mqs_st_matched},
    };

    ALL_VARIANTS
    {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            struct made_up_request request = rows[i].request;
            mqs_operation_details details;
            mqs_pending_operation op;

            open_process(v, 4, 0);
            request.comm = mpi->world;
            request.peer = 1;
            request.tag = 9;
            request.count = 3;
            made_up_mpi_request(mpi, &request);
            set_up();
            CU_ASSERT_EQUAL_FATAL(
                operation(request.send ? mqs_pending_sends : mqs_pending_receives, 0, &op, &details), mqs_ok);
            CU_ASSERT_EQUAL(details.kind, rows[i].kind);
            CU_ASSERT_EQUAL(op.status, rows[i].status);
            CU_ASSERT_EQUAL(op.system_buffer, details.kind == mqs_kind_bsend);
            if (request.send) {
                CU_ASSERT_EQUAL(op.actual_global_rank, 1);
                CU_ASSERT_EQUAL(op.desired_length, 12);
            }
            if (details.kind == mqs_kind_message) {
                CU_ASSERT_EQUAL(op.actual_length, 12);
            }
            CU_ASSERT(memchr(op.extra_text[0], 0, 64) != NULL);
            close_process();
        }
    }
}

static void test_datatype_name(void)
{
    static const char name[] = "a datatype whose name fills its sixty-four bytes, up to the end";
    mqs_operation_details details;
    mqs_pending_operation op;

    open_process(&variants[0], 2, 0);
    made_up_put_text(mpi->memory,
                     mpi->integer + (mqs_taddr_t)made_up_offset(mpi->memory, "ompi_datatype_t", "name"),
                     name);
    made_up_mpi_request(
        mpi, &(struct made_up_request){.comm = mpi->world, .peer = 1, .tag = 1, .count = 12345678});
    set_up();
    CU_ASSERT_EQUAL_FATAL(operation(mqs_pending_receives, 0, &op, &details), mqs_ok);
    CU_ASSERT_STRING_EQUAL(details.datatype_name, name);
    for (int i = 0; i < 5; i++) {
        CU_ASSERT(memchr(op.extra_text[i], 0, 64) != NULL);
    }
    CU_ASSERT_STRING_EQUAL(op.extra_text[1], "12345678 x a datatype whose name fills its sixty-four");
    close_process();
}

static void test_internal_traffic_is_apart(void)
{
    mqs_operation_details details;
    mqs_pending_operation op;

    open_process(&variants[0], 2, 0);
    made_up_mpi_request(mpi, &(struct made_up_request){.comm = mpi->world, .peer = 1, .tag = -16});
    made_up_mpi_request(mpi,
                        &(struct made_up_request){.comm = mpi->world, .peer = 1, .tag = -1, .sequence = 1});
    made_up_mpi_message(mpi, mpi->world, 1, -17, 8, 1);
    set_up();
    CU_ASSERT_EQUAL(operation(mqs_pending_receives, 0, &op, &details), mqs_ok);
    CU_ASSERT_EQUAL(op.tag_wild, 1);
    CU_ASSERT_EQUAL(operation(mqs_pending_receives, 1, &op, NULL), mqs_end_of_list);
    CU_ASSERT_EQUAL(operation(mqs_unexpected_messages, 0, &op, NULL), mqs_end_of_list);
    CU_ASSERT_EQUAL(more->set_option(made_up_process(mpi->memory), mqs_option_internal, 1), mqs_ok);
    CU_ASSERT_EQUAL(operation(mqs_pending_receives, 0, &op, &details), mqs_ok);
    CU_ASSERT_EQUAL(op.desired_tag, -16);
    CU_ASSERT_EQUAL(details.flags, mqs_operation_internal);
    CU_ASSERT_EQUAL(operation(mqs_unexpected_messages, 0, &op, &details), mqs_ok);
    CU_ASSERT_EQUAL(details.flags, mqs_operation_internal | mqs_operation_eager);
    close_process();
}

static void test_probe_on_a_stack(void)
{
    ALL_VARIANTS
    {
        mqs_operation_details details;
        mqs_pending_operation op;
        mqs_taddr_t chunk;
        mqs_taddr_t probe;
        mqs_taddr_t stack;
        mqs_taddr_t peer;

        open_process(v, 4, 0);
        stack = made_up_allocate(mpi->memory, 1024);
        chunk = mpi->receive_chunk;
        mpi->receive_chunk = stack;
        probe = made_up_mpi_request(
            mpi,
            &(struct made_up_request){.type = 4, .comm = mpi->world, .peer = 2, .tag = 5, .sequence = 1});
        mpi->receive_chunk = chunk;
        peer = made_up_mpi_peer(mpi, mpi->world, 2);
        made_up_mpi_append(
            mpi,
            peer + (mqs_taddr_t)made_up_offset(mpi->memory, "mca_pml_ob1_comm_proc_t", "specific_receives"),
            probe);
        made_up_mpi_request(
            mpi, &(struct made_up_request){.comm = mpi->world, .peer = 2, .tag = 6, .sequence = 2});
        set_up();
        CU_ASSERT_EQUAL(operation(mqs_pending_receives, 0, &op, &details), mqs_ok);
        CU_ASSERT_EQUAL(details.kind, mqs_kind_probe);
        CU_ASSERT_EQUAL(details.request, stack);
        CU_ASSERT_EQUAL(op.desired_tag, 5);
        CU_ASSERT_EQUAL(op.desired_global_rank, 2);
        CU_ASSERT_EQUAL(operation(mqs_pending_receives, 1, &op, NULL), mqs_ok);
        CU_ASSERT_EQUAL(op.desired_tag, 6);
        CU_ASSERT_EQUAL(operation(mqs_pending_receives, 2, &op, NULL), mqs_end_of_list);
        close_process();
    }
}

static void test_unexpected(void)
{
    ALL_VARIANTS
    {
        /* Two senders; of the second, numbers 3 and 5 to 6 came before 2, across the wrap of the counter. */
        static const struct {
            int source;
            int tag;
            int bytes;
            int flags;
        } expected[] = {
            {1, 11, 100, mqs_operation_eager},
            {1, 12, 1 << 20, 0},
            {3, 13, 0, mqs_operation_eager},
            {3, 14, 5, mqs_operation_eager | mqs_operation_out_of_order},
            {3, 15, 6, mqs_operation_eager | mqs_operation_out_of_order},
            {3, 16, 99999, mqs_operation_out_of_order},
        };
        mqs_operation_details details;
        mqs_pending_operation op;
        mqs_taddr_t heads[3];
        mqs_taddr_t peer;

        open_process(v, 4, 0);
        made_up_mpi_message(mpi, mpi->world, 1, 11, 100, 1);
        made_up_mpi_message(mpi, mpi->world, 1, 12, 1 << 20, 2);
        made_up_mpi_message(mpi, mpi->world, 3, 13, 0, 0xfffe);
        /* 0xffff is missing; 0 and 1 hang together as a range, 5 is another. */
        peer = made_up_mpi_peer(mpi, mpi->world, 3);
        heads[0] = made_up_mpi_fragment(mpi, 3, 14, 5, 0);
        heads[1] = made_up_mpi_fragment(mpi, 3, 15, 6, 1);
        heads[2] = made_up_mpi_fragment(mpi, 3, 16, 99999, 5);
        made_up_set(mpi->memory, heads[0], "mca_pml_ob1_recv_frag_t", "range", heads[1]);
        made_up_set(mpi->memory, heads[0], "opal_list_item_t", "opal_list_next", heads[2]);
        made_up_set(mpi->memory, heads[2], "opal_list_item_t", "opal_list_next", heads[0]);
        made_up_set(mpi->memory, peer, "mca_pml_ob1_comm_proc_t", "frags_cant_match", heads[0]);
        set_up();
        for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
            CU_ASSERT_EQUAL_FATAL(operation(mqs_unexpected_messages, (int)i, &op, &details), mqs_ok);
            CU_ASSERT_EQUAL(op.desired_local_rank, expected[i].source);
            CU_ASSERT_EQUAL(op.actual_global_rank, expected[i].source);
            CU_ASSERT_EQUAL(op.actual_tag, expected[i].tag);
            CU_ASSERT_EQUAL(op.actual_length, expected[i].bytes);
            CU_ASSERT_EQUAL(op.system_buffer, 1);
            CU_ASSERT_EQUAL(details.kind, mqs_kind_message);
            CU_ASSERT_EQUAL(details.flags, expected[i].flags);
            CU_ASSERT_EQUAL(op.buffer != 0,
                            (details.flags & mqs_operation_eager) != 0 && expected[i].bytes > 0);
        }
        CU_ASSERT_EQUAL(operation(mqs_unexpected_messages, 6, &op, NULL), mqs_end_of_list);
        close_process();
    }
}

static void test_other_pml(void)
{
    mqs_process_identity identity;
    mqs_pending_operation op;
    char *message = NULL;
    mqs_process *process;
    mqs_taddr_t component;
    int group[2];

    open_process(&variants[0], 2, 1);
    component = made_up_new(mpi->memory, "mca_base_component_t");
    made_up_put_text(mpi->memory, component + 4, "ucx");
    made_up_symbol(mpi->memory, "mca_pml_base_selected_component", component);
    set_up();
    process = made_up_process(mpi->memory);
    CU_ASSERT_EQUAL(mqs_process_has_queues(process, &message), mqs_ok);
    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    CU_ASSERT(strstr(message, "no information: PML ucx") != NULL);
    CU_ASSERT_EQUAL(mqs_setup_communicator_iterator(process), mqs_ok);
    CU_ASSERT_EQUAL(mqs_get_comm_group(process, group), mqs_ok);
    CU_ASSERT_EQUAL(operation(mqs_pending_receives, 0, &op, NULL), mqs_no_information);
    CU_ASSERT_EQUAL(operation(mqs_unexpected_messages, 0, &op, NULL), mqs_no_information);
    CU_ASSERT_EQUAL(more->get_identity(process, &identity), mqs_ok);
    CU_ASSERT_STRING_EQUAL(identity.pml, "ucx");
    CU_ASSERT_EQUAL(identity.queues, 0);
    close_process();
}

/* A debugger prints the message with the process's name as its only argument. */
static void test_a_pml_that_is_a_format(void)
{
    char *message = NULL;
    char shown[512];
    mqs_taddr_t component;

    open_process(&variants[0], 2, 1);
    component = made_up_new(mpi->memory, "mca_base_component_t");
    made_up_put_text(mpi->memory, component + 4, "u%n%s%1$n\033[");
    made_up_symbol(mpi->memory, "mca_pml_base_selected_component", component);
    set_up();
    CU_ASSERT_EQUAL(mqs_process_has_queues(made_up_process(mpi->memory), &message), mqs_ok);
    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(shown, sizeof shown, message, "a.out");
#pragma GCC diagnostic pop
    CU_ASSERT_STRING_EQUAL(
        shown, "No message queues of a.out: no information: PML u?n?s?1?n??. Run with --mca pml ob1 "
               "to see them.");
    close_process();
}

static void test_waits_of_an_unpatched_library(void)
{
    mqs_pending_operation op;
    mqs_process *process;
    mqs_taddr_t sync;
    mqs_wait wait;

    open_process(&variants[0], 4, 0);
    sync = made_up_new(mpi->memory, "ompi_wait_sync_t");
    made_up_set(mpi->memory, sync, "ompi_wait_sync_t", "count", 2);
    made_up_mpi_request(mpi,
                        &(struct made_up_request){.comm = mpi->world, .peer = 1, .tag = 1, .complete = sync});
    made_up_mpi_request(mpi,
                        &(struct made_up_request){.comm = mpi->world, .peer = 2, .tag = 2, .complete = sync});
    made_up_mpi_request(mpi, &(struct made_up_request){.comm = mpi->world, .peer = 3, .tag = 3});
    set_up();
    process = made_up_process(mpi->memory);
    CU_ASSERT_EQUAL(more->setup_wait_iterator(process), mqs_ok);
    CU_ASSERT_EQUAL(more->next_wait(process, &wait), mqs_ok);
    CU_ASSERT_EQUAL(wait.need, 2);
    CU_ASSERT_EQUAL(wait.operations, 2);
    CU_ASSERT_EQUAL(wait.tid, 0);
    CU_ASSERT_STRING_EQUAL(wait.call, "");
    CU_ASSERT_EQUAL(more->next_wait_operation(process, &op), mqs_ok);
    CU_ASSERT_EQUAL(op.desired_tag, 1);
    CU_ASSERT_EQUAL(more->next_wait_operation(process, &op), mqs_ok);
    CU_ASSERT_EQUAL(op.desired_tag, 2);
    CU_ASSERT_EQUAL(more->next_wait_operation(process, &op), mqs_end_of_list);
    CU_ASSERT_EQUAL(more->next_wait(process, &wait), mqs_end_of_list);
    close_process();
}

/* A patched library's root with one thread in one wait for one request, inside of a collective call or not.
 */
static void wait_for(mqs_taddr_t request, bool in_call)
{
    mqs_taddr_t root = patched_root();
    mqs_taddr_t thread = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_thread));
    mqs_taddr_t wait = thread + offsetof(struct ompi_mqs_thread, stack);

    PUT(root, ompi_mqs_root, threads, thread);
    PUT(thread, ompi_mqs_thread, size, sizeof(struct ompi_mqs_thread));
    PUT(thread, ompi_mqs_thread, tid, 77);
    PUT(thread, ompi_mqs_thread, depth, 1);
    if (in_call) {
        mqs_taddr_t inside = made_up_allocate(mpi->memory, 8);

        PUT(thread, ompi_mqs_thread, inside, inside);
        made_up_put(mpi->memory, inside, 8, root);
    }
    PUT(wait, ompi_mqs_wait, kind, OMPI_MQS_WAIT_REQUEST);
    PUT(wait, ompi_mqs_wait, need, 1);
    PUT(wait, ompi_mqs_wait, requests, request);
}

/* The call itself waits for the requests of its step, the user for the call's request; or, if they are the
   user's own messages, as MPI_Isendrecv's are, for both. */
static void communicator_under_construction(bool in_call, bool exchange)
{
    ALL_VARIANTS
    {
        mqs_pending_operation op;
        mqs_process *process;
        mqs_taddr_t request;
        mqs_taddr_t step;
        mqs_wait wait;

        open_process(v, 4, 0);
        request = made_up_new(mpi->memory, "ompi_comm_request_t");
        step = made_up_new(mpi->memory, "ompi_comm_request_item_t");
        made_up_set(mpi->memory, request, "ompi_request_t", "req_type", 7);
        made_up_set(mpi->memory, step, "ompi_comm_request_item_t", "subreq_count", 2);
        for (int i = 0; i < 2; i++) {
            made_up_put(
                mpi->memory,
                step + (mqs_taddr_t)(made_up_offset(mpi->memory, "ompi_comm_request_item_t", "subreqs") +
                                     i * v->pointer_size),
                v->pointer_size,
                made_up_mpi_request(mpi, &(struct made_up_request){
                                             .comm = mpi->world, .peer = i + 1, .tag = exchange ? 7 : -7}));
        }
        made_up_mpi_empty_list(
            mpi, request + (mqs_taddr_t)made_up_offset(mpi->memory, "ompi_comm_request_t", "schedule"));
        made_up_mpi_append(
            mpi, request + (mqs_taddr_t)made_up_offset(mpi->memory, "ompi_comm_request_t", "schedule"), step);
        wait_for(request, in_call);
        set_up();
        process = made_up_process(mpi->memory);
        CU_ASSERT_EQUAL(more->setup_wait_iterator(process), mqs_ok);
        CU_ASSERT_EQUAL(more->next_wait(process, &wait), mqs_ok);
        CU_ASSERT_EQUAL(wait.need, in_call || exchange ? 2 : 1);
        CU_ASSERT_EQUAL(wait.operations, in_call || exchange ? 2 : 1);
        if (exchange)
            CU_ASSERT_EQUAL(wait.kind, OMPI_MQS_WAIT_ALL);
        if (!in_call)
            CU_ASSERT_STRING_EQUAL(wait.call, "MPI_Wait");
        for (int i = 0; i < wait.operations; i++) {
            CU_ASSERT_EQUAL(more->next_wait_operation(process, &op), mqs_ok);
            if (in_call || exchange)
                CU_ASSERT_EQUAL(op.desired_global_rank, i + 1);
        }
        CU_ASSERT_EQUAL(more->next_wait_operation(process, &op), mqs_end_of_list);
        CU_ASSERT_EQUAL(more->next_wait(process, &wait), mqs_end_of_list);
        close_process();
    }
}

static void test_communicator_under_construction(void)
{
    communicator_under_construction(true, false);
    communicator_under_construction(false, false);
    communicator_under_construction(false, true);
}

int main(void)
{
    CU_pSuite suite;

    CU_initialize_registry();
    suite = CU_add_suite("queues", NULL, NULL);
    CU_ADD_TEST(suite, test_states);
    CU_ADD_TEST(suite, test_posted_order);
    CU_ADD_TEST(suite, test_kinds);
    CU_ADD_TEST(suite, test_datatype_name);
    CU_ADD_TEST(suite, test_internal_traffic_is_apart);
    CU_ADD_TEST(suite, test_probe_on_a_stack);
    CU_ADD_TEST(suite, test_unexpected);
    CU_ADD_TEST(suite, test_other_pml);
    CU_ADD_TEST(suite, test_a_pml_that_is_a_format);
    CU_ADD_TEST(suite, test_waits_of_an_unpatched_library);
    CU_ADD_TEST(suite, test_communicator_under_construction);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    return CU_get_number_of_failures() > 0 || CU_get_error() != CUE_SUCCESS;
}
