/* SPDX-License-Identifier: BSD-3-Clause */
#include "ask.h"

#include <string.h>

struct mpiq_error *mpiq_ask_error(struct mpiq_reading *reading, int code, const char *doing)
{
    struct mpiq_error *trouble = reading->trouble;
    reading->trouble = NULL;
    if (code == mqs_no_information && !trouble)
        return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED, "%s: the MPI library does not say", doing);
    const char *text =
        code == mqs_no_information ? "it cannot be read" : reading->dll->mqs_dll_error_string(code);
    struct mpiq_error *error =
        mpiq_error_create(trouble ? trouble->code : MPIQ_ERROR_CORRUPT, "%s: %s%s%s%s", doing,
                          text ? text : "an error without a name", trouble ? " (" : "",
                          trouble ? trouble->message : "", trouble ? ")" : "");
    mpiq_error_destroy(trouble);
    return error;
}

void mpiq_ask_put_text(struct mpiq_text *text, const char *key, const char *string, size_t size)
{
    mpiq_text_key(text, key);
    mpiq_text_string(text, string, size);
}

static const char *const kinds[] = {
#define WORD(id, word) [MPIQ_OPERATION_##id] = (word),
    MPIQ_OPERATION_KINDS(WORD)
#undef WORD
};

static const struct {
    int bit;
    const char *name;
} flags[] = {
    {mqs_operation_persistent, "persistent"}, {mqs_operation_internal, "internal"},
    {mqs_operation_inactive, "inactive"},     {mqs_operation_freed, "freed"},
    {mqs_operation_cancelled, "cancelled"},
};

struct mpiq_ask_operation mpiq_ask_complete(struct mpiq_reading *reading, const mqs_pending_operation *plain)
{
    struct mpiq_ask_operation ret = {.plain = *plain, .details = {.kind = -1, .collective = -1, .count = -1}};
    ret.detailed = reading->dll->extensions.get_operation_details &&
                   reading->dll->extensions.get_operation_details(&reading->process, &ret.details) == mqs_ok;
    return ret;
}

static void put_details(struct mpiq_reading *reading, const mqs_operation_details *details,
                        struct mpiq_text *text)
{
    if (mpiq_dll_knows_kind(details->kind))
        mpiq_text_put_string(text, "kind", kinds[mpiq_dll_operation_kind(details->kind)]);
    mpiq_text_put_unsigned(text, "request", details->request);
    mpiq_text_put_unsigned(text, "comm", details->comm);
    mpiq_text_put_unsigned(text, "datatype", details->datatype);
    MPIQ_PUT_TEXT(text, "datatype_name", details->datatype_name);
    mpiq_text_put_signed(text, "count", details->count);
    mpiq_text_put_unsigned(text, "sequence", details->sequence);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        mpiq_text_put_bool(text, flags[i].name, details->flags & flags[i].bit);
    if (details->peer_known) {
        mpiq_text_put_signed(text, "peer", details->peer.vpid);
        mpiq_text_put_signed(text, "job", details->peer.jobid);
    }
    if (details->collective >= 0 && reading->dll->extensions.coll_name)
        mpiq_text_put_string(text, "collective", reading->dll->extensions.coll_name(details->collective));
}

void mpiq_ask_put_operation(struct mpiq_reading *reading, const struct mpiq_ask_operation *operation,
                            struct mpiq_text *text)
{
    const mqs_pending_operation *plain = &operation->plain;
    mpiq_text_open(text, '{');
    if (operation->detailed)
        put_details(reading, &operation->details, text);
    mpiq_text_put_string(text, "status",
                         plain->status == mqs_st_complete  ? "complete"
                         : plain->status == mqs_st_matched ? "matched"
                                                           : "pending");
    mpiq_text_put_signed(text, "peer_local", plain->desired_local_rank);
    if (!plain->tag_wild)
        mpiq_text_put_signed(text, "tag", plain->desired_tag);
    mpiq_text_put_signed(text, "bytes", plain->desired_length);
    if (plain->status != mqs_st_pending) {
        mpiq_text_put_signed(text, "actual_local", plain->actual_local_rank);
        mpiq_text_put_signed(text, "actual_tag", plain->actual_tag);
        mpiq_text_put_signed(text, "actual_bytes", plain->actual_length);
    }
    mpiq_text_put_unsigned(text, "buffer", plain->buffer);
    mpiq_text_put_bool(text, "packed", plain->system_buffer);
    if (operation->communicator)
        mpiq_ask_put_text(text, "communicator", operation->communicator, operation->communicator_size);
    mpiq_text_close(text, '}');
}

int mpiq_ask_each_communicator(struct mpiq_reading *reading,
                               int (*visit)(struct mpiq_reading *, const mqs_communicator *, void *),
                               void *argument)
{
    struct mpiq_dll *dll = reading->dll;
    mqs_communicator plain;

    int code = dll->mqs_update_communicator_list(&reading->process);
    if (code == mqs_ok)
        code = dll->mqs_setup_communicator_iterator(&reading->process);
    for (int i = 0; code == mqs_ok && i < MPIQ_COMMUNICATORS_MAX; i++) {
        memset(&plain, 0, sizeof plain);
        code = dll->mqs_get_communicator(&reading->process, &plain);
        if (code == mqs_ok)
            code = visit(reading, &plain, argument);
        if (code == mqs_ok)
            code = dll->mqs_next_communicator(&reading->process);
    }
    return code;
}
