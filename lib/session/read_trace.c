/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/read_trace.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "session/reader_process.h"
#include "state/state_lines.h"

/* Nothing is heard for so long: archives may be of many gigabytes, and nobody knows how many events they
   have before they have been read. */
static const int64_t longest_ns = (int64_t)3600 * 1000 * 1000 * 1000;

/* Of all answers; a reader that was taken over might send without end. */
#define MOST_TEXT ((uint64_t)8 << 30)

bool mpiq_is_trace(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".otf2") == 0;
}

/* What is done with a line of the answer. */
struct taking {
    struct mpiq_error *(*take)(struct taking *taking, const char *text);
    struct mpiq_state_lines *lines; /* of states */
    mpiq_snapshot_callback *callback;
    mpiq_trace_line_callback *line_callback;
    void *context;
};

static struct mpiq_error *take_state(struct taking *taking, const char *text)
{
    return mpiq_state_lines_take(taking->lines, text, strlen(text), taking->callback, taking->context);
}

static struct mpiq_error *take_late(struct taking *taking, const char *text)
{
    return taking->line_callback(taking->context, text);
}

static struct mpiq_error *take_answers(struct mpiq_reader_process *process, const char *path,
                                       struct taking *taking)
{
    int64_t end = mpiq_monotonic_ns() + longest_ns;
    uint64_t text = 0;
    while (mpiq_monotonic_ns() < end && text < MOST_TEXT) {
        struct mpiq_reader_answer answer = {0};
        bool there = false;
        struct mpiq_error *error = mpiq_reader_process_next(process, &answer, &there);
        if (!error && there && answer.crash)
            error = mpiq_error_create(MPIQ_ERROR_CORRUPT, "the process that read it crashed (signal %d)",
                                      answer.crash);
        if (!error && there)
            error = answer.error;
        if (!error && there && answer.number != 1)
            error = mpiq_error_create(MPIQ_ERROR_CORRUPT, "the process that reads it sent a malformed reply");
        if (!error && there && answer.line) {
            text += strlen(answer.text);
            error = taking->take(taking, answer.text);
        } else if (!error && there) {
            return NULL;
        }
        if (error)
            return mpiq_error_prefix(error, "the trace %s", path);
        struct pollfd ready = {.fd = process->socket, .events = POLLIN};
        if (!there)
            poll(&ready, 1, 100);
    }
    return mpiq_error_create(MPIQ_ERROR_TIMEOUT, "reading %s timed out", path);
}

static struct mpiq_error *explain_missing(struct mpiq_error *error, const char *path)
{
    if (!error || error->code != MPIQ_ERROR_NOT_FOUND)
        return error;
    mpiq_error_destroy(error);
    return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                             "%s is an OTF2 trace, and this mpiq was built without libotf2 (on Debian: "
                             "libopen-trace-format2-dev)",
                             path);
}

static struct mpiq_error *read_trace(const char *path, const char *what, int64_t at_ns, struct taking *taking)
{
    _cleanup_free_ char *whole = realpath(path, NULL); /* who reads it has another directory */
    if (!whole)
        return mpiq_error_create_os(errno, "cannot open %s", path);
    const struct mpiq_look_source source = {.path = whole, .rank = -1};
    const struct mpiq_reader_start start = {
        .owner = mpiq_owner_of(&source), .threads = 1, .sources = 1, .trace = true};
    struct mpiq_reader_process process = {.socket = -1};
    struct mpiq_error *error = explain_missing(mpiq_reader_process_start(&start, &process), path);
    if (!error)
        error = mpiq_reader_process_request_trace(&process, 1, what, at_ns, whole);
    if (!error)
        error = take_answers(&process, path, taking);
    if (error)
        mpiq_reader_process_kill(&process);
    else
        mpiq_reader_process_end(&process);
    return error;
}

struct mpiq_error *mpiq_read_trace(const char *path, int64_t at_ns, mpiq_snapshot_callback *callback,
                                   void *context)
{
    struct mpiq_state_lines lines = {0};
    struct taking taking = {.take = take_state, .lines = &lines, .callback = callback, .context = context};
    struct mpiq_error *error = read_trace(path, "report", at_ns, &taking);
    mpiq_state_lines_deinit(&lines);
    return error;
}

struct mpiq_error *mpiq_read_trace_late(const char *path, mpiq_trace_line_callback *callback, void *context)
{
    struct taking taking = {.take = take_late, .line_callback = callback, .context = context};
    return read_trace(path, "late", -1, &taking);
}
