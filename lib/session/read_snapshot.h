/* SPDX-License-Identifier: BSD-3-Clause */
/* read_snapshot - reads the states of a snapshot; a reader decompresses and parses it, because the file is
   untrusted. */
#ifndef MPIQ_SESSION_READ_SNAPSHOT_H
#define MPIQ_SESSION_READ_SNAPSHOT_H

#include "session/reader_process.h"
#include "state/snapshot.h"

/* The reader of the last file, for the next one of the same owner.  All zeros is none yet. */
struct mpiq_snapshot_reader {
    struct mpiq_owner owner;
    struct mpiq_reader_process process;
    uint64_t request;  /* number of the last one */
    const char *ahead; /* bytes that it was asked for ahead; NULL: none */
};

/* A snapshot in memory, which no file ever holds. */
struct mpiq_snapshot_bytes {
    const char *start; /* NULL: there is none */
    size_t size;
};

/* As mpiq_snapshot_each.  A file takes two minutes at most. */
struct mpiq_error *mpiq_read_snapshot(struct mpiq_snapshot_reader *reader, const char *path,
                                      mpiq_snapshot_callback *callback, void *context);
/* The same of one in memory.  next, which the next call is for, is read while this one is taken. */
struct mpiq_error *mpiq_read_snapshot_bytes(struct mpiq_snapshot_reader *reader,
                                            struct mpiq_snapshot_bytes bytes, struct mpiq_snapshot_bytes next,
                                            mpiq_snapshot_callback *callback, void *context);
/* Ends the reader. */
void mpiq_snapshot_reader_deinit(struct mpiq_snapshot_reader *reader);

#endif
