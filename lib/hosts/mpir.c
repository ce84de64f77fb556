/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpir - Open MPI 4.1's mpirun: MPIR_proctable says where the ranks are, and the agent that started mpirun's
 * daemons there (ssh, or what plm_rsh_agent names) starts the collectors.
 *
 * A rank is the job's if its environment names this mpirun as its daemons do: orte_hnp_uri.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "hosts/agent.h"
#include "hosts/launcher.h"
#include "hosts/launcher_process.h"
#include "hosts/rank_table.h"

static const char name[] = "mpir";

static const char *const agent_names[] = {"plm_rsh_agent", "pls_rsh_agent", "orte_rsh_agent", NULL};
static const char *const options[] = {"mca", "gmca", NULL};
static const struct mpiq_agent_parameters parameters = {
    .names = agent_names, .options = options, .prefix = "OMPI_MCA_"};

static bool detect(const struct mpiq_launch_query *query)
{
    return query->pid > 0 && mpiq_launcher_process_above(query->pid, name) > 0;
}

/* ---- hosts
 * ------------------------------------------------------------------------------------------------- */

static struct mpiq_error *find_hosts(const struct mpiq_launch_query *query, pid_t mpirun,
                                     struct mpiq_launch *launch)
{
    _cleanup_free_ char *answer = NULL;
    if (!query->ask)
        return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED, "mpirun %d cannot be read", (int)mpirun);
    struct mpiq_error *error = query->ask(mpirun, "{\"ask\":\"proctable\"}", &answer);
    if (!error)
        error = mpiq_rank_table_read(answer, launch);
    return mpiq_error_prefix(error, "mpirun %d", (int)mpirun);
}

/* ---- whose ranks they are
 * ------------------------------------------------------------------------------------ */

/* "-mca orte_hnp_uri "1.0;tcp://…"" of one of mpirun's daemons; false: this child is none. */
static bool take_uri(const struct mpiq_launcher_process *child, struct mpiq_launch *launch,
                     struct mpiq_error **error)
{
    for (size_t i = 0; i + 1 < child->count; i++) {
        if (strcmp(child->words[i], "orte_hnp_uri") != 0)
            continue;
        const char *value = child->words[i + 1];
        size_t quote = value[0] == '"', length = strlen(value + quote);
        length -= quote && length > 0 && value[length] == '"';
        char *uri _cleanup_free_ = strndup(value + quote, length);
        *error = uri ? mpiq_launch_add_match(launch, "OMPI_MCA_orte_hnp_uri", uri) : mpiq_error_no_memory();
        return true;
    }
    return false;
}

static struct mpiq_error *find_uri(pid_t mpirun, struct mpiq_launch *launch)
{
    _cleanup_free_ pid_t *children = NULL;
    size_t count = 0;
    bool found = false;
    struct mpiq_error *error = mpiq_launcher_process_children(mpirun, &children, &count);
    for (size_t i = 0; i < count && !error && !found; i++) {
        struct mpiq_launcher_process child;
        struct mpiq_error *gone = mpiq_launcher_process_init(children[i], &child);
        if (!gone) {
            found = take_uri(&child, launch, &error);
            mpiq_launcher_process_deinit(&child);
        }
        mpiq_error_destroy(gone);
    }
    /* Without it a collector takes the only job of its user on its host. */
    return error;
}

/* An mpirun with all its ranks here has no daemons, so nothing tells its ranks from another job's.  Its ranks
   here have been looked for already: none is left. */
static bool is_over(const struct mpiq_launch *launch)
{
    for (size_t i = 0; i < launch->host_count; i++) {
        if (!mpiq_agent_is_here(launch->hosts[i].name))
            return false;
    }
    return launch->match_count == 0;
}

static struct mpiq_error *find(const struct mpiq_launch_query *query, struct mpiq_launch *ret)
{
    pid_t mpirun = 0;
    struct mpiq_error *error = mpiq_agent_find_launcher(query, name, "mpirun", ret, &mpirun);
    if (!error)
        error = find_hosts(query, mpirun, ret);
    if (!error)
        error = find_uri(mpirun, ret);
    if (!error && is_over(ret))
        error = mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                                  "mpirun %d started all its ranks on this machine, and none of them is left",
                                  (int)mpirun);
    if (!error)
        error = mpiq_agent_find(mpirun, &parameters, ret);
    return error;
}

const struct mpiq_launcher mpiq_launcher_mpir = {.name = name,
                                                 .title = "Open MPI's mpirun",
                                                 .detect = detect,
                                                 .find = find,
                                                 .commands = mpiq_agent_commands};
