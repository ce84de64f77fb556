/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_text.h"
#include "process/wire.h"
#include "process/wire_json.h"

#define READ_MAX ((uint64_t)1 << 20)
#define TYPES_MAX ((size_t)1 << 16)

struct server {
    struct mpiq_target *target;
    struct mpiq_pipe *pipe; /* NULL: the reply is kept in aside */
    char *aside;
    pid_t direct;                          /* -1: not known yet */
    const struct mpiq_target_type **types; /* by identifier */
    size_t type_count;
    char *reply; /* hex of the largest read so far */
    size_t reply_room;
};

/* What a request comes to: an error of the target goes over the wire, one of the wire ends it. */
struct outcome {
    struct mpiq_error *failed;
    struct mpiq_error *broken;
};

static struct outcome failed(struct mpiq_error *error)
{
    return (struct outcome){.failed = error};
}

static struct outcome broken(struct mpiq_error *error)
{
    return (struct outcome){.broken = error};
}

static struct outcome misused(const char *what)
{
    return failed(mpiq_error_create(MPIQ_ERROR_USAGE, "the wire: %s", what));
}

static struct outcome say(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static struct outcome say(struct server *server, const char *format, ...)
{
    _cleanup_free_ char *line = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&line, format, args);
    va_end(args);
    if (length < 0)
        return broken(mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory to answer on the wire"));
    if (!server->pipe) {
        free(server->aside);
        server->aside = mpiq_steal(line);
        return broken(NULL);
    }
    return broken(mpiq_pipe_write(server->pipe, line, (size_t)length));
}

/* Ends the text, which is the reply. */
static struct outcome say_json(struct server *server, struct mpiq_text *text)
{
    _cleanup_free_ char *json = NULL;
    struct mpiq_error *error = mpiq_text_end(text, &json);
    return error ? failed(error) : say(server, "ok %s\n", json);
}

static struct outcome say_error(struct server *server, struct mpiq_error *error)
{
    _cleanup_free_ char *text = strdup(error->message);
    for (char *c = text; c && *c; c++) {
        if ((unsigned char)*c < ' ')
            *c = ' ';
    }
    struct outcome outcome = say(server, "err %s %s\n", mpiq_error_word(error->code), text ? text : "");
    mpiq_error_destroy(error);
    return outcome;
}

static pid_t find_direct(struct mpiq_target *target)
{
    struct mpiq_target_status status;
    if (strcmp(target->ops->kind, "live") != 0)
        return mpiq_target_wire_direct(target);
    struct mpiq_error *error = mpiq_target_status(target, &status);
    pid_t direct = error ? 0 : status.pid;
    mpiq_error_destroy(error);
    return direct;
}

static struct outcome serve_hello(struct server *server, char *rest)
{
    uint64_t version = 0;

    if (!mpiq_pipe_number(mpiq_pipe_word(&rest), &version) || version < 1)
        return misused("hello without a version");
    if (server->direct < 0)
        server->direct = find_direct(server->target);
    return say(server, "ok 1 %d\n", (int)server->direct);
}

static struct outcome serve_read(struct server *server, char *rest)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t address = 0;
    uint64_t size = 0;

    if (!mpiq_pipe_number(mpiq_pipe_word(&rest), &address) ||
        !mpiq_pipe_number(mpiq_pipe_word(&rest), &size) || size > READ_MAX)
        return misused("read needs an address and a size of at most 1 MiB");
    /* The bytes are read into the reply's far end, and spelled out from its start without overtaking. */
    size_t length = 3 + 2 * (size_t)size + 1;
    if (server->reply_room < length) {
        char *grown = realloc(server->reply, length);
        if (!grown)
            return failed(mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for %" PRIu64 " bytes", size));
        server->reply = grown;
        server->reply_room = length;
    }
    unsigned char *bytes = (unsigned char *)server->reply + length - size - 1;
    struct mpiq_error *error = mpiq_target_read(server->target, address, (size_t)size, bytes);
    if (error)
        return failed(error);
    memcpy(server->reply, "ok ", 3);
    char *next = server->reply + 3;
    for (uint64_t i = 0; i < size; i++) {
        unsigned char byte = bytes[i];
        *next++ = digits[byte >> 4];
        *next++ = digits[byte & 15];
    }
    *next = '\n';
    return broken(mpiq_pipe_write(server->pipe, server->reply, length));
}

static struct outcome serve_symbol(struct server *server, char *rest)
{
    uint64_t address = 0;
    struct mpiq_error *error = mpiq_target_find_symbol(server->target, rest, &address);
    return error ? failed(error) : say(server, "ok 0x%" PRIx64 "\n", address);
}

static struct outcome serve_type(struct server *server, char *rest)
{
    const struct mpiq_target_type *type = NULL;
    uint64_t size = 0;
    size_t id = 0;

    struct mpiq_error *error = mpiq_target_find_type(server->target, rest, &type);
    if (!error)
        error = mpiq_target_type_size(server->target, type, &size);
    if (error)
        return failed(error);
    while (id < server->type_count && server->types[id] != type)
        id++;
    if (id == server->type_count) {
        if ((id & (id - 1)) == 0) {
            void *grown = reallocarray(server->types, id ? id * 2 : 1, sizeof(*server->types));
            if (!grown || id >= TYPES_MAX) {
                server->types = grown ? grown : server->types;
                return failed(mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "too many types were asked for"));
            }
            server->types = grown;
        }
        server->types[server->type_count++] = type;
    }
    return say(server, "ok %zu %" PRIu64 "\n", id, size);
}

static struct outcome serve_field(struct server *server, char *rest)
{
    uint64_t id = 0;
    uint64_t offset = 0;
    if (!mpiq_pipe_number(mpiq_pipe_word(&rest), &id) || id >= server->type_count)
        return misused("field without a type that was given out");
    struct mpiq_error *error = mpiq_target_field_offset(server->target, server->types[id], rest, &offset);
    return error ? failed(error) : say(server, "ok %" PRIu64 "\n", offset);
}

static struct outcome serve_sizes(struct server *server, char *rest)
{
    (void)rest;
    struct mpiq_target_sizes sizes;
    struct mpiq_error *error = mpiq_target_sizes(server->target, &sizes);
    if (error)
        return failed(error);
    return say(server, "ok %d %d %d %d %d %d %d %s\n", sizes.short_size, sizes.int_size, sizes.long_size,
               sizes.long_long_size, sizes.pointer_size, sizes.bool_size, sizes.size_t_size,
               sizes.big_endian ? "big" : "little");
}

static struct outcome serve_status(struct server *server, char *rest)
{
    (void)rest;
    struct mpiq_target_status status;
    struct mpiq_text text = {0};
    struct mpiq_error *error = mpiq_target_status(server->target, &status);
    if (error)
        return failed(error);
    mpiq_wire_write_status(&text, &status);
    return say_json(server, &text);
}

static struct outcome serve_threads(struct server *server, char *rest)
{
    (void)rest;
    _cleanup_free_ struct mpiq_target_thread *threads = NULL;
    struct mpiq_text text = {0};
    size_t count = 0;
    struct mpiq_error *error = mpiq_target_threads(server->target, &threads, &count);
    if (error)
        return failed(error);
    mpiq_wire_write_threads(&text, threads, count);
    return say_json(server, &text);
}

/* Frees the stack. */
static struct outcome say_stack(struct server *server, struct mpiq_target_stack *stack)
{
    struct mpiq_text text = {0};
    mpiq_wire_write_stack(&text, stack);
    mpiq_target_stack_deinit(stack);
    return say_json(server, &text);
}

static struct outcome serve_stack(struct server *server, char *rest)
{
    struct mpiq_target_stack stack = {0};
    uint64_t tid = 0;

    if (!mpiq_pipe_number(mpiq_pipe_word(&rest), &tid) || tid > INT32_MAX)
        return misused("stack without a thread's id");
    struct mpiq_error *error = mpiq_target_stack(server->target, (pid_t)tid, &stack);
    return error ? failed(error) : say_stack(server, &stack);
}

static struct outcome serve_place(struct server *server, char *rest)
{
    struct mpiq_target_stack stack = {0};
    uint64_t address = 0;

    if (!mpiq_pipe_number(mpiq_pipe_word(&rest), &address))
        return misused("place without an address");
    struct mpiq_error *error = mpiq_target_place(server->target, address, &stack);
    return error ? failed(error) : say_stack(server, &stack);
}

static struct outcome serve_environment(struct server *server, char *rest)
{
    _cleanup_free_ char *value = NULL;
    struct mpiq_text text = {0};
    struct mpiq_error *error = mpiq_target_environment(server->target, rest, &value);
    if (error)
        return failed(error);
    mpiq_text_string(&text, value, SIZE_MAX);
    return say_json(server, &text);
}

static struct outcome serve_forget(struct server *server, char *rest)
{
    (void)rest;
    mpiq_target_forget(server->target);
    return say(server, "ok\n");
}

static struct outcome serve_end(struct server *server, char *rest)
{
    (void)rest;
    return say(server, "ok\n");
}

static const struct request {
    const char *word;
    struct outcome (*serve)(struct server *server, char *rest);
    bool argument; /* something stands after the word */
} requests[] = {
    {"hello", serve_hello, true},
    {"read", serve_read, true},
    {"symbol", serve_symbol, true},
    {"type", serve_type, true},
    {"field", serve_field, true},
    {"sizes", serve_sizes, false},
    {"status", serve_status, false},
    {"threads", serve_threads, false},
    {"stack", serve_stack, true},
    {"place", serve_place, true},
    {"environment", serve_environment, true},
    {"forget", serve_forget, false},
    {"end", serve_end, false},
};

static const struct request *find_request(const char *line, size_t word)
{
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        if (strlen(requests[i].word) == word && memcmp(requests[i].word, line, word) == 0)
            return &requests[i];
    }
    return NULL;
}

/* request is NULL for a word that is not known. */
static struct mpiq_error *serve_request(struct server *server, const struct request *request, char *line,
                                        size_t length)
{
    size_t word = strcspn(line, " ");
    struct outcome outcome;
    if (!request)
        outcome =
            failed(mpiq_error_create(MPIQ_ERROR_UNSUPPORTED, "the wire: no such request is known here"));
    else if (request->argument && word + 1 >= length)
        outcome = misused("the request needs an argument");
    else
        outcome = request->serve(server, line[word] ? line + word + 1 : line + word);
    if (outcome.failed)
        outcome = say_error(server, outcome.failed);
    return outcome.broken;
}

char *mpiq_target_reply(struct mpiq_target *target, pid_t direct, const char *request)
{
    struct server server = {.target = target, .direct = direct};
    _cleanup_free_ char *line = strdup(request);
    const struct request *found = find_request(request, strcspn(request, " "));
    char *reply = NULL;
    if (line && found && found->serve != serve_read)
        mpiq_error_destroy(serve_request(&server, found, line, strlen(line)));
    if (server.aside && strncmp(server.aside, "ok ", 3) == 0)
        reply = strndup(server.aside + 3, strcspn(server.aside + 3, "\n"));
    free(server.aside);
    free(server.types);
    return reply;
}

struct mpiq_error *mpiq_target_serve_pipe(struct mpiq_target *target, struct mpiq_pipe *pipe, pid_t direct,
                                          bool (*other)(void *argument, const char *line), void *argument)
{
    struct server server = {.target = target, .pipe = pipe, .direct = direct};
    struct mpiq_error *error = NULL;
    bool on = true;

    while (on) {
        char *line = NULL;
        size_t length = 0;
        error = mpiq_pipe_read(pipe, &line, &length);
        if (error || !line)
            break;
        const struct request *request = find_request(line, strcspn(line, " "));
        if (!request && other) {
            on = other(argument, line);
        } else {
            error = serve_request(&server, request, line, length);
            on = !request || request->serve != serve_end;
        }
        if (!error && on) /* one that asks for ever is to end, too */
            error = mpiq_pipe_in_time(pipe);
        on = on && !error;
    }
    free(server.types);
    free(server.reply);
    return error;
}

struct mpiq_error *mpiq_target_serve(struct mpiq_target *target, int in, int out,
                                     bool (*other)(void *argument, const char *line), void *argument)
{
    struct mpiq_pipe pipe;
    mpiq_pipe_init(&pipe, in, out);
    struct mpiq_error *error = mpiq_target_serve_pipe(target, &pipe, -1, other, argument);
    mpiq_pipe_deinit(&pipe);
    return error;
}
