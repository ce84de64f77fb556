/* SPDX-License-Identifier: BSD-3-Clause */
/* say - answers and errors on their way out. */
#ifndef MPIQ_CLI_SAY_H
#define MPIQ_CLI_SAY_H

#include "mpiq.h"

/* Writes text to the file at path, or to stdout if it is NULL.  EXIT_FINE, or what is wrong is said on stderr
   and EXIT_NOTHING_READ is returned. */
int put_out(const char *path, const char *text);

/* Prints "mpiq: SENTENCE" on stderr, destroys error, and returns the exit status that goes with it. */
int say_error(struct mpiq_error *error);

#endif
