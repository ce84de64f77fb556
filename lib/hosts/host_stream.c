/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/host_stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/base64.h"
#include "base/cleanup.h"
#include "base/hash_table.h"

enum { WAITING_MOST = 256, SENTENCE_MOST = 500 };

struct mpiq_host_stream_line {
    uint64_t number;
    enum mpiq_host_message_kind kind;
    char *bytes;
    size_t length;
};

static void drop_waiting(struct mpiq_host_stream *stream)
{
    for (size_t i = 0; i < stream->waiting_count; i++)
        free(stream->waiting[i].bytes);
    free(stream->waiting);
    stream->waiting = NULL;
    stream->waiting_count = 0;
}

void mpiq_host_stream_fail(struct mpiq_host_stream *stream, struct mpiq_error *error)
{
    if (stream->phase >= MPIQ_HOST_COMPLETE) {
        mpiq_error_destroy(error);
        return;
    }
    stream->phase = MPIQ_HOST_FAILED;
    stream->error = error;
    free(stream->bytes);
    stream->bytes = NULL;
    stream->size = stream->room = 0;
    drop_waiting(stream);
}

bool mpiq_host_stream_has_gap(const struct mpiq_host_stream *stream)
{
    return stream->waiting_count > 0;
}

void mpiq_host_stream_deinit(struct mpiq_host_stream *stream)
{
    drop_waiting(stream);
    mpiq_hello_deinit(&stream->hello);
    mpiq_error_destroy(stream->error);
    free(stream->bytes);
    *stream = (struct mpiq_host_stream){0};
}

/* ---- one line after another ---------------------------------------------------------------------------- */

static void senseless(struct mpiq_host_stream *stream)
{
    mpiq_host_stream_fail(stream,
                          mpiq_error_create(MPIQ_ERROR_CORRUPT, "mpiq there sent a malformed answer"));
}

static void take_hello(struct mpiq_host_stream *stream, const struct mpiq_host_stream_line *line)
{
    if (stream->phase != MPIQ_HOST_SILENT || line->number != 0) {
        senseless(stream);
        return;
    }
    struct mpiq_error *error = mpiq_hello_read(line->bytes, line->length, &stream->hello);
    stream->phase = MPIQ_HOST_LOOKING;
    if (error)
        mpiq_host_stream_fail(stream, error);
}

static void take_looked(struct mpiq_host_stream *stream, const struct mpiq_host_stream_line *line)
{
    char look = line->length > 0 ? line->bytes[0] : '\0';
    if (look == '1' && stream->phase == MPIQ_HOST_LOOKING &&
        mpiq_group_senders_read(line->bytes + 1, line->length - 1, &stream->groups))
        stream->phase = MPIQ_HOST_LOOKED;
    else if (look == '2' && line->length == 1 && stream->phase == MPIQ_HOST_LOOKED)
        stream->phase = MPIQ_HOST_SENDING;
    else
        senseless(stream);
}

static void take_chunk(struct mpiq_host_stream *stream, const struct mpiq_host_stream_line *line)
{
    if (stream->phase != MPIQ_HOST_SENDING) {
        senseless(stream);
    } else if (line->length > MPIQ_HOST_BYTES_MOST - stream->size) {
        mpiq_host_stream_fail(stream, mpiq_error_create(MPIQ_ERROR_CORRUPT, "its answer is too long"));
    } else if (!mpiq_array_reserve(&stream->bytes, &stream->room, stream->size + line->length + 1)) {
        mpiq_host_stream_fail(stream, mpiq_error_no_memory());
    } else {
        memcpy(stream->bytes + stream->size, line->bytes, line->length);
        stream->size += line->length;
    }
}

static void take_bye(struct mpiq_host_stream *stream, const struct mpiq_host_stream_line *line)
{
    char text[64];
    uint64_t hash = mpiq_hash_bytes(MPIQ_HASH_FIXED, stream->bytes, stream->size);
    int length = snprintf(text, sizeof text, "%zu %016" PRIx64, stream->size, hash);
    if (stream->phase != MPIQ_HOST_SENDING || line->length != (size_t)length ||
        memcmp(line->bytes, text, line->length) != 0)
        senseless(stream);
    else
        stream->phase = MPIQ_HOST_COMPLETE;
}

static void take_fail(struct mpiq_host_stream *stream, const struct mpiq_host_stream_line *line)
{
    size_t length = line->length < SENTENCE_MOST ? line->length : SENTENCE_MOST;
    mpiq_host_stream_fail(stream, mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "%.*s", (int)length, line->bytes));
}

static void take_due(struct mpiq_host_stream *stream, const struct mpiq_host_stream_line *line)
{
    static void (*const takers[])(struct mpiq_host_stream *, const struct mpiq_host_stream_line *) = {
        [MPIQ_MESSAGE_HELLO] = take_hello, [MPIQ_MESSAGE_LOOKED] = take_looked,
        [MPIQ_MESSAGE_CHUNK] = take_chunk, [MPIQ_MESSAGE_BYE] = take_bye,
        [MPIQ_MESSAGE_FAIL] = take_fail,
    };
    stream->next++;
    takers[line->kind](stream, line);
}

/* All that have waited for those before them. */
static void take_waiting(struct mpiq_host_stream *stream)
{
    for (size_t i = 0; i < stream->waiting_count && stream->phase < MPIQ_HOST_COMPLETE;) {
        struct mpiq_host_stream_line line = stream->waiting[i];
        if (line.number != stream->next) {
            i++;
            continue;
        }
        stream->waiting[i] = stream->waiting[--stream->waiting_count];
        take_due(stream, &line);
        free(line.bytes);
        i = 0;
    }
}

/* Takes line's bytes. */
static void let_wait(struct mpiq_host_stream *stream, struct mpiq_host_stream_line *line)
{
    for (size_t i = 0; i < stream->waiting_count; i++) {
        if (stream->waiting[i].number == line->number)
            return; /* it has come twice */
    }
    struct mpiq_host_stream_line *larger =
        stream->waiting_count < WAITING_MOST
            ? mpiq_array_grown(stream->waiting, stream->waiting_count, sizeof *larger)
            : NULL;
    if (!larger) {
        mpiq_host_stream_fail(
            stream, mpiq_error_create(MPIQ_ERROR_CORRUPT, "part of its answer was lost in transit"));
        return;
    }
    stream->waiting = larger;
    stream->waiting[stream->waiting_count++] = *line;
    line->bytes = NULL;
}

/* To be called before waiting lines are taken: their meaning in another version is unknown. */
static void refuse_other_version(struct mpiq_host_stream *stream, bool other_protocol, const char *version)
{
    const char *there = stream->hello.version;
    if (other_protocol || (there && strcmp(there, version) != 0))
        mpiq_host_stream_fail(stream,
                              mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                                "it has mpiq %s, here is %s: install the same version",
                                                there ? there : "?", version));
}

void mpiq_host_stream_take(struct mpiq_host_stream *stream, const struct mpiq_host_message *line,
                           const char *version)
{
    if (stream->phase >= MPIQ_HOST_COMPLETE || line->number < stream->next)
        return;
    bool other_protocol = line->version != MPIQ_PROTOCOL_VERSION;
    struct mpiq_host_stream_line own = {.number = line->number, .kind = line->kind};
    own.bytes = malloc(line->length + 1);
    if (!own.bytes) {
        mpiq_host_stream_fail(stream, mpiq_error_no_memory());
        return;
    }
    if (!mpiq_base64_decode(line->text, line->length, own.bytes, &own.length))
        senseless(stream);
    else if (other_protocol && own.kind != MPIQ_MESSAGE_HELLO)
        ; /* of another protocol only the hello is read, for its version */
    else if (own.number == stream->next)
        take_due(stream, &own);
    else
        let_wait(stream, &own);
    free(own.bytes);
    refuse_other_version(stream, other_protocol, version);
    take_waiting(stream);
}
