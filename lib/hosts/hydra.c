/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hydra - MPICH's mpiexec, which starts a proxy on each host with ssh or a replacement.
 *
 *     mpiexec.hydra -hosts h1,h2 -n 4 ./solver
 *     └ /usr/bin/ssh -x h1 "/usr/bin/hydra_pmi_proxy" --control-port login:40373 … --launcher ssh …
 * --proxy-id 0
 *
 * The command lines of its children show which hosts there are and how they are reached; collectors are
 * started the same way.  The value of --control-port is also on the proxy's command line on the other host,
 * so a rank below that proxy belongs to the job.  A proxy that was started without ssh (--launcher fork, or
 * on the host of mpiexec itself) is on this machine.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "hosts/agent.h"
#include "hosts/launcher.h"
#include "hosts/launcher_process.h"

static const char name[] = "hydra";
static const char proxy_name[] = "hydra_pmi_proxy";

/* A child of mpiexec that is, or starts, a proxy. */
struct proxy {
    const struct mpiq_launcher_process *process;
    size_t word; /* the proxy's program: what stands before it reaches the host */
    const char *port;
    const char *launcher;
};

static bool detect(const struct mpiq_launch_query *query)
{
    return query->pid > 0 && mpiq_launcher_process_above(query->pid, name) > 0;
}

static bool is_proxy(const struct mpiq_launcher_process *process, struct proxy *ret)
{
    *ret =
        (struct proxy){.process = process, .word = mpiq_launcher_process_find_word(process, 0, proxy_name)};
    for (size_t i = ret->word; i + 1 < process->count; i++) {
        if (strcmp(process->words[i], "--control-port") == 0)
            ret->port = process->words[i + 1];
        else if (strcmp(process->words[i], "--launcher") == 0)
            ret->launcher = process->words[i + 1];
    }
    return ret->port && ret->launcher;
}

static struct mpiq_error *name_job(struct mpiq_launch *launch, const char *port)
{
    launch->below = strdup(port);
    if (asprintf(&launch->nspace, "hydra@%s", port) < 0)
        launch->nspace = NULL;
    return launch->below && launch->nspace ? NULL : mpiq_error_no_memory();
}

static bool is_here(const struct mpiq_launch *launch, const char *host)
{
    for (size_t i = 0; i < launch->host_count; i++) {
        if (strcmp(launch->hosts[i].name, host) == 0)
            return true;
    }
    return false;
}

static struct mpiq_error *take_proxy(const struct proxy *proxy, struct mpiq_launch *launch)
{
    char here[HOST_NAME_MAX + 1] = "";
    char *const *words = proxy->process->words;
    bool agent = strcmp(proxy->launcher, "ssh") == 0 || strcmp(proxy->launcher, "rsh") == 0;
    if (proxy->word > 0 && (!agent || proxy->word < 2))
        return mpiq_error_create(
            MPIQ_ERROR_UNSUPPORTED,
            "how mpiexec's launcher \"%s\" reaches a host is not known: name the hosts with --hosts n1,n2",
            mpiq_hosts_is_plain(proxy->launcher) ? proxy->launcher : "?");
    gethostname(here, sizeof here - 1);
    const char *host = proxy->word > 0 ? words[proxy->word - 1] : here;
    struct mpiq_error *error = launch->below ? NULL : name_job(launch, proxy->port);
    if (!error && proxy->word > 0 && !launch->text)
        error = mpiq_agent_set(launch, words, proxy->word - 1);
    /* Several proxies of one host: with --launcher fork, names are all that tells them apart. */
    return error || is_here(launch, host) ? error : mpiq_launch_add_host(launch, host, strlen(host));
}

static struct mpiq_error *take_children(pid_t mpiexec, struct mpiq_launch *launch)
{
    _cleanup_free_ pid_t *children = NULL;
    size_t count = 0;
    struct mpiq_error *error = mpiq_launcher_process_children(mpiexec, &children, &count);
    for (size_t i = 0; i < count && !error; i++) {
        struct mpiq_launcher_process child;
        struct proxy proxy;
        struct mpiq_error *gone = mpiq_launcher_process_init(children[i], &child);
        if (gone) {
            mpiq_error_destroy(gone);
            continue;
        }
        if (is_proxy(&child, &proxy))
            error = take_proxy(&proxy, launch);
        mpiq_launcher_process_deinit(&child);
    }
    return error;
}

static struct mpiq_error *find(const struct mpiq_launch_query *query, struct mpiq_launch *ret)
{
    pid_t mpiexec;
    struct mpiq_error *error = mpiq_agent_find_launcher(query, name, "mpiexec", ret, &mpiexec);
    if (!error)
        error = take_children(mpiexec, ret);
    if (!error && ret->host_count == 0)
        error = mpiq_error_create(MPIQ_ERROR_STARTING, "mpiexec %d has started no proxies yet", (int)mpiexec);
    return error;
}

const struct mpiq_launcher mpiq_launcher_hydra = {
    .name = name, .title = "MPICH's Hydra", .detect = detect, .find = find, .commands = mpiq_agent_commands};
