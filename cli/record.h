/* SPDX-License-Identifier: BSD-3-Clause */
/* record - the recorder in front of a program: `mpiq record -- PROGRAM`, and what `mpiq run` gives its job.
 */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include <stdbool.h>

/* Puts the recorder into this process's environment, for what it executes next: first in LD_PRELOAD, and, for
   Open MPI's launcher, among the variables that it forwards to other hosts (MPICH's forwards all).
   Idempotent. False, having said why, if the recorder is not installed. */
bool record_preload(void);

/* `mpiq record [--] PROGRAM [ARGUMENT…]`: becomes the program; an exit status if it cannot. */
int record(int argc, char **argv);

#endif
