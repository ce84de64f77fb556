/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiq-dll-host - runs any message-queue DLL, so that mpiq does not have to.
 *
 * Started by lib/rank/host.c alone, with the wire as descriptor 3, the DLL as descriptor 4 and nothing else:
 * docs/WIRE.md, "The helper's side".  Arguments: --memory BYTES, --parent PID, --user UID:GID.
 *
 * Whatever the DLL does affects only this process: a crash is reported in one line before the process dies,
 * memory is limited, SIGALRM from mpiq ends a DLL that takes too long, and the process ends with mpiq.  The
 * DLL is loaded in a confined process (confine.h) and from a descriptor, so that nobody can swap the file
 * after mpiq has checked it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ask.h"
#include "base/debug.h"
#include "base/json_parser.h"
#include "reading.h"
#include "rank/confine.h"
#include "process/pipe.h"
#include "process/wire.h"

#define WIRE 3
#define DLL 4
#define WATCHER_STACK ((size_t)64 << 10)

static struct mpiq_pipe wire;
static struct mpiq_dll dll;
static struct mpiq_group_table groups;

/* ---- crashes ---------------------------------------------------------------------------------------- */

/* Nothing but write(): the DLL may have left anything behind. */
static void on_crash(int number)
{
    char line[160] = "\ncrash ";
    size_t length = strlen(line);
    if (number >= 10)
        line[length++] = (char)('0' + number / 10);
    line[length++] = (char)('0' + number % 10);
    line[length++] = ' ';
    const char *phase = mpiq_reading_phase;
    for (size_t i = 0; phase[i] && length < sizeof line - 1; i++)
        line[length++] = phase[i];
    line[length++] = '\n';
    if (write(WIRE, line, length) < 0)
        _exit(EXIT_FAILURE);
    signal(number, SIG_DFL);
    raise(number);
    _exit(EXIT_FAILURE);
}

/* ---- limits ----------------------------------------------------------------------------------------- */

static void *watch(void *argument)
{
    (void)argument;
    struct pollfd end = {.fd = WIRE, .events = POLLRDHUP};
    while (poll(&end, 1, -1) < 0 && errno == EINTR)
        continue;
    /* Lines that arrived before the other end was closed are no longer needed. */
    _exit(EXIT_SUCCESS);
}

static bool start_watcher(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;

    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, WATCHER_STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, &attributes, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return !failed;
}

static bool prepare(int count, char **arguments)
{
    struct mpiq_confinement confinement = {.kind = MPIQ_CONFINED_HELPER, .keep_error = mpiq_debug_on("dll")};
    close_range(DLL + 1, UINT_MAX, 0);
    prctl(PR_SET_NAME, "mpiq-dll-host"); /* executed from a descriptor, it is called by that one's number */
    return mpiq_confine_options(&confinement, count, arguments) && mpiq_confine_begin(&confinement) &&
           start_watcher() && mpiq_confine_end(MPIQ_CONFINED_HELPER);
}

/* ---- looks ------------------------------------------------------------------------------------------ */

/* The DLL that stands at descriptor DLL, loaded at the first look; name is what mpiq calls it.  A failure is
   remembered by nobody: mpiq ends this process after one. */
static struct mpiq_error *find_dll(const char *name, struct mpiq_dll **ret)
{
    struct mpiq_error *error = dll.path ? NULL : mpiq_dll_open(DLL, name, &dll);
    *ret = error ? NULL : &dll;
    return error;
}

/* What mpiq asks for: the JSON after "look". */
struct request {
    uint64_t number;
    bool internal;
    char *dll;
    char *known; /* JSON object; NULL */
    bool asked;  /* a question, instead of a state */
    struct mpiq_question question;
};

static void request_deinit(struct request *request)
{
    free(request->dll);
    free(request->known);
}

/* The next value as it stands; NULL without memory, or where there is none. */
static char *copy_value(struct mpiq_parser *parser)
{
    const char *start = NULL;
    size_t length = mpiq_parser_span(parser, &start);
    char *copy = length > 0 ? strndup(start, length) : NULL;
    parser->starved |= length > 0 && !copy;
    return copy;
}

static struct mpiq_error *read_question(struct mpiq_parser *parser, struct request *ret)
{
    const char *start = NULL;
    size_t length = mpiq_parser_span(parser, &start);
    ret->asked = true;
    return mpiq_question_read(start, length, &ret->question);
}

static struct mpiq_error *read_request(const char *json, struct request *ret)
{
    struct mpiq_parser parser;
    struct mpiq_error *error = NULL;
    mpiq_parser_init(&parser, json, strlen(json));
    bool object = !mpiq_parser_open(&parser, '{');
    while (object && !error && !parser.starved && mpiq_parser_more(&parser, '}')) {
        mpiq_parser_key(&parser);
        const char *key = parser.fault ? "" : parser.string;
        if (strcmp(key, "number") == 0) {
            mpiq_parser_try_unsigned(&parser, &ret->number);
        } else if (strcmp(key, "internal") == 0) {
            mpiq_parser_try_bool(&parser, &ret->internal);
        } else if (strcmp(key, "dll") == 0 && !ret->dll) {
            const char *path = mpiq_parser_try_string(&parser);
            ret->dll = path ? strdup(path) : NULL;
            parser.starved |= path && !ret->dll;
        } else if (strcmp(key, "known") == 0 && !ret->known) {
            ret->known = copy_value(&parser);
        } else if (strcmp(key, "question") == 0) {
            error = read_question(&parser, ret);
        } else {
            mpiq_parser_skip(&parser);
        }
    }
    if (!error && parser.starved)
        error = mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a request");
    else if (!error && (!object || parser.fault || !ret->dll))
        error = mpiq_error_create(MPIQ_ERROR_USAGE, "the look names no message-queue library");
    mpiq_parser_deinit(&parser);
    return error;
}

/* The state of the rank, or the answer to the question that the request holds. */
static struct mpiq_error *look_or_answer(struct mpiq_reading *reading, const struct request *request,
                                         char **ret)
{
    if (request->asked) {
        struct mpiq_text text = {0};
        struct mpiq_error *error = mpiq_ask_answer(reading, &request->question, &text);
        if (!error)
            return mpiq_text_end(&text, ret);
        mpiq_buffer_deinit(&text.own);
        return error;
    }
    struct mpiq_error *error = mpiq_read_state(reading);
    return error ? error : mpiq_rank_state_to_json(reading->state, ret);
}

/* *number is that of the look, which its answer repeats. */
static struct mpiq_error *read_rank(const char *json, uint64_t *number, char **ret)
{
    struct mpiq_reading reading = {.groups = &groups};
    struct request request = {0};
    struct mpiq_target *target = NULL;
    struct mpiq_error *error = read_request(json, &request);

    *number = request.number;
    reading.internal = request.internal;
    if (!error)
        error = find_dll(request.dll, &reading.dll);
    if (!error)
        error = mpiq_target_wire_pipe_create(&wire, request.known, &target);
    reading.target = target;
    if (!error)
        error = look_or_answer(&reading, &request, ret);
    mpiq_rank_state_destroy(reading.state);
    mpiq_target_destroy(target);
    request_deinit(&request);
    return error;
}

static struct mpiq_error *say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One write: what comes in pieces is waited for in pieces. */
static struct mpiq_error *say(const char *format, ...)
{
    char *line = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&line, format, args);
    va_end(args);
    if (length < 0)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for an answer");
    struct mpiq_error *error = mpiq_pipe_write(&wire, line, (size_t)length);
    free(line);
    return error;
}

static struct mpiq_error *serve_look(const char *request)
{
    _cleanup_free_ char *json = NULL;
    uint64_t number = 0;
    struct mpiq_error *failure = read_rank(request, &number, &json);
    if (!failure)
        return say("done %" PRIu64 " %s\n", number, json);
    /* A sentence has no line breaks: they are escaped (base/error.h). */
    struct mpiq_error *error =
        say("fail %" PRIu64 " %s %s\n", number, mpiq_error_word(failure->code), failure->message);
    mpiq_error_destroy(failure);
    return error;
}

int main(int count, char **arguments)
{
    if (fcntl(WIRE, F_GETFD) < 0) {
        fprintf(stderr, "mpiq-dll-host is started by mpiq, not by hand\n");
        return EXIT_FAILURE;
    }
    if (!prepare(count, arguments) || !mpiq_confine_use_crash_stack())
        return EXIT_FAILURE;
    mpiq_confine_catch_crashes(on_crash, true);
    /* What one look has used, the next one needs again: nothing goes back to the system in between. */
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mpiq_pipe_init(&wire, WIRE, WIRE);
    for (;;) {
        char *line = NULL;
        size_t length = 0;
        struct mpiq_error *error = mpiq_pipe_read(&wire, &line, &length);
        if (error || !line)
            return EXIT_SUCCESS;
        if (strncmp(line, "look ", 5) != 0)
            return EXIT_FAILURE;
        /* The line is the pipe's, whose next read overwrites it. */
        _cleanup_free_ char *request = strdup(line + 5);
        if (!request || serve_look(request))
            return EXIT_FAILURE;
    }
}
