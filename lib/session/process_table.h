/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_table - the MPI processes of this machine, from /proc.
 *
 * A launcher that speaks PMIx (Open MPI's, Slurm's) gives each rank its namespace and rank in the
 * environment.  That is enough to find a job, whoever started it.  One that speaks PMI (MPICH's Hydra,
 * Intel's, Slurm's) gives only the rank (names/variables.h); there the job is identified by the step's
 * number, or by the launcher's process (names/programs.h).  It leaves to others: looking inside a process,
 * and which of the jobs is meant (discover).
 */
#ifndef MPIQ_PROCESS_TABLE_H
#define MPIQ_PROCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct mpiq_process {
    pid_t pid;
    pid_t parent;
    uid_t uid;
    char state;           /* as in /proc/PID/stat */
    char executable[256]; /* base name; the comm in brackets' place if the link cannot be read */
    char *nspace;         /* PMIX_NAMESPACE, or a name made for the job; NULL: of no launcher we know */
    int parent_job; /* of a spawned world, which job of its launcher has spawned it; 0 none; -1 not known */
    int rank;       /* mpiq_rank_variables, SLURM_PROCID; -1 */
    int world_size; /* mpiq_size_variables, SLURM_STEP_NUM_TASKS; 0: not known */
    int local_size; /* mpiq_local_size_variables; 0: not known */
    bool maps_mpi;  /* a library of MPI is mapped (or the maps may not be read), or no other has its rank */
    bool by_pmi;    /* without a namespace of its own */
    bool readable;  /* its environment could be read */
    bool left_out;  /* a rank of another job, which the filter has left out */
};

struct mpiq_process_table {
    struct mpiq_process *processes; /* all of this machine, by pid */
    size_t count;
};

/* Which processes count as ranks at all; others are there without a namespace.  See struct mpiq_launch. */
struct mpiq_process_filter {
    char *const *match; /* "NAME=VALUE", or "NAME": as in our own environment */
    size_t match_count;
    const char *below;  /* a command-line argument of an ancestor; NULL: any */
    const char *nspace; /* what a job is called whose ranks have no namespace of their own; NULL */
};

/* Reads /proc once.  The caller calls mpiq_process_table_deinit. */
struct mpiq_error *mpiq_process_table_init(struct mpiq_process_table *ret);
/* filter may be NULL: all. */
struct mpiq_error *mpiq_process_table_init_filtered(const struct mpiq_process_filter *filter,
                                                    struct mpiq_process_table *ret);
void mpiq_process_table_deinit(struct mpiq_process_table *table);

/* NULL if there is no such process. */
const struct mpiq_process *mpiq_process_table_find(const struct mpiq_process_table *table, pid_t pid);

/* Whether ancestor is pid or one of its parents. */
bool mpiq_process_table_descends(const struct mpiq_process_table *table, pid_t pid, pid_t ancestor);

/* Whether a library of MPI is mapped in a process, or its maps may not be read. */
bool mpiq_process_maps_mpi(pid_t pid);

/* Whether a rank's environment says that its whole world is on this host. */
bool mpiq_process_world_is_here(pid_t pid);

#endif
