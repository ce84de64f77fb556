/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { HOST_NAME_MOST = 255, HOSTS_MOST = 1 << 20 };

bool mpiq_hosts_is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_+=:,./-";
    return word[0] != '\0' && word[strspn(word, plain)] == '\0';
}

struct mpiq_error *mpiq_launch_add_host(struct mpiq_launch *launch, const char *name, size_t length)
{
    char *copy = strndup(name, length);
    if (!copy)
        return mpiq_error_no_memory();
    if (length > HOST_NAME_MOST || copy[0] == '-' || !mpiq_hosts_is_plain(copy)) {
        free(copy);
        return mpiq_error_create(MPIQ_ERROR_USAGE, "'%.*s' is not the name of a host",
                                 length < 80 ? (int)length : 80, name);
    }
    size_t count = launch->host_count;
    struct mpiq_launch_host *larger =
        count < HOSTS_MOST ? mpiq_array_grown(launch->hosts, count, sizeof *larger) : NULL;
    if (!larger) {
        free(copy);
        return mpiq_error_no_memory();
    }
    launch->hosts = larger;
    launch->hosts[launch->host_count++] = (struct mpiq_launch_host){.name = copy};
    return NULL;
}

struct mpiq_error *mpiq_launch_add_match(struct mpiq_launch *launch, const char *name, const char *value)
{
    char *text = NULL;
    char **larger = mpiq_array_grown(launch->match, launch->match_count, sizeof *larger); /* NOLINT */
    if (!larger)
        return mpiq_error_no_memory();
    launch->match = larger;
    if (asprintf(&text, "%s%s%s", name, value ? "=" : "", value ? value : "") < 0)
        return mpiq_error_no_memory();
    launch->match[launch->match_count++] = text;
    return NULL;
}

struct mpiq_error *mpiq_launch_add_command(struct mpiq_launch_command **commands, size_t *count,
                                           struct mpiq_launch_command **ret)
{
    struct mpiq_launch_command *larger = mpiq_array_grown(*commands, *count, sizeof *larger);
    if (!larger)
        return mpiq_error_no_memory();
    *commands = larger;
    *ret = &larger[(*count)++];
    **ret = (struct mpiq_launch_command){0};
    return NULL;
}

struct mpiq_error *mpiq_launch_each_host(const struct mpiq_launch *launch, char *const *collector,
                                         mpiq_launch_argv_function *fill, struct mpiq_launch_command **ret,
                                         size_t *count)
{
    struct mpiq_error *error = NULL;
    for (size_t i = 0; i < launch->host_count && !error; i++) {
        struct mpiq_launch_command *command = NULL;
        error = mpiq_launch_add_command(ret, count, &command);
        if (error)
            break;
        command->first_host = i;
        command->host_count = 1;
        error = fill(launch, launch->hosts[i].name, collector, &command->argv);
    }
    return error;
}

static size_t word_count(char *const *words)
{
    size_t count = 0;
    while (words[count])
        count++;
    return count;
}

static void free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

struct mpiq_error *mpiq_launch_argv(const char *const *own, char *const *more, char ***ret)
{
    size_t own_count = 0;
    while (own[own_count])
        own_count++;
    size_t count = own_count + word_count(more);
    char **argv = calloc(count + 1, sizeof *argv);
    for (size_t i = 0; argv && i < count; i++) {
        argv[i] = strdup(i < own_count ? own[i] : more[i - own_count]);
        if (!argv[i]) {
            free_words(argv);
            argv = NULL;
        }
    }
    if (!argv)
        return mpiq_error_no_memory();
    *ret = argv;
    return NULL;
}

void mpiq_launch_deinit(struct mpiq_launch *launch)
{
    for (size_t i = 0; i < launch->host_count; i++) {
        free(launch->hosts[i].name);
        mpiq_rank_set_deinit(&launch->hosts[i].ranks);
    }
    for (size_t i = 0; i < launch->match_count; i++)
        free(launch->match[i]);
    free(launch->hosts);
    free(launch->match);
    free(launch->job);
    free(launch->below);
    free(launch->nspace);
    free(launch->node_variable);
    free(launch->via);
    free(launch->text);
    free(launch->parts);
    *launch = (struct mpiq_launch){0};
}

void mpiq_launch_command_deinit(struct mpiq_launch_command *command)
{
    free_words(command->argv);
    *command = (struct mpiq_launch_command){0};
}
