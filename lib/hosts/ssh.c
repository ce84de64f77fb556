/* SPDX-License-Identifier: BSD-3-Clause */
/* ssh - hosts that the user names, each reached by ssh or by a command line given by the user. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "hosts/launcher.h"

static bool detect(const struct mpiq_launch_query *query)
{
    return query->hosts || query->via;
}

static struct mpiq_error *find(const struct mpiq_launch_query *query, struct mpiq_launch *ret)
{
    if (!query->hosts)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "--via needs the hosts: --hosts n1,n2");
    ret->job = strdup("the job");
    ret->via = query->via ? strdup(query->via) : NULL;
    if (!ret->job || (query->via && !ret->via))
        return mpiq_error_no_memory();
    const char *at = query->hosts;
    struct mpiq_error *error = NULL;
    while (!error) {
        size_t length = strcspn(at, ",");
        error = mpiq_launch_add_host(ret, at, length);
        if (!at[length])
            break;
        at += length + 1;
    }
    if (!error && query->nspace)
        error = mpiq_launch_add_match(ret, "PMIX_NAMESPACE", query->nspace);
    return error;
}

/* `via` with the host's name for each {host}; the caller frees it.  NULL without memory. */
static char *put_host(const char *via, const char *host)
{
    static const char hole[] = "{host}";
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (const char *next; (next = strstr(via, hole)); via = next + strlen(hole))
        fprintf(out, "%.*s%s", (int)(next - via), via, host);
    fputs(via, out);
    fputs(" \"$@\"", out); /* the collector's words, as they are */
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static struct mpiq_error *argv_of(const struct mpiq_launch *launch, const char *host, char *const *collector,
                                  char ***ret)
{
    if (!launch->via) {
        /* Never a question: nobody could answer it. */
        const char *const ssh[] = {"ssh", "-T", "-x", "-o", "BatchMode=yes", "--", host, NULL};
        return mpiq_launch_argv(ssh, collector, ret);
    }
    char *line _cleanup_free_ = put_host(launch->via, host);
    if (!line)
        return mpiq_error_no_memory();
    const char *const shell[] = {"sh", "-c", line, "mpiq", NULL};
    return mpiq_launch_argv(shell, collector, ret);
}

static struct mpiq_error *commands(const struct mpiq_launch *launch, char *const *collector,
                                   struct mpiq_launch_command **ret, size_t *count)
{
    return mpiq_launch_each_host(launch, collector, argv_of, ret, count);
}

const struct mpiq_launcher mpiq_launcher_ssh = {
    .name = "ssh", .title = "ssh", .detect = detect, .find = find, .commands = commands};
