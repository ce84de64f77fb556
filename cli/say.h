/* SPDX-License-Identifier: BSD-3-Clause */
/* say - errors as mpiq tells them. */
#ifndef MPIQ_CLI_SAY_H
#define MPIQ_CLI_SAY_H

#include "mpiq.h"

/* Prints "mpiq: SENTENCE" on stderr, destroys error, and returns the exit status that goes with it. */
int say_error(struct mpiq_error *error);

#endif
