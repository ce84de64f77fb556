/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/read_snapshot.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "session/reader_process.h"
#include "state/state_lines.h"

static const int64_t longest_ns = (int64_t)120 * 1000 * 1000 * 1000;

/* Of all states of a file; a reader that was taken over might send without end. */
#define MOST_TEXT ((uint64_t)8 << 30)
/* A longer one is not asked for ahead: the reader would hold both. */
enum { AHEAD_MOST = 1 << 17 };

/* The answer to that request. */
static struct mpiq_error *take_lines(struct mpiq_reader_process *process, uint64_t request,
                                     struct mpiq_state_lines *lines, const char *path,
                                     mpiq_snapshot_callback *callback, void *context)
{
    int64_t end = mpiq_monotonic_ns() + longest_ns;
    uint64_t text = 0;
    while (mpiq_monotonic_ns() < end && text < MOST_TEXT) {
        struct mpiq_reader_answer answer = {0};
        bool there = false;
        struct mpiq_error *error = mpiq_reader_process_next(process, &answer, &there);
        if (!error && there && answer.crash)
            error = mpiq_error_create(MPIQ_ERROR_CORRUPT, "the process that read %s crashed (signal %d)",
                                      path, answer.crash);
        if (!error && there)
            error = answer.error;
        if (!error && there && answer.number != request)
            error = mpiq_error_create(MPIQ_ERROR_CORRUPT, "the process that reads %s sent a malformed reply",
                                      path);
        if (!error && there && answer.line) {
            size_t length = strlen(answer.text);
            text += length;
            error = mpiq_error_prefix(mpiq_state_lines_take(lines, answer.text, length, callback, context),
                                      "the snapshot %s", path);
        } else if (!error && there) {
            return NULL;
        }
        if (error)
            return error;
        struct pollfd ready = {.fd = process->socket, .events = POLLIN};
        if (!there)
            poll(&ready, 1, 100);
    }
    return mpiq_error_create(MPIQ_ERROR_TIMEOUT, "reading %s timed out", path);
}

/* The one there is, if it is the same owner's. */
static struct mpiq_error *need_reader(struct mpiq_snapshot_reader *reader, const struct mpiq_owner *owner)
{
    if (reader->process.pid > 0 && mpiq_owner_equal(&reader->owner, owner))
        return NULL;
    mpiq_reader_process_end(&reader->process);
    reader->owner = *owner;
    reader->ahead = NULL;
    const struct mpiq_reader_start start = {.owner = *owner, .threads = 1, .sources = 1};
    return mpiq_reader_process_start(&start, &reader->process);
}

/* It may be at something that nobody wants any more. */
static void drop_reader(struct mpiq_snapshot_reader *reader)
{
    mpiq_reader_process_kill(&reader->process);
    reader->ahead = NULL;
}

/* What comes of a request; error: of making it. */
static struct mpiq_error *take_answer(struct mpiq_snapshot_reader *reader, struct mpiq_error *error,
                                      uint64_t request, const char *name, mpiq_snapshot_callback *callback,
                                      void *context)
{
    struct mpiq_state_lines lines = {0};
    if (!error)
        error = take_lines(&reader->process, request, &lines, name, callback, context);
    mpiq_state_lines_deinit(&lines);
    if (error)
        drop_reader(reader);
    return error;
}

struct mpiq_error *mpiq_read_snapshot(struct mpiq_snapshot_reader *reader, const char *path,
                                      mpiq_snapshot_callback *callback, void *context)
{
    _cleanup_free_ char *whole = realpath(path, NULL); /* who reads it has another directory */
    if (!whole)
        return mpiq_error_create_os(errno, "cannot open %s", path);
    const struct mpiq_look_source source = {.path = whole, .rank = -1};
    const struct mpiq_owner owner = mpiq_owner_of(&source);
    if (reader->ahead)
        drop_reader(reader);
    struct mpiq_error *error = need_reader(reader, &owner);
    if (!error)
        error = mpiq_reader_process_request_snapshot(&reader->process, ++reader->request, whole);
    return take_answer(reader, error, reader->request, path, callback, context);
}

static struct mpiq_error *ask_for(struct mpiq_snapshot_reader *reader, struct mpiq_snapshot_bytes bytes)
{
    return mpiq_reader_process_request_bytes(&reader->process, ++reader->request, bytes.start, bytes.size);
}

/* False: half a request may have been sent, the reader is of no more use. */
static bool ask_ahead(struct mpiq_snapshot_reader *reader, struct mpiq_snapshot_bytes next)
{
    reader->ahead = NULL;
    if (!next.start || next.size > AHEAD_MOST)
        return true;
    struct mpiq_error *error = ask_for(reader, next);
    if (!error)
        reader->ahead = next.start;
    mpiq_error_destroy(error);
    return reader->ahead;
}

/* By a reader that was not asked for anything else. */
static struct mpiq_error *ask_anew(struct mpiq_snapshot_reader *reader, struct mpiq_snapshot_bytes bytes)
{
    if (reader->ahead)
        drop_reader(reader);
    struct mpiq_error *error = need_reader(reader, &(struct mpiq_owner){0});
    return error ? error : ask_for(reader, bytes);
}

struct mpiq_error *mpiq_read_snapshot_bytes(struct mpiq_snapshot_reader *reader,
                                            struct mpiq_snapshot_bytes bytes, struct mpiq_snapshot_bytes next,
                                            mpiq_snapshot_callback *callback, void *context)
{
    bool asked = reader->ahead && reader->ahead == bytes.start;
    struct mpiq_error *error = asked ? NULL : ask_anew(reader, bytes);
    uint64_t request = reader->request;
    if (!error && !ask_ahead(reader, next)) {
        drop_reader(reader);
        error = ask_anew(reader, bytes);
        request = reader->request;
    }
    return take_answer(reader, error, request, "of that host", callback, context);
}

void mpiq_snapshot_reader_deinit(struct mpiq_snapshot_reader *reader)
{
    mpiq_reader_process_end(&reader->process);
}
