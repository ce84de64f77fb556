/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix - Open MPI 5's mpirun, which is PRRTE: PMIx says where the ranks are (pmix_tool), and the agent that
 * started PRRTE's daemons there (ssh, or what plm_ssh_agent names) starts the collectors.
 *
 * PMIx_Spawn could start them, too, but is not used: PRRTE 3 forgets a tool that has ended and leaves what
 * it spawned running, while a collector must end with its mpiq, however that ends.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "hosts/agent.h"
#include "hosts/launcher.h"
#include "hosts/launcher_process.h"
#include "hosts/pmix_tool.h"
#include "hosts/rank_table.h"

static const char name[] = "pmix";
static const char *const agent_names[] = {"plm_ssh_agent", "plm_rsh_agent", NULL};
static const char *const options[] = {"prtemca", "mca", NULL};
static const struct mpiq_agent_parameters parameters = {
    .names = agent_names, .options = options, .prefix = "PRTE_MCA_"};

static bool detect(const struct mpiq_launch_query *query)
{
    return query->pid > 0 && mpiq_launcher_process_above(query->pid, name) > 0;
}

static struct mpiq_error *find_hosts(pid_t mpirun, const char *nspace, struct mpiq_launch *launch)
{
    _cleanup_free_ char *table = NULL;
    struct mpiq_error *error = mpiq_pmix_table(mpirun, nspace, &table);
    if (!error)
        error = mpiq_rank_table_read(table, launch);
    return mpiq_error_prefix(error, "mpirun %d", (int)mpirun);
}

static struct mpiq_error *find(const struct mpiq_launch_query *query, struct mpiq_launch *ret)
{
    pid_t mpirun;
    struct mpiq_error *error = mpiq_agent_find_launcher(query, name, "mpirun", ret, &mpirun);
    if (!error)
        error = find_hosts(mpirun, query->nspace, ret);
    if (!error)
        error = mpiq_agent_find(mpirun, &parameters, ret);
    return error;
}

const struct mpiq_launcher mpiq_launcher_pmix = {.name = name,
                                                 .title = "Open MPI's mpirun",
                                                 .detect = detect,
                                                 .find = find,
                                                 .commands = mpiq_agent_commands};
