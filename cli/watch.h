/* SPDX-License-Identifier: BSD-3-Clause */
/* watch - mpiq watch: looks at a job again and again, and shows each look. */
#ifndef MPIQ_CLI_WATCH_H
#define MPIQ_CLI_WATCH_H

#include "options.h"

/* The exit status: 0 where the job has ended or the user is done. */
int watch(struct command_line *line);

#endif
