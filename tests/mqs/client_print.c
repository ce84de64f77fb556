/* SPDX-License-Identifier: BSD-3-Clause */
#include "client_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_dll.h"
#include "client_out.h"
#include "wire_process.h"

void print_failure(const char *where, int code)
{
    out_open(where, '{');
    out_number("code", code);
    out_text("text", dll.mqs_dll_error_string(code));
    out_close('}');
}

static void print_details(mqs_process *process)
{
    mqs_operation_details d;
    int code;

    if (dll.more == NULL) {
        return;
    }
    code = dll.more->get_operation_details(process, &d);
    if (code != mqs_ok) {
        print_failure("details_error", code);
        return;
    }
    out_address("request", d.request);
    out_address("comm", d.comm);
    out_text("datatype", d.datatype_name);
    out_number("count", d.count);
    out_number("sequence", (long long)d.sequence);
    out_number("kind", d.kind);
    out_number("flags", d.flags);
    if (d.collective >= 0) {
        out_text("collective",
                 dll.more->coll_name(d.collective) == NULL ? "?" : dll.more->coll_name(d.collective));
    }
    if (d.peer_known) {
        out_number("peer_jobid", d.peer.jobid);
        out_number("peer_vpid", d.peer.vpid);
    }
}

static void print_partitions(mqs_process *process)
{
    mqs_partitions p;

    if (dll.more == NULL ||
        dll.more->size < (int)(offsetof(mqs_extensions, get_partitions) + sizeof dll.more->get_partitions) ||
        dll.more->get_partitions == NULL || dll.more->get_partitions(process, &p) != mqs_ok) {
        return;
    }
    out_number("partitions", (long long)p.partitions);
    out_number("missing", (long long)p.missing);
    out_text("which", p.which);
    out_address("inner", p.inner);
    out_number("moves", p.moves);
}

static void print_operation(mqs_process *process, const mqs_pending_operation *op)
{
    out_open(NULL, '{');
    out_number("status", op->status);
    out_number("peer_local", op->desired_local_rank);
    out_number("peer", op->desired_global_rank);
    out_number("tag_wild", op->tag_wild);
    out_number("tag", op->desired_tag);
    out_number("bytes", op->desired_length);
    out_number("system_buffer", op->system_buffer);
    out_address("buffer", op->buffer);
    out_number("actual_peer_local", op->actual_local_rank);
    out_number("actual_peer", op->actual_global_rank);
    out_number("actual_tag", op->actual_tag);
    out_number("actual_bytes", op->actual_length);
    out_open("extra", '[');
    for (int i = 0; i < 5; i++) {
        char line[65];

        memcpy(line, op->extra_text[i], 64);
        line[64] = '\0';
        out_open(NULL, '{');
        out_text("line", line);
        out_number("terminated", memchr(op->extra_text[i], '\0', 64) != NULL);
        out_close('}');
    }
    out_close(']');
    print_details(process);
    print_partitions(process);
    out_close('}');
}

static void print_queue(mqs_process *process, const char *name, int class_)
{
    mqs_pending_operation op;
    char error[32];
    int code = dll.mqs_setup_operation_iterator(process, class_);

    snprintf(error, sizeof error, "%s_error", name);
    if (code != mqs_ok) {
        print_failure(error, code);
        return;
    }
    out_open(name, '[');
    for (;;) {
        memset(&op, 0, sizeof op);
        code = dll.mqs_next_operation(process, &op);
        if (code != mqs_ok) {
            break;
        }
        print_operation(process, &op);
    }
    out_close(']');
    if (code != mqs_end_of_list) {
        print_failure(error, code);
    }
}

static void print_call(const mqs_collective_call *call)
{
    const char *name = call->collective < 0 ? NULL : dll.more->coll_name(call->collective);

    out_open(NULL, '{');
    out_text("collective", name == NULL ? "" : name);
    out_number("done", call->done);
    out_number("number", call->number);
    out_number("count", call->count);
    out_text("datatype", call->datatype_name);
    out_text("op", call->op_name);
    out_number("bytes", call->bytes);
    out_number("root", call->root);
    out_number("tid", call->tid);
    out_address("caller", call->caller);
    out_address("request", call->request);
    out_number("begin_ns", call->begin_ns);
    out_close('}');
}

static void print_calls(mqs_process *process, const char *name, int (*set_up)(mqs_process *, int), int list,
                        int (*next)(mqs_process *, mqs_collective_call *))
{
    mqs_collective_call call;
    char error[32];
    int code = set_up(process, list);

    snprintf(error, sizeof error, "%s_error", name);
    if (code != mqs_ok) {
        print_failure(error, code);
        return;
    }
    out_open(name, '[');
    while ((code = next(process, &call)) == mqs_ok) {
        print_call(&call);
    }
    out_close(']');
    if (code != mqs_end_of_list) {
        print_failure(error, code);
    }
}

static int set_up_process_calls(mqs_process *process, int list)
{
    (void)list;
    return dll.more->setup_process_call_iterator(process);
}

static void print_members(mqs_process *process, const char *name, int remote, int size)
{
    mqs_process_name *names = calloc((size_t)size + 1, sizeof *names);
    int code = dll.more->get_members(process, remote, names);

    out_open(name, '[');
    for (int i = 0; code == mqs_ok && i < size; i++) {
        out_value("[%u,%u]", names[i].jobid, names[i].vpid);
    }
    out_close(']');
    free(names);
}

static void print_communicator_details(mqs_process *process, int size)
{
    mqs_communicator_details d;
    mqs_channel channel;
    int code = dll.more->get_communicator_details(process, &d);

    if (code != mqs_ok) {
        print_failure("details_error", code);
        return;
    }
    out_address("handle", d.handle);
    out_address("context0", d.context[0]);
    out_address("context1", d.context[1]);
    out_number("flags", d.flags);
    out_number("remote_size", d.remote_size);
    out_address("group_hash", d.group_hash);
    out_address("remote_hash", d.remote_hash);
    out_address("parent", d.parent);
    out_number("ordered", d.ordered);
    out_number("nonblocking", d.nonblocking);
    print_members(process, "members", 0, size);
    if (d.remote_size > 0) {
        print_members(process, "remote_members", 1, d.remote_size);
    }
    print_calls(process, "recent", dll.more->setup_call_iterator, mqs_calls_recent, dll.more->next_call);
    print_calls(process, "outstanding", dll.more->setup_call_iterator, mqs_calls_outstanding,
                dll.more->next_call);
    if (dll.more->setup_channel_iterator(process) == mqs_ok) {
        out_open("channels", '[');
        while (dll.more->next_channel(process, &channel) == mqs_ok) {
            out_value("[%d,%u,%u]", channel.peer_local, channel.sent, channel.expected);
        }
        out_close(']');
    }
}

static void print_collectives(mqs_process *process)
{
    int count;
    int active;
    int code = mqs_ok;

    if (dll.mqs_get_comm_coll_state == NULL) {
        return;
    }
    out_open("collectives", '{');
    for (int i = 0; i < 256; i++) {
        char name[64];
        const char *known = dll.more == NULL ? NULL : dll.more->coll_name(i);

        code = dll.mqs_get_comm_coll_state(process, i, &count, &active);
        if (code != mqs_ok) {
            break;
        }
        if (count == 0 && active == 0) {
            continue;
        }
        snprintf(name, sizeof name, "%d", i);
        out_open(known == NULL ? name : known, '[');
        out_value("%d", count);
        out_value("%d", active);
        out_close(']');
    }
    out_close('}');
    if (code != mqs_ok && code != mqs_no_information) {
        print_failure("collectives_error", code);
    }
}

static void print_communicator(mqs_process *process)
{
    mqs_communicator comm;
    int *group;
    int code = dll.mqs_get_communicator(process, &comm);

    out_open(NULL, '{');
    if (code != mqs_ok) {
        print_failure("error", code);
        out_close('}');
        return;
    }
    comm.name[63] = '\0';
    out_text("name", comm.name);
    out_address("unique_id", comm.unique_id);
    out_number("rank", comm.local_rank);
    out_number("size", comm.size);
    group = calloc((size_t)comm.size + 1, sizeof *group);
    code = dll.mqs_get_comm_group(process, group);
    if (code == mqs_ok) {
        out_open("group", '[');
        for (long i = 0; i < comm.size; i++) {
            out_value("%d", group[i]);
        }
        out_close(']');
    } else {
        print_failure("group_error", code);
    }
    free(group);
    print_queue(process, "sends", mqs_pending_sends);
    print_queue(process, "receives", mqs_pending_receives);
    print_queue(process, "unexpected", mqs_unexpected_messages);
    print_collectives(process);
    if (dll.more != NULL) {
        print_communicator_details(process, (int)comm.size);
    }
    out_close('}');
}

static void print_waits(mqs_process *process)
{
    mqs_pending_operation op;
    mqs_wait wait;
    int code = dll.more->setup_wait_iterator(process);

    if (code != mqs_ok) {
        print_failure("waits_error", code);
        return;
    }
    out_open("waits", '[');
    while ((code = dll.more->next_wait(process, &wait)) == mqs_ok) {
        out_open(NULL, '{');
        out_number("tid", wait.tid);
        out_number("level", wait.level);
        out_number("kind", wait.kind);
        out_number("need", wait.need);
        out_number("operation_count", wait.operations);
        if (wait.collective >= 0) {
            out_text("collective", dll.more->coll_name(wait.collective));
        }
        out_number("episode", (long long)wait.episode);
        out_number("begin_ns", wait.begin_ns);
        out_address("comm", wait.comm);
        out_address("collective_comm", wait.collective_comm);
        out_text("call", wait.call);
        out_open("operations", '[');
        while ((code = dll.more->next_wait_operation(process, &op)) == mqs_ok) {
            print_operation(process, &op);
        }
        out_close(']');
        if (code != mqs_end_of_list) {
            print_failure("operations_error", code);
        }
        out_close('}');
    }
    out_close(']');
    if (code != mqs_end_of_list) {
        print_failure("waits_error", code);
    }
}

static void print_identity(mqs_process *process)
{
    mqs_process_identity id;
    int code = dll.more->get_identity(process, &id);

    if (code != mqs_ok) {
        print_failure("identity_error", code);
        return;
    }
    out_open("identity", '{');
    out_number("jobid", id.name.jobid);
    out_number("vpid", id.name.vpid);
    out_number("world_size", id.world_size);
    out_number("phase", id.phase);
    out_number("thread_level", id.thread_level);
    out_number("recording", id.recording);
    out_number("layout_source", id.layout_source);
    out_number("queues", id.queues);
    out_text("nspace", id.nspace);
    out_text("library", id.library);
    out_text("pml", id.pml);
    out_close('}');
}

static void print_layout(mqs_process *process)
{
    mqs_layout_details layout;

    if (dll.more->size < (int)(offsetof(mqs_extensions, get_layout) + sizeof dll.more->get_layout) ||
        dll.more->get_layout(process, &layout) != mqs_ok) {
        return;
    }
    out_open("layout", '{');
    out_number("source", layout.source);
    out_text("release", layout.release);
    out_text("variant", layout.variant);
    out_number("failed", layout.failed);
    out_open("failures", '[');
    for (int i = 0; i < layout.failed && i < (int)(sizeof layout.failures / sizeof layout.failures[0]); i++) {
        out_open(NULL, '{');
        out_text("structure", layout.failures[i].structure);
        out_text("check", layout.failures[i].check);
        out_close('}');
    }
    out_close(']');
    out_close('}');
}

void print_look(mqs_process *process)
{
    struct wire_counts *counts = wire_process_counts(process);
    int code;

    out_open(NULL, '{');
    code = dll.mqs_update_communicator_list(process);
    if (code != mqs_ok) {
        print_failure("update_error", code);
    }
    if (dll.more != NULL) {
        print_identity(process);
        print_layout(process);
    }
    out_open("communicators", '[');
    code = dll.mqs_setup_communicator_iterator(process);
    while (code == mqs_ok) {
        print_communicator(process);
        code = dll.mqs_next_communicator(process);
    }
    out_close(']');
    if (code != mqs_end_of_list) {
        print_failure("communicators_error", code);
    }
    if (dll.more != NULL) {
        print_waits(process);
        print_calls(process, "process_calls", set_up_process_calls, 0, dll.more->next_process_call);
    }
    out_number("fetches", (long long)counts->fetches);
    out_number("fetched_bytes", (long long)counts->bytes);
    out_number("symbols_asked", (long long)counts->symbols);
    out_number("types_asked", (long long)counts->types);
    *counts = (struct wire_counts){0, 0, 0, 0};
    out_close('}');
}
