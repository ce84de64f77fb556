/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher - a job's launcher: on which hosts the job runs, and how mpiq collect is started on each.
 *
 * Each launcher has one small file, which fills one struct mpiq_launcher; the table in launcher.c lists them
 * in the order in which they are tried.  A launcher identifies the job (find) and gives the commands that
 * start the collectors (commands): one per host (ssh), or one for all (srun).  Commands are run, their lines
 * read and their collectors told when to look by host_streams.h.
 *
 * What a launcher reads of other processes (environment, command lines) may be hostile: whatever goes into a
 * command is a separate argument, never part of a shell command line, unless mpiq_hosts_is_plain allows it.
 */
#ifndef MPIQ_HOSTS_LAUNCHER_H
#define MPIQ_HOSTS_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "state/rank_set.h"

/* Which job is meant, as far as the user and this machine say.  Strings stay the caller's. */
struct mpiq_launch_query {
    const char *word;   /* a target such as "slurm:12.0"; NULL: none of that kind was given */
    pid_t pid;          /* of a launcher or a rank on this machine; 0: none */
    const char *nspace; /* PMIX_NAMESPACE of the job's ranks on this machine; NULL: none found */
    const char *hosts;  /* --hosts LIST; NULL */
    const char *via;    /* --via COMMAND; NULL */
    const struct mpiq_launcher *launcher; /* known already; NULL: the table tells */
    /* Asks a confined reader about a process of this machine, as mpiq_ask does (docs/WIRE.md, "Questions");
       the caller frees the answer.  NULL: nobody can. */
    struct mpiq_error *(*ask)(pid_t pid, const char *question, char **ret);
};

struct mpiq_launch_host {
    char *name;                 /* as the launcher calls it; reports show it */
    struct mpiq_rank_set ranks; /* of the first world (world 0), as the launcher says; empty: not known */
};

/*
 * A job, its hosts, and how a collector there tells the job's ranks from other processes.  A rank counts if
 * all of it holds:
 * - its environment has each of `match`: "NAME=VALUE"; "NAME" alone: the same value as in the collector's own
 *   environment, for hosts that share one machine; not asked where that value is the machine's name;
 * - one of its ancestors has the command-line argument `below`.
 * With none of these the collector takes the only job of its user on its host.
 */
struct mpiq_launch {
    const struct mpiq_launcher *launcher;
    char *job; /* for sentences: "Slurm job 12.0" */
    struct mpiq_launch_host *hosts;
    size_t host_count;
    int world_size; /* of the first world; 0: not known */
    char **match;   /* NULL: none */
    size_t match_count;
    char *below;  /* NULL: none */
    char *nspace; /* what to call the first world where its ranks have no PMIX_NAMESPACE; NULL: as found */
    char *node_variable; /* whose value, in a collector's environment, is its host's name; NULL: it has a
                            command of its own, or gethostname tells */
    char *via;           /* the user's command line, for ssh.c; NULL */
    char *text;          /* of the launcher's own use; NULL */
    char *parts; /* what the user may name instead, where the job has several parts: "slurm:12.0 (solver), …";
                    NULL: it has not */
};

/* A command that starts the collectors of hosts[first_host] and those that follow, host_count in all.  Their
   lines come from its stdout, in any order, each whole but with any prefix; its stdin goes to all of them,
   and closing it ends them. */
struct mpiq_launch_command {
    char **argv; /* ended by NULL; argv[0] is looked for in PATH */
    size_t first_host;
    size_t host_count;
    /* NULL, or called in a process of its own, instead of executing argv, with the descriptors 0, 1 and 2
       connected as a command's are; returns the exit status. */
    int (*run)(const struct mpiq_launch *launch, const struct mpiq_launch_command *command);
};

struct mpiq_launcher {
    const char *name;  /* "slurm"; with ':' after it also the prefix of its targets */
    const char *title; /* "Slurm" */
    /* Whether the job that the query means runs under this launcher.  Cheap: a look at the word, or at the
       environment or command line of the process and its parents; nothing is started. */
    bool (*detect)(const struct mpiq_launch_query *query);
    /* Fills *ret, of which launcher is set already.  NOT_FOUND: there is no such job; STARTING: it has no
       ranks yet; UNSUPPORTED: the hosts cannot be told; each with what the user may do instead.  On failure
       the caller cleans *ret up. */
    struct mpiq_error *(*find)(const struct mpiq_launch_query *query, struct mpiq_launch *ret);
    /* The commands, host by host.  collector, ended by NULL, is the collector's command: an absolute path and
       arguments without a character that a shell takes apart.  A launcher adds its own words before it.
       The caller cleans up each command (mpiq_launch_command_deinit), on failure too. */
    struct mpiq_error *(*commands)(const struct mpiq_launch *launch, char *const *collector,
                                   struct mpiq_launch_command **ret, size_t *count);
};

extern const struct mpiq_launcher mpiq_launcher_ssh;
extern const struct mpiq_launcher mpiq_launcher_slurm;
extern const struct mpiq_launcher mpiq_launcher_pmix;
extern const struct mpiq_launcher mpiq_launcher_mpir;
extern const struct mpiq_launcher mpiq_launcher_hydra;
extern const struct mpiq_launcher mpiq_launcher_flux;

/* The launcher of the job that is meant, or NULL: none that is known.  --hosts and --via decide before
   anything that is found. */
const struct mpiq_launcher *mpiq_launcher_detect(const struct mpiq_launch_query *query);

/* The launcher whose targets begin as word does ("slurm:…"); NULL: word is no such target. */
const struct mpiq_launcher *mpiq_launcher_of_word(const char *word);

/* launch.c, for launchers.  Each is USAGE or NO_MEMORY when it fails. */
struct mpiq_error *mpiq_launch_add_host(struct mpiq_launch *launch, const char *name, size_t length);
struct mpiq_error *mpiq_launch_add_match(struct mpiq_launch *launch, const char *name, const char *value);
/* Makes room for one more command; the new one is all zeros. */
struct mpiq_error *mpiq_launch_add_command(struct mpiq_launch_command **commands, size_t *count,
                                           struct mpiq_launch_command **ret);
/* One command a host, whose argv `fill` makes. */
typedef struct mpiq_error *mpiq_launch_argv_function(const struct mpiq_launch *launch, const char *host,
                                                     char *const *collector, char ***ret);
struct mpiq_error *mpiq_launch_each_host(const struct mpiq_launch *launch, char *const *collector,
                                         mpiq_launch_argv_function *fill, struct mpiq_launch_command **ret,
                                         size_t *count);
/* An argv of `own` and then `more`, each ended by NULL, with copies of the words. */
struct mpiq_error *mpiq_launch_argv(const char *const *own, char *const *more, char ***ret);

void mpiq_launch_deinit(struct mpiq_launch *launch);
void mpiq_launch_command_deinit(struct mpiq_launch_command *command);

/* Letters, digits and @%_+=:,./- alone: a word that no shell takes apart, and that is not empty.  As a host's
   name it must not begin with '-'. */
bool mpiq_hosts_is_plain(const char *word);

#endif
