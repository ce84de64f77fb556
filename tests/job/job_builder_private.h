/* SPDX-License-Identifier: BSD-3-Clause */
/* job_builder_private - what the files behind job_builder.h share. */
#ifndef TEST_JOB_BUILDER_PRIVATE_H
#define TEST_JOB_BUILDER_PRIVATE_H

#include <stdint.h>

#include "job_builder.h"

#define JOB_NOW_NS (INT64_C(1700000000) * 1000000000)

/* The rank's state in each look that the next line holds for. */
#define FOR_LOOKS(job, rank, state)                                                               \
    for (int look_ = 0; look_ < 2; look_++)                                                       \
        for (struct mpiq_rank_state *state = (job)->states[look_][rank];                          \
             state && !((job)->alike && look_) && ((job)->look == 0 || (job)->look == look_ + 1); \
             state = NULL)

/* The one that the next line is about. */
struct mpiq_thread *job_last_thread(struct mpiq_rank_state *state);

/* Adds the frame of the MPI function, inside that of the user. */
void job_enter(struct mpiq_rank_state *state, struct mpiq_thread *thread, const char *call);

#endif
