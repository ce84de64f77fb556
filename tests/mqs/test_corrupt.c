/* SPDX-License-Identifier: BSD-3-Clause */
/* Broken memory: each way of breaking it ends in a code that has a sentence, in bounded time and memory. */
#include <CUnit/Basic.h>
#include <string.h>

#include "error.h"
#include "made_up_mpi.h"
#include "mqs_extensions.h"
#include "ompi_mqs.h"
#include "scenes.h"
#include "walk.h"

static struct made_up_mpi *mpi;

static void start(void)
{
    mpi = made_up_mpi_create(8, false, false, 4, 0, 80);
    made_up_counts()->peak = 0;
}

static void put(mqs_taddr_t address, const char *structure, const char *member, uint64_t value)
{
    made_up_set(mpi->memory, address, structure, member, value);
}

static int at(const char *structure, const char *member)
{
    return made_up_offset(mpi->memory, structure, member);
}

/* Opens, walks all there is and closes; the first code that is neither fine nor the end. */
static int finish(void)
{
    int code = made_up_open(mpi->memory);

    if (code == mqs_ok) {
        code = walk_all(mpi->memory);
    }
    CU_ASSERT(strlen(mqs_dll_error_string(code)) >= 8);
    made_up_close(mpi->memory);
    CU_ASSERT_EQUAL(made_up_counts()->blocks, 0);
    CU_ASSERT(made_up_counts()->peak < 64u << 20);
    made_up_mpi_destroy(mpi);
    return code;
}

static void test_whole(void)
{
    start();
    CU_ASSERT_EQUAL(finish(), mqs_ok);
}

static void test_communicator_table(void)
{
    start();
    put(mpi->table, "opal_pointer_array_t", "size", 0x7fffffff);
    CU_ASSERT_EQUAL(finish(), ERROR_COMMUNICATOR_LIST);
    start();
    put(mpi->table, "opal_pointer_array_t", "size", (uint32_t)-1);
    CU_ASSERT_EQUAL(finish(), ERROR_COMMUNICATOR_LIST);
    start();
    put(mpi->table, "opal_pointer_array_t", "addr", 0xdead0000);
    CU_ASSERT_EQUAL(finish(), ERROR_READ);
    start();
    made_up_put(mpi->memory, mpi->table_array + 8 * 7, 8, (uint64_t)-8);
    CU_ASSERT_EQUAL(finish(), ERROR_READ);
}

static void test_groups(void)
{
    mqs_taddr_t group;

    start();
    group = made_up_mpi_group(mpi, 2, mpi->procs);
    put(group, "ompi_group_t", "grp_proc_count", 0x40000000);
    made_up_mpi_communicator(mpi, 3, "huge", made_up_mpi_group(mpi, 1, mpi->procs), 0, 0);
    put(made_up_mpi_communicator(mpi, 4, "huge", made_up_mpi_group(mpi, 1, mpi->procs), 0, 0),
        "ompi_communicator_t", "c_local_group", group);
    CU_ASSERT_EQUAL(finish(), ERROR_GROUP);

    start();
    group = made_up_mpi_group(mpi, 2, mpi->procs);
    put(group, "ompi_group_t", "grp_flags", 0x10);
    put(group, "ompi_group_t", "grp_parent_group_ptr", group); /* its own parent, for ever */
    put(group + (mqs_taddr_t)at("ompi_group_t", "sparse_data"), "ompi_group_strided_data_t",
        "grp_strided_stride", 1);
    made_up_mpi_communicator(mpi, 3, "loop", group, 0, 0);
    CU_ASSERT_EQUAL(finish(), ERROR_GROUP);

    start();
    group = made_up_mpi_group(mpi, 2, mpi->procs);
    put(group, "ompi_group_t", "grp_flags", 0x20);
    put(group, "ompi_group_t", "grp_parent_group_ptr", made_up_mpi_group(mpi, 4, mpi->procs));
    put(group + (mqs_taddr_t)at("ompi_group_t", "sparse_data"), "ompi_group_bitmap_data_t",
        "grp_bitmap_array_len", 1 << 30);
    made_up_mpi_communicator(mpi, 3, "bits", group, 0, 0);
    CU_ASSERT_EQUAL(finish(), ERROR_GROUP);
}

static void test_request_lists(void)
{
    mqs_taddr_t chunks;
    mqs_taddr_t first;

    start();
    put(mpi->sends, "opal_free_list_t", "fl_frag_alignment", 0); /* as PML ucx leaves it */
    CU_ASSERT_EQUAL(finish(), ERROR_REQUESTS);
    start();
    put(mpi->sends, "opal_free_list_t", "fl_num_allocated", (uint64_t)-1);
    CU_ASSERT_EQUAL(finish(), ERROR_TOO_MANY);
    start();
    put(mpi->sends, "opal_free_list_t", "fl_frag_size", 8);
    CU_ASSERT_EQUAL(finish(), ERROR_REQUESTS);
    start();
    put(mpi->sends, "opal_free_list_t", "fl_num_allocated", 1 << 19); /* more than is mapped */
    CU_ASSERT_EQUAL(finish(), ERROR_READ);

    start();
    chunks = mpi->receives + (mqs_taddr_t)at("opal_free_list_t", "fl_allocations");
    first = made_up_get(mpi->memory,
                        chunks + (mqs_taddr_t)at("opal_list_t", "opal_list_sentinel") +
                            (mqs_taddr_t)at("opal_list_item_t", "opal_list_next"),
                        8);
    put(first, "opal_list_item_t", "opal_list_next", first); /* a cycle past the sentinel */
    CU_ASSERT_EQUAL(finish(), ERROR_REQUESTS);
}

static void test_posted_cycle(void)
{
    mqs_taddr_t request;
    mqs_taddr_t peer;

    start();
    request = made_up_mpi_request(mpi, &(struct made_up_request){.comm = mpi->world, .peer = 1, .tag = 1});
    peer = made_up_mpi_peer(mpi, mpi->world, 1);
    made_up_mpi_append(mpi, peer + (mqs_taddr_t)at("mca_pml_ob1_comm_proc_t", "specific_receives"), request);
    put(request, "opal_list_item_t", "opal_list_next", request);
    CU_ASSERT_EQUAL(finish(), ERROR_POSTED);
}

static void test_unexpected(void)
{
    mqs_taddr_t fragment;
    mqs_taddr_t peer;

    start();
    fragment = made_up_mpi_message(mpi, mpi->world, 1, 1, 10, 1);
    put(fragment, "opal_list_item_t", "opal_list_next", fragment);
    CU_ASSERT_EQUAL(finish(), ERROR_UNEXPECTED);
    start();
    fragment = made_up_mpi_message(mpi, mpi->world, 1, 1, 10, 1);
    put(fragment + (mqs_taddr_t)at("mca_pml_ob1_recv_frag_t", "hdr"), "mca_pml_ob1_common_hdr_t", "hdr_type",
        99);
    CU_ASSERT_EQUAL(finish(), ERROR_UNEXPECTED);
    start();
    fragment = made_up_mpi_message(mpi, mpi->world, 1, 1, 10, 1);
    put(fragment + (mqs_taddr_t)at("mca_pml_ob1_recv_frag_t", "segments"), "mca_btl_base_segment_t",
        "seg_len", 3);
    CU_ASSERT_EQUAL(finish(), ERROR_UNEXPECTED);

    /* A ring that never comes back to its head; a range that hangs on itself. */
    start();
    peer = made_up_mpi_peer(mpi, mpi->world, 1);
    fragment = made_up_mpi_fragment(mpi, 1, 1, 1, 5);
    put(peer, "mca_pml_ob1_comm_proc_t", "frags_cant_match", made_up_mpi_fragment(mpi, 1, 1, 1, 7));
    put(made_up_get(mpi->memory, peer + (mqs_taddr_t)at("mca_pml_ob1_comm_proc_t", "frags_cant_match"), 8),
        "opal_list_item_t", "opal_list_next", fragment);
    CU_ASSERT_EQUAL(finish(), ERROR_UNEXPECTED);
    start();
    peer = made_up_mpi_peer(mpi, mpi->world, 1);
    fragment = made_up_mpi_fragment(mpi, 1, 1, 1, 5);
    put(fragment, "mca_pml_ob1_recv_frag_t", "range", fragment);
    put(peer, "mca_pml_ob1_comm_proc_t", "frags_cant_match", fragment);
    CU_ASSERT_EQUAL(finish(), mqs_ok); /* one message, twice: bounded, and nobody can tell */
    start();
    put(mpi->world, "ompi_communicator_t", "c_pml_comm", 0x123456789);
    CU_ASSERT_EQUAL(finish(), ERROR_READ);
}

static void test_members_outside_their_structure(void)
{
    start();
    made_up_remove_type(mpi->memory, "opal_proc_t");
    made_up_structure(mpi->memory, "opal_proc_t");
    made_up_member(mpi->memory, "proc_name", "4");
    CU_ASSERT_EQUAL(finish(), ERROR_LAYOUT);
}

/* A root of a patched library, valid but for what the test breaks. */
static mqs_taddr_t root(void)
{
    mqs_taddr_t address = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_root));

    made_up_put_bytes(mpi->memory, address, OMPI_MQS_MAGIC, 8);
#define PUT(member, value)                                                     \
    made_up_put(mpi->memory, address + offsetof(struct ompi_mqs_root, member), \
                (int)sizeof(((struct ompi_mqs_root *)0)->member), value)
    PUT(byte_order, OMPI_MQS_BYTE_ORDER);
    PUT(version_major, OMPI_MQS_VERSION_MAJOR);
    PUT(size, sizeof(struct ompi_mqs_root));
    PUT(pointer_size, 8);
    PUT(recording, 1);
    PUT(phase, OMPI_MQS_PHASE_RUNNING);
    PUT(jobid, MADE_UP_JOBID);
    PUT(world_size, 4);
    made_up_symbol(mpi->memory, "ompi_mqs_root", address);
    return address;
}

static void put_root(mqs_taddr_t address, size_t offset, int width, uint64_t value)
{
    made_up_put(mpi->memory, address + offset, width, value);
}

static void test_root(void)
{
    mqs_taddr_t thread;
    mqs_taddr_t table;
    mqs_taddr_t address;

    start();
    root();
    CU_ASSERT_EQUAL(finish(), mqs_ok);
    start();
    put_root(root(), offsetof(struct ompi_mqs_root, version_major), 2, OMPI_MQS_VERSION_MAJOR + 1);
    CU_ASSERT_EQUAL(finish(), ERROR_ROOT_VERSION);
    start();
    put_root(root(), offsetof(struct ompi_mqs_root, magic), 1, 'X');
    CU_ASSERT_EQUAL(finish(), ERROR_ROOT_CORRUPT);
    start();
    put_root(root(), offsetof(struct ompi_mqs_root, byte_order), 4, 0x04030201);
    CU_ASSERT_EQUAL(finish(), ERROR_ROOT_CORRUPT);
    start();
    put_root(root(), offsetof(struct ompi_mqs_root, size), 4, 12);
    CU_ASSERT_EQUAL(finish(), ERROR_ROOT_CORRUPT);
    start();
    put_root(root(), offsetof(struct ompi_mqs_root, tables), 8, 0xdead);
    CU_ASSERT_EQUAL(finish(), ERROR_READ);

    /* Threads and tables that follow themselves. */
    start();
    address = root();
    thread = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_thread));
    put_root(thread, offsetof(struct ompi_mqs_thread, next), 8, thread);
    put_root(thread, offsetof(struct ompi_mqs_thread, size), 4, sizeof(struct ompi_mqs_thread));
    put_root(address, offsetof(struct ompi_mqs_root, threads), 8, thread);
    CU_ASSERT_EQUAL(finish(), ERROR_WAITS);
    start();
    address = root();
    table = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_table));
    put_root(table, offsetof(struct ompi_mqs_table, next), 8, table);
    put_root(table, offsetof(struct ompi_mqs_table, size), 4, sizeof(struct ompi_mqs_table));
    put_root(address, offsetof(struct ompi_mqs_root, tables), 8, table);
    CU_ASSERT_EQUAL(finish(), ERROR_ROOT_CORRUPT);
}

/* A process that runs while it is read: its lists and counts change between any two reads. */
static void test_moving(void)
{
    unsigned failed = 0;

    for (uint64_t seed = 1; seed <= 400; seed++) {
        start();
        made_up_set_gap(mpi->memory, 4096); /* so that much is read bit by bit */
        for (int i = 0; i < 20; i++) {
            made_up_mpi_request(mpi,
                                &(struct made_up_request){
                                    .send = i % 2 == 0, .comm = mpi->world, .peer = 1 + i % 2, .tag = i});
            made_up_mpi_message(mpi, mpi->world, 1 + i % 3, i, 10, 1 + i / 3);
        }
        root();
        made_up_run(mpi->memory, seed);
        failed += finish() != mqs_ok;
    }
    CU_ASSERT(failed > 50); /* it does move */
}

/* A list that ends, or turns back, before it has the length that it gives is as long as it is. */
static void test_truncated(void)
{
    mqs_taddr_t peer;
    mqs_taddr_t sentinel;

    start();
    made_up_mpi_message(mpi, mpi->world, 1, 1, 10, 1);
    made_up_mpi_message(mpi, mpi->world, 1, 2, 10, 2);
    peer =
        made_up_mpi_peer(mpi, mpi->world, 1) + (mqs_taddr_t)at("mca_pml_ob1_comm_proc_t", "unexpected_frags");
    sentinel = peer + (mqs_taddr_t)at("opal_list_t", "opal_list_sentinel");
    put(sentinel, "opal_list_item_t", "opal_list_next", 0);
    CU_ASSERT_EQUAL(finish(), ERROR_UNEXPECTED);
    start();
    made_up_mpi_message(mpi, mpi->world, 1, 1, 10, 1);
    made_up_mpi_message(mpi, mpi->world, 1, 2, 10, 2);
    peer =
        made_up_mpi_peer(mpi, mpi->world, 1) + (mqs_taddr_t)at("mca_pml_ob1_comm_proc_t", "unexpected_frags");
    sentinel = peer + (mqs_taddr_t)at("opal_list_t", "opal_list_sentinel");
    put(sentinel, "opal_list_item_t", "opal_list_next", sentinel);
    CU_ASSERT_EQUAL(finish(), mqs_ok);
}

/* A walk through a scene; the n-th allocation fails (0: none), and if not once, all after it.  *told is what
   was told, 0 if nothing was. */
static int walk_without_memory(int scene, unsigned long n, bool once, uint64_t *told)
{
    struct made_up *process = scene_get(scene);
    made_up_fail_after(n, once);
    int code = made_up_open(process);
    bool open = code == mqs_ok;
    if (open) {
        code = walk_all(process);
    }
    made_up_fail_after(0, false);
    *told = open ? walk_told() : 0;
    made_up_close(process);
    CU_ASSERT_EQUAL(made_up_counts()->blocks, 0);
    return code;
}

/* What memory is missing for is an error, never a shorter list. */
static void test_out_of_memory(void)
{
    for (int scene = 0; scene < SCENES_MADE_UP; scene++) {
        uint64_t whole = 0;
        unsigned long failed[2] = {0, 0};
        CU_ASSERT_EQUAL(walk_without_memory(scene, 0, false, &whole), mqs_ok);
        for (unsigned long n = 1; n < 1000; n++) {
            for (int once = 0; once <= 1; once++) {
                uint64_t told = 0;
                int code = walk_without_memory(scene, n, once, &told);
                failed[once] += code != mqs_ok;
                CU_ASSERT(code != mqs_ok || told == whole);
                if (code == mqs_ok && told != whole) {
                    printf("scene %d: allocation %lu is missed by nobody\n", scene, n);
                }
            }
        }
        CU_ASSERT(failed[0] > 30);
        CU_ASSERT(failed[1] > 30);
    }
}

static void test_wrong_calls(void)
{
    const mqs_extensions *more = mqs_get_extensions();
    mqs_collective_call call;
    mqs_operation_details details;
    mqs_pending_operation op;
    mqs_communicator comm;
    mqs_process *process;
    mqs_wait wait;

    start();
    CU_ASSERT_EQUAL(made_up_open(mpi->memory), mqs_ok);
    process = made_up_process(mpi->memory);
    CU_ASSERT_EQUAL(mqs_get_communicator(process, &comm), ERROR_NO_COMMUNICATOR);
    CU_ASSERT_EQUAL(mqs_next_communicator(process), ERROR_NO_COMMUNICATOR);
    CU_ASSERT_EQUAL(mqs_setup_operation_iterator(process, mqs_pending_sends), ERROR_NO_COMMUNICATOR);
    CU_ASSERT_EQUAL(mqs_next_operation(process, &op), ERROR_ORDER);
    CU_ASSERT_EQUAL(more->next_call(process, &call), ERROR_ORDER);
    CU_ASSERT_EQUAL(more->next_wait(process, &wait), ERROR_ORDER);
    CU_ASSERT_EQUAL(more->next_wait_operation(process, &op), ERROR_ORDER);
    CU_ASSERT_EQUAL(more->get_operation_details(process, &details), ERROR_ORDER);
    CU_ASSERT_EQUAL(mqs_setup_communicator_iterator(process), mqs_ok);
    CU_ASSERT_EQUAL(mqs_setup_operation_iterator(process, 17), ERROR_ARGUMENT);
    CU_ASSERT_EQUAL(mqs_get_communicator(NULL, &comm), ERROR_ARGUMENT);
    CU_ASSERT_EQUAL(mqs_get_communicator(process, NULL), ERROR_ARGUMENT);
    mqs_destroy_process_info(NULL);
    mqs_destroy_image_info(NULL);
    made_up_close(mpi->memory);
    made_up_mpi_destroy(mpi);
}

int main(void)
{
    CU_pSuite suite;

    CU_initialize_registry();
    suite = CU_add_suite("corrupt", NULL, NULL);
    CU_ADD_TEST(suite, test_whole);
    CU_ADD_TEST(suite, test_communicator_table);
    CU_ADD_TEST(suite, test_groups);
    CU_ADD_TEST(suite, test_request_lists);
    CU_ADD_TEST(suite, test_posted_cycle);
    CU_ADD_TEST(suite, test_unexpected);
    CU_ADD_TEST(suite, test_members_outside_their_structure);
    CU_ADD_TEST(suite, test_root);
    CU_ADD_TEST(suite, test_moving);
    CU_ADD_TEST(suite, test_truncated);
    CU_ADD_TEST(suite, test_out_of_memory);
    CU_ADD_TEST(suite, test_wrong_calls);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    return CU_get_number_of_failures() > 0 || CU_get_error() != CUE_SUCCESS;
}
