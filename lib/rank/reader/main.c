/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiq-reader - opens and reads ranks, so that mpiq does not have to: memory, ELF, DWARF and stacks of
 * untrusted processes and core files.
 *
 * Started by lib/session/reader_process.c alone, as the owner of its ranks: docs/WIRE.md, "The reader's
 * side". Descriptors: 3 the connection, 4 mpiq-dll-host to execute, 5 the DLL and 6 the recorder's, if there
 * is one.  It is confined (confine.h) before it reads the first request, so that a rank can affect nothing
 * but its own answer.
 *
 * Threads read ranks in parallel and share what the ranks have in common (lib/process, by build-id).  One
 * thread reads the connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/base64.h"
#include "base/cleanup.h"
#include "base/debug.h"
#include "rank/confine.h"
#include "rank/helper_process.h"
#include "rank/proctable.h"
#include "rank/rank.h"
#include "state/snapshot.h"
#include "process/peer.h"
#include "process/pipe.h"

enum { WIRE = 3, HELPER = 4, DLL = 5, RECORDER_DLL = 6, THREADS_MAX = 64, SOURCES_MAX = 1 << 20 };

/* One rank, from look to look. */
struct source {
    struct mpiq_target *target;     /* NULL: not open */
    struct mpiq_rank_state *before; /* of the first look, for what the second need not do again */
};

struct request {
    uint64_t number;
    uint64_t source;
    unsigned look;
    bool stop;
    enum mpiq_stacks stacks;
    bool core;
    bool snapshot;
    bool bytes; /* the snapshot is here, in base64 */
    pid_t pid;
    char *path;     /* of a core file or a snapshot, or those bytes */
    char *question; /* JSON: asked instead of a look; NULL */
};

struct worker {
    pthread_t thread;
    struct mpiq_dll_host *host;
    unsigned look;
};

static struct mpiq_pipe wire;
static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER;

/* The queue, behind its lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static struct request queue[THREADS_MAX];
static unsigned current_look;
static size_t queued;
static struct source *sources;
static size_t source_count;

/* What each thread is at, for the line that a crash leaves. */
static _Thread_local uint64_t at_work;

/* ---- crashes ---------------------------------------------------------------------------------------- */

/* Nothing but write(): whoever caused this may have left anything behind. */
static void on_crash(int number)
{
    char line[64] = "\ncrash ";
    size_t length = strlen(line);
    char digits[24];
    size_t count = 0;
    for (uint64_t left = at_work; left > 0 || count == 0; left /= 10)
        digits[count++] = (char)('0' + left % 10);
    while (count > 0)
        line[length++] = digits[--count];
    line[length++] = ' ';
    line[length++] = (char)('0' + number / 10);
    line[length++] = (char)('0' + number % 10);
    line[length++] = '\n';
    if (write(WIRE, line, length) < 0)
        _exit(EXIT_FAILURE);
    _exit(128 + number);
}

/* ---- answers ---------------------------------------------------------------------------------------- */

static void say_line(const char *line, size_t length)
{
    pthread_mutex_lock(&write_lock);
    struct mpiq_error *error = mpiq_pipe_write(&wire, line, length);
    pthread_mutex_unlock(&write_lock);
    if (error)
        _exit(EXIT_SUCCESS); /* nobody listens any more */
}

/* Needs no memory. */
static void say_no_memory(uint64_t number)
{
    char line[96];
    int length =
        snprintf(line, sizeof line, "fail %" PRIu64 " %s the process that reads it is out of memory\n",
                 number, mpiq_error_word(MPIQ_ERROR_NO_MEMORY));
    say_line(line, (size_t)length);
}

/* One write for a line: what comes in pieces is waited for in pieces. */
static void say(const char *word, uint64_t number, const char *rest)
{
    _cleanup_free_ char *line = NULL;
    int length = asprintf(&line, "%s %" PRIu64 " %s\n", word, number, rest);
    if (length < 0) {
        line = NULL;
        say_no_memory(number);
    } else {
        say_line(line, (size_t)length);
    }
}

/* Takes error. */
static void say_failure(uint64_t number, struct mpiq_error *error)
{
    _cleanup_free_ char *rest = NULL;
    if (error->code == MPIQ_ERROR_NO_MEMORY ||
        asprintf(&rest, "%s %s", mpiq_error_word(error->code), error->message) < 0) {
        rest = NULL;
        say_no_memory(number);
    } else {
        for (char *c = rest; *c; c++)
            *c = (unsigned char)*c < ' ' ? ' ' : *c;
        say("fail", number, rest);
    }
    mpiq_error_destroy(error);
}

/* ---- reading ---------------------------------------------------------------------------------------- */

static struct mpiq_error *open_target(const struct request *request, struct mpiq_target **ret)
{
    return request->core ? mpiq_target_core_create(request->path, NULL, ret)
                         : mpiq_target_live_create(request->pid, request->stop, ret);
}

static struct mpiq_error *read_rank(struct worker *worker, struct source *source,
                                    const struct request *request, struct mpiq_rank_state **ret)
{
    const struct mpiq_stack_options stacks = {.all_threads = request->stacks == MPIQ_STACKS_ALL,
                                              .before = request->look > 1 ? source->before : NULL};
    mpiq_target_forget(source->target);
    struct mpiq_error *error =
        mpiq_rank_read(worker->host, source->target, request->stacks ? &stacks : NULL, ret);
    const struct mpiq_error *loose = mpiq_target_live_not_frozen(source->target);
    if (!error && loose)
        mpiq_rank_state_problem(*ret, "stop",
                                mpiq_error_create(loose->code, "not frozen: %s", loose->message));
    /* What it needs no more it need not hold until the next look. */
    if (!request->core)
        mpiq_target_forget(source->target);
    /* What is frozen runs on as soon as it has been read. */
    if (request->stop && !request->core)
        mpiq_target_destroy(mpiq_steal(source->target));
    return error;
}

static struct mpiq_error *look(struct worker *worker, struct source *source, const struct request *request,
                               char **ret)
{
    struct mpiq_rank_state *state = NULL;
    if (worker->look != request->look)
        mpiq_dll_host_begin_look(worker->host);
    worker->look = request->look;
    struct mpiq_error *error = read_rank(worker, source, request, &state);
    if (!error)
        error = mpiq_rank_state_to_json(state, ret);
    if (!error && request->look == 1) {
        mpiq_rank_state_destroy(source->before);
        source->before = mpiq_steal(state);
    }
    mpiq_rank_state_destroy(state);
    return error;
}

/* Lines on their way to mpiq, many at a time. */
struct sending {
    uint64_t number;
    char *bytes;
    size_t length;
    size_t room;
};

static void flush_lines(struct sending *sending)
{
    if (sending->length > 0)
        say_line(sending->bytes, sending->length);
    sending->length = 0;
}

/* Sends each line of the file as a line of ours, before the answer. */
static struct mpiq_error *send_line(void *context, const char *line, size_t length)
{
    enum { AT_A_TIME = 1 << 16, HEAD = 32 };
    struct sending *sending = context;
    if (sending->length + length > AT_A_TIME)
        flush_lines(sending);
    if (!mpiq_array_reserve(&sending->bytes, &sending->room, sending->length + length + HEAD))
        return mpiq_error_no_memory();
    char *at = sending->bytes + sending->length;
    int head = snprintf(at, HEAD, "state %" PRIu64 " ", sending->number);
    memcpy(at + head, line, length);
    at[(size_t)head + length] = '\n';
    sending->length += (size_t)head + length + 1;
    return NULL;
}

static struct mpiq_error *send_bytes(struct request *request, struct sending *sending)
{
    size_t size = 0;
    if (!mpiq_base64_decode(request->path, strlen(request->path), request->path, &size))
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "the snapshot was damaged in transit");
    return mpiq_snapshot_each_line_of("of that host", request->path, size, send_line, sending);
}

static void serve_snapshot(struct request *request)
{
    struct sending sending = {.number = request->number};
    at_work = request->number;
    struct mpiq_error *error = request->bytes ? send_bytes(request, &sending)
                                              : mpiq_snapshot_each_line(request->path, send_line, &sending);
    flush_lines(&sending);
    free(sending.bytes);
    if (error)
        say_failure(request->number, error);
    else
        say("done", request->number, "{}");
    at_work = 0;
}

static void serve(struct worker *worker, const struct request *request)
{
    _cleanup_free_ char *text = NULL;
    struct source *source = &sources[request->source];
    at_work = request->number;
    struct mpiq_error *error = source->target ? NULL : open_target(request, &source->target);
    if (!error && request->question && mpiq_proctable_is_asked(request->question))
        error = mpiq_proctable_read(source->target, &text);
    else if (!error && request->question)
        error = mpiq_dll_host_ask(worker->host, source->target, request->question, &text);
    else if (!error)
        error = look(worker, source, request, &text);
    if (error)
        say_failure(request->number, error);
    else
        say("done", request->number, text);
    at_work = 0;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    if (!mpiq_confine_use_crash_stack())
        _exit(MPIQ_EXIT_NO_MEMORY);
    for (;;) {
        pthread_mutex_lock(&lock);
        while (queued == 0)
            pthread_cond_wait(&arrived, &lock);
        struct request request = queue[0];
        memmove(queue, queue + 1, --queued * sizeof *queue);
        pthread_mutex_unlock(&lock);
        if (request.snapshot)
            serve_snapshot(&request);
        else
            serve(worker, &request);
        free(request.path);
        free(request.question);
    }
    return NULL;
}

/* ---- requests --------------------------------------------------------------------------------------- */

/* "read NUMBER SOURCE LOOK STOP STACKS live PID", "... core PATH", "... snapshot PATH",
   "... bytes BASE64". */
static bool parse_request(char *line, struct request *ret)
{
    uint64_t numbers[5];
    uint64_t pid = 0;
    char *rest = line;
    const char *word = mpiq_pipe_word(&rest);
    if (!word || strcmp(word, "read") != 0)
        return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!mpiq_pipe_number(mpiq_pipe_word(&rest), &numbers[i]))
            return false;
    }
    word = mpiq_pipe_word(&rest);
    ret->number = numbers[0];
    ret->source = numbers[1];
    ret->look = (unsigned)numbers[2];
    ret->stop = numbers[3] != 0;
    ret->stacks = numbers[4] < MPIQ_STACKS_ALL ? (enum mpiq_stacks)numbers[4] : MPIQ_STACKS_ALL;
    ret->core = word && strcmp(word, "core") == 0;
    ret->bytes = word && strcmp(word, "bytes") == 0;
    ret->snapshot = ret->bytes || (word && strcmp(word, "snapshot") == 0);
    if (!word || !rest || ret->source >= SOURCES_MAX)
        return false;
    if (ret->core || ret->snapshot) {
        ret->path = strdup(rest);
        return ret->path != NULL;
    }
    bool live = strcmp(word, "live") == 0 && mpiq_pipe_number(rest, &pid) && pid > 0 && pid <= INT_MAX;
    ret->pid = (pid_t)pid;
    return live;
}

static bool enqueue(const struct request *request)
{
    bool good = false;
    pthread_mutex_lock(&lock);
    if (request->look != current_look)
        mpiq_peer_begin_look();
    current_look = request->look;
    if (queued < THREADS_MAX && request->source < source_count) {
        queue[queued++] = *request;
        pthread_cond_signal(&arrived);
        good = true;
    }
    pthread_mutex_unlock(&lock);
    return good;
}

static int serve_requests(void)
{
    _cleanup_free_ char *question = NULL;
    for (;;) {
        char *line = NULL;
        size_t length = 0;
        struct request request = {0};
        struct mpiq_error *error = mpiq_pipe_read(&wire, &line, &length);
        if (error || !line)
            return error && error->code == MPIQ_ERROR_NO_MEMORY ? MPIQ_EXIT_NO_MEMORY : EXIT_SUCCESS;
        if (strncmp(line, "question ", 9) == 0) {
            free(question);
            question = strdup(line + 9);
            if (!question)
                return MPIQ_EXIT_NO_MEMORY;
            continue;
        }
        if (!parse_request(line, &request))
            return EXIT_FAILURE;
        request.question = mpiq_steal(question);
        if (!enqueue(&request))
            return EXIT_FAILURE;
    }
}

/* ---- the beginning ---------------------------------------------------------------------------------- */

struct options {
    struct mpiq_confinement confinement;
    struct mpiq_dll_host_options host;
    size_t threads;
    size_t sources;
};

static bool parse_options(int count, char **arguments, struct options *ret)
{
    for (int i = 1; i + 1 < count; i += 2) {
        const char *name = arguments[i];
        char *value = arguments[i + 1];
        if (strcmp(name, "--threads") == 0)
            ret->threads = strtoull(value, NULL, 10);
        else if (strcmp(name, "--sources") == 0)
            ret->sources = strtoull(value, NULL, 10);
        else if (strcmp(name, "--dll") == 0 || strcmp(name, "--our-dll") == 0)
            ret->host.opened = (struct mpiq_opened_dll){value, DLL, strcmp(name, "--dll") == 0};
        else if (strcmp(name, "--recorder-dll") == 0)
            ret->host.recorder = (struct mpiq_opened_dll){value, RECORDER_DLL, false};
        else if (strcmp(name, "--keep-trace") == 0)
            ret->confinement.keep_trace = *value == '1';
    }
    return mpiq_confine_options(&ret->confinement, count, arguments) && ret->threads > 0 &&
           ret->threads <= THREADS_MAX && ret->sources <= SOURCES_MAX;
}

static bool start_workers(const struct options *options)
{
    struct worker *workers = calloc(options->threads, sizeof *workers);
    for (size_t i = 0; workers && i < options->threads; i++) {
        struct mpiq_error *error = mpiq_dll_host_create(&options->host, &workers[i].host);
        mpiq_error_destroy(error);
        if (error || pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return false;
    }
    return workers != NULL;
}

int main(int count, char **arguments)
{
    struct options options = {
        .host.no_search = true,
        .confinement = {.kind = MPIQ_CONFINED_READER, .keep_error = getenv("MPIQ_DEBUG") != NULL}};
    if (fcntl(WIRE, F_GETFD) < 0) {
        fprintf(stderr, "mpiq-reader is started by mpiq, not by hand\n");
        return EXIT_FAILURE;
    }
    prctl(PR_SET_NAME, "mpiq-reader"); /* executed from a descriptor, it is called by that one's number */
    if (!parse_options(count, arguments, &options))
        return EXIT_FAILURE;
    close_range(RECORDER_DLL + 1, UINT_MAX, 0);
    for (int fd = WIRE; fd <= RECORDER_DLL; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (!mpiq_confine_begin(&options.confinement) || !mpiq_helper_use_broker(HELPER))
        return EXIT_FAILURE;
    close(HELPER);
    sources = calloc(options.sources + 1, sizeof *sources);
    source_count = options.sources;
    mpiq_confine_catch_crashes(on_crash, false);
    /* What one rank has used, the next one needs again: nothing goes back to the system in between. */
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mpiq_pipe_init(&wire, WIRE, WIRE);
    if (!sources || !mpiq_confine_end(MPIQ_CONFINED_READER) || !start_workers(&options))
        return EXIT_FAILURE;
    int status = serve_requests();
    mpiq_helper_end_broker();
    _exit(status);
}
