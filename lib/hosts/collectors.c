/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/collectors.h"

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

struct mpiq_collectors {
    const struct mpiq_launch *launch;
    const struct mpiq_collectors_options *options;
    struct mpiq_launch_command *plans;
    struct mpiq_command *commands;
    double *started; /* when each was */
    char **environment;
    size_t command_count;
    size_t started_count; /* the first of them */
    struct mpiq_host_streams *streams;
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
static void start_command(struct mpiq_collectors *collectors, size_t index)
{
    struct mpiq_error *error = mpiq_command_start(collectors->launch, &collectors->plans[index],
                                                  collectors->environment, &collectors->commands[index]);
    if (error)
        mpiq_host_streams_ended(collectors->streams, index, error->message);
    mpiq_error_destroy(error);
}

/* Whether a command is still on its way to its host: no word has come.  One that takes long holds up no
   other. */
static bool is_starting(const struct mpiq_collectors *collectors, size_t index)
{
    size_t host = collectors->plans[index].first_host;
    return collectors->commands[index].pid > 0 && now() < collectors->started[index] + START_SECONDS &&
           mpiq_host_streams_stream(collectors->streams, host)->phase == MPIQ_HOST_SILENT;
}

/* As many more as may be on their way at a time: a host's sshd, and the login node, bear only so many. */
static void start_more(struct mpiq_collectors *collectors)
{
    size_t starting = 0;
    if (collectors->started_count == collectors->command_count)
        return;
    for (size_t i = 0; i < collectors->started_count; i++)
        starting += is_starting(collectors, i);
    while (starting < collectors->options->fanout && collectors->started_count < collectors->command_count) {
        size_t index = collectors->started_count++;
        collectors->since = collectors->started[index] = now();
        start_command(collectors, index);
        starting += is_starting(collectors, index);
    }
}

struct mpiq_error *mpiq_collectors_start(const struct mpiq_launch *launch,
                                         const struct mpiq_collectors_options *options,
                                         struct mpiq_collectors **ret)
{
    struct mpiq_collectors *collectors = calloc(1, sizeof *collectors);
    if (!collectors)
        return mpiq_error_no_memory();
    collectors->launch = launch;
    collectors->options = options;
    collectors->since = now();
    collectors->environment = mpiq_hosts_environment();
    struct mpiq_error *error = launch->launcher->commands(launch, options->collector, &collectors->plans,
                                                          &collectors->command_count);
    size_t count = collectors->command_count;
    collectors->commands = calloc(count + 1, sizeof *collectors->commands);
    collectors->started = calloc(count + 1, sizeof *collectors->started);
    collectors->ready = calloc(2 * count + 1, sizeof *collectors->ready);
    collectors->buffer = malloc(READ_SIZE);
    if (!error && (!collectors->commands || !collectors->started || !collectors->ready ||
                   !collectors->buffer || !collectors->environment))
        error = mpiq_error_no_memory();
    for (size_t i = 0; i < count && collectors->commands; i++)
        collectors->commands[i] = (struct mpiq_command){.input = -1, .output = -1, .errors = -1};
    if (!error)
        error = mpiq_host_streams_create(launch, collectors->plans, count, options->version,
                                         &collectors->streams);
    if (error) {
        collectors->command_count = collectors->streams ? count : 0;
        mpiq_collectors_destroy(collectors);
        return error;
    }
    need_descriptors(count);
    start_more(collectors);
    *ret = collectors;
    return NULL;
}

/* ---- listening ----------------------------------------------------------------------------------------- */

static void read_output(struct mpiq_collectors *collectors, size_t index)
{
    struct mpiq_command *command = &collectors->commands[index];
    ssize_t got = 0;
    while (command->output >= 0 && (got = read(command->output, collectors->buffer, READ_SIZE)) > 0)
        mpiq_host_streams_take(collectors->streams, index, collectors->buffer, (size_t)got);
    if (command->output >= 0 && (got == 0 || (errno != EAGAIN && errno != EINTR)))
        mpiq_command_close(command, &command->output);
}

/* How a command ended; of one that has not said a word, where its program has to be.  The caller frees it. */
static char *end_text(const struct mpiq_collectors *collectors, size_t index)
{
    const struct mpiq_host_stream *first =
        mpiq_host_streams_stream(collectors->streams, collectors->plans[index].first_host);
    char *how = mpiq_command_end_text(&collectors->commands[index]);
    char *text = NULL;
    if (!how || first->phase != MPIQ_HOST_SILENT || collectors->commands[index].status == 0 ||
        !collectors->options->collector)
        return how;
    if (asprintf(&text, "%s (mpiq must be at %s on every host)", how, collectors->options->collector[0]) < 0)
        text = NULL;
    free(how);
    return text;
}

/* A command whose output has ended is not waited for any longer than for its last words. */
static void check_end(struct mpiq_collectors *collectors, size_t index)
{
    struct mpiq_command *command = &collectors->commands[index];
    if (command->pid == 0 || !mpiq_command_has_ended(command))
        return;
    read_output(collectors, index); /* what came between reading and ending */
    mpiq_command_hear(command);
    char *how _cleanup_free_ = end_text(collectors, index);
    mpiq_debug("hosts", "command %zu has ended: %s", index, how ? how : "?");
    mpiq_host_streams_ended(collectors->streams, index, how ? how : "out of memory");
    mpiq_command_close(command, &command->input);
    mpiq_command_close(command, &command->output);
    mpiq_command_close(command, &command->errors);
}

static void listen_once(struct mpiq_collectors *collectors)
{
    for (size_t i = 0; i < collectors->command_count; i++) {
        collectors->ready[2 * i] = (struct pollfd){.fd = collectors->commands[i].output, .events = POLLIN};
        collectors->ready[2 * i + 1] =
            (struct pollfd){.fd = collectors->commands[i].errors, .events = POLLIN};
    }
    poll(collectors->ready, 2 * collectors->command_count, POLL_MS);
    for (size_t i = 0; i < collectors->command_count; i++) {
        if (collectors->ready[2 * i].revents)
            read_output(collectors, i);
        if (collectors->ready[2 * i + 1].revents)
            mpiq_command_hear(&collectors->commands[i]);
        check_end(collectors, i);
    }
    start_more(collectors);
}

static void report_progress(const struct mpiq_collectors *collectors, enum mpiq_host_stream_phase phase)
{
    char text[80];
    if (!collectors->options->progress)
        return;
    size_t count = mpiq_host_streams_count(collectors->streams, phase);
    snprintf(text, sizeof text, "%zu of %zu hosts have %s", count, collectors->launch->host_count,
             phase == MPIQ_HOST_LOOKED ? "answered" : "been read");
    collectors->options->progress(collectors->options->argument, text);
}

struct mpiq_error *mpiq_collectors_wait(struct mpiq_collectors *collectors, int look)
{
    enum mpiq_host_stream_phase phase = look == 1 ? MPIQ_HOST_LOOKED : MPIQ_HOST_COMPLETE;
    while (mpiq_host_streams_count(collectors->streams, phase) < collectors->launch->host_count) {
        if (collectors->started_count == collectors->command_count &&
            now() >= collectors->since + collectors->options->wait) {
            mpiq_host_streams_late(collectors->streams, phase, collectors->options->wait);
            break;
        }
        listen_once(collectors);
        report_progress(collectors, phase);
    }
    mpiq_debug("hosts", "look %d of %zu hosts took %.0f ms", look, collectors->launch->host_count,
               (now() - collectors->since) * 1e3);
    return NULL;
}

/* "go", and who names the members of which group. */
static char *word_to_go(struct mpiq_collectors *collectors)
{
    struct mpiq_group_choice choice = {0};
    char *word = NULL;
    bool good = true;
    for (size_t i = 0; i < collectors->launch->host_count && good; i++) {
        const struct mpiq_host_stream *stream = mpiq_host_streams_stream(collectors->streams, i);
        if (stream->phase == MPIQ_HOST_LOOKED)
            good = mpiq_group_choice_add(&choice, stream->token, &stream->groups);
    }
    if (good)
        word = mpiq_group_choice_word(&choice);
    mpiq_group_choice_deinit(&choice);
    return word;
}

void mpiq_collectors_go(struct mpiq_collectors *collectors)
{
    char *word _cleanup_free_ = word_to_go(collectors);
    const char *said = word ? word : "go\n";
    size_t length = strlen(said);
    collectors->since = now();
    for (size_t i = 0; i < collectors->command_count; i++) {
        struct mpiq_command *command = &collectors->commands[i];
        /* The first that it is told: a socket's buffer has room for all of it. */
        ssize_t sent = command->input >= 0 ? send(command->input, said, length, MSG_NOSIGNAL) : 0;
        if (command->input >= 0 && sent != (ssize_t)length)
            mpiq_command_close(command, &command->input);
    }
}

struct mpiq_host_stream *mpiq_collectors_stream(struct mpiq_collectors *collectors, size_t host)
{
    return mpiq_host_streams_stream(collectors->streams, host);
}

/* ---- ending -------------------------------------------------------------------------------------------- */

static bool all_ended(struct mpiq_collectors *collectors, int end_ms)
{
    double end = now() + end_ms / 1e3;
    for (;;) {
        bool all = true;
        for (size_t i = 0; i < collectors->command_count; i++)
            all = mpiq_command_has_ended(&collectors->commands[i]) && all;
        if (all || now() >= end)
            return all;
        usleep(2000);
    }
}

static void signal_all(struct mpiq_collectors *collectors, int number)
{
    for (size_t i = 0; i < collectors->command_count; i++) {
        assert(collectors->commands);
        if (collectors->commands[i].pid > 0)
            kill(-collectors->commands[i].pid, number); /* its session: what a shell has started, too */
    }
}

void mpiq_collectors_destroy(struct mpiq_collectors *collectors)
{
    if (!collectors)
        return;
    for (size_t i = 0; i < collectors->command_count; i++) {
        mpiq_command_close(&collectors->commands[i], &collectors->commands[i].input);
        mpiq_command_close(&collectors->commands[i], &collectors->commands[i].output);
        mpiq_command_close(&collectors->commands[i], &collectors->commands[i].errors);
    }
    if (!all_ended(collectors, END_MS)) {
        signal_all(collectors, SIGTERM);
        if (!all_ended(collectors, END_MS))
            signal_all(collectors, SIGKILL);
        all_ended(collectors, END_MS);
    }
    for (size_t i = 0; i < collectors->command_count; i++)
        mpiq_launch_command_deinit(&collectors->plans[i]);
    mpiq_host_streams_destroy(collectors->streams);
    free(collectors->plans);
    free(collectors->commands);
    free(collectors->started);
    free(collectors->environment);
    free(collectors->ready);
    free(collectors->buffer);
    free(collectors);
}
