/* SPDX-License-Identifier: BSD-3-Clause */
/* source - where one rank of a look comes from. */
#ifndef MPIQ_SESSION_SOURCE_H
#define MPIQ_SESSION_SOURCE_H

#include <stdbool.h>
#include <sys/types.h>

#include "state/rank_state.h"
#include "process/target.h"

/* One process to read, and what was read of it. */
struct mpiq_look_source {
    pid_t pid;                    /* 0: a core file or a wire */
    char *path;                   /* of a core file; NULL */
    const struct mpiq_wire *wire; /* NULL */
    struct mpiq_target *target;   /* opened at the first look and kept; NULL: not open */
    int rank;                     /* as the environment says; -1 */
    char *nspace;                 /* as the environment says; NULL */
    size_t target_number;         /* of the user's target that has named it */
    int world;                    /* 0: nspace is the job's first, whose size the launcher gives; else -1 */
    bool gone;                    /* there is no such process any more */
    pid_t zombie;   /* of one that is gone: its process, as long as nobody has waited for it; 0 */
    pid_t stranger; /* likewise: a process that may be it, as its environment does not say who it is; 0 */
    pid_t other;    /* as struct mpiq_found_rank: then neither is read */
    struct mpiq_rank_state *looks[2];
};

#endif
