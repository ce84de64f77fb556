/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash_table.h"
#include "base/proc.h"

/* A line of a chunk is shorter than what a launcher passes on in one piece: Slurm's, 1024 characters. */
enum { CHUNK = 660, GUARD_MS = 20 /* between looks at a guard that is to end */ };

/* ---- the guard ----------------------------------------------------------------------------------------- */

/* What the worker needs to end together with its guard. */
static struct {
    pid_t worker, guard;
    int life; /* its status is written here when it is done */
} bond;

static bool is_stopped(pid_t pid)
{
    struct mpiq_proc_stat stat;
    struct mpiq_error *error = mpiq_proc_stat(pid, 0, &stat);
    bool known = !error;
    mpiq_error_destroy(error);
    return known && (stat.state == 'T' || stat.state == 't');
}

/* At the worker's exit: hands its status to the guard, whose exit then ends the worker.  A stopped guard is
   killed. */
static void end_with_guard(int status, void *unused)
{
    unsigned char byte = (unsigned char)status;
    (void)unused;
    if (getpid() != bond.worker || write(bond.life, &byte, 1) != 1)
        return;
    while (getppid() == bond.guard) {
        if (is_stopped(bond.guard))
            kill(bond.guard, SIGKILL);
        poll(NULL, 0, GUARD_MS);
    }
}

/* Passes standard input on to the worker, and ends with it or when the input is closed. */
static _Noreturn void guard(pid_t worker, int words, int life)
{
    struct pollfd ends[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = life, .events = POLLIN}};
    char bytes[64];
    unsigned char done;
    int status = 0;
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        if (poll(ends, 2, -1) < 0 && errno == EINTR)
            continue;
        if (ends[1].revents) {
            if (read(life, &done, 1) == 1)
                _exit(done);
            break;
        }
        ssize_t got = ends[0].revents ? read(STDIN_FILENO, bytes, sizeof bytes) : -1;
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0) {
            kill(worker, SIGKILL);
            break;
        }
        if (write(words, bytes, (size_t)got) < 0)
            break;
    }
    while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
        continue;
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

struct mpiq_error *mpiq_collector_start(struct mpiq_collector *ret)
{
    int words[2], life[2];
    pid_t parent = getpid();
    if (pipe2(words, O_CLOEXEC) < 0 || pipe2(life, O_CLOEXEC) < 0)
        return mpiq_error_create_os(errno, "cannot make a pipe");
    pid_t worker = fork();
    if (worker < 0)
        return mpiq_error_create_os(errno, "cannot start the collector");
    if (worker > 0) {
        close(words[0]);
        close(life[1]);
        guard(worker, words[1], life[0]);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t above = getppid(); /* 0: of another pid namespace */
    if (above != parent && above != 0)
        _exit(1);
    bond.worker = getpid();
    bond.guard = above;
    bond.life = life[1];
    if (above != 0 && on_exit(end_with_guard, NULL) != 0)
        return mpiq_error_no_memory();
    close(words[1]);
    close(life[0]); /* life[1] stays open for as long as this process lives */
    signal(SIGPIPE, SIG_IGN);
    *ret = (struct mpiq_collector){.input = words[0], .guard = above};
    if (getrandom(&ret->token, sizeof ret->token, 0) != sizeof ret->token)
        return mpiq_error_create_os(errno, "the system provides no random numbers");
    return NULL;
}

/* ---- speaking ------------------------------------------------------------------------------------------ */

/* Nobody listens any more.  The guard knows it, unless it was stopped. */
static struct mpiq_error *give_up(const struct mpiq_collector *collector)
{
    if (collector->guard > 1 && getppid() == collector->guard)
        kill(collector->guard, SIGKILL);
    return mpiq_error_create(MPIQ_ERROR_GONE, "mpiq has ended");
}

static struct mpiq_error *write_all(const struct mpiq_collector *collector, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t wrote = write(STDOUT_FILENO, bytes, length);
        struct pollfd end = {.fd = STDOUT_FILENO, .events = POLLOUT};
        if (wrote < 0 && errno == EAGAIN)
            poll(&end, 1, -1);
        else if (wrote < 0 && errno == EPIPE)
            return give_up(collector);
        else if (wrote < 0 && errno != EINTR)
            return mpiq_error_create_os(errno, "cannot send what was read");
        bytes += wrote > 0 ? wrote : 0;
        length -= wrote > 0 ? (size_t)wrote : 0;
    }
    return NULL;
}

struct mpiq_error *mpiq_collector_say(struct mpiq_collector *collector, enum mpiq_host_message_kind kind,
                                      const void *bytes, size_t length)
{
    char *line _cleanup_free_ =
        mpiq_host_message_write(collector->token, collector->number++, kind, bytes, length);
    return line ? write_all(collector, line, strlen(line)) : mpiq_error_no_memory();
}

struct mpiq_error *mpiq_collector_hello(struct mpiq_collector *collector, const struct mpiq_hello *hello)
{
    char *text _cleanup_free_ = NULL;
    struct mpiq_error *error = mpiq_hello_write(hello, &text);
    return error ? error : mpiq_collector_say(collector, MPIQ_MESSAGE_HELLO, text, strlen(text));
}

struct mpiq_error *mpiq_collector_looked_once(struct mpiq_collector *collector,
                                              const struct mpiq_group_senders *groups)
{
    char text[MPIQ_LOOKED_ROOM];
    mpiq_group_senders_write(groups, text);
    return mpiq_collector_say(collector, MPIQ_MESSAGE_LOOKED, text, strlen(text));
}

struct mpiq_error *mpiq_collector_looked_twice(struct mpiq_collector *collector)
{
    return mpiq_collector_say(collector, MPIQ_MESSAGE_LOOKED, "2", 1);
}

/* The next line, without its end; what is longer than can be is cut off. */
static struct mpiq_error *read_line(const struct mpiq_collector *collector, char *line, size_t room)
{
    char byte = '\0';
    for (size_t length = 0; byte != '\n';) {
        struct pollfd ends[2] = {{.fd = collector->input, .events = POLLIN},
                                 {.fd = STDIN_FILENO, .events = POLLRDHUP}};
        if (poll(ends, 2, -1) < 0 && errno == EINTR)
            continue;
        if (!ends[0].revents)
            return give_up(collector);
        ssize_t got = read(collector->input, &byte, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return give_up(collector);
        line[length] = byte == '\n' ? '\0' : byte;
        length += length + 1 < room;
        line[length] = '\0';
    }
    return NULL;
}

struct mpiq_error *mpiq_collector_wait(struct mpiq_collector *collector, char **ret)
{
    char *line _cleanup_free_ = calloc(1, MPIQ_GO_LENGTH_MOST + 1);
    struct mpiq_error *error = line ? NULL : mpiq_error_no_memory();
    while (!error) {
        error = read_line(collector, line, MPIQ_GO_LENGTH_MOST + 1);
        if (!error && strncmp(line, "go", 2) == 0 && (line[2] == ' ' || line[2] == '\0')) {
            *ret = mpiq_steal(line);
            return NULL;
        }
    }
    return error;
}

struct mpiq_error *mpiq_collector_send(struct mpiq_collector *collector, const char *bytes, size_t length)
{
    char text[64];
    struct mpiq_error *error = NULL;
    for (size_t at = 0; at < length && !error; at += CHUNK)
        error = mpiq_collector_say(collector, MPIQ_MESSAGE_CHUNK, bytes + at,
                                   length - at < CHUNK ? length - at : CHUNK);
    snprintf(text, sizeof text, "%zu %016" PRIx64, length, mpiq_hash_bytes(MPIQ_HASH_FIXED, bytes, length));
    return error ? error : mpiq_collector_say(collector, MPIQ_MESSAGE_BYE, text, strlen(text));
}
