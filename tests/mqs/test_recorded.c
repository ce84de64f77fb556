/* SPDX-License-Identifier: BSD-3-Clause */
/* The DLL on transcripts of real processes (transcript.h): what rank 0 of programs/everything.c is in. */
#include <CUnit/Basic.h>
#include <string.h>

#include "error.h"
#include "made_up.h"
#include "mqs_extensions.h"
#include "transcript.h"
#include "walk.h"

struct expected {
    const char *comm;
    int class_;
    int status;
    int peer; /* world rank, -1 any */
    int tag;
    int bytes;
    int kind;
    int flags;
};

static const struct expected expected[] = {
    {"MPI_COMM_WORLD", mqs_pending_sends, mqs_st_pending, 1, 3, 1200000, mqs_kind_send, 0},
    {"MPI_COMM_WORLD", mqs_pending_sends, mqs_st_pending, 1, 4, 12, mqs_kind_ssend, 0},
    {"MPI_COMM_WORLD", mqs_pending_receives, mqs_st_complete, 1, 9, 8, mqs_kind_receive, 0},
    {"MPI_COMM_WORLD", mqs_pending_receives, mqs_st_pending, 1, 7, 80, mqs_kind_receive, 0},
    {"MPI_COMM_WORLD", mqs_pending_receives, mqs_st_complete, 1, 5, 20, mqs_kind_receive,
     mqs_operation_persistent | mqs_operation_inactive},
    {"MPI_COMM_WORLD", mqs_unexpected_messages, mqs_st_pending, 1, 1, 20, mqs_kind_message,
     mqs_operation_eager},
    {"MPI_COMM_WORLD", mqs_unexpected_messages, mqs_st_pending, 1, 2, 1200000, mqs_kind_message, 0},
    {"bridge", mqs_pending_receives, mqs_st_pending, 1, 8, 80, mqs_kind_receive, 0},
};

static int find_communicator(mqs_process *process, const char *name)
{
    mqs_communicator comm;
    int code = mqs_setup_communicator_iterator(process);

    while (code == mqs_ok) {
        CU_ASSERT_EQUAL(mqs_get_communicator(process, &comm), mqs_ok);
        if (strcmp(comm.name, name) == 0) {
            return 1;
        }
        code = mqs_next_communicator(process);
    }
    return 0;
}

static void test_queues(void)
{
    for (const struct transcript *transcript = transcripts; transcript->name != NULL; transcript++) {
        struct made_up *made_up = made_up_from_transcript(transcript->text);
        mqs_process *process = made_up_process(made_up);

        CU_ASSERT_EQUAL_FATAL(made_up_open(made_up), mqs_ok);
        for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
            const struct expected *e = &expected[i];
            mqs_operation_details details;
            mqs_pending_operation op;
            int found = 0;

            CU_ASSERT_FATAL(find_communicator(process, e->comm));
            CU_ASSERT_EQUAL_FATAL(mqs_setup_operation_iterator(process, e->class_), mqs_ok);
            while (mqs_next_operation(process, &op) == mqs_ok) {
                if (op.desired_tag == e->tag) {
                    found++;
                    CU_ASSERT_EQUAL(mqs_get_extensions()->get_operation_details(process, &details), mqs_ok);
                    CU_ASSERT_EQUAL(op.status, e->status);
                    CU_ASSERT_EQUAL(op.desired_global_rank, e->peer);
                    CU_ASSERT_EQUAL(op.desired_length, e->bytes);
                    CU_ASSERT_EQUAL(details.kind, e->kind);
                    CU_ASSERT_EQUAL(details.flags, e->flags);
                }
            }
            CU_ASSERT_EQUAL(found, 1);
        }
        made_up_close(made_up);
        made_up_destroy(made_up);
    }
}

static void test_waits_and_calls(void)
{
    const mqs_extensions *more = mqs_get_extensions();

    for (const struct transcript *transcript = transcripts; transcript->name != NULL; transcript++) {
        struct made_up *made_up = made_up_from_transcript(transcript->text);
        mqs_process *process = made_up_process(made_up);
        bool patched = strstr(transcript->name, " patched") != NULL;
        bool stripped = strstr(transcript->name, " stripped") != NULL;
        mqs_layout_details layout;
        mqs_process_identity identity;
        mqs_collective_call call;
        mqs_pending_operation op;
        int active;
        int count;
        mqs_wait wait;

        CU_ASSERT_EQUAL_FATAL(made_up_open(made_up), mqs_ok);
        CU_ASSERT_EQUAL(more->get_identity(process, &identity), mqs_ok);
        CU_ASSERT_EQUAL(more->get_layout(process, &layout), mqs_ok);
        CU_ASSERT_EQUAL(layout.source, stripped  ? mqs_layout_built_in
                                       : patched ? mqs_layout_tables
                                                 : mqs_layout_debug_info);
        CU_ASSERT_EQUAL(layout.failed, 0);
        CU_ASSERT_EQUAL(identity.world_size, 4);
        CU_ASSERT_EQUAL(identity.name.vpid, 0);
        CU_ASSERT(strncmp(identity.library + strlen("Open MPI "), transcript->name, 3) == 0);
        CU_ASSERT_FATAL(find_communicator(process, "MPI_COMM_WORLD"));
        CU_ASSERT_EQUAL(more->setup_call_iterator(process, mqs_calls_outstanding), mqs_ok);
        CU_ASSERT_EQUAL(more->next_call(process, &call), mqs_ok);
        CU_ASSERT(call.request != 0);
        CU_ASSERT_EQUAL(more->next_call(process, &call), mqs_end_of_list);
        if (!patched) {
            CU_ASSERT_EQUAL(mqs_get_comm_coll_state(process, mqs_comm_barrier, &count, &active),
                            mqs_no_information);
            CU_ASSERT_EQUAL(more->setup_call_iterator(process, mqs_calls_recent), mqs_no_information);
        } else {
            CU_ASSERT_EQUAL(mqs_get_comm_coll_state(process, mqs_comm_broadcast, &count, &active), mqs_ok);
            CU_ASSERT_EQUAL(count, 1);
            CU_ASSERT_EQUAL(active, 1);
            CU_ASSERT_EQUAL(more->setup_call_iterator(process, mqs_calls_recent), mqs_ok);
            CU_ASSERT_EQUAL(more->next_call(process, &call), mqs_ok);
            CU_ASSERT_STRING_EQUAL(more->coll_name(call.collective), "MPI_Bcast");
            CU_ASSERT_EQUAL(call.done, 0);
            CU_ASSERT_EQUAL(call.bytes, 40);
            CU_ASSERT_EQUAL(call.root, 1);
            CU_ASSERT_EQUAL(more->setup_wait_iterator(process), mqs_ok);
            CU_ASSERT_EQUAL(more->next_wait(process, &wait), mqs_ok);
            CU_ASSERT_STRING_EQUAL(wait.call, "MPI_Bcast");
            CU_ASSERT_EQUAL(more->next_wait_operation(process, &op), mqs_ok);
            CU_ASSERT_EQUAL(op.status, mqs_st_pending);
        }
        made_up_close(made_up);
        made_up_destroy(made_up);
    }
}

static void test_everything_can_be_read(void)
{
    for (const struct transcript *transcript = transcripts; transcript->name != NULL; transcript++) {
        struct made_up *made_up = made_up_from_transcript(transcript->text);

        CU_ASSERT_EQUAL_FATAL(made_up_open(made_up), mqs_ok);
        CU_ASSERT_EQUAL(walk_all(made_up), mqs_ok);
        made_up_close(made_up);
        CU_ASSERT_EQUAL(made_up_counts()->blocks, 0);
        made_up_destroy(made_up);
    }
}

int main(void)
{
    CU_pSuite suite;

    CU_initialize_registry();
    suite = CU_add_suite("recorded", NULL, NULL);
    CU_ADD_TEST(suite, test_queues);
    CU_ADD_TEST(suite, test_waits_and_calls);
    CU_ADD_TEST(suite, test_everything_can_be_read);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    return CU_get_number_of_failures() > 0 || CU_get_error() != CUE_SUCCESS;
}
