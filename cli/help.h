/* SPDX-License-Identifier: BSD-3-Clause */
/* help - what mpiq says about itself, from its lists of commands and options. */
#ifndef MPIQ_CLI_HELP_H
#define MPIQ_CLI_HELP_H

#include "commands.h"

/* Print on stdout.  Return an exit status. */
int help_overview(void);
int help_page(const struct command_row *row);
/* The options that another word follows, one on a line: gdb's commands take the same. */
int help_options_with_values(void);

#endif
