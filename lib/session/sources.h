/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sources - where the ranks of a look come from: processes, core files, wires, snapshots.
 *
 * It turns the user's targets into a list; readers read them.
 */
#ifndef MPIQ_SOURCES_H
#define MPIQ_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "session/process_table.h"
#include "session/source.h"
#include "mpiq.h"
#include "state/budget.h"
#include "state/rank_state.h"

/* What a snapshot held. */
struct mpiq_snapshot_state {
    int look;
    size_t file; /* number of the file */
    struct mpiq_rank_state *state;
};

struct mpiq_look_sources {
    struct mpiq_look_source *items;
    size_t count;
    size_t capacity;
    struct mpiq_snapshot_state *snapshot_states;
    size_t snapshot_state_count;
    size_t snapshot_state_capacity;
    int world_size;                               /* of the launched job; 0 not known */
    struct mpiq_snapshot_reader *snapshot_reader; /* while the sources are found */
    bool partial;                                 /* the launched job may have ranks on other hosts */
    struct mpiq_budget budget;                    /* of all states, from snapshots and read */
    size_t target_number;                         /* of the target that is being added */
    int64_t at_ns;      /* of traces: the time after their start to look at; -1: the end */
    uint64_t file_left; /* bytes that the rest of a snapshot may come to in memory */
};

/* Finds all that options name.  USAGE for a target that is nothing of the kind. */
struct mpiq_error *mpiq_sources_init(const struct mpiq_options *options, struct mpiq_look_sources *ret);
/* The only job here of which the filter lets processes through: a collector's. */
struct mpiq_error *mpiq_sources_init_filtered(const struct mpiq_process_filter *filter,
                                              struct mpiq_look_sources *ret);
/* The job around that process of this machine. */
struct mpiq_error *mpiq_sources_init_around(pid_t pid, struct mpiq_look_sources *ret);
/* Adds a rank as it was known: one that has ended, or whose process does not say any more who it is. */
struct mpiq_error *mpiq_sources_add_known(struct mpiq_look_sources *sources,
                                          const struct mpiq_look_source *rank);
/* What was read goes to *ret, with whose it is; from can be read again, all but its snapshots. */
struct mpiq_error *mpiq_sources_hand_over(struct mpiq_look_sources *from, struct mpiq_look_sources *ret);
/* The states that were read: they are read again. */
void mpiq_sources_drop_looks(struct mpiq_look_sources *sources);
/* Takes a state of that look: *state is NULL then. */
struct mpiq_error *mpiq_sources_keep(struct mpiq_look_sources *sources, int look,
                                     struct mpiq_rank_state **state);
void mpiq_sources_deinit(struct mpiq_look_sources *sources);

#endif
