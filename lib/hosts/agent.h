/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent - starts collectors the way the job's launcher starts its daemons: with ssh, rsh or a replacement,
 * the arguments that the launcher used, the host's name, and the command.
 *
 * The arguments are kept in the `text` of a struct mpiq_launch.
 */
#ifndef MPIQ_HOSTS_AGENT_H
#define MPIQ_HOSTS_AGENT_H

#include "hosts/launcher.h"

/* Keeps the words.  UNSUPPORTED if one has a line break. */
struct mpiq_error *mpiq_agent_set(struct mpiq_launch *launch, char *const *words, size_t count);

/* The launcher's process at or above the query's pid (mpiq_launcher_process_above), which must be ours; names
   the job after it, by what users call it.  NOT_FOUND: it has ended; PERMISSION. */
struct mpiq_error *mpiq_agent_find_launcher(const struct mpiq_launch_query *query, const char *launcher,
                                            const char *called, struct mpiq_launch *launch, pid_t *ret);

/* Where a launcher of the Open MPI family is told its agent: "--mca plm_rsh_agent AGENT",
   OMPI_MCA_plm_rsh_agent. Each list ends with NULL. */
struct mpiq_agent_parameters {
    const char *const *names;
    const char *const *options; /* without dashes */
    const char *prefix;         /* of the variable */
};

/* Keeps the words of the agent that the launcher was given, "ssh -q : rsh": of the first that is here;
   without one ssh.  What files of parameters say is not read.  NOT_FOUND: it is not here. */
struct mpiq_error *mpiq_agent_find(pid_t launcher, const struct mpiq_agent_parameters *parameters,
                                   struct mpiq_launch *launch);

/* Whether a name is this host's, with or without its domain, or "localhost". */
bool mpiq_agent_is_here(const char *name);

/* A launcher's `commands`: the agent for each host but the one we are on, whose collector needs none. */
struct mpiq_error *mpiq_agent_commands(const struct mpiq_launch *launch, char *const *collector,
                                       struct mpiq_launch_command **ret, size_t *count);

#endif
