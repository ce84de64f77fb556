/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/agent.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "hosts/launcher_process.h"

/* More than any agent is given. */
enum { WORDS_MOST = 64 };

struct mpiq_error *mpiq_agent_set(struct mpiq_launch *launch, char *const *words, size_t count)
{
    size_t size = 0;
    FILE *out = open_memstream(&launch->text, &size);
    if (!out)
        return mpiq_error_no_memory();
    bool good = count < WORDS_MOST;
    for (size_t i = 0; i < count && good; i++) {
        good = words[i][0] != '\0' && !strchr(words[i], '\n');
        fprintf(out, "%s%s", i ? "\n" : "", words[i]);
    }
    if (fclose(out) != 0)
        return mpiq_error_no_memory();
    return good ? NULL
                : mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                    "the command with which the launcher reaches its hosts cannot be reused: "
                                    "name them with --hosts n1,n2");
}

struct mpiq_error *mpiq_agent_find_launcher(const struct mpiq_launch_query *query, const char *launcher,
                                            const char *called, struct mpiq_launch *launch, pid_t *ret)
{
    *ret = mpiq_launcher_process_above(query->pid, launcher);
    if (*ret == 0)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "%s has ended", called);
    struct mpiq_error *error = mpiq_launcher_process_is_mine(*ret);
    if (!error && asprintf(&launch->job, "the job of %s %d", called, (int)*ret) < 0) {
        launch->job = NULL;
        error = mpiq_error_no_memory();
    }
    return error;
}

/* Whether a program of that name or path could be started. */
static bool is_program(const char *name)
{
    char path[PATH_MAX];
    if (strchr(name, '/'))
        return access(name, X_OK) == 0;
    for (const char *at = getenv("PATH"); at && *at;) {
        size_t length = strcspn(at, ":");
        int wrote = snprintf(path, sizeof path, "%.*s/%s", (int)length, at, name);
        if (length > 0 && wrote > 0 && (size_t)wrote < sizeof path && access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* A word of the list, NULL at its end, whatever dashes it begins with. */
static bool is_option(const char *word, const char *const *options)
{
    const char *name = word + strspn(word, "-");
    for (size_t i = 0; name != word && options[i]; i++) {
        if (strcmp(name, options[i]) == 0)
            return true;
    }
    return false;
}

/* A parameter as the launcher got it: on its command line, else in its environment.  The caller frees it. */
static char *parameter(const struct mpiq_launcher_process *launcher,
                       const struct mpiq_agent_parameters *known, const char *name)
{
    char variable[64];
    for (size_t i = 0; i + 2 < launcher->count; i++) {
        if (is_option(launcher->words[i], known->options) && strcmp(launcher->words[i + 1], name) == 0)
            return strdup(launcher->words[i + 2]);
    }
    snprintf(variable, sizeof variable, "%s%s", known->prefix, name);
    return mpiq_launcher_process_variable(launcher->pid, variable);
}

/* "ssh -q : rsh": the words of the first whose program is there. */
static size_t choose_agent(char *list, char **words)
{
    for (char *agent; (agent = strsep(&list, ":"));) {
        size_t count = 0;
        for (char *word; count < WORDS_MOST && (word = strsep(&agent, " \t"));) {
            if (*word)
                words[count++] = word;
        }
        if (count > 0 && is_program(words[0]))
            return count;
    }
    return 0;
}

struct mpiq_error *mpiq_agent_find(pid_t launcher, const struct mpiq_agent_parameters *parameters,
                                   struct mpiq_launch *launch)
{
    char usual[] = "ssh -x:rsh";
    char *given _cleanup_free_ = NULL;
    char *words[WORDS_MOST + 1] = {NULL};
    struct mpiq_launcher_process process;
    struct mpiq_error *error = mpiq_launcher_process_init(launcher, &process);
    if (error)
        return error;
    for (size_t i = 0; parameters->names[i] && !given; i++)
        given = parameter(&process, parameters, parameters->names[i]);
    mpiq_launcher_process_deinit(&process);
    size_t count = choose_agent(given ? given : usual, words);
    if (count == 0)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                                 "the program with which the launcher reaches other hosts is not installed "
                                 "here: name the hosts and a way to reach them, --hosts n1,n2 --via COMMAND");
    return mpiq_agent_set(launch, words, count);
}

bool mpiq_agent_is_here(const char *name)
{
    char here[HOST_NAME_MAX + 1] = "";
    gethostname(here, sizeof here - 1);
    size_t length = strcspn(here, ".");
    return strcmp(name, here) == 0 || strcmp(name, "localhost") == 0 ||
           (strcspn(name, ".") == length && strncmp(name, here, length) == 0);
}

static bool is_ssh(const char *program)
{
    const char *slash = strrchr(program, '/');
    return strcmp(slash ? slash + 1 : program, "ssh") == 0;
}

/* Points words at what is in text, which it takes apart; their number. */
static size_t split(char *text, const char **words)
{
    size_t count = 0;
    for (char *rest = text, *word; (word = strsep(&rest, "\n"));) {
        words[count++] = word;
        if (count > 1 || !is_ssh(word))
            continue;
        /* Never a question: nobody could answer it. */
        words[count++] = "-T";
        words[count++] = "-o";
        words[count++] = "BatchMode=yes";
    }
    return count;
}

static struct mpiq_error *argv_of(const struct mpiq_launch *launch, const char *host, char *const *collector,
                                  char ***ret)
{
    const char *words[WORDS_MOST + 8] = {NULL};
    if (mpiq_agent_is_here(host))
        return mpiq_launch_argv(words, collector, ret);
    if (!launch->text)
        return mpiq_error_create(
            MPIQ_ERROR_UNSUPPORTED,
            "how the launcher has reached %s is not known: name the hosts with --hosts n1,n2", host);
    char *text _cleanup_free_ = strdup(launch->text);
    if (!text)
        return mpiq_error_no_memory();
    words[split(text, words)] = host;
    return mpiq_launch_argv(words, collector, ret);
}

struct mpiq_error *mpiq_agent_commands(const struct mpiq_launch *launch, char *const *collector,
                                       struct mpiq_launch_command **ret, size_t *count)
{
    return mpiq_launch_each_host(launch, collector, argv_of, ret, count);
}
