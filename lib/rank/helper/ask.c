/* SPDX-License-Identifier: BSD-3-Clause */
#include "ask.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

/* Members of a group that an answer lists. */
#define MEMBERS_LISTED (1 << 16)

struct mpiq_error *mpiq_ask_error(struct mpiq_look *look, int code, const char *doing)
{
    struct mpiq_error *trouble = look->trouble;
    look->trouble = NULL;
    if (code == mqs_no_information && !trouble)
        return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED, "%s: the MPI library does not tell", doing);
    const char *text =
        code == mqs_no_information ? "it cannot be read" : look->dll->mqs_dll_error_string(code);
    struct mpiq_error *error =
        mpiq_error_create(trouble ? trouble->code : MPIQ_ERROR_CORRUPT, "%s: %s%s%s%s", doing,
                          text ? text : "an error without a name", trouble ? " (" : "",
                          trouble ? trouble->message : "", trouble ? ")" : "");
    mpiq_error_destroy(trouble);
    return error;
}

static void add_number(json_object *to, const char *name, int64_t value)
{
    json_object_object_add(to, name, json_object_new_int64(value));
}

static void add_address(json_object *to, const char *name, uint64_t value)
{
    json_object_object_add(to, name, json_object_new_uint64(value));
}

void mpiq_ask_add_text(json_object *to, const char *name, const char *text, size_t size)
{
    char copy[512];
    mpiq_copy_text(copy, sizeof copy, text, size);
    /* What a wrong handle points at may be anything, and JSON is UTF-8. */
    for (size_t i = 0; copy[i];) {
        size_t length = mpiq_utf8_length((const unsigned char *)copy + i, strlen(copy + i));
        if (length == 0)
            copy[i] = '?';
        i += length ? length : 1;
    }
    json_object_object_add(to, name, json_object_new_string(copy));
}
#define ADD_TEXT(to, name, text) mpiq_ask_add_text(to, name, text, sizeof(text))

static const char *text_of(json_object *question, const char *name)
{
    const char *text = json_object_get_string(json_object_object_get(question, name));
    return text ? text : "";
}

/* ---- operations ------------------------------------------------------------------------------------- */

static const char *const kinds[] = {
    [mqs_kind_send] = "send",       [mqs_kind_bsend] = "bsend",           [mqs_kind_ssend] = "ssend",
    [mqs_kind_rsend] = "rsend",     [mqs_kind_receive] = "receive",       [mqs_kind_probe] = "probe",
    [mqs_kind_message] = "message", [mqs_kind_collective] = "collective", [mqs_kind_other] = "other",
};

static const struct {
    int bit;
    const char *name;
} flags[] = {
    {mqs_operation_persistent, "persistent"}, {mqs_operation_internal, "internal"},
    {mqs_operation_inactive, "inactive"},     {mqs_operation_freed, "freed"},
    {mqs_operation_cancelled, "cancelled"},
};

static json_object *convert(struct mpiq_look *look, const mqs_pending_operation *plain)
{
    mqs_operation_details details = {.kind = -1, .collective = -1, .count = -1};
    json_object *ret = json_object_new_object();
    if (look->dll->extensions.get_operation_details &&
        look->dll->extensions.get_operation_details(&look->process, &details) == mqs_ok) {
        if (details.kind >= 0 && details.kind <= mqs_kind_other)
            json_object_object_add(ret, "kind", json_object_new_string(kinds[details.kind]));
        add_address(ret, "request", details.request);
        add_address(ret, "comm", details.comm);
        add_address(ret, "datatype", details.datatype);
        ADD_TEXT(ret, "datatype_name", details.datatype_name);
        add_number(ret, "count", details.count);
        add_address(ret, "sequence", details.sequence);
        for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
            json_object_object_add(ret, flags[i].name, json_object_new_boolean(details.flags & flags[i].bit));
        if (details.peer_known) {
            add_number(ret, "peer", details.peer.vpid);
            add_number(ret, "job", details.peer.jobid);
        }
        const char *collective = details.collective >= 0 && look->dll->extensions.coll_name
                                     ? look->dll->extensions.coll_name(details.collective)
                                     : NULL;
        if (collective)
            json_object_object_add(ret, "collective", json_object_new_string(collective));
    }
    json_object_object_add(ret, "status",
                           json_object_new_string(plain->status == mqs_st_complete  ? "complete"
                                                  : plain->status == mqs_st_matched ? "matched"
                                                                                    : "pending"));
    add_number(ret, "peer_local", plain->desired_local_rank);
    if (!plain->tag_wild)
        add_number(ret, "tag", plain->desired_tag);
    add_number(ret, "bytes", plain->desired_length);
    if (plain->status != mqs_st_pending) {
        add_number(ret, "actual_local", plain->actual_local_rank);
        add_number(ret, "actual_tag", plain->actual_tag);
        add_number(ret, "actual_bytes", plain->actual_length);
    }
    add_address(ret, "buffer", plain->buffer);
    json_object_object_add(ret, "packed", json_object_new_boolean(plain->system_buffer));
    return ret;
}

static struct mpiq_error *queue_of(json_object *question, int *ret)
{
    static const char *const names[] = {[mqs_pending_sends] = "sends",
                                        [mqs_pending_receives] = "receives",
                                        [mqs_unexpected_messages] = "unexpected"};
    const char *name = text_of(question, "queue");
    for (int i = 0; i <= mqs_unexpected_messages; i++) {
        if (strcmp(names[i], name) == 0) {
            *ret = i;
            return NULL;
        }
    }
    return mpiq_error_create(MPIQ_ERROR_USAGE, "there is no queue '%s'", name);
}

/* The operations of a queue on the current communicator, appended to list. */
static int list_operations(struct mpiq_look *look, int queue, const mqs_communicator *communicator,
                           json_object *list)
{
    struct mpiq_dll *dll = look->dll;
    mqs_pending_operation plain;

    int code = dll->mqs_setup_operation_iterator(&look->process, queue);
    while (code == mqs_ok) {
        memset(&plain, 0, sizeof plain);
        code = dll->mqs_next_operation(&look->process, &plain);
        if (code != mqs_ok)
            break;
        if (look->operations++ == MPIQ_OPERATIONS_MAX)
            return err_no_store;
        json_object *one = convert(look, &plain);
        ADD_TEXT(one, "communicator", communicator->name);
        json_object_array_add(list, one);
    }
    return code;
}

/* Calls visit for each communicator until it returns another code than mqs_ok. */
static int each_communicator(struct mpiq_look *look,
                             int (*visit)(struct mpiq_look *, const mqs_communicator *, void *),
                             void *argument)
{
    struct mpiq_dll *dll = look->dll;
    mqs_communicator plain;

    int code = dll->mqs_update_communicator_list(&look->process);
    if (code == mqs_ok)
        code = dll->mqs_setup_communicator_iterator(&look->process);
    for (int i = 0; code == mqs_ok && i < MPIQ_COMMUNICATORS_MAX; i++) {
        memset(&plain, 0, sizeof plain);
        code = dll->mqs_get_communicator(&look->process, &plain);
        if (code == mqs_ok)
            code = visit(look, &plain, argument);
        if (code == mqs_ok)
            code = dll->mqs_next_communicator(&look->process);
    }
    return code;
}

struct queue_list {
    int queue;
    json_object *list;
};

static int add_queue(struct mpiq_look *look, const mqs_communicator *plain, void *argument)
{
    struct queue_list *queue = argument;
    int code = list_operations(look, queue->queue, plain, queue->list);
    return code == mqs_end_of_list ? mqs_ok : code;
}

/* A queue of the process, in the order of a rank state. */
static struct mpiq_error *list_queue(struct mpiq_look *look, json_object *question, json_object **ret)
{
    struct queue_list queue = {0};
    struct mpiq_error *error = queue_of(question, &queue.queue);
    if (error)
        return error;
    mpiq_look_phase = "reading a queue";
    if (look->dll->extensions.set_option)
        look->dll->extensions.set_option(
            &look->process, mqs_option_internal,
            json_object_get_boolean(json_object_object_get(question, "internal")));
    queue.list = json_object_new_array();
    int code = each_communicator(look, add_queue, &queue);
    if (code != mqs_ok && code != mqs_end_of_list) {
        json_object_put(queue.list);
        return mpiq_ask_error(look, code, "the queue cannot be read");
    }
    *ret = queue.list;
    return NULL;
}

static struct mpiq_error *answer_queue(struct mpiq_look *look, json_object *question, json_object *ret)
{
    json_object *list = NULL;
    struct mpiq_error *error = list_queue(look, question, &list);
    if (!error)
        json_object_object_add(ret, "operations", list);
    return error;
}

static int64_t number_in(json_object *from, const char *name)
{
    return json_object_get_int64(json_object_object_get(from, name));
}

static struct mpiq_error *answer_contents(struct mpiq_look *look, json_object *question, json_object *ret)
{
    json_object *list = NULL;
    struct mpiq_error *error = list_queue(look, question, &list);
    if (error)
        return error;
    size_t count = json_object_array_length(list);
    int64_t index = number_in(question, "index");
    if (index < 0 || (uint64_t)index >= count) {
        json_object_put(list);
        return mpiq_error_create(MPIQ_ERROR_USAGE, "there is no number %ld among its %zu", (long)index,
                                 count);
    }
    json_object *one = json_object_get(json_object_array_get_idx(list, (size_t)index));
    json_object_put(list);
    json_object_object_add(ret, "operation", one);
    mpiq_look_phase = "reading what a message holds";
    mqs_taddr_t datatype = (mqs_taddr_t)json_object_get_uint64(json_object_object_get(one, "datatype"));
    if (datatype)
        mpiq_ask_add_datatype(look, datatype, ret);
    mpiq_ask_add_data(look, json_object_get_uint64(json_object_object_get(one, "buffer")),
                      json_object_get_boolean(json_object_object_get(one, "packed")), number_in(one, "count"),
                      number_in(one, "bytes"), number_in(question, "elements"), ret);
    return NULL;
}

/* ---- handles ---------------------------------------------------------------------------------------- */

struct sought {
    mqs_taddr_t handle;
    json_object *ret;
};

static int check_communicator(struct mpiq_look *look, const mqs_communicator *plain, void *argument)
{
    struct sought *sought = argument;
    mqs_communicator_details details = {0};

    if (look->dll->extensions.get_communicator_details(&look->process, &details) != mqs_ok ||
        details.handle != sought->handle)
        return mqs_ok;
    ADD_TEXT(sought->ret, "name", plain->name);
    add_number(sought->ret, "size", plain->size);
    add_number(sought->ret, "rank", plain->local_rank);
    json_object *context = json_object_new_array();
    if (details.context[0])
        json_object_array_add(context, json_object_new_uint64(details.context[0]));
    json_object_array_add(context, json_object_new_uint64(details.context[1]));
    json_object_object_add(sought->ret, "context", context);
    if (details.flags & mqs_comm_flag_inter)
        add_number(sought->ret, "remote_size", details.remote_size);
    json_object_object_add(sought->ret, "freed",
                           json_object_new_boolean(details.flags & mqs_comm_flag_freed));
    return mqs_end_of_list;
}

static struct mpiq_error *answer_communicator(struct mpiq_look *look, mqs_taddr_t handle, json_object *ret)
{
    struct sought sought = {.handle = handle, .ret = ret};
    if (!look->dll->extensions.get_communicator_details)
        return mpiq_ask_error(look, mqs_no_information, "a communicator's handle");
    int code = each_communicator(look, check_communicator, &sought);
    if (code != mqs_ok && code != mqs_end_of_list)
        return mpiq_ask_error(look, code, "the communicators cannot be read");
    if (!json_object_object_get(ret, "size"))
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "there is no communicator 0x%lx", handle);
    return NULL;
}

static struct mpiq_error *answer_request(struct mpiq_look *look, mqs_taddr_t handle, json_object *ret)
{
    mqs_pending_operation plain = {0};
    int code = look->dll->extensions.get_request
                   ? look->dll->extensions.get_request(&look->process, handle, &plain)
                   : mqs_no_information;
    if (code != mqs_ok)
        return mpiq_ask_error(look, code, "the request cannot be read");
    json_object_object_add(ret, "operation", convert(look, &plain));
    return NULL;
}

static struct mpiq_error *answer_group(struct mpiq_look *look, mqs_taddr_t handle, json_object *ret)
{
    const mqs_extensions *extensions = &look->dll->extensions;
    int size = 0;
    int code = extensions->get_group ? extensions->get_group(&look->process, handle, 0, NULL, &size)
                                     : mqs_no_information;
    int listed = size < 0 ? 0 : size < MEMBERS_LISTED ? size : MEMBERS_LISTED;
    _cleanup_free_ mqs_process_name *names = calloc((size_t)listed + 1, sizeof *names);
    if (!names)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a group");
    if (code == mqs_ok && listed > 0)
        code = extensions->get_group(&look->process, handle, listed, names, &size);
    if (code != mqs_ok)
        return mpiq_ask_error(look, code, "the group cannot be read");
    add_number(ret, "size", size);
    json_object *members = json_object_new_array();
    for (int i = 0; i < listed; i++) {
        json_object *member = json_object_new_array();
        json_object_array_add(member, json_object_new_int64(names[i].jobid));
        json_object_array_add(member, json_object_new_int64(names[i].vpid));
        json_object_array_add(members, member);
    }
    json_object_object_add(ret, "members", members);
    mqs_process_identity identity = {0};
    if (extensions->get_identity && extensions->get_identity(&look->process, &identity) == mqs_ok)
        add_number(ret, "job", identity.name.jobid);
    return NULL;
}

static struct mpiq_error *answer_status(struct mpiq_look *look, mqs_taddr_t address, json_object *ret)
{
    mqs_status_details details = {0};
    int code = look->dll->extensions.get_status
                   ? look->dll->extensions.get_status(&look->process, address, &details)
                   : mqs_no_information;
    if (code != mqs_ok)
        return mpiq_ask_error(look, code, "the status cannot be read");
    add_number(ret, "source", details.source);
    add_number(ret, "tag", details.tag);
    add_number(ret, "error", details.error);
    add_number(ret, "bytes", details.bytes);
    json_object_object_add(ret, "cancelled", json_object_new_boolean(details.cancelled));
    return NULL;
}

static struct mpiq_error *answer_datatype(struct mpiq_look *look, mqs_taddr_t handle, json_object *ret)
{
    mpiq_ask_add_datatype(look, handle, ret);
    json_object *problem = json_object_object_get(ret, "problem");
    return problem ? mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s", json_object_get_string(problem)) : NULL;
}

static struct mpiq_error *answer_handle(struct mpiq_look *look, json_object *question, json_object *ret)
{
    static const struct {
        const char *kind;
        struct mpiq_error *(*answer)(struct mpiq_look *, mqs_taddr_t, json_object *);
    } answers[] = {
        {"communicator", answer_communicator},
        {"request", answer_request},
        {"group", answer_group},
        {"status", answer_status},
        {"datatype", answer_datatype},
    };
    mqs_taddr_t handle = (mqs_taddr_t)json_object_get_uint64(json_object_object_get(question, "address"));
    const char *kind = text_of(question, "kind");
    char name[64] = "";

    mpiq_look_phase = "telling what a handle stands for";
    if (strcmp(kind, "status") != 0 && look->dll->extensions.get_handle_name &&
        look->dll->extensions.get_handle_name(&look->process, handle, name) == mqs_ok) {
        ADD_TEXT(ret, "fixed", name);
        return NULL;
    }
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        if (strcmp(answers[i].kind, kind) == 0)
            return answers[i].answer(look, handle, ret);
    }
    return mpiq_error_create(MPIQ_ERROR_USAGE, "there are no handles of kind '%s'", kind);
}

/* ---- all of it -------------------------------------------------------------------------------------- */

static struct mpiq_error *answer(struct mpiq_look *look, json_object *question, json_object *ret)
{
    const char *what = text_of(question, "ask");
    if (strcmp(what, "handle") == 0)
        return answer_handle(look, question, ret);
    if (strcmp(what, "queue") == 0)
        return answer_queue(look, question, ret);
    if (strcmp(what, "contents") == 0)
        return answer_contents(look, question, ret);
    return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED, "there is no question '%s'", what);
}

static struct mpiq_error *with_process(struct mpiq_look *look, json_object *question, json_object *ret)
{
    struct mpiq_dll *dll = look->dll;
    char *message = NULL;

    mpiq_look_phase = "looking for the MPI library's types";
    int code = dll->mqs_image_has_queues(&look->image, &message);
    if (code == mqs_ok)
        code = dll->mqs_setup_process(&look->process, &mpiq_process_callbacks);
    if (code != mqs_ok)
        return mpiq_ask_error(look, code, "the MPI library cannot be read");
    struct mpiq_error *error = answer(look, question, ret);
    mpiq_look_phase = "forgetting the process";
    if (look->process.info)
        dll->mqs_destroy_process_info(look->process.info);
    return error;
}

struct mpiq_error *mpiq_ask_answer(struct mpiq_look *look, json_object *question, json_object **ret)
{
    struct mpiq_error *error = mpiq_target_sizes(look->target, &look->sizes);
    if (error)
        return error;
    look->state = mpiq_rank_state_create(); /* the callbacks tell the DLL its rank out of it: not known */
    if (!look->state)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a rank's state");
    look->image = (struct mqs_image_){.look = look};
    look->process = (struct mqs_process_){.image = &look->image};
    json_object *reply = json_object_new_object();
    mpiq_look_phase = "preparing for the program";
    int code = look->dll->mqs_setup_image(&look->image, &mpiq_image_callbacks);
    error = code == mqs_ok ? with_process(look, question, reply)
                           : mpiq_ask_error(look, code, "the program cannot be prepared for reading");
    mpiq_look_forget_image(look);
    if (error)
        json_object_put(reply);
    else
        *ret = reply;
    return error;
}
