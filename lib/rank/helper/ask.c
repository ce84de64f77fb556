/* SPDX-License-Identifier: BSD-3-Clause */
#include "ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_parser.h"

/* ---- questions -------------------------------------------------------------------------------------- */

static void copy_word(struct mpiq_parser *parser, char *to, size_t size)
{
    const char *word = mpiq_parser_try_string(parser);
    snprintf(to, size, "%s", word ? word : "");
}

static void read_member(struct mpiq_parser *parser, struct mpiq_question *ret)
{
    char next = mpiq_parser_peek(parser);
    bool number = next == '0' || next == '"';
    if (strcmp(parser->string, "ask") == 0)
        copy_word(parser, ret->ask, sizeof ret->ask);
    else if (strcmp(parser->string, "kind") == 0)
        copy_word(parser, ret->kind, sizeof ret->kind);
    else if (strcmp(parser->string, "queue") == 0)
        copy_word(parser, ret->queue, sizeof ret->queue);
    else if (strcmp(parser->string, "address") == 0 && number)
        mpiq_parser_hex(parser, &ret->address);
    else if (strcmp(parser->string, "index") == 0)
        mpiq_parser_try_signed(parser, INT64_MIN, INT64_MAX, &ret->index);
    else if (strcmp(parser->string, "elements") == 0)
        mpiq_parser_try_signed(parser, INT64_MIN, INT64_MAX, &ret->elements);
    else if (strcmp(parser->string, "internal") == 0)
        mpiq_parser_try_bool(parser, &ret->internal);
    else
        mpiq_parser_skip(parser);
}

struct mpiq_error *mpiq_question_read(const char *json, size_t length, struct mpiq_question *ret)
{
    struct mpiq_question question = {0};
    struct mpiq_parser parser;
    struct mpiq_error *error = NULL;
    mpiq_parser_init(&parser, json, length);
    bool object = !mpiq_parser_open(&parser, '{');
    while (object && mpiq_parser_more(&parser, '}')) {
        mpiq_parser_key(&parser);
        if (!parser.fault)
            read_member(&parser, &question);
    }
    if (!object || parser.fault)
        error = mpiq_error_create(MPIQ_ERROR_USAGE, "the question is not a JSON object");
    mpiq_parser_deinit(&parser);
    if (!error)
        *ret = question;
    return error;
}

/* ---- operations ------------------------------------------------------------------------------------- */

static struct mpiq_error *find_queue(const char *name, int *ret)
{
    static const char *const names[] = {[mqs_pending_sends] = "sends",
                                        [mqs_pending_receives] = "receives",
                                        [mqs_unexpected_messages] = "unexpected"};
    for (int i = 0; i <= mqs_unexpected_messages; i++) {
        if (strcmp(names[i], name) == 0) {
            *ret = i;
            return NULL;
        }
    }
    return mpiq_error_create(MPIQ_ERROR_USAGE, "there is no queue '%s'", name);
}

/* A walk through a queue of all communicators, in the order of a rank state. */
struct queue_walk {
    int queue;
    struct mpiq_text *text; /* all operations are written there; NULL: none */
    int64_t wanted;         /* of this number in the queue, what the walk is for is kept in … */
    struct mpiq_ask_operation found;
    char communicator[64]; /* … and here, its communicator's name */
    bool is_found;
    int64_t count;
};

static void take_operation(struct mpiq_reading *reading, struct queue_walk *walk,
                           const mqs_pending_operation *plain, const mqs_communicator *communicator)
{
    struct mpiq_ask_operation operation = mpiq_ask_complete(reading, plain);
    operation.communicator = communicator->name;
    operation.communicator_size = sizeof communicator->name;
    if (walk->text)
        mpiq_ask_put_operation(reading, &operation, walk->text);
    if (walk->count++ != walk->wanted)
        return;
    mpiq_copy_text(walk->communicator, sizeof walk->communicator, communicator->name,
                   sizeof communicator->name);
    walk->found = operation;
    walk->found.communicator = walk->communicator;
    walk->found.communicator_size = sizeof walk->communicator;
    walk->is_found = true;
}

static int walk_communicator(struct mpiq_reading *reading, const mqs_communicator *communicator,
                             void *argument)
{
    struct mpiq_dll *dll = reading->dll;
    struct queue_walk *walk = argument;
    mqs_pending_operation plain;

    int code = dll->mqs_setup_operation_iterator(&reading->process, walk->queue);
    while (code == mqs_ok) {
        memset(&plain, 0, sizeof plain);
        code = dll->mqs_next_operation(&reading->process, &plain);
        if (code != mqs_ok)
            break;
        if (reading->operations++ == MPIQ_OPERATIONS_MAX)
            return err_no_store;
        take_operation(reading, walk, &plain, communicator);
    }
    return code == mqs_end_of_list ? mqs_ok : code;
}

static struct mpiq_error *walk_queue(struct mpiq_reading *reading, const struct mpiq_question *question,
                                     struct queue_walk *walk)
{
    struct mpiq_error *error = find_queue(question->queue, &walk->queue);
    if (error)
        return error;
    mpiq_reading_phase = "reading a queue";
    if (reading->dll->extensions.set_option)
        reading->dll->extensions.set_option(&reading->process, mqs_option_internal, question->internal);
    int code = mpiq_ask_each_communicator(reading, walk_communicator, walk);
    return code == mqs_ok || code == mqs_end_of_list
               ? NULL
               : mpiq_ask_error(reading, code, "the queue cannot be read");
}

static struct mpiq_error *answer_queue(struct mpiq_reading *reading, const struct mpiq_question *question,
                                       struct mpiq_text *ret)
{
    struct queue_walk walk = {.text = ret, .wanted = -1};
    mpiq_text_key(ret, "operations");
    mpiq_text_open(ret, '[');
    struct mpiq_error *error = walk_queue(reading, question, &walk);
    mpiq_text_close(ret, ']');
    return error;
}

/* Takes error, which becomes the member "problem". */
static void put_problem(struct mpiq_text *text, struct mpiq_error *error)
{
    if (error)
        mpiq_text_put_string(text, "problem", error->message);
    mpiq_error_destroy(error);
}

static struct mpiq_error *answer_contents(struct mpiq_reading *reading, const struct mpiq_question *question,
                                          struct mpiq_text *ret)
{
    struct queue_walk walk = {.wanted = question->index};
    struct mpiq_error *error = walk_queue(reading, question, &walk);
    if (error)
        return error;
    if (!walk.is_found)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "there is no number %ld among its %ld",
                                 (long)question->index, (long)walk.count);
    const struct mpiq_ask_operation *found = &walk.found;
    mpiq_text_key(ret, "operation");
    mpiq_ask_put_operation(reading, found, ret);
    mpiq_reading_phase = "reading what a message holds";
    struct mpiq_ask_datatype datatype = {0};
    bool typed = found->details.datatype != 0;
    if (typed)
        error = mpiq_ask_read_datatype(reading, found->details.datatype, &datatype);
    bool known = typed && !error;
    if (known)
        mpiq_ask_put_datatype(ret, &datatype);
    const struct mpiq_ask_buffer buffer = {.address = found->plain.buffer,
                                           .packed = found->plain.system_buffer,
                                           .count = found->details.count,
                                           .bytes = found->plain.desired_length,
                                           .elements = question->elements};
    /* Bytes of an unknown datatype may lie anywhere, unless they are packed. */
    if (!typed || known || buffer.packed) {
        struct mpiq_error *unread = mpiq_ask_put_data(reading, &buffer, known ? &datatype : NULL, ret);
        if (!error)
            error = unread;
        else
            mpiq_error_destroy(unread);
    }
    put_problem(ret, error);
    mpiq_ask_datatype_deinit(&datatype);
    return NULL;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

static struct mpiq_error *answer(struct mpiq_reading *reading, const struct mpiq_question *question,
                                 struct mpiq_text *ret)
{
    if (strcmp(question->ask, "handle") == 0)
        return mpiq_ask_answer_handle(reading, question, ret);
    if (strcmp(question->ask, "queue") == 0)
        return answer_queue(reading, question, ret);
    if (strcmp(question->ask, "contents") == 0)
        return answer_contents(reading, question, ret);
    return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED, "there is no question '%s'", question->ask);
}

static struct mpiq_error *with_process(struct mpiq_reading *reading, const struct mpiq_question *question,
                                       struct mpiq_text *ret)
{
    struct mpiq_dll *dll = reading->dll;
    char *message = NULL;

    mpiq_reading_phase = "looking for the MPI library's types";
    int code = dll->mqs_image_has_queues(&reading->image, &message);
    if (code == mqs_ok)
        code = dll->mqs_setup_process(&reading->process, &mpiq_process_callbacks);
    if (code != mqs_ok)
        return mpiq_ask_error(reading, code, "the MPI library cannot be read");
    mpiq_text_open(ret, '{');
    struct mpiq_error *error = answer(reading, question, ret);
    mpiq_text_close(ret, '}');
    mpiq_reading_phase = "forgetting the process";
    if (reading->process.info)
        dll->mqs_destroy_process_info(reading->process.info);
    return error;
}

struct mpiq_error *mpiq_ask_answer(struct mpiq_reading *reading, const struct mpiq_question *question,
                                   struct mpiq_text *ret)
{
    struct mpiq_error *error = mpiq_target_sizes(reading->target, &reading->sizes);
    if (error)
        return error;
    reading->state = mpiq_rank_state_create(); /* the callbacks tell the DLL its rank out of it: not known */
    if (!reading->state)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a rank's state");
    reading->image = (struct mqs_image_){.reading = reading};
    reading->process = (struct mqs_process_){.image = &reading->image};
    mpiq_reading_phase = "preparing for the program";
    int code = reading->dll->mqs_setup_image(&reading->image, &mpiq_image_callbacks);
    error = code == mqs_ok ? with_process(reading, question, ret)
                           : mpiq_ask_error(reading, code, "the program cannot be prepared for reading");
    mpiq_reading_forget_image(reading);
    return error;
}
