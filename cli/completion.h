/* SPDX-License-Identifier: BSD-3-Clause */
/* completion - what bash, zsh and fish complete mpiq's command lines by, made from its lists of commands and
 * options. */
#ifndef MPIQ_CLI_COMPLETION_H
#define MPIQ_CLI_COMPLETION_H

/* Prints the script of that shell on stdout.  Returns an exit status. */
int print_completion(const char *shell);

#endif
