/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/collection.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/debug.h"
#include "hosts/command.h"
#include "hosts/environment.h"

enum { POLL_MS = 100, READ_SIZE = 1 << 16, END_MS = 1000, ENDS_OF_A_COMMAND = 3, START_SECONDS = 3 };

struct mpiq_collection {
    const struct mpiq_launch *launch;
    const struct mpiq_collection_options *options;
    struct mpiq_launch_command *plans;
    struct mpiq_command *commands;
    double *started; /* when each was */
    char **environment;
    size_t command_count;
    size_t started_count; /* the first of them */
    struct mpiq_gather *gather;
    struct pollfd *ready; /* output and errors of each command */
    char *buffer;
    double since; /* when the step began */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- starting ------------------------------------------------------------------------------------------ */

/* Three pipes a command may be more than a process has by default. */
static void need_descriptors(size_t commands)
{
    struct rlimit limit;
    rlim_t wanted = ENDS_OF_A_COMMAND * commands + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || wanted < limit.rlim_max ? wanted : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* One that cannot be started is the loss of its hosts alone. */
static void start_command(struct mpiq_collection *collection, size_t index)
{
    struct mpiq_error *error = mpiq_command_start(collection->launch, &collection->plans[index],
                                                  collection->environment, &collection->commands[index]);
    if (error)
        mpiq_gather_ended(collection->gather, index, error->message);
    mpiq_error_destroy(error);
}

/* Whether a command is still on its way to its host: no word has come.  One that takes long holds up no
   other. */
static bool is_starting(const struct mpiq_collection *collection, size_t index)
{
    size_t host = collection->plans[index].first_host;
    return collection->commands[index].pid > 0 && now() < collection->started[index] + START_SECONDS &&
           mpiq_gather_stream(collection->gather, host)->phase == MPIQ_STREAM_SILENT;
}

/* As many more as may be on their way at a time: a host's sshd, and the login node, bear only so many. */
static void start_more(struct mpiq_collection *collection)
{
    size_t starting = 0;
    if (collection->started_count == collection->command_count)
        return;
    for (size_t i = 0; i < collection->started_count; i++)
        starting += is_starting(collection, i);
    while (starting < collection->options->fanout && collection->started_count < collection->command_count) {
        size_t index = collection->started_count++;
        collection->since = collection->started[index] = now();
        start_command(collection, index);
        starting += is_starting(collection, index);
    }
}

struct mpiq_error *mpiq_collection_start(const struct mpiq_launch *launch,
                                         const struct mpiq_collection_options *options,
                                         struct mpiq_collection **ret)
{
    struct mpiq_collection *collection = calloc(1, sizeof *collection);
    if (!collection)
        return mpiq_error_no_memory();
    collection->launch = launch;
    collection->options = options;
    collection->since = now();
    collection->environment = mpiq_hosts_environment();
    struct mpiq_error *error = launch->launcher->commands(launch, options->collector, &collection->plans,
                                                          &collection->command_count);
    size_t count = collection->command_count;
    collection->commands = calloc(count + 1, sizeof *collection->commands);
    collection->started = calloc(count + 1, sizeof *collection->started);
    collection->ready = calloc(2 * count + 1, sizeof *collection->ready);
    collection->buffer = malloc(READ_SIZE);
    if (!error && (!collection->commands || !collection->started || !collection->ready ||
                   !collection->buffer || !collection->environment))
        error = mpiq_error_no_memory();
    for (size_t i = 0; i < count && collection->commands; i++)
        collection->commands[i] = (struct mpiq_command){.input = -1, .output = -1, .errors = -1};
    if (!error)
        error = mpiq_gather_create(launch, collection->plans, count, options->version, &collection->gather);
    if (error) {
        collection->command_count = collection->gather ? count : 0;
        mpiq_collection_destroy(collection);
        return error;
    }
    need_descriptors(count);
    start_more(collection);
    *ret = collection;
    return NULL;
}

/* ---- listening ----------------------------------------------------------------------------------------- */

static void read_output(struct mpiq_collection *collection, size_t index)
{
    struct mpiq_command *command = &collection->commands[index];
    ssize_t got = 0;
    while (command->output >= 0 && (got = read(command->output, collection->buffer, READ_SIZE)) > 0)
        mpiq_gather_take(collection->gather, index, collection->buffer, (size_t)got);
    if (command->output >= 0 && (got == 0 || (errno != EAGAIN && errno != EINTR)))
        mpiq_command_close(command, &command->output);
}

/* How a command ended; of one that has not said a word, where its program has to be.  The caller frees it. */
static char *end_text(const struct mpiq_collection *collection, size_t index)
{
    const struct mpiq_stream *first =
        mpiq_gather_stream(collection->gather, collection->plans[index].first_host);
    char *how = mpiq_command_end_text(&collection->commands[index]);
    char *text = NULL;
    if (!how || first->phase != MPIQ_STREAM_SILENT || collection->commands[index].status == 0 ||
        !collection->options->collector)
        return how;
    if (asprintf(&text, "%s (mpiq must be at %s on every host)", how, collection->options->collector[0]) < 0)
        text = NULL;
    free(how);
    return text;
}

/* A command whose output has ended is not waited for any longer than for its last words. */
static void check_end(struct mpiq_collection *collection, size_t index)
{
    struct mpiq_command *command = &collection->commands[index];
    if (command->pid == 0 || !mpiq_command_has_ended(command))
        return;
    read_output(collection, index); /* what came between reading and ending */
    mpiq_command_hear(command);
    char *how _cleanup_free_ = end_text(collection, index);
    mpiq_debug("hosts", "command %zu has ended: %s", index, how ? how : "?");
    mpiq_gather_ended(collection->gather, index, how ? how : "out of memory");
    mpiq_command_close(command, &command->input);
    mpiq_command_close(command, &command->output);
    mpiq_command_close(command, &command->errors);
}

static void listen_once(struct mpiq_collection *collection)
{
    for (size_t i = 0; i < collection->command_count; i++) {
        collection->ready[2 * i] = (struct pollfd){.fd = collection->commands[i].output, .events = POLLIN};
        collection->ready[2 * i + 1] =
            (struct pollfd){.fd = collection->commands[i].errors, .events = POLLIN};
    }
    poll(collection->ready, 2 * collection->command_count, POLL_MS);
    for (size_t i = 0; i < collection->command_count; i++) {
        if (collection->ready[2 * i].revents)
            read_output(collection, i);
        if (collection->ready[2 * i + 1].revents)
            mpiq_command_hear(&collection->commands[i]);
        check_end(collection, i);
    }
    start_more(collection);
}

static void report_progress(const struct mpiq_collection *collection, enum mpiq_stream_phase phase)
{
    char text[80];
    if (!collection->options->progress)
        return;
    size_t count = mpiq_gather_count(collection->gather, phase);
    snprintf(text, sizeof text, "%zu of %zu hosts have %s", count, collection->launch->host_count,
             phase == MPIQ_STREAM_LOOKED ? "answered" : "been read");
    collection->options->progress(collection->options->argument, text);
}

struct mpiq_error *mpiq_collection_wait(struct mpiq_collection *collection, int look)
{
    enum mpiq_stream_phase phase = look == 1 ? MPIQ_STREAM_LOOKED : MPIQ_STREAM_COMPLETE;
    while (mpiq_gather_count(collection->gather, phase) < collection->launch->host_count) {
        if (collection->started_count == collection->command_count &&
            now() >= collection->since + collection->options->wait) {
            mpiq_gather_late(collection->gather, phase, collection->options->wait);
            break;
        }
        listen_once(collection);
        report_progress(collection, phase);
    }
    mpiq_debug("hosts", "look %d of %zu hosts took %.0f ms", look, collection->launch->host_count,
               (now() - collection->since) * 1e3);
    return NULL;
}

/* "go", and who names the members of which group. */
static char *word_to_go(struct mpiq_collection *collection)
{
    struct mpiq_group_choice choice = {0};
    char *word = NULL;
    bool good = true;
    for (size_t i = 0; i < collection->launch->host_count && good; i++) {
        const struct mpiq_stream *stream = mpiq_gather_stream(collection->gather, i);
        if (stream->phase == MPIQ_STREAM_LOOKED)
            good = mpiq_group_choice_add(&choice, stream->token, &stream->groups);
    }
    if (good)
        word = mpiq_group_choice_word(&choice);
    mpiq_group_choice_deinit(&choice);
    return word;
}

void mpiq_collection_go(struct mpiq_collection *collection)
{
    char *word _cleanup_free_ = word_to_go(collection);
    const char *said = word ? word : "go\n";
    size_t length = strlen(said);
    collection->since = now();
    for (size_t i = 0; i < collection->command_count; i++) {
        struct mpiq_command *command = &collection->commands[i];
        /* The first that it is told: a socket's buffer has room for all of it. */
        ssize_t sent = command->input >= 0 ? send(command->input, said, length, MSG_NOSIGNAL) : 0;
        if (command->input >= 0 && sent != (ssize_t)length)
            mpiq_command_close(command, &command->input);
    }
}

struct mpiq_stream *mpiq_collection_stream(struct mpiq_collection *collection, size_t host)
{
    return mpiq_gather_stream(collection->gather, host);
}

/* ---- ending -------------------------------------------------------------------------------------------- */

static bool all_ended(struct mpiq_collection *collection, int end_ms)
{
    double end = now() + end_ms / 1e3;
    for (;;) {
        bool all = true;
        for (size_t i = 0; i < collection->command_count; i++)
            all = mpiq_command_has_ended(&collection->commands[i]) && all;
        if (all || now() >= end)
            return all;
        usleep(2000);
    }
}

static void signal_all(struct mpiq_collection *collection, int number)
{
    for (size_t i = 0; i < collection->command_count; i++) {
        assert(collection->commands);
        if (collection->commands[i].pid > 0)
            kill(-collection->commands[i].pid, number); /* its session: what a shell has started, too */
    }
}

void mpiq_collection_destroy(struct mpiq_collection *collection)
{
    if (!collection)
        return;
    for (size_t i = 0; i < collection->command_count; i++) {
        mpiq_command_close(&collection->commands[i], &collection->commands[i].input);
        mpiq_command_close(&collection->commands[i], &collection->commands[i].output);
        mpiq_command_close(&collection->commands[i], &collection->commands[i].errors);
    }
    if (!all_ended(collection, END_MS)) {
        signal_all(collection, SIGTERM);
        if (!all_ended(collection, END_MS))
            signal_all(collection, SIGKILL);
        all_ended(collection, END_MS);
    }
    for (size_t i = 0; i < collection->command_count; i++)
        mpiq_launch_command_deinit(&collection->plans[i]);
    mpiq_gather_destroy(collection->gather);
    free(collection->plans);
    free(collection->commands);
    free(collection->started);
    free(collection->environment);
    free(collection->ready);
    free(collection->buffer);
    free(collection);
}
