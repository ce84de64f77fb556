/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flux - a job of Flux: flux hostlist says where it is, and flux exec starts the collectors beside its
 * shells.
 *
 * Written from flux-hostlist(1) and flux-exec(1) and never run with Flux, which the distributions that mpiq
 * is tested on do not have.  A rank is the job's if its environment has the job's id as Flux writes it there
 * (FLUX_JOB_ID, in the form that flux job id --to=f58 gives).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "hosts/capture.h"
#include "hosts/launcher.h"
#include "hosts/launcher_process.h"

static const char prefix[] = "flux:";

static bool detect(const struct mpiq_launch_query *query)
{
    if (query->word)
        return strncmp(query->word, prefix, strlen(prefix)) == 0;
    char *job _cleanup_free_ =
        query->pid > 0 ? mpiq_launcher_process_variable(query->pid, "FLUX_JOB_ID") : NULL;
    return job != NULL;
}

/* The job as the user or its rank names it. */
static struct mpiq_error *given_job(const struct mpiq_launch_query *query, char **ret)
{
    char *job = query->word ? strdup(query->word + strlen(prefix))
                            : mpiq_launcher_process_variable(query->pid, "FLUX_JOB_ID");
    if (!job)
        return query->word ? mpiq_error_no_memory()
                           : mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                                               "process %d does not belong to a Flux job", (int)query->pid);
    if (*job == '\0' || *job == '-' || strpbrk(job, " \t\n")) {
        free(job);
        return mpiq_error_create(MPIQ_ERROR_USAGE, "flux: takes the id of a job, as flux jobs shows it");
    }
    *ret = job;
    return NULL;
}

static struct mpiq_error *add_hosts(struct mpiq_launch *launch)
{
    char *names _cleanup_free_ = NULL;
    const char *const hostlist[] = {"flux", "hostlist", "--expand", "--delimiter=,", launch->text, NULL};
    struct mpiq_error *error = mpiq_hosts_capture(hostlist, &names);
    for (const char *at = names; !error && at && *at;) {
        size_t length = strcspn(at, ",");
        error = mpiq_launch_add_host(launch, at, length);
        at += length + (at[length] == ',');
    }
    if (!error && launch->host_count == 0)
        error = mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "it has no hosts (yet)");
    return mpiq_error_prefix(error, "Flux job %s", launch->text);
}

static struct mpiq_error *find(const struct mpiq_launch_query *query, struct mpiq_launch *ret)
{
    char *job _cleanup_free_ = NULL;
    struct mpiq_error *error = given_job(query, &job);
    if (error)
        return error;
    const char *const id[] = {"flux", "job", "id", "--to=f58", job, NULL};
    error = mpiq_hosts_capture(id, &ret->text);
    if (!error)
        error = add_hosts(ret);
    if (!error)
        error = mpiq_launch_add_match(ret, "FLUX_JOB_ID", ret->text);
    if (!error && asprintf(&ret->job, "Flux job %s", ret->text) < 0) {
        ret->job = NULL;
        error = mpiq_error_no_memory();
    }
    return error;
}

/* One copy for each shell of the job, of which a host has one. */
static struct mpiq_error *commands(const struct mpiq_launch *launch, char *const *collector,
                                   struct mpiq_launch_command **ret, size_t *count)
{
    const char *const exec[] = {"flux", "exec", "--jobid", launch->text, NULL};
    struct mpiq_launch_command *command = NULL;
    struct mpiq_error *error = mpiq_launch_add_command(ret, count, &command);
    if (error)
        return error;
    command->host_count = launch->host_count;
    return mpiq_launch_argv(exec, collector, &command->argv);
}

const struct mpiq_launcher mpiq_launcher_flux = {
    .name = "flux", .title = "Flux", .detect = detect, .find = find, .commands = commands};
