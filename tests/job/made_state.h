/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_state - job states that tests make, written down for tests/replay to diagnose again.
 *
 * Nothing is written unless MPIQ_MADE_STATES names a directory.  Then each program appends what it makes to
 * PROGRAM.made there, in the lines of tests/replay/packs.py:
 *
 *     case TEST:N made PROGRAM.c    the Nth job that the test TEST diagnoses
 *     LOOK JSON                     a rank
 */
#ifndef TEST_MADE_STATE_H
#define TEST_MADE_STATE_H

#include <stdio.h>

#include "state/rank_state.h"

/* A file that the next job's states are written to, with its first line; NULL: they are not wanted. */
FILE *made_state_begin(void);
/* One rank at that look; file may be NULL. */
void made_state_add(FILE *file, int look, const struct mpiq_rank_state *state);
/* file may be NULL. */
void made_state_end(FILE *file);

#endif
