/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "mqs_extensions.h"
#include "walk.h"

/* No test has more; a DLL that goes on for ever is told by this. */
#define ENOUGH 5000000

static int worst;
static uint64_t told;

static void hear(uint64_t value)
{
    told = (told ^ value) * UINT64_C(0x100000001b3);
}

static int note(int code)
{
    hear((uint64_t)code);
    if (worst == mqs_ok && code != mqs_end_of_list && code != mqs_no_information) {
        worst = code;
    }
    return code;
}

static void check(int fine)
{
    if (!fine) {
        abort();
    }
}

/* What a debugger asks of handles that it found: wrong ones, too, so any answer will do. */
static void walk_handles(mqs_process *process, const mqs_extensions *more, mqs_taddr_t request,
                         mqs_taddr_t datatype)
{
    mqs_datatype_details details;
    mqs_process_name names[16];
    mqs_status_details status;
    mqs_datatype_block block;
    mqs_pending_operation op;
    char name[64];
    int size;

    more->get_handle_name(process, datatype, name);
    more->get_request(process, request, &op);
    more->get_request(process, datatype, &op);
    more->get_group(process, request, 16, names, &size);
    more->get_status(process, request, &status);
    if (more->setup_datatype_iterator(process, datatype, &details) == mqs_ok) {
        for (int i = 0; i < 1000 && more->next_datatype_block(process, &block) == mqs_ok; i++) {
            check(memchr(details.text, '\0', sizeof details.text) != NULL);
        }
    }
}

static void walk_operations(mqs_process *process, int class_, const mqs_extensions *more)
{
    mqs_operation_details details;
    mqs_partitions partitions;
    mqs_pending_operation op;
    long count = 0;

    if (note(mqs_setup_operation_iterator(process, class_)) != mqs_ok) {
        return;
    }
    while (note(mqs_next_operation(process, &op)) == mqs_ok) {
        check(++count < ENOUGH);
        check(op.status >= mqs_st_pending && op.status <= mqs_st_complete);
        hear((uint64_t)op.desired_local_rank);
        hear((uint64_t)op.desired_tag);
        hear((uint64_t)op.buffer);
        if (more == NULL || note(more->get_operation_details(process, &details)) != mqs_ok) {
            continue;
        }
        if (more->get_partitions != NULL && note(more->get_partitions(process, &partitions)) == mqs_ok) {
            check(memchr(partitions.which, '\0', sizeof partitions.which) != NULL);
            hear((uint64_t)partitions.missing);
            hear((uint64_t)partitions.inner);
        }
        if (count < 8 && more->get_handle_name != NULL) {
            walk_handles(process, more, details.request, details.datatype);
        }
    }
}

static void walk_calls(mqs_process *process, int (*next)(mqs_process *, mqs_collective_call *))
{
    mqs_collective_call call;
    long count = 0;

    while (note(next(process, &call)) == mqs_ok) {
        check(++count < ENOUGH);
    }
}

/* Of the channel returned last: the recorder's alone. */
static void walk_counts(mqs_process *process, const mqs_extensions *more)
{
    mqs_channel_counts counts;

    for (int received = 0; received < 2 && more->get_channel_counts != NULL; received++) {
        if (note(more->get_channel_counts(process, received, &counts)) == mqs_ok) {
            check(counts.tag_count >= 0 && counts.tag_count <= MQS_CHANNEL_TAGS);
            check(counts.cell_count == 0 || counts.cell_count == MQS_CHANNEL_CELLS);
        }
    }
}

static void walk_history(mqs_process *process, const mqs_extensions *more)
{
    mqs_past_call call;
    long count = 0;

    if (more->setup_history_iterator == NULL || note(more->setup_history_iterator(process)) != mqs_ok) {
        return;
    }
    while (note(more->next_past_call(process, &call)) == mqs_ok) {
        check(++count < ENOUGH);
        check(memchr(call.call, '\0', sizeof call.call) != NULL);
        check(call.peer_local >= mqs_past_proc_null && call.tag >= mqs_past_any);
        hear((uint64_t)call.bytes);
    }
}

static void walk_facts(mqs_process *process, const mqs_extensions *more)
{
    mqs_fact fact;
    long count = 0;

    if (more->setup_fact_iterator == NULL || note(more->setup_fact_iterator(process)) != mqs_ok) {
        return;
    }
    while (note(more->next_fact(process, &fact)) == mqs_ok) {
        check(++count < ENOUGH);
    }
}

static void walk_communicator(mqs_process *process, const mqs_extensions *more)
{
    mqs_communicator_origin origin;
    mqs_communicator_details details;
    mqs_process_name *names;
    mqs_communicator comm;
    mqs_channel channel;
    int active;
    int *group;

    if (note(mqs_get_communicator(process, &comm)) != mqs_ok) {
        return;
    }
    check(comm.size >= 0 && comm.size < 1 << 24);
    hear((uint64_t)comm.size);
    group = calloc((size_t)comm.size + 1, sizeof *group);
    check(group != NULL);
    note(mqs_get_comm_group(process, group));
    for (int i = 0; i < (int)comm.size; i++) {
        hear((uint64_t)group[i]);
    }
    free(group);
    for (int class_ = mqs_pending_sends; class_ <= mqs_unexpected_messages; class_++) {
        walk_operations(process, class_, more);
    }
    for (int i = 0, code = mqs_ok; code == mqs_ok && i < 8192; i++) {
        int count;

        code = note(mqs_get_comm_coll_state(process, i, &count, &active));
    }
    if (more == NULL || note(more->get_communicator_details(process, &details)) != mqs_ok) {
        return;
    }
    check(details.remote_size >= 0 && details.remote_size < 1 << 24);
    names = malloc(((size_t)(comm.size > details.remote_size ? comm.size : details.remote_size) + 1) *
                   sizeof *names);
    check(names != NULL);
    note(more->get_members(process, 0, names));
    note(more->get_members(process, 1, names));
    free(names);
    if (more->get_communicator_origin != NULL) {
        note(more->get_communicator_origin(process, &origin));
    }
    if (more->get_sources != NULL) {
        mqs_source sources[16];
        int count;

        note(more->get_sources(process, 16, sources, &count));
    }
    if (more->get_persistent != NULL) {
        mqs_persistent requests[16];
        int count;

        note(more->get_persistent(process, 16, requests, &count));
    }
    for (int list = mqs_calls_recent; list <= mqs_calls_outstanding; list++) {
        if (note(more->setup_call_iterator(process, list)) == mqs_ok) {
            walk_calls(process, more->next_call);
        }
    }
    if (note(more->setup_channel_iterator(process)) == mqs_ok) {
        while (note(more->next_channel(process, &channel)) == mqs_ok) {
            walk_counts(process, more);
        }
    }
}

static void walk_waits(mqs_process *process, const mqs_extensions *more)
{
    mqs_operation_details details;
    mqs_pending_operation op;
    mqs_wait wait;
    long count = 0;

    if (note(more->setup_wait_iterator(process)) != mqs_ok) {
        return;
    }
    while (note(more->next_wait(process, &wait)) == mqs_ok) {
        int operations = 0;

        hear((uint64_t)wait.operations);
        /* A wait may name very many; a debugger shows some. */
        while (operations < 1000 && note(more->next_wait_operation(process, &op)) == mqs_ok) {
            check(++count < ENOUGH && ++operations <= wait.operations);
            note(more->get_operation_details(process, &details));
        }
    }
}

static int walk(struct made_up *made_up, const mqs_extensions *more)
{
    mqs_process *process = made_up_process(made_up);
    mqs_process_identity identity;
    long count = 0;
    int code;

    worst = mqs_ok;
    told = UINT64_C(0xcbf29ce484222325);
    note(mqs_update_communicator_list(process));
    if (more != NULL) {
        more->set_option(process, mqs_option_internal, 1);
        note(more->get_identity(process, &identity));
    }
    code = note(mqs_setup_communicator_iterator(process));
    while (code == mqs_ok) {
        check(++count < ENOUGH);
        walk_communicator(process, more);
        code = note(mqs_next_communicator(process));
    }
    if (more != NULL) {
        walk_waits(process, more);
        walk_history(process, more);
        walk_facts(process, more);
        if (note(more->setup_process_call_iterator(process)) == mqs_ok) {
            walk_calls(process, more->next_process_call);
        }
    }
    return worst;
}

uint64_t walk_told(void)
{
    return told;
}

int walk_all(struct made_up *made_up)
{
    return walk(made_up, mqs_get_extensions());
}

int walk_forum(struct made_up *made_up)
{
    return walk(made_up, NULL);
}
