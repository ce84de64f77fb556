/* SPDX-License-Identifier: BSD-3-Clause */
/* What the DLL says of communicators, groups and processes, on made-up processes of both word sizes, both
   byte orders and both release lines. */
#include "fixture.h"

static void test_communicators(void)
{
    ALL_VARIANTS
    {
        static const char long_name[] = "a name of more characters than the sixty-three there is room for";
        mqs_communicator comm;
        mqs_process *process;
        char expected[64] = "dup";
        int group[4];

        open_process(v, 4, 2);
        made_up_mpi_communicator(mpi, 5, v->line5 ? long_name : "dup",
                                 made_up_mpi_group(mpi, 2, (mqs_taddr_t[]){mpi->procs[3], mpi->procs[2]}), 0,
                                 1);
        set_up();
        process = made_up_process(mpi->memory);
        CU_ASSERT_EQUAL(mqs_get_communicator(process, &comm), mqs_ok);
        CU_ASSERT_STRING_EQUAL(comm.name, "MPI_COMM_WORLD");
        CU_ASSERT_EQUAL(comm.size, 4);
        CU_ASSERT_EQUAL(comm.local_rank, 2);
        CU_ASSERT_EQUAL(comm.unique_id, 0);
        CU_ASSERT_EQUAL(mqs_get_comm_group(process, group), mqs_ok);
        for (int i = 0; i < 4; i++) {
            CU_ASSERT_EQUAL(group[i], i);
        }
        CU_ASSERT_EQUAL(mqs_next_communicator(process), mqs_ok);
        CU_ASSERT_EQUAL(mqs_get_communicator(process, &comm), mqs_ok);
        CU_ASSERT_STRING_EQUAL(comm.name, "MPI_COMM_SELF");
        CU_ASSERT_EQUAL(mqs_get_comm_group(process, group), mqs_ok);
        CU_ASSERT_EQUAL(group[0], 2);
        CU_ASSERT_EQUAL(mqs_next_communicator(process), mqs_ok);
        CU_ASSERT_EQUAL(mqs_get_communicator(process, &comm), mqs_ok);
        if (v->line5) {
            memcpy(expected, long_name, sizeof expected - 1);
        }
        CU_ASSERT_STRING_EQUAL(comm.name, expected);
        CU_ASSERT_EQUAL(comm.unique_id, 5);
        CU_ASSERT_EQUAL(mqs_get_comm_group(process, group), mqs_ok);
        CU_ASSERT_EQUAL(group[0], 3);
        CU_ASSERT_EQUAL(group[1], 2);
        /* MPI_COMM_NULL is none. */
        CU_ASSERT_EQUAL(mqs_next_communicator(process), mqs_end_of_list);
        CU_ASSERT_EQUAL(mqs_get_communicator(process, &comm), ERROR_NO_COMMUNICATOR);
        close_process();
    }
}

static void test_communicator_made_later(void)
{
    mqs_communicator comm;
    mqs_process *process;

    open_process(&variants[0], 2, 0);
    set_up();
    process = made_up_process(mpi->memory);
    made_up_mpi_communicator(mpi, 3, "later", made_up_mpi_group(mpi, 2, mpi->procs), 0, 0);
    CU_ASSERT_EQUAL(mqs_update_communicator_list(process), mqs_ok);
    CU_ASSERT_EQUAL(mqs_setup_communicator_iterator(process), mqs_ok);
    CU_ASSERT_EQUAL(mqs_next_communicator(process), mqs_ok);
    CU_ASSERT_EQUAL(mqs_next_communicator(process), mqs_ok);
    CU_ASSERT_EQUAL(mqs_get_communicator(process, &comm), mqs_ok);
    CU_ASSERT_STRING_EQUAL(comm.name, "later");
    close_process();
}

static void test_sparse_groups(void)
{
    ALL_VARIANTS
    {
        mqs_taddr_t world_group;
        mqs_taddr_t groups[4];
        mqs_process *process;
        mqs_taddr_t list;
        mqs_taddr_t sparse;
        int ranks[8];

        open_process(v, 16, 0);
        world_group = made_up_mpi_group(mpi, 16, mpi->procs);
        for (int i = 0; i < 4; i++) {
            groups[i] = made_up_mpi_group(mpi, 4, mpi->procs);
            made_up_set(mpi->memory, groups[i], "ompi_group_t", "grp_proc_pointers", 0);
            made_up_set(mpi->memory, groups[i], "ompi_group_t", "grp_parent_group_ptr", world_group);
        }
        /* Ranks 3, 5, 7, 9. */
        made_up_set(mpi->memory, groups[0], "ompi_group_t", "grp_flags", 0x10);
        sparse = groups[0] + (mqs_taddr_t)made_up_offset(mpi->memory, "ompi_group_t", "sparse_data");
        made_up_set(mpi->memory, sparse, "ompi_group_strided_data_t", "grp_strided_offset", 3);
        made_up_set(mpi->memory, sparse, "ompi_group_strided_data_t", "grp_strided_stride", 2);
        /* 2 to 4 and 15. */
        made_up_set(mpi->memory, groups[1], "ompi_group_t", "grp_flags", 0x08);
        sparse = groups[1] + (mqs_taddr_t)made_up_offset(mpi->memory, "ompi_group_t", "sparse_data");
        list = made_up_allocate(mpi->memory, 16);
        made_up_put(mpi->memory, list, 4, 2);
        made_up_put(mpi->memory, list + 4, 4, 3);
        made_up_put(mpi->memory, list + 8, 4, 15);
        made_up_put(mpi->memory, list + 12, 4, 1);
        made_up_set(mpi->memory, sparse, "ompi_group_sporadic_data_t", "grp_sporadic_list", list);
        made_up_set(mpi->memory, sparse, "ompi_group_sporadic_data_t", "grp_sporadic_list_len", 2);
        /* 0, 1, 8, 13. */
        made_up_set(mpi->memory, groups[2], "ompi_group_t", "grp_flags", 0x20);
        sparse = groups[2] + (mqs_taddr_t)made_up_offset(mpi->memory, "ompi_group_t", "sparse_data");
        list = made_up_allocate(mpi->memory, 2);
        made_up_put(mpi->memory, list, 1, 0x03);
        made_up_put(mpi->memory, list + 1, 1, 0x21);
        made_up_set(mpi->memory, sparse, "ompi_group_bitmap_data_t", "grp_bitmap_array", list);
        made_up_set(mpi->memory, sparse, "ompi_group_bitmap_data_t", "grp_bitmap_array_len", 2);
        /* Of the strided one the members 1 and 3, backwards: a sparse group of a sparse group. */
        made_up_set(mpi->memory, groups[3], "ompi_group_t", "grp_flags", 0x10);
        made_up_set(mpi->memory, groups[3], "ompi_group_t", "grp_proc_count", 2);
        made_up_set(mpi->memory, groups[3], "ompi_group_t", "grp_parent_group_ptr", groups[0]);
        sparse = groups[3] + (mqs_taddr_t)made_up_offset(mpi->memory, "ompi_group_t", "sparse_data");
        made_up_set(mpi->memory, sparse, "ompi_group_strided_data_t", "grp_strided_offset", 3);
        made_up_set(mpi->memory, sparse, "ompi_group_strided_data_t", "grp_strided_stride", (uint32_t)-2);
        for (int i = 0; i < 4; i++) {
            made_up_mpi_communicator(mpi, 3 + i, "sparse", groups[i], 0, 0);
        }
        set_up();
        process = made_up_process(mpi->memory);
        mqs_next_communicator(process);
        mqs_next_communicator(process);
        CU_ASSERT_EQUAL(mqs_get_comm_group(process, ranks), mqs_ok);
        CU_ASSERT(memcmp(ranks, (int[]){3, 5, 7, 9}, sizeof(int[4])) == 0);
        mqs_next_communicator(process);
        CU_ASSERT_EQUAL(mqs_get_comm_group(process, ranks), mqs_ok);
        CU_ASSERT(memcmp(ranks, (int[]){2, 3, 4, 15}, sizeof(int[4])) == 0);
        mqs_next_communicator(process);
        CU_ASSERT_EQUAL(mqs_get_comm_group(process, ranks), mqs_ok);
        CU_ASSERT(memcmp(ranks, (int[]){0, 1, 8, 13}, sizeof(int[4])) == 0);
        mqs_next_communicator(process);
        CU_ASSERT_EQUAL(mqs_get_comm_group(process, ranks), mqs_ok);
        CU_ASSERT(memcmp(ranks, (int[]){9, 5}, sizeof(int[2])) == 0);
        close_process();
    }
}

static void test_names(void)
{
    ALL_VARIANTS
    {
        mqs_communicator_details details;
        mqs_process_name names[3];
        mqs_pending_operation op;
        mqs_process *process;
        mqs_taddr_t remote[2];
        mqs_taddr_t local[3];
        mqs_taddr_t inter;
        int ranks[3];

        open_process(v, 70000, 0);
        /* A peer never spoken to is a number that spells its name; a spawned world has another job. */
        local[0] = mpi->procs[0];
        local[1] = made_up_mpi_proc(mpi, MADE_UP_JOBID, 69999, true);
        local[2] = made_up_mpi_proc(mpi, MADE_UP_JOBID, 5, true);
        remote[0] = made_up_mpi_proc(mpi, MADE_UP_JOBID + 1, 0, false);
        remote[1] = made_up_mpi_proc(mpi, MADE_UP_JOBID + 1, 1, v->pointer_size == 8);
        if (v->pointer_size == 4) {
            remote[1] = made_up_mpi_proc(mpi, MADE_UP_JOBID + 1, 1, false);
        }
        inter = made_up_mpi_communicator(mpi, 3, "inter", made_up_mpi_group(mpi, 3, local),
                                         made_up_mpi_group(mpi, 2, remote), 0);
        made_up_mpi_request(mpi, &(struct made_up_request){.comm = inter, .peer = 1, .tag = 1, .count = 1});
        set_up();
        process = made_up_process(mpi->memory);
        mqs_next_communicator(process);
        mqs_next_communicator(process);
        CU_ASSERT_EQUAL(mqs_get_comm_group(process, ranks), mqs_ok);
        CU_ASSERT(memcmp(ranks, (int[]){0, 69999, 5}, sizeof ranks) == 0);
        CU_ASSERT_EQUAL(more->get_communicator_details(process, &details), mqs_ok);
        CU_ASSERT_EQUAL(details.flags, mqs_comm_flag_inter);
        CU_ASSERT_EQUAL(details.remote_size, 2);
        CU_ASSERT_EQUAL(more->get_members(process, 1, names), mqs_ok);
        CU_ASSERT_EQUAL(names[1].jobid, MADE_UP_JOBID + 1);
        CU_ASSERT_EQUAL(names[1].vpid, 1);
        {
            mqs_operation_details op_details;

            CU_ASSERT_EQUAL(operation(mqs_pending_receives, 0, &op, &op_details), mqs_ok);
            CU_ASSERT_EQUAL(op.desired_local_rank, 1);
            CU_ASSERT_EQUAL(op.desired_global_rank, MQS_INVALID_PROCESS);
            CU_ASSERT_EQUAL(op_details.peer_known, 1);
            CU_ASSERT_EQUAL(op_details.peer.jobid, MADE_UP_JOBID + 1);
        }
        close_process();
    }
}

static void test_intercommunicator_hides_one(void)
{
    mqs_communicator_details details;
    mqs_process *process;
    mqs_taddr_t hidden;
    mqs_taddr_t inter;
    mqs_taddr_t group;

    open_process(&variants[1], 4, 0);
    group = made_up_mpi_group(mpi, 2, mpi->procs);
    hidden = made_up_mpi_communicator(mpi, 3, "", group, 0, 0);
    inter = made_up_mpi_communicator(mpi, 4, "inter", group, made_up_mpi_group(mpi, 2, mpi->procs + 2), 0);
    made_up_set(mpi->memory, inter, "ompi_communicator_t", "c_local_comm", hidden);
    made_up_set(mpi->memory, inter, "ompi_communicator_t", "c_flags", 0x11011); /* and freed */
    set_up();
    process = made_up_process(mpi->memory);
    mqs_next_communicator(process);
    mqs_next_communicator(process);
    CU_ASSERT_EQUAL(more->get_communicator_details(process, &details), mqs_ok);
    CU_ASSERT_EQUAL(details.flags, mqs_comm_flag_internal);
    CU_ASSERT_EQUAL(details.parent, inter);
    mqs_next_communicator(process);
    CU_ASSERT_EQUAL(more->get_communicator_details(process, &details), mqs_ok);
    CU_ASSERT_EQUAL(details.flags, mqs_comm_flag_inter | mqs_comm_flag_freed);
    close_process();
}

/* A release may reserve further tags before those of non-blocking collectives: MPI_COMM_NULL has the first
 * one. */
static void test_first_tag_of_the_release(void)
{
    for (int line = 0; line < 2; line++) {
        mqs_communicator_details details;
        mqs_process *process;
        mqs_taddr_t comm;
        mqs_taddr_t null;

        open_process(&variants[line], 4, 0);
        null = made_up_new(mpi->memory, "ompi_communicator_t");
        made_up_set(mpi->memory, null, "ompi_communicator_t", "c_nbc_tag", (uint32_t)-35);
        made_up_symbol(mpi->memory, "ompi_mpi_comm_null", null);
        comm = made_up_mpi_communicator(mpi, 3, "MPI COMMUNICATOR 3 DUP FROM 0",
                                        made_up_mpi_group(mpi, 4, mpi->procs), 0, 0);
        made_up_set(mpi->memory, comm, "ompi_communicator_t", "c_nbc_tag", (uint32_t)-36);
        set_up();
        process = made_up_process(mpi->memory);
        mqs_next_communicator(process);
        mqs_next_communicator(process);
        CU_ASSERT_EQUAL(more->get_communicator_details(process, &details), mqs_ok);
        CU_ASSERT_EQUAL(details.handle, comm);
        CU_ASSERT_EQUAL(details.nonblocking, 1);
        close_process();
    }
}

static void test_session_id(void)
{
    mqs_communicator comm;
    mqs_process *process;
    mqs_taddr_t made;
    mqs_taddr_t first = 0;

    /* The index differs between members; the extended id is the same. */
    for (int index = 3; index < 5; index++) {
        open_process(&variants[1], 4, 0);
        made = made_up_mpi_communicator(mpi, index, "session's", made_up_mpi_group(mpi, 2, mpi->procs), 0, 0);
        made_up_set(mpi->memory, made, "ompi_communicator_t", "c_flags", 0x1000);
        made_up_set(mpi->memory,
                    made + (mqs_taddr_t)made_up_offset(mpi->memory, "ompi_communicator_t", "c_contextid"),
                    "ompi_comm_extended_cid_t", "cid_base", 0xfffffffe);
        made_up_set(mpi->memory,
                    made + (mqs_taddr_t)made_up_offset(mpi->memory, "ompi_communicator_t", "c_contextid"),
                    "ompi_comm_extended_cid_t", "cid_sub", 0);
        set_up();
        process = made_up_process(mpi->memory);
        mqs_next_communicator(process);
        mqs_next_communicator(process);
        CU_ASSERT_EQUAL(mqs_get_communicator(process, &comm), mqs_ok);
        if (first == 0) {
            first = comm.unique_id;
        }
        CU_ASSERT_EQUAL(comm.unique_id, first);
        CU_ASSERT(comm.unique_id > 0xffff);
        close_process();
    }
}

static void test_two_processes_at_once(void)
{
    struct made_up_mpi *first;
    mqs_communicator comm;

    open_process(&variants[0], 3, 0);
    first = mpi;
    set_up();
    open_process(&variants[3], 5, 1);
    set_up();
    CU_ASSERT_EQUAL(mqs_next_communicator(made_up_process(first->memory)), mqs_ok);
    CU_ASSERT_EQUAL(mqs_get_communicator(made_up_process(mpi->memory), &comm), mqs_ok);
    CU_ASSERT_EQUAL(comm.size, 5);
    CU_ASSERT_EQUAL(mqs_get_communicator(made_up_process(first->memory), &comm), mqs_ok);
    CU_ASSERT_STRING_EQUAL(comm.name, "MPI_COMM_SELF");
    made_up_close(first->memory);
    CU_ASSERT_EQUAL(mqs_next_communicator(made_up_process(mpi->memory)), mqs_ok);
    made_up_mpi_destroy(first);
    close_process();
}

static void test_stripped_and_unpatched(void)
{
    char *message = NULL;

    open_process(&variants[0], 2, 0);
    made_up_strip(mpi->memory);
    CU_ASSERT_EQUAL(made_up_open(mpi->memory), ERROR_LAYOUT);
    CU_ASSERT_EQUAL(mqs_process_has_queues(made_up_process(mpi->memory), &message), ERROR_LAYOUT);
    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    CU_ASSERT(strstr(message, "ompi_communicator_t") != NULL);
    CU_ASSERT(strstr(message, "%s") != NULL);
    close_process();
}

int main(void)
{
    CU_pSuite suite;

    CU_initialize_registry();
    suite = CU_add_suite("communicators", NULL, NULL);
    CU_ADD_TEST(suite, test_communicators);
    CU_ADD_TEST(suite, test_communicator_made_later);
    CU_ADD_TEST(suite, test_sparse_groups);
    CU_ADD_TEST(suite, test_names);
    CU_ADD_TEST(suite, test_intercommunicator_hides_one);
    CU_ADD_TEST(suite, test_first_tag_of_the_release);
    CU_ADD_TEST(suite, test_session_id);
    CU_ADD_TEST(suite, test_two_processes_at_once);
    CU_ADD_TEST(suite, test_stripped_and_unpatched);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    return CU_get_number_of_failures() > 0 || CU_get_error() != CUE_SUCCESS;
}
