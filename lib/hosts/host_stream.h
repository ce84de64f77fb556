/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_stream - one collector's lines, put in order and checked: its progress, and its snapshot.
 *
 * Lines may come twice and in any order.  If one is missing or malformed, only this collector's answer is
 * lost.  A collector may be hostile, so bytes and waiting lines are bounded.
 */
#ifndef MPIQ_HOST_STREAM_H
#define MPIQ_HOST_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "hosts/hello.h"
#include "hosts/host_message.h"
#include "hosts/group_senders.h"

/* In the order in which a collector goes through them. */
enum mpiq_host_stream_phase {
    MPIQ_HOST_SILENT,   /* not a word yet */
    MPIQ_HOST_LOOKING,  /* it has said hello, and looks for the first time */
    MPIQ_HOST_LOOKED,   /* it waits for the word to look again */
    MPIQ_HOST_SENDING,  /* it has looked twice, and sends */
    MPIQ_HOST_COMPLETE, /* all of its snapshot has come */
    MPIQ_HOST_FAILED    /* see error */
};

struct mpiq_host_stream_line; /* one that has come before its turn */

struct mpiq_host_stream {
    uint64_t token;
    uint64_t next; /* number of the line that is due */
    struct mpiq_host_stream_line *waiting;
    size_t waiting_count;
    enum mpiq_host_stream_phase phase;
    struct mpiq_hello hello;          /* from MPIQ_HOST_LOOKING on */
    struct mpiq_group_senders groups; /* from MPIQ_HOST_LOOKED on */
    char *bytes;                      /* of the snapshot, so far */
    size_t size;
    size_t room;
    struct mpiq_error *error; /* why it failed */
};

enum { MPIQ_HOST_BYTES_MOST = 1 << 27 };

/* All zeros is a silent one.  version: of this mpiq; a collector of another one has failed. */
void mpiq_host_stream_take(struct mpiq_host_stream *stream, const struct mpiq_host_message *line,
                           const char *version);
/* It has failed, unless it is complete or has failed already.  Takes error. */
void mpiq_host_stream_fail(struct mpiq_host_stream *stream, struct mpiq_error *error);
/* Whether lines have come that wait for one that has not. */
bool mpiq_host_stream_has_gap(const struct mpiq_host_stream *stream);
void mpiq_host_stream_deinit(struct mpiq_host_stream *stream);

#endif
