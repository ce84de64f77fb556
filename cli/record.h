/* SPDX-License-Identifier: BSD-3-Clause */
/* record - the recorder in front of a program: `mpiq record -- PROGRAM`, and what `mpiq run` gives its job.
 */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include <stdbool.h>

/* Puts the recorder first in LD_PRELOAD of this process's environment, for what it executes next.
   Idempotent. False, having said why, if the recorder is not installed. */
bool record_preload(void);

/* Has Open MPI's launcher forward the recorder's variables to other hosts (MPICH's forwards all): where the
   command names variables by -x, likewise, else by an MCA parameter, since Open MPI refuses both at once.  A
   command that is no launcher, a script say, is left alone: it may use either.  Returns the command, program
   itself or one with more words, which lives as long as this process; NULL, having said why. */
char **record_forward(char **program);

/* `mpiq record [--] PROGRAM [ARGUMENT…]`: becomes the program; an exit status if it cannot. */
int record(int argc, char **argv);

#endif
