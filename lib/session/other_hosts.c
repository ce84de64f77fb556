/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/other_hosts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/debug.h"
#include "session/discover.h"

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

struct mpiq_error *mpiq_other_hosts_named(const struct mpiq_options *options, struct mpiq_remote **ret)
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

struct mpiq_error *mpiq_other_hosts_find(const struct mpiq_options *options, struct mpiq_error *failed,
                                         struct mpiq_look_sources *sources, struct mpiq_remote **ret)
{
    struct mpiq_launch_query query = {.pid = only_pid(options), .ask = ask};
    struct mpiq_remote *remote = NULL;
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
