/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipe - lines of text over two descriptors (pipes, or one socket twice): the transport of the wire.
 *
 * A line is bounded, reading and writing can have a deadline, and a write to a side that has closed is an
 * error, never a SIGPIPE.  The descriptors remain the caller's.
 */
#ifndef MPIQ_PIPE_H
#define MPIQ_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Longest line of the wire, in bytes: the rank state of a process with a million requests fits. */
#define MPIQ_PIPE_LINE_MAX ((size_t)256 << 20)

struct mpiq_pipe {
    int in;
    int out;
    size_t limit;     /* longest line that is taken */
    int64_t deadline; /* CLOCK_MONOTONIC in nanoseconds; 0: waits for ever */
    /* Asked once it has passed: a later one, for a side that had too little of the processor; 0: it is late.
       NULL: there is none. */
    int64_t (*later)(void *argument);
    void *argument;
    bool patient; /* reading from `in` gives up by itself now and then (SO_RCVTIMEO): no need to poll first */
    bool socket;  /* out is one: learnt at the first write */
    bool learnt;
    char *buffer;
    size_t room;
    size_t start; /* of what was read and not yet given out */
    size_t end;
    size_t searched; /* up to here no line ends */
};

void mpiq_pipe_init(struct mpiq_pipe *pipe, int in, int out);
void mpiq_pipe_deinit(struct mpiq_pipe *pipe);

/* TIMEOUT if the deadline has passed and there is no later one; NULL otherwise. */
struct mpiq_error *mpiq_pipe_in_time(struct mpiq_pipe *pipe);

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t mpiq_monotonic_ns(void);

/* The next line, terminated and without its end, valid until the next call.  NULL in *ret: the other side
   has closed, and no part of a line was left.  TIMEOUT after the deadline, CORRUPT for a line that is too
   long, holds a zero byte or is cut off by the end. */
struct mpiq_error *mpiq_pipe_read(struct mpiq_pipe *pipe, char **ret, size_t *length);

/* All of it, line ends included.  GONE if the other side has closed. */
struct mpiq_error *mpiq_pipe_write(struct mpiq_pipe *pipe, const char *bytes, size_t length);

/* Splits the next word off *rest at single spaces; NULL if none is left. */
char *mpiq_pipe_word(char **rest);
/* Parses a whole word as a number, decimal or 0x…; false if it is not one. */
bool mpiq_pipe_number(const char *word, uint64_t *ret);

#endif
