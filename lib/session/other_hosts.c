/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/other_hosts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/debug.h"
#include "process/pipe.h"
#include "session/discover.h"

/* How long a launcher that has started no ranks yet is waited for, and how often it is asked. */
static const int64_t starting_ns = (int64_t)5 * 1000 * 1000 * 1000;
static const struct timespec starting_rest = {.tv_nsec = 200 * 1000 * 1000};

/* A launcher's table of processes, read as a rank's memory is: confined. */
static struct mpiq_error *ask(pid_t pid, const char *question, char **ret)
{
    char target[16];
    const char *targets[] = {target};
    struct mpiq_options options = MPIQ_OPTIONS_DEFAULT;
    snprintf(target, sizeof target, "%d", (int)pid);
    options.targets = targets;
    options.target_count = 1;
    return mpiq_ask(&options, question, ret);
}

/* A target that only a launcher knows, "slurm:12"; NULL: there is none. */
static const char *launcher_word(const struct mpiq_options *options)
{
    for (size_t i = 0; i < options->target_count; i++) {
        if (mpiq_launcher_of_word(options->targets[i]))
            return options->targets[i];
    }
    return NULL;
}

/* The job whose hosts the options name; *ret stays NULL if they name none. */
static struct mpiq_error *find_named(const struct mpiq_options *options, struct mpiq_remote **ret)
{
    const char *word = launcher_word(options);
    struct mpiq_launch_query query = {.word = word, .hosts = options->hosts, .via = options->via, .ask = ask};
    if (!options->hosts && !options->via && !word)
        return NULL;
    if (options->target_count > (word ? 1 : 0) || options->wire_count > 0)
        return mpiq_error_create(MPIQ_ERROR_USAGE,
                                 "with --hosts or a job's name, no other target can be given");
    return mpiq_remote_create(&query, options, ret);
}

/* A pid that is the only target; 0. */
static pid_t only_pid(const struct mpiq_options *options)
{
    const char *word = options->target_count == 1 ? options->targets[0] : "";
    long pid = *word && word[strspn(word, "0123456789")] == '\0' ? strtol(word, NULL, 10) : 0;
    return pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

/* The launcher that is meant where nothing was named, and no rank is here; 0. */
static pid_t only_launcher(void)
{
    struct mpiq_process_table table;
    struct mpiq_error *error = mpiq_process_table_init(&table);
    if (error) {
        mpiq_error_destroy(error);
        return 0;
    }
    pid_t pid = mpiq_discover_launcher(&table);
    mpiq_process_table_deinit(&table);
    return pid;
}

/* Processes that a debugger serves stay; collectors leave out their ranks. */
static bool keep_wires(struct mpiq_look_sources *sources, struct mpiq_rank_set *served)
{
    size_t kept = 0;
    bool good = true;
    for (size_t i = 0; i < sources->count; i++) {
        struct mpiq_look_source *source = &sources->items[i];
        if (source->wire) {
            good = (source->rank < 0 || mpiq_rank_set_add(served, 0, (uint32_t)source->rank)) && good;
            sources->items[kept++] = *source;
        } else {
            free(source->path);
            free(source->nspace);
        }
    }
    sources->count = kept;
    return good;
}

/* After the processes of this machine were looked for: failed is why no rank was found here, or NULL; it is
   returned, or destroyed if the launcher is known. */
static struct mpiq_error *find_elsewhere(const struct mpiq_options *options, bool all_here,
                                         struct mpiq_error *failed, struct mpiq_look_sources *sources,
                                         struct mpiq_remote **ret)
{
    struct mpiq_launch_query query = {.pid = only_pid(options), .ask = ask};
    struct mpiq_remote *remote = NULL;
    if (failed && all_here) {
        mpiq_debug("hosts", "no rank is left, and all were here: the launcher is not asked");
        return failed;
    }
    if (failed && options->target_count == 0 && options->wire_count == 0)
        query.pid = only_launcher();
    if (failed && (failed->code != MPIQ_ERROR_NOT_FOUND || query.pid == 0))
        return failed;
    if (!failed && !sources->partial)
        return NULL;
    for (size_t i = 0; i < sources->count && !query.nspace; i++) {
        query.pid = sources->items[i].pid;
        query.nspace = sources->items[i].nspace;
    }
    if (!mpiq_launcher_detect(&query))
        return failed;
    struct mpiq_error *error = mpiq_remote_create(&query, options, &remote);
    if (error && !failed) { /* what is here is read all the same */
        mpiq_debug("hosts", "the job's other hosts are not known: %s", error->message);
        mpiq_error_destroy(error);
        return NULL;
    }
    mpiq_error_destroy(failed);
    if (error)
        return error;
    if (!keep_wires(sources, mpiq_remote_served(remote))) {
        mpiq_remote_destroy(remote);
        return mpiq_error_no_memory();
    }
    *ret = remote;
    return NULL;
}

static struct mpiq_error *find_now(const struct mpiq_options *options, bool all_here,
                                   struct mpiq_look_sources *sources, struct mpiq_remote **remote)
{
    struct mpiq_error *error = find_named(options, remote);
    if (error || *remote)
        return error;
    return find_elsewhere(options, all_here, mpiq_sources_init(options, sources), sources, remote);
}

struct mpiq_error *mpiq_find_job(const struct mpiq_options *options, bool all_here,
                                 struct mpiq_look_sources *sources, struct mpiq_remote **remote)
{
    int64_t end = mpiq_monotonic_ns() + starting_ns;
    struct mpiq_error *error = find_now(options, all_here, sources, remote);
    while (error && error->code == MPIQ_ERROR_STARTING && mpiq_monotonic_ns() < end) {
        if (options->progress)
            options->progress(options->argument, "waiting for the job to start its ranks");
        nanosleep(&starting_rest, NULL);
        mpiq_error_destroy(error);
        mpiq_sources_deinit(sources);
        error = find_now(options, all_here, sources, remote);
    }
    if (!error || error->code != MPIQ_ERROR_STARTING)
        return error;
    struct mpiq_error *advice = mpiq_error_create(
        MPIQ_ERROR_STARTING, "%s: the job is starting; ask again in a moment", error->message);
    mpiq_error_destroy(error);
    return advice;
}
