/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/read_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "session/reader_lines.h"
#include "state/snapshot.h"

/* Nothing is heard for so long: archives may be of many gigabytes, and nobody knows how many events they
   have before they have been read. */
static const int64_t longest_ns = (int64_t)3600 * 1000 * 1000 * 1000;

bool mpiq_is_trace(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".otf2") == 0;
}

/* What is done with the states that the lines of an answer are. */
struct taking {
    struct mpiq_state_lines lines;
    mpiq_snapshot_callback *callback;
    void *context;
};

static struct mpiq_error *take_state(void *context, const char *line)
{
    struct taking *taking = context;
    return mpiq_state_lines_take(&taking->lines, line, strlen(line), taking->callback, taking->context);
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

static struct mpiq_error *read_trace(const char *path, const char *what, int64_t at_ns,
                                     mpiq_reader_line_callback *callback, void *context)
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
        error = mpiq_error_prefix(mpiq_take_reader_lines(&process, 1, "it", longest_ns, callback, context),
                                  "the trace %s", path);
    if (error)
        mpiq_reader_process_kill(&process);
    else
        mpiq_reader_process_end(&process);
    return error;
}

struct mpiq_error *mpiq_read_trace(const char *path, int64_t at_ns, mpiq_snapshot_callback *callback,
                                   void *context)
{
    struct taking taking = {.callback = callback, .context = context};
    struct mpiq_error *error = read_trace(path, "report", at_ns, take_state, &taking);
    mpiq_state_lines_deinit(&taking.lines);
    return error;
}

struct mpiq_error *mpiq_read_trace_late(const char *path, mpiq_trace_line_callback *callback, void *context)
{
    return read_trace(path, "late", -1, callback, context);
}
