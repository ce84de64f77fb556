/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/wire_json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json_parser.h"
#include "base/utf8.h"

#define THREADS_MAX 65536
#define FRAMES_MAX 4096

/* ---- writing ---------------------------------------------------------------------------------------- */

static void put_letter(struct mpiq_text *text, const char *key, char letter)
{
    const char string[2] = {letter, '\0'};
    mpiq_text_put_string(text, key, string);
}

void mpiq_wire_write_status(struct mpiq_text *text, const struct mpiq_target_status *status)
{
    mpiq_text_open(text, '{');
    mpiq_text_put_signed(text, "pid", status->pid);
    put_letter(text, "state", status->state);
    mpiq_text_put_bool(text, "core", status->core);
    mpiq_text_put_bool(text, "traced", status->traced);
    mpiq_text_put_bool(text, "frozen", status->frozen);
    mpiq_text_put_string(text, "freezer", status->freezer);
    if (status->uid != (uid_t)-1)
        mpiq_text_put_unsigned(text, "uid", status->uid);
    mpiq_text_put_unsigned(text, "cpu_ns", status->cpu_ns);
    mpiq_text_put_unsigned(text, "children_cpu_ns", status->children_cpu_ns);
    if (status->io_bytes >= 0)
        mpiq_text_put_signed(text, "io_bytes", status->io_bytes);
    mpiq_text_put_string(text, "host", status->host);
    mpiq_text_put_string(text, "executable", status->executable);
    mpiq_text_close(text, '}');
}

void mpiq_wire_write_threads(struct mpiq_text *text, const struct mpiq_target_thread *threads, size_t count)
{
    mpiq_text_open(text, '[');
    for (size_t i = 0; i < count; i++) {
        mpiq_text_open(text, '{');
        mpiq_text_put_signed(text, "tid", threads[i].tid);
        if (threads[i].inner)
            mpiq_text_put_signed(text, "inner", threads[i].inner);
        put_letter(text, "state", threads[i].state);
        mpiq_text_put_unsigned(text, "cpu_ns", threads[i].cpu_ns);
        if (threads[i].system_call >= 0) {
            mpiq_text_put_signed(text, "system_call", threads[i].system_call);
            mpiq_text_put_signed(text, "sleep", threads[i].sleep);
        }
        mpiq_text_put_string(text, "name", threads[i].name);
        mpiq_text_close(text, '}');
    }
    mpiq_text_close(text, ']');
}

void mpiq_wire_write_stack(struct mpiq_text *text, const struct mpiq_target_stack *stack)
{
    mpiq_text_open(text, '{');
    mpiq_text_key(text, "frames");
    mpiq_text_open(text, '[');
    for (size_t i = 0; i < stack->count; i++) {
        const struct mpiq_target_frame *frame = &stack->frames[i];
        mpiq_text_open(text, '{');
        mpiq_text_put_unsigned(text, "pc", frame->pc);
        mpiq_text_put_string(text, "function", frame->function);
        mpiq_text_put_string(text, "file", frame->file);
        if (frame->line)
            mpiq_text_put_signed(text, "line", frame->line);
        mpiq_text_put_string(text, "object", frame->object);
        if (frame->inlined)
            mpiq_text_put_bool(text, "inlined", true);
        mpiq_text_close(text, '}');
    }
    mpiq_text_close(text, ']');
    mpiq_text_put_bool(text, "truncated", stack->truncated);
    mpiq_text_put_string(text, "why", stack->why);
    mpiq_text_close(text, '}');
}

/* ---- reading ---------------------------------------------------------------------------------------- */

/* Whether the key that was read last is that one: before its value is read, which may take its place. */
static bool is(const struct mpiq_parser *parser, const char *key)
{
    return strcmp(parser->string, key) == 0;
}

/* Another member of the object that is open, with its key in parser->string. */
static bool more_members(struct mpiq_parser *parser)
{
    if (!mpiq_parser_more(parser, '}'))
        return false;
    mpiq_parser_key(parser);
    return !parser->fault;
}

static int64_t number_of(struct mpiq_parser *parser, int64_t high, int64_t otherwise)
{
    mpiq_parser_try_signed(parser, 0, high, &otherwise);
    return otherwise;
}

static bool bool_of(struct mpiq_parser *parser)
{
    bool value = false;
    mpiq_parser_try_bool(parser, &value);
    return value;
}

static char letter_of(struct mpiq_parser *parser)
{
    const char *string = mpiq_parser_try_string(parser);
    return string && string[0] > ' ' && string[0] < 0x7f && !string[1] ? string[0] : '?';
}

static void text_of(struct mpiq_parser *parser, char *to, size_t size)
{
    const char *string = mpiq_parser_try_string(parser);
    mpiq_utf8_copy(to, size, string ? string : "");
}

/* NULL where it is no string; the parser is starved without memory. */
static char *copy_of(struct mpiq_parser *parser)
{
    const char *string = mpiq_parser_try_string(parser);
    char *copy = string ? strdup(string) : NULL;
    parser->starved |= string && !copy;
    return copy;
}

/* What became of the whole text; complaint: it has another type. */
static struct mpiq_error *end(struct mpiq_parser *parser, const char *complaint)
{
    struct mpiq_error *error = NULL;
    if (!complaint)
        mpiq_parser_end(parser);
    if (parser->starved)
        error = mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory to read JSON");
    else if (complaint || parser->fault)
        error = mpiq_error_create(MPIQ_ERROR_CORRUPT, "JSON: %s", parser->fault ? parser->fault : complaint);
    mpiq_parser_deinit(parser);
    return error;
}

struct mpiq_error *mpiq_wire_read_status(const char *json, struct mpiq_target_status *ret)
{
    struct mpiq_target_status status = {.state = '?', .uid = (uid_t)-1, .io_bytes = -1};
    struct mpiq_parser parser;
    mpiq_parser_init(&parser, json, strlen(json));
    const char *complaint = mpiq_parser_open(&parser, '{');
    while (!complaint && more_members(&parser)) {
        if (is(&parser, "pid"))
            status.pid = (pid_t)number_of(&parser, INT32_MAX, 0);
        else if (is(&parser, "state"))
            status.state = letter_of(&parser);
        else if (is(&parser, "core"))
            status.core = bool_of(&parser);
        else if (is(&parser, "traced"))
            status.traced = bool_of(&parser);
        else if (is(&parser, "frozen"))
            status.frozen = bool_of(&parser);
        else if (is(&parser, "freezer"))
            text_of(&parser, status.freezer, sizeof status.freezer);
        else if (is(&parser, "uid"))
            status.uid = (uid_t)number_of(&parser, UINT32_MAX, (uid_t)-1);
        else if (is(&parser, "cpu_ns"))
            status.cpu_ns = (uint64_t)number_of(&parser, INT64_MAX, 0);
        else if (is(&parser, "children_cpu_ns"))
            status.children_cpu_ns = (uint64_t)number_of(&parser, INT64_MAX, 0);
        else if (is(&parser, "io_bytes"))
            status.io_bytes = number_of(&parser, INT64_MAX, -1);
        else if (is(&parser, "host"))
            text_of(&parser, status.host, sizeof status.host);
        else if (is(&parser, "executable"))
            text_of(&parser, status.executable, sizeof status.executable);
        else
            mpiq_parser_skip(&parser);
    }
    struct mpiq_error *error = end(&parser, complaint);
    if (!error)
        *ret = status;
    return error;
}

static void read_thread(struct mpiq_parser *parser, struct mpiq_target_thread *ret)
{
    *ret = (struct mpiq_target_thread){.state = '?', .system_call = -1};
    if (mpiq_parser_peek(parser) != '{') {
        mpiq_parser_skip(parser);
        return;
    }
    mpiq_parser_open(parser, '{');
    while (more_members(parser)) {
        if (is(parser, "tid"))
            ret->tid = (pid_t)number_of(parser, INT32_MAX, 0);
        else if (is(parser, "inner"))
            ret->inner = (pid_t)number_of(parser, INT32_MAX, 0);
        else if (is(parser, "state"))
            ret->state = letter_of(parser);
        else if (is(parser, "cpu_ns"))
            ret->cpu_ns = (uint64_t)number_of(parser, INT64_MAX, 0);
        else if (is(parser, "system_call"))
            ret->system_call = (int32_t)number_of(parser, INT32_MAX, -1);
        else if (is(parser, "sleep"))
            ret->sleep = (uint8_t)number_of(parser, MPIQ_TARGET_SLEEP_COUNT - 1, 0);
        else if (is(parser, "name"))
            text_of(parser, ret->name, sizeof ret->name);
        else
            mpiq_parser_skip(parser);
    }
}

struct mpiq_error *mpiq_wire_read_threads(const char *json, struct mpiq_target_thread **ret, size_t *count)
{
    _cleanup_free_ struct mpiq_target_thread *threads = NULL;
    struct mpiq_parser parser;
    size_t room = 0;
    size_t used = 0;
    mpiq_parser_init(&parser, json, strlen(json));
    const char *complaint = mpiq_parser_open(&parser, '[');
    while (!complaint && !parser.starved && mpiq_parser_more(&parser, ']')) {
        if (used == THREADS_MAX) {
            complaint = "too many threads";
        } else if (!mpiq_array_reserve(&threads, &room, used + 1)) {
            parser.starved = true;
        } else {
            read_thread(&parser, &threads[used++]);
        }
    }
    struct mpiq_error *error = end(&parser, complaint);
    if (!error && !threads && !(threads = calloc(1, sizeof *threads)))
        error = mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for threads");
    if (error)
        return error;
    *ret = mpiq_steal(threads);
    *count = used;
    return NULL;
}

static void read_frame(struct mpiq_parser *parser, struct mpiq_target_frame *ret)
{
    *ret = (struct mpiq_target_frame){.own = -1};
    if (mpiq_parser_peek(parser) != '{') {
        mpiq_parser_skip(parser);
        return;
    }
    mpiq_parser_open(parser, '{');
    while (more_members(parser)) {
        char **text = is(parser, "function") ? &ret->function
                      : is(parser, "file")   ? &ret->file
                      : is(parser, "object") ? &ret->object
                                             : NULL;
        if (text) {
            free(*text);
            *text = copy_of(parser);
        } else if (is(parser, "pc")) {
            mpiq_parser_try_unsigned(parser, &ret->pc);
        } else if (is(parser, "line")) {
            ret->line = (int)number_of(parser, INT32_MAX, 0);
        } else if (is(parser, "inlined")) {
            ret->inlined = bool_of(parser);
        } else {
            mpiq_parser_skip(parser);
        }
    }
}

static void read_frames(struct mpiq_parser *parser, struct mpiq_target_stack *ret)
{
    size_t room = ret->count;
    if (mpiq_parser_peek(parser) != '[') {
        mpiq_parser_skip(parser);
        return;
    }
    mpiq_parser_open(parser, '[');
    while (!parser->starved && mpiq_parser_more(parser, ']')) {
        if (ret->count == FRAMES_MAX) {
            ret->truncated = true;
            mpiq_parser_skip(parser);
        } else if (!mpiq_array_reserve(&ret->frames, &room, ret->count + 1)) {
            parser->starved = true;
        } else {
            read_frame(parser, &ret->frames[ret->count++]);
        }
    }
}

struct mpiq_error *mpiq_wire_read_stack(const char *json, struct mpiq_target_stack *ret)
{
    struct mpiq_target_stack stack = {0};
    struct mpiq_parser parser;
    mpiq_parser_init(&parser, json, strlen(json));
    const char *complaint = mpiq_parser_open(&parser, '{');
    while (!complaint && !parser.starved && more_members(&parser)) {
        if (is(&parser, "frames") && !stack.frames) {
            read_frames(&parser, &stack);
        } else if (is(&parser, "truncated")) {
            stack.truncated |= bool_of(&parser);
        } else if (is(&parser, "why")) {
            free(stack.why);
            stack.why = copy_of(&parser);
        } else {
            mpiq_parser_skip(&parser);
        }
    }
    struct mpiq_error *error = end(&parser, complaint);
    if (error)
        mpiq_target_stack_deinit(&stack);
    else
        *ret = stack;
    return error;
}

struct mpiq_error *mpiq_wire_read_string(const char *json, char **ret)
{
    struct mpiq_parser parser;
    mpiq_parser_init(&parser, json, strlen(json));
    const char *complaint = mpiq_parser_string(&parser);
    char *copy = complaint || parser.fault ? NULL : strdup(parser.string);
    parser.starved |= !complaint && !parser.fault && !copy;
    struct mpiq_error *error = end(&parser, complaint);
    if (error)
        free(copy);
    else
        *ret = copy;
    return error;
}

struct mpiq_error *mpiq_wire_read_strings(const char *json,
                                          bool (*visit)(void *argument, const char *key, const char *value),
                                          void *argument)
{
    struct mpiq_parser parser;
    mpiq_parser_init(&parser, json, strlen(json));
    const char *complaint = mpiq_parser_open(&parser, '{');
    while (!complaint && !parser.starved && more_members(&parser)) {
        _cleanup_free_ char *key = strdup(parser.string);
        const char *value = mpiq_parser_try_string(&parser);
        parser.starved |= !key || (value && !visit(argument, key, value));
    }
    return end(&parser, complaint);
}
