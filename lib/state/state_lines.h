/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state_lines - rank states as lines of text, as a snapshot holds them.
 *
 *     LOOK JSON                 one rank state: look 1 or 2, as mpiq_rank_state_to_json writes it
 *     LOOK=A,B,… JSON           the same, and the first of a class: its numbers A, B, … differ within it
 *     +DA DB …                  the next rank state of the class: by how much each of those numbers differs
 *                               from the line before
 *
 * Ranks of a class have the same shape (schema_shape.h), whose numbers are counted from 0. A line of the
 * third kind gives a complete rank state, checked like any other: whatever is said of a class is said of
 * each rank in it, and nothing is left out.  A state whose groups list their members is never the first of a
 * class.
 */
#ifndef MPIQ_STATE_LINES_H
#define MPIQ_STATE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "state/schema_shape.h"
#include "state/rank_state.h"

/* ---- writing ------------------------------------------------------------------------------------------- */

/* Takes whole lines, each with its end; an error ends the writing. */
typedef struct mpiq_error *mpiq_lines_callback(void *context, const char *lines, size_t length);

/* The states of one look, ranks that are alike folded into classes.  Classes come in the order of their first
   ranks. */
struct mpiq_error *mpiq_state_lines_write(int look, const struct mpiq_rank_state *const *states, size_t count,
                                          mpiq_lines_callback *callback, void *context);

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Takes a state.  It may keep it by setting *state to NULL, or put another one in its place that was made
   before this one was destroyed (their addresses differ); an error of its ends the reading and is returned.
 */
typedef struct mpiq_error *mpiq_snapshot_callback(void *context, int look, struct mpiq_rank_state **state);

/* The lines of one source, which may be anybody's: one after another.  All zeros is the beginning. */
struct mpiq_state_lines {
    struct mpiq_hash_table names; /* of group_names, by the given hash */
    struct mpiq_group_name *group_names;
    uint32_t group_name_count;
    uint32_t group_name_room;
    uint64_t members; /* of all groups, so far */
    uint64_t states;  /* so far */
    bool refused;     /* the last error was the callback's, not the line's */
    uint64_t folded;  /* bytes that the states of classes would have had in full, so far */

    /* The class that the next line may belong to. */
    int look;   /* 0: none */
    char *json; /* its first state's */
    size_t json_length;
    struct mpiq_rank_state *state; /* the last one; NULL: it was kept by the callback */
    uint32_t *columns;             /* which of its numbers differ */
    struct mpiq_number *places;    /* where they are in state */
    uint64_t *values;              /* and what they were in the last line */
    size_t column_count;
    struct mpiq_checks checks; /* of state */
};

/* Gives the line's state to the callback.  CORRUPT if the line cannot be.  callback may be NULL: the line is
   checked alone. */
struct mpiq_error *mpiq_state_lines_take(struct mpiq_state_lines *lines, const char *line, size_t length,
                                         mpiq_snapshot_callback *callback, void *context);
void mpiq_state_lines_deinit(struct mpiq_state_lines *lines);

#endif
