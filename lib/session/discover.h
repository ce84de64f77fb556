/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * discover - which processes are the job that the user means.
 *
 * From a launcher's pid, a rank's pid, or nothing at all to the ranks of one job on this machine.
 */
#ifndef MPIQ_DISCOVER_H
#define MPIQ_DISCOVER_H

#include "session/process_table.h"

struct mpiq_found_rank {
    pid_t pid;
    pid_t other;  /* another process that says it is this rank: which of them is, nobody can tell; 0: none */
    int rank;     /* in its namespace; -1: started without a launcher */
    char *nspace; /* NULL: started without a launcher */
};

/* The ranks of one job on this machine, first namespace first, by rank. */
struct mpiq_found_job {
    struct mpiq_found_rank *ranks;
    size_t count;
    size_t index;   /* discover's own */
    pid_t stranger; /* started by the ranks' launcher, alive, and its environment does not say which rank it
                       is: one that has overwritten it, or that was started without; the first of them */
    size_t stranger_count;
    int world_size; /* of the first namespace, as most of its ranks say; 0 not known */
    bool whole;     /* the launcher put all of the first namespace on this machine: a rank that is
                       not in the list has ended, or is a stranger */
};

/*
 * The job around pid, or with pid 0 the only one here that belongs to this user (to anybody, for root
 * where root has none).  Of all the processes with one rank's environment (wrappers, children) the rank is
 * the outermost that maps an MPI library.  NOT_FOUND says what was looked for; USAGE lists the jobs when
 * there are several.
 */
struct mpiq_error *mpiq_discover(const struct mpiq_process_table *table, pid_t pid,
                                 struct mpiq_found_job *ret);

/* The only launcher of this user's on this machine (of anybody's, for root), the outermost of those that
   started each other; 0: there is none, or several. */
pid_t mpiq_discover_launcher(const struct mpiq_process_table *table);
void mpiq_found_job_deinit(struct mpiq_found_job *job);

#endif
