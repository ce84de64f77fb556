/* SPDX-License-Identifier: BSD-3-Clause */
/* run - start a job, look at it now and then, report when it hangs. */
#ifndef MPIQ_CLI_RUN_H
#define MPIQ_CLI_RUN_H

#include "options.h"

/* Runs line->program with our own standard streams.  Returns its exit status, or 128 and the signal that
   ended it as a shell does; once it hangs, the report goes to stderr, the job is ended (unless line->keep:
   then another report follows only when the verdict has changed) and EXIT_STUCK is returned. */
int run(struct command_line *line);

#endif
