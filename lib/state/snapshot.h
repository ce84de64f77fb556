/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * snapshot - rank states in a file: what a job looked like, for a diagnosis elsewhere or later.
 *
 * One line "mpiq snapshot 1\n", then one zstd stream of lines: each "LOOK JSON\n", LOOK 1 or 2 and the rank
 * state as mpiq_rank_state_to_json writes it; in version 2, ranks that are alike may be folded
 * (state_lines.h). It holds envelopes, never payload.  Snapshots of several hosts are merged by reading them
 * one after another into one job state.
 */
#ifndef MPIQ_SNAPSHOT_H
#define MPIQ_SNAPSHOT_H

#include <stdbool.h>

#include "base/error.h"
#include "state/rank_state.h"
#include "state/state_lines.h"

struct mpiq_snapshot_writer;

/* Starts a snapshot in a new file beside path, which is put in its place by finish: a half-written one
   never has the name.  The file is the user's alone (mode 0600).  USAGE if path is a directory, a device or
   the like: only a file is replaced. */
struct mpiq_error *mpiq_snapshot_create(const char *path, struct mpiq_snapshot_writer **ret);
/* One of version 2 in memory instead: mpiq_snapshot_finish_memory gives its bytes. */
struct mpiq_error *mpiq_snapshot_create_memory(struct mpiq_snapshot_writer **ret);
struct mpiq_error *mpiq_snapshot_add(struct mpiq_snapshot_writer *writer, int look,
                                     const struct mpiq_rank_state *state);
/* All ranks of one look, folded; into one in memory alone. */
struct mpiq_error *mpiq_snapshot_add_folded(struct mpiq_snapshot_writer *writer, int look,
                                            const struct mpiq_rank_state *const *states, size_t count);
/* Ends it; writer is gone after that, whatever is returned. */
struct mpiq_error *mpiq_snapshot_finish(struct mpiq_snapshot_writer *writer);
/* As mpiq_snapshot_finish; the caller frees the bytes. */
struct mpiq_error *mpiq_snapshot_finish_memory(struct mpiq_snapshot_writer *writer, char **ret, size_t *size);
/* Gives it up: nothing is left of it.  NULL is fine. */
void mpiq_snapshot_abandon(struct mpiq_snapshot_writer *writer);

/* Whether a file starts like a snapshot (false also if it cannot be read). */
bool mpiq_is_snapshot(const char *path);

/* Reads the snapshot at path: each state to the callback.  A file that is not a snapshot, is cut short, or is
   of a later version is refused with a sentence. */
struct mpiq_error *mpiq_snapshot_each(const char *path, mpiq_snapshot_callback *callback, void *context);

/* Each line, which has been checked, as it stands there and without its end: for mpiq_state_lines_take. */
typedef struct mpiq_error *mpiq_snapshot_line_callback(void *context, const char *line, size_t length);
struct mpiq_error *mpiq_snapshot_each_line(const char *path, mpiq_snapshot_line_callback *callback,
                                           void *context);
/* The same of a snapshot in memory, as mpiq_snapshot_finish_memory makes one; name is for sentences. */
struct mpiq_error *mpiq_snapshot_each_line_of(const char *name, void *bytes, size_t size,
                                              mpiq_snapshot_line_callback *callback, void *context);

#endif
