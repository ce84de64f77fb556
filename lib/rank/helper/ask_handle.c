/* SPDX-License-Identifier: BSD-3-Clause */
/* ask_handle - what a handle stands for. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ask.h"
#include "base/cleanup.h"

/* Members of a group that an answer lists. */
#define MEMBERS_LISTED (1 << 16)

struct sought {
    mqs_taddr_t handle;
    struct mpiq_text *ret;
    bool found;
};

static int check_communicator(struct mpiq_reading *reading, const mqs_communicator *plain, void *argument)
{
    struct sought *sought = argument;
    mqs_communicator_details details = {0};

    if (reading->dll->extensions.get_communicator_details(&reading->process, &details) != mqs_ok ||
        details.handle != sought->handle)
        return mqs_ok;
    sought->found = true;
    MPIQ_PUT_TEXT(sought->ret, "name", plain->name);
    mpiq_text_put_signed(sought->ret, "size", (int64_t)plain->size);
    mpiq_text_put_signed(sought->ret, "rank", plain->local_rank);
    mpiq_text_key(sought->ret, "context");
    mpiq_text_open(sought->ret, '[');
    if (details.context[0])
        mpiq_text_unsigned(sought->ret, details.context[0]);
    mpiq_text_unsigned(sought->ret, details.context[1]);
    mpiq_text_close(sought->ret, ']');
    if (details.flags & mqs_comm_flag_inter)
        mpiq_text_put_signed(sought->ret, "remote_size", details.remote_size);
    mpiq_text_put_bool(sought->ret, "freed", details.flags & mqs_comm_flag_freed);
    return mqs_end_of_list;
}

static struct mpiq_error *answer_communicator(struct mpiq_reading *reading, mqs_taddr_t handle,
                                              struct mpiq_text *ret)
{
    struct sought sought = {.handle = handle, .ret = ret};
    if (!reading->dll->extensions.get_communicator_details)
        return mpiq_ask_error(reading, mqs_no_information, "a communicator's handle");
    int code = mpiq_ask_each_communicator(reading, check_communicator, &sought);
    if (code != mqs_ok && code != mqs_end_of_list)
        return mpiq_ask_error(reading, code, "the communicators cannot be read");
    if (!sought.found)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "there is no communicator 0x%lx", handle);
    return NULL;
}

static struct mpiq_error *answer_request(struct mpiq_reading *reading, mqs_taddr_t handle,
                                         struct mpiq_text *ret)
{
    mqs_pending_operation plain = {0};
    int code = reading->dll->extensions.get_request
                   ? reading->dll->extensions.get_request(&reading->process, handle, &plain)
                   : mqs_no_information;
    if (code != mqs_ok)
        return mpiq_ask_error(reading, code, "the request cannot be read");
    const struct mpiq_ask_operation operation = mpiq_ask_complete(reading, &plain);
    mpiq_text_key(ret, "operation");
    mpiq_ask_put_operation(reading, &operation, ret);
    return NULL;
}

static struct mpiq_error *answer_group(struct mpiq_reading *reading, mqs_taddr_t handle,
                                       struct mpiq_text *ret)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    int size = 0;
    int code = extensions->get_group ? extensions->get_group(&reading->process, handle, 0, NULL, &size)
                                     : mqs_no_information;
    int listed = size < 0 ? 0 : size < MEMBERS_LISTED ? size : MEMBERS_LISTED;
    _cleanup_free_ mqs_process_name *names = mpiq_memory_checked(calloc((size_t)listed + 1, sizeof *names));
    if (!names)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a group");
    if (code == mqs_ok && listed > 0)
        code = extensions->get_group(&reading->process, handle, listed, names, &size);
    if (code != mqs_ok)
        return mpiq_ask_error(reading, code, "the group cannot be read");
    mpiq_text_put_signed(ret, "size", size);
    mpiq_text_key(ret, "members");
    mpiq_text_open(ret, '[');
    for (int i = 0; i < listed; i++) {
        mpiq_text_open(ret, '[');
        mpiq_text_signed(ret, names[i].jobid);
        mpiq_text_signed(ret, names[i].vpid);
        mpiq_text_close(ret, ']');
    }
    mpiq_text_close(ret, ']');
    mqs_process_identity identity = {0};
    if (extensions->get_identity && extensions->get_identity(&reading->process, &identity) == mqs_ok)
        mpiq_text_put_signed(ret, "job", identity.name.jobid);
    return NULL;
}

static struct mpiq_error *answer_status(struct mpiq_reading *reading, mqs_taddr_t address,
                                        struct mpiq_text *ret)
{
    mqs_status_details details = {0};
    int code = reading->dll->extensions.get_status
                   ? reading->dll->extensions.get_status(&reading->process, address, &details)
                   : mqs_no_information;
    if (code != mqs_ok)
        return mpiq_ask_error(reading, code, "the status cannot be read");
    mpiq_text_put_signed(ret, "source", details.source);
    mpiq_text_put_signed(ret, "tag", details.tag);
    mpiq_text_put_signed(ret, "error", details.error);
    mpiq_text_put_signed(ret, "bytes", details.bytes);
    mpiq_text_put_bool(ret, "cancelled", details.cancelled);
    return NULL;
}

static struct mpiq_error *answer_datatype(struct mpiq_reading *reading, mqs_taddr_t handle,
                                          struct mpiq_text *ret)
{
    struct mpiq_ask_datatype datatype = {0};
    struct mpiq_error *error = mpiq_ask_read_datatype(reading, handle, &datatype);
    if (!error)
        mpiq_ask_put_datatype(ret, &datatype);
    mpiq_ask_datatype_deinit(&datatype);
    return error;
}

struct mpiq_error *mpiq_ask_answer_handle(struct mpiq_reading *reading, const struct mpiq_question *question,
                                          struct mpiq_text *ret)
{
    static const struct {
        const char *kind;
        struct mpiq_error *(*answer)(struct mpiq_reading *, mqs_taddr_t, struct mpiq_text *);
    } answers[] = {
        {"communicator", answer_communicator},
        {"request", answer_request},
        {"group", answer_group},
        {"status", answer_status},
        {"datatype", answer_datatype},
    };
    mqs_taddr_t handle = (mqs_taddr_t)question->address;
    char name[64] = "";

    mpiq_reading_phase = "looking up a handle";
    if (strcmp(question->kind, "status") != 0 && reading->dll->extensions.get_handle_name &&
        reading->dll->extensions.get_handle_name(&reading->process, handle, name) == mqs_ok) {
        MPIQ_PUT_TEXT(ret, "fixed", name);
        return NULL;
    }
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        if (strcmp(answers[i].kind, question->kind) == 0)
            return answers[i].answer(reading, handle, ret);
    }
    return mpiq_error_create(MPIQ_ERROR_USAGE, "there are no handles of kind '%s'", question->kind);
}
