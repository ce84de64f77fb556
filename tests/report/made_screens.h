/* SPDX-License-Identifier: BSD-3-Clause */
/* made_screens - one made-up job for each kind of hang that a report should read well for. */
#ifndef MPIQ_TESTS_MADE_SCREENS_H
#define MPIQ_TESTS_MADE_SCREENS_H

#include <stddef.h>

#include "made_job.h"

struct made_screen {
    const char *name; /* of its file among the expected ones */
    struct made_job (*make)(void);
};

extern const struct made_screen made_screens[];
extern const size_t made_screen_count;

/* Ranks 1-3 are in a barrier, rank 0 waits for a message of rank 3. */
struct made_job made_back_and_forth(void);

#endif
