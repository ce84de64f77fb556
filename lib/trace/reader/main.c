/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiq-trace-reader - opens and reads OTF2 archives, so that mpiq does not have to: an archive is somebody
 * else's file.
 *
 * Started by lib/session/reader_process.c alone, as the archive's owner, with the connection as descriptor 3.
 * It is confined (rank/confine.h) before it reads the first request (docs/WIRE.md, "The trace reader's
 * side"):
 *
 *     trace NUMBER report NANOSECONDS PATH     the state at a time after the start (-1: at the end)
 *     trace NUMBER late 0 PATH                 who waited, and for whom
 *
 * Answers are lines "state NUMBER TEXT", then "done NUMBER {}" or "fail NUMBER CODE SENTENCE".
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "rank/confine.h"
#include "state/snapshot.h"
#include "process/pipe.h"
#include "trace/late.h"
#include "trace/state.h"

enum { WIRE = 3 };

struct request {
    uint64_t number;
    bool late;
    int64_t at_ns; /* -1: the end */
    const char *path;
};

static struct mpiq_pipe wire;
static uint64_t at_work;

/* ---- crashes ---------------------------------------------------------------------------------------- */

/* Nothing but write(): whoever caused this may have left anything behind. */
static void on_crash(int number)
{
    char line[64];
    int length = snprintf(line, sizeof line, "\ncrash %" PRIu64 " %d\n", at_work, number);
    if (write(WIRE, line, (size_t)length) < 0)
        _exit(EXIT_FAILURE);
    _exit(128 + number);
}

/* ---- answers ---------------------------------------------------------------------------------------- */

static void say(const char *word, uint64_t number, const char *text, size_t length)
{
    char head[48];
    int size = snprintf(head, sizeof head, "%s %" PRIu64 " ", word, number);
    struct mpiq_error *error = mpiq_pipe_write(&wire, head, (size_t)size);
    if (!error)
        error = mpiq_pipe_write(&wire, text, length);
    if (!error)
        error = mpiq_pipe_write(&wire, "\n", 1);
    if (error)
        _exit(EXIT_SUCCESS); /* nobody listens any more */
}

/* Takes error. */
static void say_failure(uint64_t number, struct mpiq_error *error)
{
    char text[1024];
    int length = snprintf(text, sizeof text, "%s %s", mpiq_error_word(error->code), error->message);
    size_t size = (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    for (size_t i = 0; i < size; i++)
        text[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
    say("fail", number, text, size);
    mpiq_error_destroy(error);
}

static struct mpiq_error *say_state(void *context, int look, struct mpiq_rank_state **state)
{
    const struct request *request = context;
    _cleanup_free_ char *json = NULL;
    _cleanup_free_ char *line = NULL;
    struct mpiq_error *error = mpiq_rank_state_to_json(*state, &json);
    if (error)
        return error;
    int length = asprintf(&line, "%d %s", look, json);
    if (length < 0) {
        line = NULL;
        return mpiq_error_no_memory();
    }
    say("state", request->number, line, (size_t)length);
    return NULL;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

/* Ticks of the trace's clock. */
static uint64_t ticks_of(const struct mpiq_trace_stream *stream, int64_t ns)
{
    if (ns < 0)
        return UINT64_MAX;
    double ticks = (double)ns / 1e9 * (double)mpiq_trace_stream_definitions(stream)->resolution;
    return ticks >= 9e18 ? UINT64_MAX : (uint64_t)ticks;
}

static struct mpiq_error *report(struct mpiq_trace_stream *stream, struct request *request)
{
    struct mpiq_trace_replay replay;
    struct mpiq_error *error = mpiq_trace_replay_init(&replay, stream, NULL, NULL);
    if (error)
        return error;
    error = mpiq_trace_replay_run(&replay, ticks_of(stream, request->at_ns));
    if (!error)
        error = mpiq_trace_states(&replay, say_state, request);
    mpiq_trace_replay_deinit(&replay);
    return error;
}

static struct mpiq_error *say_late(void *context, const char *line, size_t length)
{
    const struct request *request = context;
    say("state", request->number, line, length);
    return NULL;
}

static void serve(struct request *request)
{
    struct mpiq_trace_stream *stream = NULL;
    at_work = request->number;
    struct mpiq_error *error = mpiq_trace_stream_create(request->path, &stream);
    if (!error)
        error = request->late ? mpiq_trace_late(stream, say_late, request) : report(stream, request);
    mpiq_trace_stream_destroy(stream);
    if (error)
        say_failure(request->number, error);
    else
        say("done", request->number, "{}", 2);
    at_work = 0;
}

/* ---- requests --------------------------------------------------------------------------------------- */

static bool parse_request(char *line, struct request *ret)
{
    char *rest = line;
    const char *word = mpiq_pipe_word(&rest);
    if (!word || strcmp(word, "trace") != 0 || !mpiq_pipe_number(mpiq_pipe_word(&rest), &ret->number))
        return false;
    const char *what = mpiq_pipe_word(&rest);
    const char *time = mpiq_pipe_word(&rest);
    if (!what || !time || !rest || !*rest)
        return false;
    ret->late = strcmp(what, "late") == 0;
    ret->at_ns = strtoll(time, NULL, 10);
    ret->path = rest;
    return true;
}

static int serve_requests(void)
{
    for (;;) {
        char *line = NULL;
        size_t length = 0;
        struct request request = {0};
        struct mpiq_error *error = mpiq_pipe_read(&wire, &line, &length);
        if (error || !line)
            return error && error->code == MPIQ_ERROR_NO_MEMORY ? MPIQ_EXIT_NO_MEMORY : EXIT_SUCCESS;
        if (!parse_request(line, &request))
            return EXIT_FAILURE;
        serve(&request);
    }
}

int main(int count, char **arguments)
{
    struct mpiq_confinement confinement = {.kind = MPIQ_CONFINED_READER, /* it has many files open */
                                           .keep_error = getenv("MPIQ_DEBUG") != NULL};
    if (fcntl(WIRE, F_GETFD) < 0) {
        fprintf(stderr, "mpiq-trace-reader is started by mpiq, not by hand\n");
        return EXIT_FAILURE;
    }
    prctl(PR_SET_NAME, "mpiq-trace-read");
    if (!mpiq_confine_options(&confinement, count, arguments))
        return EXIT_FAILURE;
    fcntl(WIRE, F_SETFD, FD_CLOEXEC);
    for (int fd = WIRE + 1; fd < 16; fd++)
        close(fd);
    if (!mpiq_confine_begin(&confinement) || !mpiq_confine_use_crash_stack())
        return EXIT_FAILURE;
    mpiq_confine_catch_crashes(on_crash, false);
    mpiq_pipe_init(&wire, WIRE, WIRE);
    if (!mpiq_confine_end(MPIQ_CONFINED_HELPER))
        return EXIT_FAILURE;
    _exit(serve_requests());
}
