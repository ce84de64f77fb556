/* SPDX-License-Identifier: BSD-3-Clause */
/* capture - captures the output of a short command: a launcher's query tool. */
#ifndef MPIQ_HOSTS_CAPTURE_H
#define MPIQ_HOSTS_CAPTURE_H

#include "base/error.h"

/* The standard output of argv (ended by NULL, argv[0] looked for in PATH), without line breaks at its end;
   the caller frees it.  It is given 20 s, and has no standard input.  NOT_FOUND with the last line of its
   standard error if it fails. */
struct mpiq_error *mpiq_hosts_capture(const char *const *argv, char **ret);

#endif
