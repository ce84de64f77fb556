/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mqs_client - a debugger in little: hosts any message-queue DLL, walks all that the interface gives, and
 * prints it as JSON.  Includes mpi_interface.h alone and reaches the process over the wire.
 *
 *     mqs_client [--internal] [--forum] [--stripped] [--force N] [--looks N] [--between COMMAND] [--record
 * FILE] DLL SERVER [ARGUMENT…]
 *
 * --forum leaves out what the DLL has beyond the Forum's functions; --stripped knows no types.  COMMAND is
 * run between two looks; FILE gets what was asked and answered (tests/mqs/made_up.h).  SERVER speaks the wire
 * on its standard input and output.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire_process.h"

#define FUNCTIONS(X)                   \
    X(mqs_setup_basic_callbacks)       \
    X(mqs_version_string)              \
    X(mqs_version_compatibility)       \
    X(mqs_dll_taddr_width)             \
    X(mqs_dll_error_string)            \
    X(mqs_setup_image)                 \
    X(mqs_image_has_queues)            \
    X(mqs_destroy_image_info)          \
    X(mqs_setup_process)               \
    X(mqs_destroy_process_info)        \
    X(mqs_process_has_queues)          \
    X(mqs_update_communicator_list)    \
    X(mqs_setup_communicator_iterator) \
    X(mqs_get_communicator)            \
    X(mqs_get_comm_group)              \
    X(mqs_next_communicator)           \
    X(mqs_setup_operation_iterator)    \
    X(mqs_next_operation)

/* Optional ones may be NULL. */
static struct {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
    MEMBER(mqs_get_comm_coll_state)
#undef MEMBER
    const mqs_extensions *more;
} dll;

static const char *separator = "";

static void load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const mqs_extensions *(*extensions)(void);

    if (handle == NULL) {
        fprintf(stderr, "mqs_client: %s\n", dlerror());
        exit(2);
    }
#define LOOK_UP(name)                                              \
    *(void **)&dll.name = dlsym(handle, #name);                    \
    if (dll.name == NULL) {                                        \
        fprintf(stderr, "mqs_client: %s lacks %s\n", path, #name); \
        exit(2);                                                   \
    }
    FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    *(void **)&dll.mqs_get_comm_coll_state = dlsym(handle, "mqs_get_comm_coll_state");
    *(void **)&extensions = dlsym(handle, "mqs_get_extensions");
    dll.more = extensions == NULL ? NULL : extensions();
}

static void text(const char *name, const char *value)
{
    printf("%s\"%s\":\"", separator, name);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\') {
            putchar('\\');
        }
        putchar((unsigned char)*value < ' ' ? '?' : *value);
    }
    putchar('"');
    separator = ",";
}

static void number(const char *name, long long value)
{
    printf("%s\"%s\":%lld", separator, name, value);
    separator = ",";
}

static void address(const char *name, unsigned long long value)
{
    printf("%s\"%s\":\"0x%llx\"", separator, name, value);
    separator = ",";
}

static void open_(const char *name, char bracket)
{
    printf("%s", separator);
    if (name != NULL) {
        printf("\"%s\":", name);
    }
    putchar(bracket);
    separator = "";
}

static void close_(char bracket)
{
    putchar(bracket);
    separator = ",";
}

static void failure(const char *where, int code)
{
    open_(where, '{');
    number("code", code);
    text("text", dll.mqs_dll_error_string(code));
    close_('}');
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
        failure("details_error", code);
        return;
    }
    address("request", d.request);
    address("comm", d.comm);
    text("datatype", d.datatype_name);
    number("count", d.count);
    number("sequence", (long long)d.sequence);
    number("kind", d.kind);
    number("flags", d.flags);
    if (d.collective >= 0) {
        text("collective",
             dll.more->coll_name(d.collective) == NULL ? "?" : dll.more->coll_name(d.collective));
    }
    if (d.peer_known) {
        number("peer_jobid", d.peer.jobid);
        number("peer_vpid", d.peer.vpid);
    }
}

static void print_operation(mqs_process *process, const mqs_pending_operation *op)
{
    open_(NULL, '{');
    number("status", op->status);
    number("peer_local", op->desired_local_rank);
    number("peer", op->desired_global_rank);
    number("tag_wild", op->tag_wild);
    number("tag", op->desired_tag);
    number("bytes", op->desired_length);
    number("system_buffer", op->system_buffer);
    address("buffer", op->buffer);
    number("actual_peer_local", op->actual_local_rank);
    number("actual_peer", op->actual_global_rank);
    number("actual_tag", op->actual_tag);
    number("actual_bytes", op->actual_length);
    open_("extra", '[');
    for (int i = 0; i < 5; i++) {
        char line[65];

        memcpy(line, op->extra_text[i], 64);
        line[64] = '\0';
        printf("%s", separator);
        separator = "";
        printf("{");
        text("line", line);
        number("terminated", memchr(op->extra_text[i], '\0', 64) != NULL);
        close_('}');
    }
    close_(']');
    print_details(process);
    close_('}');
}

static void print_queue(mqs_process *process, const char *name, int class_)
{
    mqs_pending_operation op;
    char error[32];
    int code = dll.mqs_setup_operation_iterator(process, class_);

    snprintf(error, sizeof error, "%s_error", name);
    if (code != mqs_ok) {
        failure(error, code);
        return;
    }
    open_(name, '[');
    for (;;) {
        memset(&op, 0, sizeof op);
        code = dll.mqs_next_operation(process, &op);
        if (code != mqs_ok) {
            break;
        }
        print_operation(process, &op);
    }
    close_(']');
    if (code != mqs_end_of_list) {
        failure(error, code);
    }
}

static void print_call(const mqs_collective_call *call)
{
    const char *name = call->collective < 0 ? NULL : dll.more->coll_name(call->collective);

    open_(NULL, '{');
    text("collective", name == NULL ? "" : name);
    number("done", call->done);
    number("number", call->number);
    number("count", call->count);
    text("datatype", call->datatype_name);
    text("op", call->op_name);
    number("bytes", call->bytes);
    number("root", call->root);
    number("tid", call->tid);
    address("caller", call->caller);
    address("request", call->request);
    number("begin_ns", call->begin_ns);
    close_('}');
}

static void print_calls(mqs_process *process, const char *name, int (*set_up)(mqs_process *, int), int list,
                        int (*next)(mqs_process *, mqs_collective_call *))
{
    mqs_collective_call call;
    char error[32];
    int code = set_up(process, list);

    snprintf(error, sizeof error, "%s_error", name);
    if (code != mqs_ok) {
        failure(error, code);
        return;
    }
    open_(name, '[');
    while ((code = next(process, &call)) == mqs_ok) {
        print_call(&call);
    }
    close_(']');
    if (code != mqs_end_of_list) {
        failure(error, code);
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

    open_(name, '[');
    for (int i = 0; code == mqs_ok && i < size; i++) {
        printf("%s[%u,%u]", separator, names[i].jobid, names[i].vpid);
        separator = ",";
    }
    close_(']');
    free(names);
}

static void print_communicator_details(mqs_process *process, int size)
{
    mqs_communicator_details d;
    mqs_channel channel;
    int code = dll.more->get_communicator_details(process, &d);

    if (code != mqs_ok) {
        failure("details_error", code);
        return;
    }
    address("handle", d.handle);
    address("context0", d.context[0]);
    address("context1", d.context[1]);
    number("flags", d.flags);
    number("remote_size", d.remote_size);
    address("group_hash", d.group_hash);
    address("remote_hash", d.remote_hash);
    address("parent", d.parent);
    number("ordered", d.ordered);
    number("nonblocking", d.nonblocking);
    print_members(process, "members", 0, size);
    if (d.remote_size > 0) {
        print_members(process, "remote_members", 1, d.remote_size);
    }
    print_calls(process, "recent", dll.more->setup_call_iterator, mqs_calls_recent, dll.more->next_call);
    print_calls(process, "outstanding", dll.more->setup_call_iterator, mqs_calls_outstanding,
                dll.more->next_call);
    if (dll.more->setup_channel_iterator(process) == mqs_ok) {
        open_("channels", '[');
        while (dll.more->next_channel(process, &channel) == mqs_ok) {
            printf("%s[%d,%u,%u]", separator, channel.peer_local, channel.sent, channel.expected);
            separator = ",";
        }
        close_(']');
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
    open_("collectives", '{');
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
        open_(known == NULL ? name : known, '[');
        printf("%d,%d]", count, active);
        separator = ",";
    }
    close_('}');
    if (code != mqs_ok && code != mqs_no_information) {
        failure("collectives_error", code);
    }
}

static void print_communicator(mqs_process *process)
{
    mqs_communicator comm;
    int *group;
    int code = dll.mqs_get_communicator(process, &comm);

    open_(NULL, '{');
    if (code != mqs_ok) {
        failure("error", code);
        close_('}');
        return;
    }
    comm.name[63] = '\0';
    text("name", comm.name);
    address("unique_id", comm.unique_id);
    number("rank", comm.local_rank);
    number("size", comm.size);
    group = calloc((size_t)comm.size + 1, sizeof *group);
    code = dll.mqs_get_comm_group(process, group);
    if (code == mqs_ok) {
        open_("group", '[');
        for (long i = 0; i < comm.size; i++) {
            printf("%s%d", separator, group[i]);
            separator = ",";
        }
        close_(']');
    } else {
        failure("group_error", code);
    }
    free(group);
    print_queue(process, "sends", mqs_pending_sends);
    print_queue(process, "receives", mqs_pending_receives);
    print_queue(process, "unexpected", mqs_unexpected_messages);
    print_collectives(process);
    if (dll.more != NULL) {
        print_communicator_details(process, (int)comm.size);
    }
    close_('}');
}

static void print_waits(mqs_process *process)
{
    mqs_pending_operation op;
    mqs_wait wait;
    int code = dll.more->setup_wait_iterator(process);

    if (code != mqs_ok) {
        failure("waits_error", code);
        return;
    }
    open_("waits", '[');
    while ((code = dll.more->next_wait(process, &wait)) == mqs_ok) {
        open_(NULL, '{');
        number("tid", wait.tid);
        number("level", wait.level);
        number("kind", wait.kind);
        number("need", wait.need);
        number("operation_count", wait.operations);
        if (wait.collective >= 0) {
            text("collective", dll.more->coll_name(wait.collective));
        }
        number("episode", (long long)wait.episode);
        number("begin_ns", wait.begin_ns);
        address("comm", wait.comm);
        address("collective_comm", wait.collective_comm);
        text("call", wait.call);
        open_("operations", '[');
        while ((code = dll.more->next_wait_operation(process, &op)) == mqs_ok) {
            print_operation(process, &op);
        }
        close_(']');
        if (code != mqs_end_of_list) {
            failure("operations_error", code);
        }
        close_('}');
    }
    close_(']');
    if (code != mqs_end_of_list) {
        failure("waits_error", code);
    }
}

static void print_identity(mqs_process *process)
{
    mqs_process_identity id;
    int code = dll.more->get_identity(process, &id);

    if (code != mqs_ok) {
        failure("identity_error", code);
        return;
    }
    open_("identity", '{');
    number("jobid", id.name.jobid);
    number("vpid", id.name.vpid);
    number("world_size", id.world_size);
    number("phase", id.phase);
    number("thread_level", id.thread_level);
    number("recording", id.recording);
    number("layout_source", id.layout_source);
    number("queues", id.queues);
    text("nspace", id.nspace);
    text("library", id.library);
    text("pml", id.pml);
    close_('}');
}

static void print_layout(mqs_process *process)
{
    mqs_layout_details layout;

    if (dll.more->size < (int)(offsetof(mqs_extensions, get_layout) + sizeof dll.more->get_layout) ||
        dll.more->get_layout(process, &layout) != mqs_ok) {
        return;
    }
    open_("layout", '{');
    number("source", layout.source);
    text("release", layout.release);
    text("variant", layout.variant);
    number("failed", layout.failed);
    open_("failures", '[');
    for (int i = 0; i < layout.failed && i < (int)(sizeof layout.failures / sizeof layout.failures[0]); i++) {
        open_(NULL, '{');
        text("structure", layout.failures[i].structure);
        text("check", layout.failures[i].check);
        close_('}');
    }
    close_(']');
    close_('}');
}

static void print_look(mqs_process *process)
{
    struct wire_counts *counts = wire_process_counts(process);
    int code;

    open_(NULL, '{');
    code = dll.mqs_update_communicator_list(process);
    if (code != mqs_ok) {
        failure("update_error", code);
    }
    if (dll.more != NULL) {
        print_identity(process);
        print_layout(process);
    }
    open_("communicators", '[');
    code = dll.mqs_setup_communicator_iterator(process);
    while (code == mqs_ok) {
        print_communicator(process);
        code = dll.mqs_next_communicator(process);
    }
    close_(']');
    if (code != mqs_end_of_list) {
        failure("communicators_error", code);
    }
    if (dll.more != NULL) {
        print_waits(process);
        print_calls(process, "process_calls", set_up_process_calls, 0, dll.more->next_process_call);
    }
    number("fetches", (long long)counts->fetches);
    number("fetched_bytes", (long long)counts->bytes);
    number("symbols_asked", (long long)counts->symbols);
    number("types_asked", (long long)counts->types);
    *counts = (struct wire_counts){0, 0, 0, 0};
    close_('}');
}

/* Of the DLL for tests (force_layout.h): false if it has no layout of that number. */
static int force_layout(const char *path, size_t index)
{
    const char *(*force)(size_t);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        return 0;
    }
    *(void **)&force = dlsym(handle, "test_force_layout");
    return force != NULL && force(index) != NULL;
}

int main(int argc, char **argv)
{
    char *message = NULL;
    mqs_process *process;
    mqs_image *image;
    const char *between = NULL;
    const char *record = NULL;
    int internal = 0;
    int forum = 0;
    int stripped = 0;
    int looks = 1;
    int force = -1;
    int code;

    argv++;
    for (; argc > 1 && strncmp(argv[0], "--", 2) == 0; argv++, argc--) {
        if (strcmp(argv[0], "--internal") == 0) {
            internal = 1;
        } else if (strcmp(argv[0], "--forum") == 0) {
            forum = 1;
        } else if (strcmp(argv[0], "--stripped") == 0) {
            stripped = 1;
        } else if (strcmp(argv[0], "--looks") == 0 && argc > 2) {
            looks = atoi(argv[1]);
            argv++;
            argc--;
        } else if (strcmp(argv[0], "--force") == 0 && argc > 2) {
            force = atoi(argv[1]);
            argv++;
            argc--;
        } else if (strcmp(argv[0], "--between") == 0 && argc > 2) {
            between = argv[1];
            argv++;
            argc--;
        } else if (strcmp(argv[0], "--record") == 0 && argc > 2) {
            record = argv[1];
            argv++;
            argc--;
        } else {
            break;
        }
    }
    if (argc < 3) {
        fprintf(stderr, "usage: mqs_client [--internal] [--forum] [--stripped] [--force N] [--looks N] "
                        "[--between COMMAND] "
                        "[--record FILE] DLL SERVER [ARGUMENT...]\n");
        return 2;
    }
    load(argv[0]);
    if (force >= 0 && !force_layout(argv[0], (size_t)force)) {
        fprintf(stderr, "mqs_client: %s has no built-in layout %d\n", argv[0], force);
        return 3;
    }
    if (forum) {
        dll.mqs_get_comm_coll_state = NULL;
        dll.more = NULL;
    }
    process = wire_process_start(argv + 1);
    image = wire_process_image(process);
    if (record != NULL) {
        wire_process_record(process, record);
    }
    if (stripped) {
        wire_process_strip(process);
    }

    open_(NULL, '{');
    dll.mqs_setup_basic_callbacks(&wire_basic_callbacks);
    text("version", dll.mqs_version_string());
    number("compatibility", dll.mqs_version_compatibility());
    number("width", dll.mqs_dll_taddr_width());
    code = dll.mqs_setup_image(image, &wire_image_callbacks);
    if (code == mqs_ok) {
        code = dll.mqs_image_has_queues(image, &message);
    }
    if (code != mqs_ok) {
        failure("image_error", code);
    }
    if (message != NULL) {
        text("image_message", message);
    }
    if (code == mqs_ok) {
        code = dll.mqs_setup_process(process, &wire_process_callbacks);
        message = NULL;
        if (code == mqs_ok) {
            code = dll.mqs_process_has_queues(process, &message);
        }
        if (code != mqs_ok) {
            failure("process_error", code);
        }
        if (message != NULL) {
            text("process_message", message);
        }
    }
    if (code == mqs_ok) {
        if (internal && dll.more != NULL) {
            dll.more->set_option(process, mqs_option_internal, 1);
        }
        open_("looks", '[');
        for (int i = 0; i < looks; i++) {
            print_look(process);
            wire_process_forget(process);
            if (between != NULL && i + 1 < looks && system(between) != 0) {
                fprintf(stderr, "mqs_client: %s failed\n", between);
                return 2;
            }
        }
        close_(']');
    }
    close_('}');
    putchar('\n');
    dll.mqs_destroy_process_info(wire_basic_callbacks.mqs_get_process_info_fp(process));
    dll.mqs_destroy_image_info(wire_basic_callbacks.mqs_get_image_info_fp(image));
    wire_process_end(process);
    return 0;
}
