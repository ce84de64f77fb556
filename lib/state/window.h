/* SPDX-License-Identifier: BSD-3-Clause */
/* window - a window as one rank sees it, and the locks and epochs there. */
#ifndef MPIQ_WINDOW_H
#define MPIQ_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/place.h"

/* X(identifier, word): how far this rank lets others into its window, and what it does in theirs. */
#define MPIQ_WINDOW_EXPOSURES(X) \
    X(NONE, "none")              \
    X(FENCE, "fence")            \
    X(POST, "post")

enum mpiq_window_exposure {
#define MPIQ_ENUM(id, word) MPIQ_EXPOSURE_##id,
    MPIQ_WINDOW_EXPOSURES(MPIQ_ENUM)
#undef MPIQ_ENUM
};

#define MPIQ_WINDOW_ACCESSES(X) \
    X(NONE, "none")             \
    X(FENCE, "fence")           \
    X(START, "start")           \
    X(LOCK, "lock")             \
    X(LOCK_ALL, "lock_all")

enum mpiq_window_access {
#define MPIQ_ENUM(id, word) MPIQ_ACCESS_##id,
    MPIQ_WINDOW_ACCESSES(MPIQ_ENUM)
#undef MPIQ_ENUM
};

#define MPIQ_LOCK_TYPES(X) \
    X(NONE, "none")        \
    X(SHARED, "shared")    \
    X(EXCLUSIVE, "exclusive")

enum mpiq_lock_type {
#define MPIQ_ENUM(id, word) MPIQ_LOCK_##id,
    MPIQ_LOCK_TYPES(MPIQ_ENUM)
#undef MPIQ_ENUM
};

/* A lock that a rank holds, or wants, at another. */
struct mpiq_window_lock {
    int32_t target_local; /* -1: all of them */
    uint8_t type;         /* enum mpiq_lock_type */
    bool held;            /* otherwise it is asked for and not granted */
};

struct mpiq_local_rank {
    int32_t local;
};

/* A window as one rank sees it.  Local ranks are those of the window's communicator. */
struct mpiq_window {
    uint64_t handle;
    uint64_t id[2]; /* the same on all members */
    char name[64];
    uint32_t comm; /* index in the rank's communicators */
    int32_t local_rank;
    uint8_t exposure; /* enum mpiq_window_exposure */
    uint8_t access;   /* enum mpiq_window_access */
    struct mpiq_window_lock *locks;
    size_t lock_count;
    struct mpiq_local_rank *access_group; /* of MPI_Win_start, without those it is done with */
    size_t access_count;
    struct mpiq_local_rank *exposure_group; /* of MPI_Win_post, without those that have completed */
    size_t exposure_count;
    int64_t fences;    /* begun so far; -1 not known */
    bool freeing;      /* MPI_Win_free has begun */
    bool synchronises; /* the fence or free begun last cannot return before all members have begun theirs */
    char made_by[48];  /* "MPI_Win_create"; "" not known */
    uint64_t made_caller;
    struct mpiq_place made;
};

#endif
