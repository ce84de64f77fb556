/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slurm - a Slurm job or step: squeue and scontrol say where it is, and srun starts the collectors as one
 * more step of that job, beside those that run.
 *
 * A rank is the job's if its environment has the job's number (and the step's, if one was named), and the
 * name of the collector's node: nodes may share a machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "hosts/capture.h"
#include "hosts/launcher.h"
#include "hosts/launcher_process.h"

enum { NUMBER_MOST = 10 };

static const char prefix[] = "slurm:";
/* What our own steps are called. */
static const char collector_name[] = "mpiq";

/* A job, and a step of it; "": none. */
struct target {
    char job[NUMBER_MOST + 1];
    char step[NUMBER_MOST + 1];
};

static bool detect(const struct mpiq_launch_query *query)
{
    if (query->word)
        return strncmp(query->word, prefix, strlen(prefix)) == 0;
    char *job _cleanup_free_ =
        query->pid > 0 ? mpiq_launcher_process_variable(query->pid, "SLURM_JOB_ID") : NULL;
    return job && *job && job[strspn(job, "0123456789")] == '\0';
}

/* Copies digits from the start of text; how many. */
static size_t take_number(const char *text, char *ret)
{
    size_t length = strspn(text, "0123456789");
    if (length > NUMBER_MOST)
        return 0;
    memcpy(ret, text, length);
    ret[length] = '\0';
    return length;
}

static struct mpiq_error *parse_word(const char *word, struct target *ret)
{
    const char *at = word + strlen(prefix);
    size_t length = take_number(at, ret->job);
    size_t step = length > 0 && at[length] == '.' ? take_number(at + length + 1, ret->step) : 0;
    if (length > 0 && at[length + (step ? step + 1 : 0)] == '\0')
        return NULL;
    return mpiq_error_create(MPIQ_ERROR_USAGE,
                             "'%.80s' is not the name of a Slurm job: use slurm:12 or slurm:12.0", word);
}

static struct mpiq_error *find_target(const struct mpiq_launch_query *query, struct target *ret)
{
    if (query->word)
        return parse_word(query->word, ret);
    char *job _cleanup_free_ = mpiq_launcher_process_variable(query->pid, "SLURM_JOB_ID");
    char *step _cleanup_free_ = mpiq_launcher_process_variable(query->pid, "SLURM_STEP_ID");
    if (!job || take_number(job, ret->job) == 0)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "process %d does not belong to a Slurm job",
                                 (int)query->pid);
    if (step && step[strspn(step, "0123456789")] == '\0') /* a batch script's is no number */
        take_number(step, ret->step);
    return NULL;
}

/* ---- where it is --------------------------------------------------------------------------------------- */

/* "n[1-4]" of a running job or step. */
static struct mpiq_error *find_nodes(const struct target *target, char **ret)
{
    char number[2 * NUMBER_MOST + 2];
    snprintf(number, sizeof number, "%s%s%s", target->job, target->step[0] ? "." : "", target->step);
    const char *const of_job[] = {"squeue", "-h", "-t", "R,CG,S", "-j", number, "-o", "%N", NULL};
    const char *const of_step[] = {"squeue", "-h", "-s", number, "-o", "%N", NULL};
    struct mpiq_error *error = mpiq_hosts_capture(target->step[0] ? of_step : of_job, ret);
    if (error)
        return mpiq_error_prefix(error, "Slurm job %s", number);
    if (**ret && !strpbrk(*ret, " \n("))
        return NULL;
    free(*ret);
    *ret = NULL;
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                             "Slurm job %s is not running: squeue shows the jobs that are", number);
}

static struct mpiq_error *add_hosts(struct mpiq_launch *launch)
{
    char *names _cleanup_free_ = NULL;
    const char *const expand[] = {"scontrol", "show", "hostnames", launch->text, NULL};
    struct mpiq_error *error = mpiq_hosts_capture(expand, &names);
    for (const char *at = names; !error && at && *at;) {
        size_t length = strcspn(at, "\n");
        error = mpiq_launch_add_host(launch, at, length);
        at += length + (at[length] == '\n');
    }
    return error;
}

/* "12.0 solver" of squeue's lines: whether it is a step of somebody's program, and not of a mpiq. */
static bool is_step(const char *line, size_t length, const char *job)
{
    size_t size = strlen(job);
    const char *number = line + size + 1;
    if (length < size + 2 || memcmp(line, job, size) != 0 || line[size] != '.')
        return false;
    size_t digits = strspn(number, "0123456789");
    const char *name = number + digits + 1;
    return digits > 0 && number[digits] == ' ' &&
           !((size_t)(line + length - name) == strlen(collector_name) &&
             memcmp(name, collector_name, strlen(collector_name)) == 0);
}

/* "slurm:12.0 (solver), slurm:12.1 (post)" of a job with several steps, for who asked for all of it.  Without
   squeue's answer nothing is said. */
static void find_steps(const char *job, struct mpiq_launch *launch)
{
    const char *const steps[] = {"squeue", "-h", "-s", "-j", job, "-o", "%i %j", NULL};
    char *said _cleanup_free_ = NULL;
    size_t size = 0, count = 0;
    mpiq_error_destroy(mpiq_hosts_capture(steps, &said));
    FILE *out = open_memstream(&launch->parts, &size);
    if (!out)
        return;
    for (const char *line = said; line && *line;) {
        size_t length = strcspn(line, "\n");
        size_t number = strcspn(line, " ");
        if (is_step(line, length, job))
            fprintf(out, "%s%s%.*s (%.*s)", count++ > 0 ? ", " : "", prefix, (int)number, line,
                    (int)(length - number - 1), line + number + 1);
        line += length + (line[length] == '\n');
    }
    fclose(out);
    if (count < 2)
        free(mpiq_steal(launch->parts));
}

static struct mpiq_error *find(const struct mpiq_launch_query *query, struct mpiq_launch *ret)
{
    struct target target = {.step = ""};
    struct mpiq_error *error = find_target(query, &target);
    if (!error)
        error = find_nodes(&target, &ret->text);
    if (!error)
        error = add_hosts(ret);
    if (!error && !target.step[0])
        find_steps(target.job, ret);
    if (!error)
        error = mpiq_launch_add_match(ret, "SLURM_JOB_ID", target.job);
    if (!error && target.step[0])
        error = mpiq_launch_add_match(ret, "SLURM_STEP_ID", target.step);
    if (!error)
        error = mpiq_launch_add_match(ret, "SLURMD_NODENAME", NULL);
    if (error)
        return error;
    ret->node_variable = strdup("SLURMD_NODENAME");
    if (!ret->node_variable ||
        asprintf(&ret->job, "Slurm job %s%s%s", target.job, target.step[0] ? "." : "", target.step) < 0)
        return mpiq_error_no_memory();
    return NULL;
}

/* ---- collectors ---------------------------------------------------------------------------------------- */

/* The number that find put into the first match: "SLURM_JOB_ID=12". */
static const char *job_number(const struct mpiq_launch *launch)
{
    return strchr(launch->match[0], '=') + 1;
}

/* One task a node, beside the job's own (--overlap), with nothing of its own: no processors to be bound to,
   no devices, no MPI. */
static struct mpiq_error *commands(const struct mpiq_launch *launch, char *const *collector,
                                   struct mpiq_launch_command **ret, size_t *count)
{
    char job[32], nodes[32], tasks[32];
    char *list _cleanup_free_ = NULL;
    snprintf(job, sizeof job, "--jobid=%s", job_number(launch));
    snprintf(nodes, sizeof nodes, "--nodes=%zu", launch->host_count);
    snprintf(tasks, sizeof tasks, "--ntasks=%zu", launch->host_count);
    if (asprintf(&list, "--nodelist=%s", launch->text) < 0)
        return mpiq_error_no_memory();
    const char *const srun[] = {"srun",
                                job,
                                nodes,
                                tasks,
                                list,
                                "--ntasks-per-node=1",
                                "--overlap",
                                "--mpi=none",
                                "--cpu-bind=none",
                                "--gres=none",
                                "--quiet",
                                "--kill-on-bad-exit=0",
                                "--cpus-per-task=1",
                                "--job-name=mpiq", /* collector_name */
                                NULL};
    struct mpiq_launch_command *command = NULL;
    struct mpiq_error *error = mpiq_launch_add_command(ret, count, &command);
    if (error)
        return error;
    command->host_count = launch->host_count;
    return mpiq_launch_argv(srun, collector, &command->argv);
}

const struct mpiq_launcher mpiq_launcher_slurm = {
    .name = "slurm", .title = "Slurm", .detect = detect, .find = find, .commands = commands};
