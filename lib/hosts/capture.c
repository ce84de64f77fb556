/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/capture.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "hosts/command.h"
#include "hosts/environment.h"

enum { SECONDS = 20, OUTPUT_MOST = 1 << 24, STEP_MS = 20 };

/* Reads what is there; false without memory, or when it is too much. */
static bool read_some(struct mpiq_command *command, char **text, size_t *length, size_t *room)
{
    ssize_t got = 1;
    while (command->output >= 0 && got > 0) {
        if (*length > OUTPUT_MOST || !mpiq_array_reserve(text, room, *length + 4096))
            return false;
        got = read(command->output, *text + *length, *room - *length - 1);
        *length += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Until it has ended; false if it was late. */
static bool wait_for_end(struct mpiq_command *command, char **text, size_t *length, size_t *room)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        struct pollfd ready = {.fd = command->output, .events = POLLIN};
        bool ended = mpiq_command_has_ended(command); /* before the last reading */
        if (!read_some(command, text, length, room))
            return false;
        mpiq_command_hear(command);
        if (ended)
            return true;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - start.tv_sec > SECONDS)
            return false;
        poll(&ready, 1, STEP_MS);
    }
}

struct mpiq_error *mpiq_hosts_capture(const char *const *argv, char **ret)
{
    char **environment _cleanup_free_ = mpiq_hosts_environment();
    char *text _cleanup_free_ = NULL;
    size_t length = 0, room = 0;
    struct mpiq_command command = {.input = -1};
    const struct mpiq_launch_command plan = {.argv = (char **)(uintptr_t)argv}; /* NOLINT: execvp's way */
    if (!environment)
        return mpiq_error_no_memory();
    struct mpiq_error *error = mpiq_command_start(NULL, &plan, environment, &command);
    if (error)
        return error;
    mpiq_command_close(&command, &command.input);
    bool good = wait_for_end(&command, &text, &length, &room);
    if (command.pid > 0) {
        kill(-command.pid, SIGKILL);
        while (!mpiq_command_has_ended(&command))
            usleep(1000);
    }
    mpiq_command_close(&command, &command.output);
    mpiq_command_close(&command, &command.errors);
    if (!good || !text)
        return mpiq_error_create(MPIQ_ERROR_TIMEOUT, "%s did not answer within %d s", argv[0], SECONDS);
    if (command.status != 0) {
        char *how _cleanup_free_ = mpiq_command_end_text(&command);
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "%s: %s", argv[0], how ? how : "failed");
    }
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
        length--;
    text[length] = '\0';
    *ret = mpiq_steal(text);
    return NULL;
}
