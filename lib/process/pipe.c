/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_START ((size_t)64 << 10)

void mpiq_pipe_init(struct mpiq_pipe *pipe, int in, int out)
{
    *pipe = (struct mpiq_pipe){.in = in, .out = out, .limit = MPIQ_PIPE_LINE_MAX};
}

void mpiq_pipe_deinit(struct mpiq_pipe *pipe)
{
    free(pipe->buffer);
    pipe->buffer = NULL;
    pipe->room = pipe->start = pipe->end = pipe->searched = 0;
}

int64_t mpiq_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct mpiq_error *mpiq_pipe_in_time(struct mpiq_pipe *pipe)
{
    if (!pipe->deadline || mpiq_monotonic_ns() < pipe->deadline)
        return NULL;
    int64_t later = pipe->later ? pipe->later(pipe->argument) : 0;
    if (!later)
        return mpiq_error_create(MPIQ_ERROR_TIMEOUT, "the other side of the wire did not answer in time");
    pipe->deadline = later;
    return NULL;
}

/* Until the descriptor is ready, or the deadline. */
static struct mpiq_error *wait_for(struct mpiq_pipe *pipe, int fd, short events)
{
    for (;;) {
        int timeout = -1;
        struct mpiq_error *error = mpiq_pipe_in_time(pipe);
        if (error)
            return error;
        if (pipe->deadline) {
            int64_t left = (pipe->deadline - mpiq_monotonic_ns()) / 1000000;
            timeout = left < 0 ? 0 : left >= INT_MAX ? INT_MAX : (int)left + 1;
        }
        struct pollfd ready = {.fd = fd, .events = events};
        int count = poll(&ready, 1, timeout);
        if (count > 0)
            return NULL;
        if (count < 0 && errno != EINTR && errno != EAGAIN)
            return mpiq_error_create_os(errno, "cannot wait for the wire");
    }
}

/* Makes room for more to read: moves what is left to the front, then grows. */
static struct mpiq_error *make_room(struct mpiq_pipe *pipe)
{
    if (pipe->start > 0) {
        memmove(pipe->buffer, pipe->buffer + pipe->start, pipe->end - pipe->start);
        pipe->end -= pipe->start;
        pipe->searched -= pipe->start;
        pipe->start = 0;
    }
    if (pipe->end < pipe->room)
        return NULL;
    if (pipe->room > pipe->limit)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "the wire: a line of more than %zu bytes", pipe->limit);
    size_t room = pipe->room ? pipe->room * 2 : BUFFER_START;
    char *grown = realloc(pipe->buffer, room);
    if (!grown)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a line of %zu bytes", room);
    pipe->buffer = grown;
    pipe->room = room;
    return NULL;
}

struct mpiq_error *mpiq_pipe_read(struct mpiq_pipe *pipe, char **ret, size_t *length)
{
    for (;;) {
        char *newline = NULL;
        if (pipe->searched < pipe->end)
            newline = memchr(pipe->buffer + pipe->searched, '\n', pipe->end - pipe->searched);
        if (newline) {
            char *line = pipe->buffer + pipe->start;
            *newline = '\0';
            pipe->start = pipe->searched = (size_t)(newline + 1 - pipe->buffer);
            *length = (size_t)(newline - line);
            if (strlen(line) != *length)
                return mpiq_error_create(MPIQ_ERROR_CORRUPT, "the wire: a line holds a zero byte");
            *ret = line;
            return NULL;
        }
        pipe->searched = pipe->end;
        if (pipe->start == pipe->end)
            pipe->start = pipe->end = pipe->searched = 0;
        struct mpiq_error *error = pipe->end < pipe->room ? NULL : make_room(pipe);
        if (!error && pipe->deadline && !pipe->patient)
            error = wait_for(pipe, pipe->in, POLLIN);
        if (error)
            return error;
        ssize_t got = read(pipe->in, pipe->buffer + pipe->end, pipe->room - pipe->end);
        if (got > 0) {
            pipe->end += (size_t)got;
        } else if (got == 0 || errno == ECONNRESET) {
            *ret = NULL;
            *length = 0;
            return pipe->start == pipe->end
                       ? NULL
                       : mpiq_error_create(MPIQ_ERROR_CORRUPT, "the wire was closed in the middle of a line");
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            error = wait_for(pipe, pipe->in, POLLIN);
            if (error)
                return error;
        } else if (errno != EINTR) {
            return mpiq_error_create_os(errno, "cannot read from the wire");
        }
    }
}

/* write() without the signal that a closed pipe sends: it is held back, and taken away if it came of this. */
static ssize_t write_quietly(int fd, const char *bytes, size_t length)
{
    sigset_t pipe_signal;
    sigset_t before;
    sigset_t pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    ssize_t written = write(fd, bytes, length);
    int errnum = errno;
    if (written < 0 && errnum == EPIPE && !was_pending) {
        const struct timespec at_once = {0};
        while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = errnum;
    return written;
}

struct mpiq_error *mpiq_pipe_write(struct mpiq_pipe *pipe, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = -1;
        if (!pipe->learnt || pipe->socket) {
            written = send(pipe->out, bytes, length, MSG_NOSIGNAL | (pipe->deadline ? MSG_DONTWAIT : 0));
            if (!pipe->learnt) {
                pipe->learnt = true;
                pipe->socket = written >= 0 || errno != ENOTSOCK;
            }
        }
        if (!pipe->socket) {
            /* A pipe that is ready takes this much without blocking. */
            struct mpiq_error *error = pipe->deadline ? wait_for(pipe, pipe->out, POLLOUT) : NULL;
            if (error)
                return error;
            written =
                write_quietly(pipe->out, bytes, pipe->deadline && length > PIPE_BUF ? PIPE_BUF : length);
        }
        if (written >= 0) {
            bytes += written;
            length -= (size_t)written;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct mpiq_error *error = wait_for(pipe, pipe->out, POLLOUT);
            if (error)
                return error;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return mpiq_error_create(MPIQ_ERROR_GONE, "the other side of the wire has closed it");
        } else if (errno != EINTR) {
            return mpiq_error_create_os(errno, "cannot write to the wire");
        }
    }
    return NULL;
}

char *mpiq_pipe_word(char **rest)
{
    char *word = *rest;
    if (!word || !*word)
        return NULL;
    char *space = strchr(word, ' ');
    if (space)
        *space++ = '\0';
    *rest = space;
    return word;
}

bool mpiq_pipe_number(const char *word, uint64_t *ret)
{
    bool hex = word && word[0] == '0' && word[1] == 'x';
    const char *digits = word && hex ? word + 2 : word;
    const char *allowed = hex ? "0123456789abcdefABCDEF" : "0123456789";
    if (!digits || !*digits || digits[strspn(digits, allowed)] != '\0')
        return false;
    errno = 0;
    *ret = strtoull(digits, NULL, hex ? 16 : 10);
    return errno == 0;
}
