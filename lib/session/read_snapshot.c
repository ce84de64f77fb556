/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/read_snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "session/reader_lines.h"
#include "state/snapshot.h"

static const int64_t longest_ns = (int64_t)120 * 1000 * 1000 * 1000;

/* A longer one is not asked for ahead: the reader would hold both. */
enum { AHEAD_MOST = 1 << 17 };

/* What is done with the lines of an answer. */
struct taking {
    struct mpiq_state_lines lines;
    const char *name;
    mpiq_snapshot_callback *callback;
    void *context;
};

static struct mpiq_error *take_line(void *context, const char *line)
{
    struct taking *taking = context;
    return mpiq_error_prefix(
        mpiq_state_lines_take(&taking->lines, line, strlen(line), taking->callback, taking->context),
        "the snapshot %s", taking->name);
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
    struct taking taking = {.name = name, .callback = callback, .context = context};
    if (!error)
        error = mpiq_take_reader_lines(&reader->process, request, name, longest_ns, take_line, &taking);
    mpiq_state_lines_deinit(&taking.lines);
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
