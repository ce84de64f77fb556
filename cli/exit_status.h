/* SPDX-License-Identifier: BSD-3-Clause */
/* exit_status - what mpiq's exit status says. */
#ifndef MPIQ_CLI_EXIT_STATUS_H
#define MPIQ_CLI_EXIT_STATUS_H

/* Of a look. */
enum { EXIT_FINE = 0, EXIT_DEADLOCK = 1, EXIT_USAGE = 2, EXIT_NOTHING_READ = 3, EXIT_STALLED = 4 };

/* Of run, where the command's own status does not say it: as of timeout(1) and the shell. */
enum {
    EXIT_CHECK = 123,
    EXIT_HUNG = 124,
    EXIT_OURS = 125, /* mpiq failed */
    EXIT_CANNOT_RUN = 126,
    EXIT_NO_COMMAND = 127,
    EXIT_INTERRUPTED = 130
};

#endif
