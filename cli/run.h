/* SPDX-License-Identifier: BSD-3-Clause */
/* run - start a job, watch it, and report and end it when it hangs. */
#ifndef MPIQ_CLI_RUN_H
#define MPIQ_CLI_RUN_H

#include "options.h"

/* Runs line->program with our own standard streams.  Returns its exit status, or 128 plus the signal that
   ended it, as a shell does; EXIT_CHECK if it ended with 0 and the check found an error.  If it hangs (a
   deadlock that two looks prove, or nothing moved for line->hang_after seconds) the report goes to stderr and
   to the files that line names, the job is ended and EXIT_HUNG is returned.  With line->keep the job is left
   alone, and a report follows each time the verdict changes. */
int run(struct command_line *line);

#endif
