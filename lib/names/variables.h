/* SPDX-License-Identifier: BSD-3-Clause */
/* variables - the environment variables by which launchers tell a process that it is a rank, and which. */
#ifndef MPIQ_NAMES_VARIABLES_H
#define MPIQ_NAMES_VARIABLES_H

#include <stdbool.h>

/* In the order in which they are believed; each list is ended by NULL. */
extern const char *const mpiq_rank_variables[];       /* rank in MPI_COMM_WORLD */
extern const char *const mpiq_size_variables[];       /* its size */
extern const char *const mpiq_local_size_variables[]; /* of it, ranks on this host */
extern const char *const mpiq_host_variables[];       /* the host, as the launcher calls it */
extern const char *const mpiq_namespace_variable;     /* PMIx's name of the world */
extern const char *const mpiq_parent_variable; /* of a world that Open MPI has spawned: "JOB.RANK:…" */

/* The number or name of the batch job that a process is in; ended by NULL. */
extern const char *const mpiq_batch_job_variables[];

/* Slurm's variables are in the environment of everything in a step, of whatever kind. */
extern const char *const mpiq_slurm_rank_variable, *const mpiq_slurm_size_variable;

/* Whether a variable ("NAME=VALUE") is of a job, and must not reach what we start beside it. */
bool mpiq_variable_is_of_a_job(const char *variable);

#endif
