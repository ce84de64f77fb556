/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * step - mpiq run --step: the screen on which ranks are let go, one call at a time.
 *
 * The terminal is the screen's, so what the job prints there is kept in memory that it writes to, and shown
 * below the ranks.  The job has that memory even if mpiq is killed.  With --plain there is no screen: keys
 * come as lines from standard input, and the job prints where mpiq does.
 */
#ifndef MPIQ_CLI_STEP_H
#define MPIQ_CLI_STEP_H

#include <sys/types.h>

#include "command_line.h"

struct step;

/* Before the command starts; NULL: why not has been said. */
struct step *step_start(struct command_line *line, struct mpiq_remains *remains);
/* In the child that becomes the command: its standard streams, as far as they are the terminal. */
void step_take_streams(const struct step *step);
/* Until the command has ended (ended() is true) or the user is done.  Returns whether it has ended. */
bool step_through(struct step *step, pid_t launcher, bool (*ended)(void *), void *argument);
/* Now and then after that: shows what the job has printed, lets go ranks that have come. */
void step_tend(struct step *step);
void step_end(struct step *step);

#endif
