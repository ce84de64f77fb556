/* SPDX-License-Identifier: BSD-3-Clause */
/* job_window - a window of a job (job_state.h), and what each member has open, holds and wants there. */
#ifndef MPIQ_JOB_WINDOW_H
#define MPIQ_JOB_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "state/index.h"

/* One window of the job. */
struct mpiq_job_window {
    uint64_t id[2];
    mpiq_string_id name; /* the user's, else "window 3" */
    bool named;          /* by the user */
    mpiq_string_id made_by;
    uint32_t made;       /* in sites; MPIQ_NONE */
    uint32_t comm;       /* in communicators: whose local ranks it speaks of */
    uint32_t first_view; /* in window_views: by process */
    uint32_t view_count;
};

/* What one rank has open, holds and wants at a window. */
struct mpiq_job_window_view {
    uint32_t rank;   /* in ranks */
    uint32_t window; /* in windows */
    uint32_t member; /* in members: of the window's communicator */
    int32_t local_rank;
    uint32_t first_lock; /* in window_locks */
    uint32_t lock_count;
    uint32_t first_access; /* in window_ranks: of MPI_Win_start, those it is not done with */
    uint32_t access_count;
    uint32_t first_exposure; /* in window_ranks: of MPI_Win_post, those that have not completed */
    uint32_t exposure_count;
    int64_t fences;    /* begun so far; -1 not known */
    uint8_t exposure;  /* enum mpiq_window_exposure */
    uint8_t access;    /* enum mpiq_window_access */
    bool freeing;      /* MPI_Win_free has begun */
    bool synchronises; /* the fence or free begun last cannot return before all members have begun theirs */
};

struct mpiq_job_window_lock {
    uint32_t target; /* process; MPIQ_NONE: all, or not known */
    uint8_t type;    /* enum mpiq_lock_type */
    bool held;       /* otherwise it is asked for and not granted */
    bool all;        /* of all members */
};

#endif
