/* SPDX-License-Identifier: BSD-3-Clause */
/* collect - one host's share of a job: `mpiq collect`, which an mpiq on another host has started. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "hosts/collector.h"
#include "hosts/collector_args.h"
#include "session/missing.h"
#include "session/poll_measure.h"
#include "session/reader_pool.h"
#include "session/sources.h"
#include "mpiq.h"
#include "state/snapshot.h"

enum { HOST_NAME_ROOM = 256 };

static struct mpiq_error *name_host(const struct mpiq_collector_args *order, char *ret)
{
    const char *node = order->node_variable ? getenv(order->node_variable) : NULL;
    if (node)
        snprintf(ret, HOST_NAME_ROOM, "%s", node);
    else if (gethostname(ret, HOST_NAME_ROOM - 1) < 0)
        return mpiq_error_create_os(errno, "cannot tell this host's name");
    return NULL;
}

static bool add_rank(struct mpiq_hello *hello, const struct mpiq_look_source *source)
{
    if (source->rank < 0 || !source->nspace)
        return true;
    struct mpiq_hello_world *world = NULL;
    for (size_t i = 0; i < hello->world_count && !world; i++) {
        if (strcmp(hello->worlds[i].nspace, source->nspace) == 0)
            world = &hello->worlds[i];
    }
    world = world ? world : mpiq_hello_add_world(hello, source->nspace);
    return world && mpiq_rank_set_add(&world->ranks, 0, (uint32_t)source->rank);
}

static struct mpiq_error *say_hello(struct mpiq_collector *collector, const struct mpiq_collector_args *order,
                                    const struct mpiq_look_sources *sources)
{
    char host[HOST_NAME_ROOM] = "";
    char version[] = MPIQ_VERSION;
    struct mpiq_hello hello = {.version = version, .host = host};
    struct mpiq_error *error = name_host(order, host);
    for (size_t i = 0; i < sources->count && !error; i++) {
        if (!add_rank(&hello, &sources->items[i]))
            error = mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                      "the job has more worlds on this host than can be reported");
    }
    if (!error)
        error = mpiq_collector_hello(collector, &hello);
    hello.version = hello.host = NULL;
    mpiq_hello_deinit(&hello);
    return error;
}

/* Calls a function for each group of each rank in a look whose members are many, and were read. */
static void each_large_group(const struct mpiq_look_sources *sources, int turn,
                             void (*function)(void *context, struct mpiq_group *group), void *context)
{
    for (size_t i = 0; i < sources->count; i++) {
        struct mpiq_rank_state *state = sources->items[i].looks[turn - 1];
        for (size_t k = 0; state && k < state->communicator_count; k++) {
            struct mpiq_group *groups[] = {&state->communicators[k].local, &state->communicators[k].remote};
            for (size_t side = 0; side < 2; side++) {
                if (groups[side]->members && groups[side]->count >= MPIQ_LARGE_GROUP)
                    function(context, groups[side]);
            }
        }
    }
}

static void note_group(void *context, struct mpiq_group *group)
{
    mpiq_group_senders_add(context, group->hash);
}

/* What the word to look again said to a collector. */
struct told {
    const char *word;
    uint64_t token;
};

static void leave_members_out(void *context, struct mpiq_group *group)
{
    const struct told *told = context;
    if (mpiq_others_tell_group(told->word, group->hash, told->token))
        free(mpiq_steal(group->members));
}

static struct mpiq_error *look(struct mpiq_collector *collector, struct mpiq_reader_pool *readers,
                               struct mpiq_look_sources *sources)
{
    struct mpiq_group_senders groups = {0};
    _cleanup_free_ char *word = NULL;
    struct mpiq_error *error = mpiq_reader_pool_look(readers, sources, 1);
    each_large_group(sources, 1, note_group, &groups);
    if (!error)
        error = mpiq_collector_looked_once(collector, &groups);
    if (!error)
        error = mpiq_collector_wait(collector, &word);
    /* Whoever gave the word has let the time pass that there is to be between the looks. */
    struct mpiq_poll_measure between = {0};
    if (!error)
        error = mpiq_poll_measure_pass(sources, 0, true, &between);
    if (!error)
        error = mpiq_reader_pool_look(readers, sources, 2);
    mpiq_poll_measure_note(&between, sources);
    mpiq_poll_measure_deinit(&between);
    if (error)
        return error;
    mpiq_doubt_missing(sources);
    struct told told = {word, collector->token};
    for (int turn = 1; turn <= 2; turn++)
        each_large_group(sources, turn, leave_members_out, &told);
    return mpiq_collector_looked_twice(collector);
}

static struct mpiq_error *add_look(struct mpiq_snapshot_writer *writer, int turn,
                                   const struct mpiq_look_sources *sources)
{
    _cleanup_free_ const struct mpiq_rank_state **states = calloc(sources->count + 1, sizeof *states);
    size_t count = 0;
    if (!states)
        return mpiq_error_no_memory();
    for (size_t i = 0; i < sources->count; i++) {
        if (sources->items[i].looks[turn - 1])
            states[count++] = sources->items[i].looks[turn - 1];
    }
    return mpiq_snapshot_add_folded(writer, turn, states, count);
}

static struct mpiq_error *send(struct mpiq_collector *collector, const struct mpiq_look_sources *sources)
{
    struct mpiq_snapshot_writer *writer = NULL;
    char *bytes _cleanup_free_ = NULL;
    size_t size = 0;
    struct mpiq_error *error = mpiq_snapshot_create_memory(&writer);
    for (int turn = 1; turn <= 2 && !error; turn++)
        error = add_look(writer, turn, sources);
    if (error) {
        mpiq_snapshot_abandon(writer);
        return error;
    }
    error = mpiq_snapshot_finish_memory(writer, &bytes, &size);
    return error ? error : mpiq_collector_send(collector, bytes, size);
}

/* Ranks that somebody else reads. */
static struct mpiq_error *leave_out(const char *ranks, struct mpiq_look_sources *sources)
{
    struct mpiq_rank_set set _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_error *error = mpiq_rank_set_parse(ranks, &set);
    size_t kept = 0;
    for (size_t i = 0; i < sources->count && !error; i++) {
        struct mpiq_look_source source = sources->items[i];
        if (source.world == 0 && source.rank >= 0 && mpiq_rank_set_contains(&set, 0, (uint32_t)source.rank))
            free(source.nspace);
        else
            sources->items[kept++] = source;
    }
    sources->count = error ? sources->count : kept;
    return error;
}

/* Whether "NAME" needs no asking: the machine is that node alone, as its name shows. */
static bool is_alone(const char *match)
{
    char host[HOST_NAME_ROOM] = "";
    const char *node = strchr(match, '=') ? NULL : getenv(match);
    if (!node || gethostname(host, sizeof host - 1) < 0)
        return false;
    size_t length = strcspn(node, ".");
    return strcspn(host, ".") == length && strncmp(host, node, length) == 0;
}

static void drop_needless(struct mpiq_collector_args *order)
{
    size_t kept = 0;
    for (size_t i = 0; i < order->match_count; i++) {
        if (!is_alone(order->match[i]))
            order->match[kept++] = order->match[i];
    }
    order->match_count = kept;
}

/* A host where none of the job's ranks are says so: that is an answer. */
static struct mpiq_error *find(const struct mpiq_collector_args *order, struct mpiq_look_sources *ret)
{
    const struct mpiq_process_filter filter = {.match = order->match,
                                               .match_count = order->match_count,
                                               .below = order->below,
                                               .nspace = order->nspace};
    struct mpiq_error *error = mpiq_sources_init_filtered(&filter, ret);
    if (!error || error->code != MPIQ_ERROR_NOT_FOUND)
        return error;
    mpiq_error_destroy(error);
    *ret = (struct mpiq_look_sources){0};
    return NULL;
}

static struct mpiq_error *collect(struct mpiq_collector *collector, const struct mpiq_collector_args *order)
{
    struct mpiq_options options = MPIQ_OPTIONS_DEFAULT;
    struct mpiq_look_sources sources = {0};
    struct mpiq_reader_pool *readers = NULL;
    options.dll = order->dll;
    options.stop = order->stop;
    options.stacks = order->stacks;
    options.all_threads = order->all_threads;
    struct mpiq_error *missing = find(order, &sources);
    if (!missing && order->skip)
        missing = leave_out(order->skip, &sources);
    struct mpiq_error *error = say_hello(collector, order, &sources); /* or nobody knows who has failed */
    if (missing) {
        mpiq_error_destroy(error);
        mpiq_sources_deinit(&sources);
        return missing;
    }
    if (!error)
        error = mpiq_reader_pool_create(&options, &readers);
    if (!error)
        error = look(collector, readers, &sources);
    mpiq_reader_pool_destroy(readers);
    if (!error)
        error = send(collector, &sources);
    mpiq_sources_deinit(&sources);
    return error;
}

struct mpiq_error *mpiq_collect(int count, char *const *words)
{
    struct mpiq_collector collector = {.input = -1};
    struct mpiq_collector_args order = {0};
    struct mpiq_error *unknown = mpiq_collector_args_read(count, words, &order);
    if (unknown && count == 0)
        return unknown;
    drop_needless(&order);
    struct mpiq_error *error = mpiq_collector_start(&collector);
    if (!error && unknown) /* another version's order: it is told which one this is */
        error = mpiq_collector_hello(
            &collector, &(struct mpiq_hello){.version = (char[]){MPIQ_VERSION}, .host = (char[]){"?"}});
    if (!error)
        error = unknown ? unknown : collect(&collector, &order);
    if (error)
        mpiq_error_destroy(
            mpiq_collector_say(&collector, MPIQ_MESSAGE_FAIL, error->message, strlen(error->message)));
    mpiq_collector_args_deinit(&order);
    return error;
}
