/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_hosts - what commands print that start collectors, as a hostile host would have it.
 *
 * The first byte says what the rest is: even, raw output; odd, messages of five bytes and their payload
 * (command and collector, number, its shift, kind, length), put into lines whose checks agree, so that what
 * comes behind the checks is reached.  A stream that is whole in the end has said hello and goodbye and
 * looked twice.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "hosts/host_streams.h"
#include "limit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HOSTS = 3, COMMANDS = 2, HEADER = 5 };

static const char version[] = "0";

/* The checks that a person makes of what came. */
static void check(struct mpiq_host_streams *gather)
{
    for (size_t i = 0; i < HOSTS; i++) {
        const struct mpiq_host_stream *stream = mpiq_host_streams_stream(gather, i);
        bool failed = stream->phase == MPIQ_HOST_FAILED;
        bool whole = stream->phase == MPIQ_HOST_COMPLETE;
        bool good = failed == (stream->error != NULL) && (failed || whole) && (!failed || !stream->bytes);
        if (whole)
            good = good && stream->hello.version && strcmp(stream->hello.version, version) == 0 &&
                   stream->next >= 4 && stream->size <= MPIQ_HOST_BYTES_MOST;
        if (!good) {
            fprintf(stderr, "host %zu ends in phase %d\n", i, (int)stream->phase);
            abort();
        }
    }
}

static void try_raw(struct mpiq_host_streams *gather, const uint8_t *data, size_t size)
{
    size_t half = size / 2;
    mpiq_host_streams_take(gather, 0, (const char *)data, half);
    mpiq_host_streams_take(gather, 0, (const char *)data + half, size - half);
    mpiq_host_streams_take(gather, 1, (const char *)data, size);
}

static void try_messages(struct mpiq_host_streams *gather, const uint8_t *data, size_t size)
{
    char bye[64]; /* of a snapshot without bytes: a payload of none stands for it */
    snprintf(bye, sizeof bye, "0 %016" PRIx64, mpiq_hash_bytes(MPIQ_HASH_FIXED, NULL, 0));
    while (size >= HEADER) {
        size_t length = data[4] < size - HEADER ? data[4] : size - HEADER;
        enum mpiq_host_message_kind kind = (enum mpiq_host_message_kind)(data[3] % MPIQ_MESSAGE_KIND_COUNT);
        bool empty = kind == MPIQ_MESSAGE_BYE && length == 0;
        char *line =
            mpiq_host_message_write(data[0] & 7, (uint64_t)data[1] << (data[2] & 31), kind,
                                    empty ? (const void *)bye : data + HEADER, empty ? strlen(bye) : length);
        if (line)
            mpiq_host_streams_take(gather, data[0] >> 7, line, strlen(line));
        free(line);
        data += HEADER + length;
        size -= HEADER + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mpiq_launch launch = {0};
    static const struct mpiq_launch_command commands[COMMANDS] = {{.first_host = 0, .host_count = 2},
                                                                  {.first_host = 2, .host_count = 1}};
    struct mpiq_host_streams *gather = NULL;
    struct mpiq_error *error = NULL;
    if (size == 0)
        return 0;
    for (size_t i = 0; i < HOSTS && !error; i++)
        error = mpiq_launch_add_host(&launch, &"abc"[i], 1);
    if (!error)
        error = mpiq_host_streams_create(&launch, commands, COMMANDS, version, &gather);
    if (error)
        abort();
    limit_begin();
    (data[0] % 2 ? try_messages : try_raw)(gather, data + 1, size - 1);
    mpiq_host_streams_late(gather, MPIQ_HOST_LOOKED, 30);
    mpiq_host_streams_ended(gather, 0, "exit status 0");
    mpiq_host_streams_ended(gather, 1, "exit status 0");
    limit_end();
    check(gather);
    mpiq_host_streams_destroy(gather);
    mpiq_launch_deinit(&launch);
    return 0;
}
