/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/remote.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "hosts/collectors.h"
#include "hosts/collector_args.h"
#include "session/plausibility.h"
#include "session/read_snapshot.h"
#include "state/job_state.h"

static const double default_wait = 30;
static const unsigned default_fanout = 64;
/* Processes of a host that are no ranks, in both looks. */
enum { OTHERS_MOST = 128 };

/* A namespace, and its job's number by the library. */
struct bound {
    uint32_t job;
    char *nspace; /* NULL without memory: it is nobody's */
};
enum { BOUND_MOST = 256 };

struct mpiq_remote {
    const struct mpiq_options *options;
    struct mpiq_launch launch;
    struct mpiq_collectors_options how;
    char **collector; /* its command */
    struct mpiq_collectors *collectors;
    struct mpiq_rank_set served;
    const char *first; /* what most hosts call the first world; NULL: none has ranks */
    struct bound bound[BOUND_MOST];
    size_t bound_count;
    struct mpiq_hello contested; /* ranks that two hosts claim */
};

/* Whether that job number belongs to the namespace, and to no other, so that no host can announce ranks of
   one namespace and report those of another.  The first host to name a number decides; a lie can at worst
   get the ranks of others refused. */
static bool is_bound(struct mpiq_remote *remote, const char *nspace, uint32_t job)
{
    size_t at = 0;
    while (at < remote->bound_count && remote->bound[at].job != job &&
           (!remote->bound[at].nspace || strcmp(remote->bound[at].nspace, nspace) != 0))
        at++;
    if (at == remote->bound_count && at < BOUND_MOST)
        remote->bound[remote->bound_count++] = (struct bound){.job = job, .nspace = strdup(nspace)};
    return at < remote->bound_count && remote->bound[at].nspace && remote->bound[at].job == job &&
           strcmp(remote->bound[at].nspace, nspace) == 0;
}

static void unbind(struct mpiq_remote *remote)
{
    for (size_t i = 0; i < remote->bound_count; i++)
        free(remote->bound[i].nspace);
    remote->bound_count = 0;
}

/* ---- starting ------------------------------------------------------------------------------------------ */

static struct mpiq_error *make_order(struct mpiq_remote *remote)
{
    char program[PATH_MAX];
    char *served _cleanup_free_ = mpiq_rank_set_text(&remote->served, 0);
    const struct mpiq_launch *launch = &remote->launch;
    const struct mpiq_collector_args order = {.version = MPIQ_VERSION,
                                              .match = launch->match,
                                              .match_count = launch->match_count,
                                              .below = launch->below,
                                              .nspace = launch->nspace,
                                              .node_variable = launch->node_variable,
                                              .dll = remote->options->dll,
                                              .skip = served && *served ? served : NULL,
                                              .stop = remote->options->stop,
                                              .stacks = remote->options->stacks,
                                              .all_threads = remote->options->all_threads};
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return mpiq_error_create_os(errno, "cannot tell where this mpiq is");
    program[length] = '\0';
    return mpiq_collector_args_write(&order, program, &remote->collector);
}

struct mpiq_error *mpiq_remote_create(const struct mpiq_launch_query *query,
                                      const struct mpiq_options *options, struct mpiq_remote **ret)
{
    struct mpiq_remote *remote = calloc(1, sizeof *remote);
    if (!remote)
        return mpiq_error_no_memory();
    remote->options = options;
    remote->launch.launcher = mpiq_launcher_detect(query);
    struct mpiq_error *error =
        remote->launch.launcher
            ? remote->launch.launcher->find(query, &remote->launch)
            : mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                                "no launcher is known for this job: name its hosts with --hosts");
    if (error) {
        mpiq_remote_destroy(remote);
        return error;
    }
    *ret = remote;
    return NULL;
}

void mpiq_remote_destroy(struct mpiq_remote *remote)
{
    if (!remote)
        return;
    mpiq_collectors_destroy(remote->collectors);
    mpiq_collector_args_free_words(remote->collector);
    mpiq_launch_deinit(&remote->launch);
    unbind(remote);
    mpiq_hello_deinit(&remote->contested);
    mpiq_rank_set_deinit(&remote->served);
    free(remote);
}

struct mpiq_rank_set *mpiq_remote_served(struct mpiq_remote *remote)
{
    return &remote->served;
}

size_t mpiq_remote_host_count(const struct mpiq_remote *remote)
{
    return remote->launch.host_count;
}

struct mpiq_error *mpiq_remote_start(struct mpiq_remote *remote)
{
    struct mpiq_error *error = make_order(remote);
    if (error)
        return error;
    const struct mpiq_options *options = remote->options;
    remote->how =
        (struct mpiq_collectors_options){.version = MPIQ_VERSION,
                                         .wait = options->wait > 0 ? options->wait : default_wait,
                                         .fanout = options->fanout ? options->fanout : default_fanout,
                                         .collector = remote->collector,
                                         .progress = options->progress,
                                         .argument = options->argument};
    return mpiq_collectors_start(&remote->launch, &remote->how, &remote->collectors);
}

struct mpiq_error *mpiq_remote_wait(struct mpiq_remote *remote, int look)
{
    return mpiq_collectors_wait(remote->collectors, look);
}

void mpiq_remote_go(struct mpiq_remote *remote)
{
    mpiq_collectors_go(remote->collectors);
}

/* ---- whose ranks they are ------------------------------------------------------------------------------ */

static struct mpiq_hello_world *need_world(struct mpiq_hello *all, const char *nspace)
{
    for (size_t i = 0; i < all->world_count; i++) {
        if (strcmp(all->worlds[i].nspace, nspace) == 0)
            return &all->worlds[i];
    }
    return mpiq_hello_add_world(all, nspace);
}

/* Adds the ranks of one host to those of all; what is there already, two hosts claim.  launched: those that
   the launcher has started there; NULL: not known. */
static bool claim(struct mpiq_hello *all, struct mpiq_hello *contested, const struct mpiq_hello_world *world,
                  const struct mpiq_rank_set *launched)
{
    struct mpiq_hello_world *known = need_world(all, world->nspace);
    struct mpiq_hello_world *doubtful = need_world(contested, world->nspace);
    if (!known || !doubtful)
        return false;
    for (uint32_t i = 0; i < world->ranks.count; i++) {
        const struct mpiq_rank_range *range = &world->ranks.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last && rank != UINT32_MAX; rank++) {
            if (launched && !mpiq_rank_set_contains(launched, 0, rank))
                continue; /* which is not believed anyway */
            if (mpiq_rank_set_contains(&known->ranks, 0, rank) &&
                !mpiq_rank_set_add(&doubtful->ranks, 0, rank))
                return false;
            if (!mpiq_rank_set_add(&known->ranks, 0, rank))
                return false;
        }
    }
    return true;
}

/* Ranks of that world which the launcher has started on a host; NULL: it does not say. */
static const struct mpiq_rank_set *launched_ranks(const struct mpiq_remote *remote,
                                                  const struct mpiq_launch_host *host,
                                                  const struct mpiq_hello_world *world)
{
    bool known = host->ranks.size > 0 && remote->first && strcmp(world->nspace, remote->first) == 0;
    return known ? &host->ranks : NULL;
}

/* The first world's name that most hosts give, by the vote that needs no counting: who has more than half. */
static const char *find_first(const struct mpiq_remote *remote)
{
    const char *first = NULL;
    size_t lead = 0;
    for (size_t i = 0; i < remote->launch.host_count; i++) {
        const struct mpiq_host_stream *stream = mpiq_collectors_stream(remote->collectors, i);
        if (stream->phase != MPIQ_HOST_COMPLETE || stream->hello.world_count == 0)
            continue;
        const char *nspace = stream->hello.worlds[0].nspace;
        if (lead == 0)
            first = nspace;
        if (strcmp(first, nspace) == 0)
            lead++;
        else
            lead--;
    }
    return first;
}

static struct mpiq_error *find_contested(struct mpiq_remote *remote)
{
    struct mpiq_hello all _cleanup_(mpiq_hello_deinit) = {0};
    bool good = true;
    for (size_t i = 0; i < remote->launch.host_count && good; i++) {
        const struct mpiq_host_stream *stream = mpiq_collectors_stream(remote->collectors, i);
        for (size_t k = 0; stream->phase == MPIQ_HOST_COMPLETE && k < stream->hello.world_count && good; k++)
            good = claim(&all, &remote->contested, &stream->hello.worlds[k],
                         launched_ranks(remote, &remote->launch.hosts[i], &stream->hello.worlds[k]));
    }
    return good ? NULL : mpiq_error_no_memory();
}

/* failed: a stream that did, of that host; NULL: all have answered. */
static struct mpiq_error *no_ranks(const struct mpiq_remote *remote, const struct mpiq_host_stream *failed,
                                   const char *host)
{
    const struct mpiq_launch *launch = &remote->launch;
    const char *plural = launch->host_count == 1 ? "" : "s";
    if (!failed)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no rank of %s runs on its host%s", launch->job,
                                 plural);
    return mpiq_error_create(MPIQ_ERROR_IO, /* for all that is known, they are there */
                             "no rank of %s was read on any of %zu host%s; host %s: %s%s%s", launch->job,
                             launch->host_count, plural, host, failed->error->message,
                             launch->parts ? "; its steps are " : "", launch->parts ? launch->parts : "");
}

struct mpiq_error *mpiq_remote_finish(struct mpiq_remote *remote)
{
    const struct mpiq_host_stream *failed = NULL;
    const char *host = NULL;
    size_t with_ranks = 0;
    for (size_t i = 0; i < remote->launch.host_count; i++) {
        const struct mpiq_host_stream *stream = mpiq_collectors_stream(remote->collectors, i);
        with_ranks += stream->phase == MPIQ_HOST_COMPLETE && stream->hello.world_count > 0;
        if (stream->phase == MPIQ_HOST_FAILED && !failed) {
            failed = stream;
            host = remote->launch.hosts[i].name;
        }
    }
    if (with_ranks == 0)
        return no_ranks(remote, failed, host);
    remote->first = find_first(remote);
    return find_contested(remote);
}

/* ---- what came ----------------------------------------------------------------------------------------- */

/* One host's states on their way to the callback. */
struct passing {
    struct mpiq_remote *remote;
    const struct mpiq_launch_host *host;
    const struct mpiq_hello *hello;
    uint64_t left; /* states that may still come */
    mpiq_snapshot_callback *callback;
    void *context;
};

/* Why a host may not speak for that rank; NULL: it may. */
static const char *objection(const struct passing *passing, const struct mpiq_rank_state *state)
{
    if (state->name.rank < 0)
        return NULL;
    const char *nspace = state->nspace[0] ? state->nspace : passing->remote->first;
    const struct mpiq_hello_world *world = nspace ? mpiq_hello_find(passing->hello, nspace) : NULL;
    if (!world || !mpiq_rank_set_contains(&world->ranks, 0, (uint32_t)state->name.rank))
        return "its host did not say that it runs there: nothing that it says is believed";
    if (!is_bound(passing->remote, nspace, state->name.job))
        return "others of its namespace have another job's number: nothing that it says is believed";
    const struct mpiq_rank_set *launched = launched_ranks(passing->remote, passing->host, world);
    if (launched && !mpiq_rank_set_contains(launched, 0, (uint32_t)state->name.rank))
        return "the launcher started it on another host: nothing that it says is believed";
    const struct mpiq_hello_world *doubtful = mpiq_hello_find(&passing->remote->contested, world->nspace);
    if (doubtful && mpiq_rank_set_contains(&doubtful->ranks, 0, (uint32_t)state->name.rank))
        return "two hosts say that it runs there: neither is believed";
    return NULL;
}

static struct mpiq_error *pass(void *context, int look, struct mpiq_rank_state **state)
{
    struct passing *passing = context;
    if (passing->left-- == 0)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "it sent more ranks than it has");
    snprintf((*state)->host, sizeof(*state)->host, "%s", passing->host->name);
    const char *reason = objection(passing, *state);
    if (reason) {
        struct mpiq_error *error =
            mpiq_disown_state(mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s", reason), state);
        if (error)
            return error;
    }
    return passing->callback(passing->context, look, state);
}

/* Only a confined reader opens it: what a host sent may be anything. */
static struct mpiq_error *read_host(struct passing *passing, const struct mpiq_host_stream *stream,
                                    struct mpiq_snapshot_bytes next, struct mpiq_snapshot_reader *reader)
{
    const struct mpiq_snapshot_bytes bytes = {stream->bytes, stream->size};
    passing->hello = &stream->hello;
    passing->left = OTHERS_MOST;
    for (size_t i = 0; i < stream->hello.world_count; i++)
        passing->left += 2 * stream->hello.worlds[i].ranks.size;
    return mpiq_read_snapshot_bytes(reader, bytes, next, pass, passing);
}

/* "host n3 (ranks 4-7): it did not answer"; the ranks as the launcher says, or as the host said before it
   failed.  The caller frees it; NULL without memory. */
static char *failure_text(const struct mpiq_launch_host *host, const struct mpiq_host_stream *stream,
                          const char *reason)
{
    const struct mpiq_hello *hello = &stream->hello;
    const struct mpiq_rank_set *known =
        host->ranks.size > 0 || hello->world_count == 0 ? &host->ranks : &hello->worlds[0].ranks;
    char *ranks _cleanup_free_ = mpiq_rank_set_text(known, 8);
    char *text = NULL;
    int length = -1;
    if (ranks)
        length = asprintf(&text, "host %s%s%s%s: %s", host->name,
                          known->size > 1 ? " (ranks "
                          : known->size   ? " (rank "
                                          : "",
                          ranks, known->size > 0 ? ")" : "", reason);
    return length < 0 ? NULL : text;
}

/* What stands in the job's state for a host of which nothing came. */
static struct mpiq_error *pass_failure(const struct passing *passing, const struct mpiq_launch_host *host,
                                       const struct mpiq_host_stream *stream, const char *reason)
{
    char *text _cleanup_free_ = failure_text(host, stream, reason);
    struct mpiq_rank_state *state = text ? mpiq_rank_state_create() : NULL;
    if (!state)
        return mpiq_error_no_memory();
    state->process_state = '?';
    snprintf(state->host, sizeof state->host, "%s", host->name);
    mpiq_rank_state_problem(state, MPIQ_PROBLEM_HOST, mpiq_error_create(MPIQ_ERROR_IO, "%s", text));
    struct mpiq_error *error = passing->callback(passing->context, 1, &state);
    mpiq_rank_state_destroy(state);
    return error; /* cppcheck-suppress returnDanglingLifetime ; it does not hold the state */
}

/* The snapshot of the first host from that one on which has sent one. */
static struct mpiq_snapshot_bytes next_snapshot(struct mpiq_remote *remote, size_t host)
{
    for (; host < remote->launch.host_count; host++) {
        const struct mpiq_host_stream *stream = mpiq_collectors_stream(remote->collectors, host);
        if (stream->phase == MPIQ_HOST_COMPLETE)
            return (struct mpiq_snapshot_bytes){stream->bytes, stream->size};
    }
    return (struct mpiq_snapshot_bytes){0};
}

struct mpiq_error *mpiq_remote_each(struct mpiq_remote *remote, mpiq_snapshot_callback *callback,
                                    void *context)
{
    struct mpiq_snapshot_reader reader = {.process.socket = -1};
    struct mpiq_error *error = NULL;
    unbind(remote);
    for (size_t i = 0; i < remote->launch.host_count && !error; i++) {
        const struct mpiq_launch_host *host = &remote->launch.hosts[i];
        const struct mpiq_host_stream *stream = mpiq_collectors_stream(remote->collectors, i);
        struct passing passing = {.remote = remote, .host = host, .callback = callback, .context = context};
        if (stream->phase != MPIQ_HOST_COMPLETE) {
            error = pass_failure(&passing, host, stream, stream->error->message);
            continue;
        }
        error = read_host(&passing, stream, next_snapshot(remote, i + 1), &reader);
        if (!error || error->code == MPIQ_ERROR_NO_MEMORY)
            continue;
        struct mpiq_error *reason = error; /* one host's fault is not the others' */
        error = pass_failure(&passing, host, stream, reason->message);
        mpiq_error_destroy(reason);
    }
    mpiq_snapshot_reader_deinit(&reader);
    return error;
}
