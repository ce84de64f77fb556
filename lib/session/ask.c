/* SPDX-License-Identifier: BSD-3-Clause */
/* ask - a question about one process, instead of a look at a job. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/json_parser.h"
#include "session/reader_process.h"
#include "mpiq.h"
#include "rank/rank.h"
#include "process/target.h"

/* Debug information is loaded, a library asked. */
static const int64_t answer_ns = (int64_t)120 * 1000 * 1000 * 1000;

/* A debugger that serves the process reads it. */
static struct mpiq_error *ask_wire(const struct mpiq_options *options, const char *question, char **ret)
{
    const struct mpiq_dll_host_options how = {.dll = options->dll};
    struct mpiq_target *target = NULL;
    struct mpiq_dll_host *host = NULL;
    struct mpiq_error *error = mpiq_target_wire_create(options->wires[0].in, options->wires[0].out, &target);
    if (!error)
        error = mpiq_dll_host_create(&how, &host);
    if (!error)
        error = mpiq_dll_host_ask(host, target, question, ret);
    mpiq_dll_host_destroy(host);
    mpiq_target_destroy(target);
    return error;
}

static struct mpiq_error *find_source(const struct mpiq_options *options, struct mpiq_look_source *ret)
{
    if (options->target_count == 0)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "a question is about one process: a pid or a core file");
    const char *word = options->targets[0];
    *ret = (struct mpiq_look_source){.rank = -1};
    if (*word && word[strspn(word, "0123456789")] == '\0') {
        errno = 0;
        long pid = strtol(word, NULL, 10);
        ret->pid = (pid_t)pid;
        return errno || pid <= 0 || pid > INT_MAX
                   ? mpiq_error_create(MPIQ_ERROR_USAGE, "%s is not a pid", word)
                   : NULL;
    }
    struct stat status;
    if (stat(word, &status) == 0 && !S_ISREG(status.st_mode))
        return mpiq_error_create(MPIQ_ERROR_USAGE, "%s is not a file: name a pid or a core file", word);
    ret->path = realpath(word, NULL);
    return ret->path ? NULL : mpiq_error_create_os(errno, "cannot open %s", word);
}

static struct mpiq_error *await_answer(struct mpiq_reader_process *process, char **ret)
{
    int64_t end = mpiq_monotonic_ns() + answer_ns;
    while (mpiq_monotonic_ns() < end) {
        struct mpiq_reader_answer answer = {0};
        bool there = false;
        struct mpiq_error *error = mpiq_reader_process_next(process, &answer, &there);
        if (!error && there && answer.crash)
            error = mpiq_error_create(MPIQ_ERROR_INTERNAL, "the process that read it crashed (signal %d)",
                                      answer.crash);
        if (!error && there && answer.error)
            error = answer.error;
        if (error)
            return error;
        if (there) {
            *ret = strdup(answer.text);
            return *ret ? NULL : mpiq_error_no_memory();
        }
        struct pollfd ready = {.fd = process->socket, .events = POLLIN};
        poll(&ready, 1, 100);
    }
    return mpiq_error_create(MPIQ_ERROR_TIMEOUT, "reading the process timed out");
}

static struct mpiq_error *ask_reader(const struct mpiq_options *options, const char *question, char **ret)
{
    struct mpiq_look_source source;
    struct mpiq_reader_process process = {.socket = -1};
    struct mpiq_error *error = find_source(options, &source);
    if (error)
        return error;
    const struct mpiq_reader_start start = {
        .owner = mpiq_owner_of(&source), .dll = options->dll, .threads = 1, .sources = 1};
    error = mpiq_reader_process_start(&start, &process);
    if (!error)
        error = mpiq_reader_process_request(&process, 1, &source, 0, 1, options->stop, MPIQ_STACKS_NONE,
                                            question);
    if (!error)
        error = await_answer(&process, ret);
    if (error && error->code == MPIQ_ERROR_TIMEOUT)
        mpiq_reader_process_kill(&process);
    mpiq_reader_process_end(&process);
    free(source.path);
    return error;
}

/* The question in one line, however it was written: a string of JSON holds no line break as such.  *ret is
   the caller's to free. */
static struct mpiq_error *one_line(const char *question, char **ret)
{
    struct mpiq_parser parser;
    mpiq_parser_init(&parser, question, strlen(question));
    bool object = mpiq_parser_peek(&parser) == '{';
    mpiq_parser_skip(&parser);
    mpiq_parser_end(&parser);
    bool starved = parser.starved;
    bool good = object && !parser.fault;
    mpiq_parser_deinit(&parser);
    if (!good && !starved)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "the question is not a JSON object");
    *ret = starved ? NULL : strdup(question);
    for (char *c = *ret; c && *c; c++)
        *c = *c == '\n' || *c == '\r' ? ' ' : *c;
    return *ret ? NULL : mpiq_error_no_memory();
}

struct mpiq_error *mpiq_ask(const struct mpiq_options *given, const char *question, char **ret)
{
    struct mpiq_options options = MPIQ_OPTIONS_DEFAULT;
    _cleanup_free_ char *line = NULL;
    memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    struct mpiq_error *error = one_line(question, &line);
    if (error)
        return error;
    return options.wire_count > 0 ? ask_wire(&options, line, ret) : ask_reader(&options, line, ret);
}
