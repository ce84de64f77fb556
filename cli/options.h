/* SPDX-License-Identifier: BSD-3-Clause */
/* options - reads the command line of mpiq. */
#ifndef MPIQ_CLI_OPTIONS_H
#define MPIQ_CLI_OPTIONS_H

#include "command_line.h"

/* Fills *ret from the arguments, whose strings it points into.  Returns -1 to continue, or the exit status
   if there is nothing more to do: help and version were printed on stdout, or wrong usage on stderr. */
int parse_command_line(int argc, char **argv, struct command_line *ret);

#endif
