/* SPDX-License-Identifier: BSD-3-Clause */
/* exit_status - what mpiq's exit status says. */
#ifndef MPIQ_CLI_EXIT_STATUS_H
#define MPIQ_CLI_EXIT_STATUS_H

enum {
    EXIT_FINE = 0,
    EXIT_DEADLOCK = 1,
    EXIT_USAGE = 2,
    EXIT_NOTHING_READ = 3,
    EXIT_STALLED = 4,
    EXIT_CHECK = 5
};

#endif
