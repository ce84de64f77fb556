/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recording - the recorded cases of one family on one library, as packs.py keeps them (LINE/FAMILY.zst).
 *
 * Test data of our own: whatever is wrong with it ends the program with a sentence.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include "state/job_state.h"

/* A case on one library. */
struct recording {
    char *name;
    char *date;                 /* of the recording */
    char *commit;               /* of the mpiq that recorded it */
    struct mpiq_job_state *job; /* finished; NULL: not wanted */
};

struct recordings {
    struct recording *items;
    size_t count;
};

/* Reads the pack at path; only NULL or the name of the one case whose job is made.  No such file: none. */
struct recordings recordings_read(const char *path, const char *only);
void recordings_deinit(struct recordings *recordings);

/* Ends the program with a sentence. */
_Noreturn void give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same if there is an error. */
void expect_no_error(struct mpiq_error *error, const char *where);
/* What was allocated. */
void *need(void *allocated);

#endif
