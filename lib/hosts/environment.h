/* SPDX-License-Identifier: BSD-3-Clause */
/* environment - the environment of a launcher's command: ours, without anything of a job, so that its
   collectors neither look like ranks nor affect the job. */
#ifndef MPIQ_HOSTS_ENVIRONMENT_H
#define MPIQ_HOSTS_ENVIRONMENT_H

/* Our environment without the variables of Slurm, PMI, PMIx, MPI libraries and the recorder, and without
   preloads; the strings stay the environment's, the caller frees the list.  NULL without memory. */
char **mpiq_hosts_environment(void);

#endif
