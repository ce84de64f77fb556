/* SPDX-License-Identifier: BSD-3-Clause */
/* command - one command of a launcher as a process with pipes. */
#ifndef MPIQ_HOSTS_COMMAND_H
#define MPIQ_HOSTS_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "hosts/launcher.h"

enum { MPIQ_COMMAND_SAID_MOST = 400 };

struct mpiq_command {
    pid_t pid; /* 0: it has ended, or was never started */
    int input; /* -1: closed; so with the others */
    int output;
    int errors;
    char said[MPIQ_COMMAND_SAID_MOST]; /* the end of what it has written to its standard error */
    int status;                        /* as waitpid has it, once ended */
};

/* environment: ended by NULL.  The process is told to end when the calling thread ends. */
struct mpiq_error *mpiq_command_start(const struct mpiq_launch *launch,
                                      const struct mpiq_launch_command *command, char **environment,
                                      struct mpiq_command *ret);
/* Reads what is there of its standard error without waiting; closes it at its end. */
void mpiq_command_hear(struct mpiq_command *command);
/* Whether it has ended by now. */
bool mpiq_command_has_ended(struct mpiq_command *command);
/* How it ended, as a person is told: "exit status 127: sh: 1: mpiq: not found"; the caller frees it, NULL
   without memory. */
char *mpiq_command_end_text(const struct mpiq_command *command);
void mpiq_command_close(struct mpiq_command *command, int *fd);

#endif
