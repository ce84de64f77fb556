/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/reader_lines.h"

#include <poll.h>
#include <string.h>

/* Of all lines; a reader that was taken over might send without end. */
#define MOST_TEXT ((uint64_t)8 << 30)

struct mpiq_error *mpiq_take_reader_lines(struct mpiq_reader_process *process, uint64_t request,
                                          const char *what, int64_t longest_ns,
                                          mpiq_reader_line_callback *callback, void *context)
{
    int64_t end = mpiq_monotonic_ns() + longest_ns;
    uint64_t text = 0;
    while (mpiq_monotonic_ns() < end && text < MOST_TEXT) {
        struct mpiq_reader_answer answer = {0};
        bool there = false;
        struct mpiq_error *error = mpiq_reader_process_next(process, &answer, &there);
        if (!error && there && answer.crash)
            error = mpiq_error_create(MPIQ_ERROR_CORRUPT, "the process that read %s crashed (signal %d)",
                                      what, answer.crash);
        if (!error && there)
            error = answer.error;
        if (!error && there && answer.number != request)
            error = mpiq_error_create(MPIQ_ERROR_CORRUPT, "the process that reads %s sent a malformed reply",
                                      what);
        if (!error && there && answer.line) {
            text += strlen(answer.text);
            error = callback(context, answer.text);
        } else if (!error && there) {
            return NULL;
        }
        if (error)
            return error;
        struct pollfd ready = {.fd = process->socket, .events = POLLIN};
        if (!there)
            poll(&ready, 1, 100);
    }
    return mpiq_error_create(MPIQ_ERROR_TIMEOUT, "reading %s timed out", what);
}
