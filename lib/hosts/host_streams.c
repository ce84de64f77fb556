/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/host_streams.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/debug.h"
#include "base/hash_table.h"

/* A collector first says which host it is on, and then nothing until it is told to continue.  So at any time
   few collectors are unidentified, and few of their lines wait.  Inventing more only displaces other
   unidentified collectors, never the host whose line comes next. */
enum { STRANGERS_MOST = 64, STRANGERS_LINES = 8 };

/* What one command prints. */
struct source {
    const struct mpiq_launch_command *command;
    char *line; /* the part of a line that has come so far */
    size_t length;
    size_t room;
    bool skipping; /* the rest of a line that is too long */
    uint64_t damaged;
    struct mpiq_host_stream *strangers; /* collectors whose host is not known yet */
    size_t stranger_count;
    size_t driven_out;
};

struct mpiq_host_streams {
    const struct mpiq_launch *launch;
    const char *version;
    struct source *sources;
    size_t source_count;
    struct mpiq_host_stream *streams; /* by host */
    struct mpiq_hash_table names;     /* of hosts */
    struct mpiq_hash_table tokens;    /* of collectors whose host is known */
};

static uint64_t name_hash(const char *name)
{
    return mpiq_hash_bytes(MPIQ_HASH_START, name, strlen(name));
}

struct mpiq_error *mpiq_host_streams_create(const struct mpiq_launch *launch,
                                            const struct mpiq_launch_command *commands, size_t command_count,
                                            const char *version, struct mpiq_host_streams **ret)
{
    struct mpiq_host_streams *streams = calloc(1, sizeof *streams);
    bool good = streams;
    if (good) {
        streams->launch = launch;
        streams->version = version;
        streams->source_count = command_count;
        streams->sources = calloc(command_count + 1, sizeof *streams->sources);
        streams->streams = calloc(launch->host_count + 1, sizeof *streams->streams);
        good = streams->sources && streams->streams;
    }
    for (size_t i = 0; good && i < command_count; i++)
        streams->sources[i].command = &commands[i];
    for (size_t i = 0; good && i < launch->host_count; i++)
        good = mpiq_hash_table_add(&streams->names, name_hash(launch->hosts[i].name), (uint32_t)i);
    if (good) {
        *ret = streams;
        return NULL;
    }
    mpiq_host_streams_destroy(streams);
    return mpiq_error_no_memory();
}

void mpiq_host_streams_destroy(struct mpiq_host_streams *streams)
{
    if (!streams)
        return;
    for (size_t i = 0; streams->sources && i < streams->source_count; i++) {
        struct source *source = &streams->sources[i];
        for (size_t k = 0; k < source->stranger_count; k++)
            mpiq_host_stream_deinit(&source->strangers[k]);
        free(source->strangers);
        free(source->line);
    }
    for (size_t i = 0; streams->streams && i < streams->launch->host_count; i++)
        mpiq_host_stream_deinit(&streams->streams[i]);
    mpiq_hash_table_deinit(&streams->names);
    mpiq_hash_table_deinit(&streams->tokens);
    free(streams->sources);
    free(streams->streams);
    free(streams);
}

/* ---- whose line it is ---------------------------------------------------------------------------------- */

/* The host of the command that has that name; NULL: none. */
static struct mpiq_host_stream *find_host(struct mpiq_host_streams *streams, const struct source *source,
                                          const char *name)
{
    const struct mpiq_launch_command *command = source->command;
    uint64_t hash = name_hash(name);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&streams->names, hash, &cursor)) != UINT32_MAX;) {
        if (strcmp(streams->launch->hosts[i].name, name) == 0 && i >= command->first_host &&
            i < command->first_host + command->host_count)
            return &streams->streams[i];
    }
    return NULL;
}

/* A collector says of which host it is: there it belongs from now on. */
static void settle(struct mpiq_host_streams *streams, struct source *source, size_t index)
{
    struct mpiq_host_stream *stranger = &source->strangers[index];
    struct mpiq_host_stream *place =
        stranger->hello.host ? find_host(streams, source, stranger->hello.host) : NULL;
    if (stranger->phase == MPIQ_HOST_SILENT)
        return;
    if (place && place->phase == MPIQ_HOST_SILENT) {
        if (!mpiq_hash_table_add(&streams->tokens, stranger->token, (uint32_t)(place - streams->streams))) {
            mpiq_host_stream_fail(stranger, mpiq_error_no_memory());
            return;
        }
        *place = *stranger;
        *stranger = source->strangers[--source->stranger_count];
        return;
    }
    if (place) {
        mpiq_debug("hosts", "two collectors claim to be on %s", stranger->hello.host);
        mpiq_host_stream_fail(place,
                              mpiq_error_create(MPIQ_ERROR_CORRUPT, "two answers claim to be from it"));
    }
    mpiq_host_stream_fail(stranger, mpiq_error_create(MPIQ_ERROR_CORRUPT, "it is not a host of the job"));
}

static struct mpiq_host_stream *find_token(struct mpiq_host_streams *streams, struct source *source,
                                           uint64_t token, size_t *stranger)
{
    const struct mpiq_launch_command *command = source->command;
    *stranger = SIZE_MAX;
    uint64_t cursor = token;
    for (uint32_t i; (i = mpiq_hash_table_next(&streams->tokens, token, &cursor)) != UINT32_MAX;) {
        if (i >= command->first_host && i < command->first_host + command->host_count)
            return &streams->streams[i];
    }
    for (size_t i = 0; i < source->stranger_count; i++) {
        if (source->strangers[i].token == token) {
            *stranger = i;
            return &source->strangers[i];
        }
    }
    if (source->stranger_count < STRANGERS_MOST) {
        struct mpiq_host_stream *larger =
            mpiq_array_grown(source->strangers, source->stranger_count, sizeof *larger);
        if (!larger)
            return NULL;
        source->strangers = larger;
        *stranger = source->stranger_count++;
    } else {
        *stranger = source->driven_out++ % STRANGERS_MOST;
        mpiq_host_stream_deinit(&source->strangers[*stranger]);
    }
    source->strangers[*stranger] = (struct mpiq_host_stream){.token = token};
    return &source->strangers[*stranger];
}

static void take_message(struct mpiq_host_streams *streams, struct source *source,
                         const struct mpiq_host_message *line)
{
    const struct mpiq_launch_command *command = source->command;
    if (command->host_count == 1) {
        struct mpiq_host_stream *only = &streams->streams[command->first_host];
        if (only->phase == MPIQ_HOST_SILENT && !mpiq_host_stream_has_gap(only))
            only->token = line->token;
        if (only->token == line->token)
            mpiq_host_stream_take(only, line, streams->version);
        else
            mpiq_host_stream_fail(only,
                                  mpiq_error_create(MPIQ_ERROR_CORRUPT, "two answers claim to be from it"));
        return;
    }
    size_t stranger = SIZE_MAX;
    struct mpiq_host_stream *stream = find_token(streams, source, line->token, &stranger);
    if (!stream)
        return;
    mpiq_host_stream_take(stream, line, streams->version);
    if (stranger != SIZE_MAX && stream->waiting_count > STRANGERS_LINES)
        mpiq_host_stream_fail(stream,
                              mpiq_error_create(MPIQ_ERROR_CORRUPT, "it did not say which host it is"));
    if (stranger != SIZE_MAX)
        settle(streams, source, stranger);
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static void take_line(struct mpiq_host_streams *streams, struct source *source, const char *text,
                      size_t length)
{
    const char *at = text;
    struct mpiq_host_message line;
    while (mpiq_host_message_next(&at, text + length, &line, &source->damaged))
        take_message(streams, source, &line);
}

/* Keeps the start of a line until its end has come. */
static void keep(struct source *source, const char *bytes, size_t length)
{
    source->skipping = source->skipping || source->length + length > MPIQ_MESSAGE_MOST ||
                       !mpiq_array_reserve(&source->line, &source->room, source->length + length + 1);
    if (source->skipping) {
        source->damaged += source->length > 0;
        source->length = 0;
        return;
    }
    memcpy(source->line + source->length, bytes, length);
    source->length += length;
}

void mpiq_host_streams_take(struct mpiq_host_streams *streams, size_t command, const char *bytes,
                            size_t length)
{
    struct source *source = &streams->sources[command];
    while (length > 0) {
        const char *end = memchr(bytes, '\n', length);
        size_t part = end ? (size_t)(end - bytes) : length;
        if (!end || source->length > 0)
            keep(source, bytes, part);
        if (!end)
            return;
        if (source->length > 0)
            take_line(streams, source, source->line, source->length);
        else if (!source->skipping && part <= MPIQ_MESSAGE_MOST)
            take_line(streams, source, bytes, part);
        source->length = 0;
        source->skipping = false;
        bytes = end + 1;
        length -= part + 1;
    }
}

/* ---- what came of it ----------------------------------------------------------------------------------- */

void mpiq_host_streams_ended(struct mpiq_host_streams *streams, size_t command, const char *how)
{
    struct source *source = &streams->sources[command];
    for (size_t i = 0; i < source->command->host_count; i++) {
        struct mpiq_host_stream *stream = &streams->streams[source->command->first_host + i];
        if (stream->phase >= MPIQ_HOST_COMPLETE)
            continue;
        if (mpiq_host_stream_has_gap(stream) || source->damaged > 0)
            mpiq_host_stream_fail(stream,
                                  mpiq_error_create(MPIQ_ERROR_CORRUPT, "its answer was damaged in transit"));
        else if (stream->phase == MPIQ_HOST_SILENT)
            mpiq_host_stream_fail(
                stream, mpiq_error_create(MPIQ_ERROR_IO, "mpiq could not be started there: %s", how));
        else
            mpiq_host_stream_fail(
                stream, mpiq_error_create(MPIQ_ERROR_GONE, "mpiq there ended before it was done: %s", how));
    }
}

void mpiq_host_streams_late(struct mpiq_host_streams *streams, enum mpiq_host_stream_phase phase,
                            double seconds)
{
    for (size_t i = 0; i < streams->launch->host_count; i++) {
        struct mpiq_host_stream *stream = &streams->streams[i];
        if (stream->phase >= phase)
            continue;
        bool silent = stream->phase == MPIQ_HOST_SILENT && !mpiq_host_stream_has_gap(stream);
        mpiq_host_stream_fail(
            stream,
            mpiq_error_create(MPIQ_ERROR_TIMEOUT, "%s %g s (--wait)",
                              silent ? "it did not answer within" : "it was not done within", seconds));
    }
}

size_t mpiq_host_streams_count(const struct mpiq_host_streams *streams, enum mpiq_host_stream_phase phase)
{
    size_t count = 0;
    for (size_t i = 0; i < streams->launch->host_count; i++)
        count += streams->streams[i].phase >= phase;
    return count;
}

struct mpiq_host_stream *mpiq_host_streams_stream(struct mpiq_host_streams *streams, size_t host)
{
    return &streams->streams[host];
}
