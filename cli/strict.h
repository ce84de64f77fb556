/* SPDX-License-Identifier: BSD-3-Clause */
/* strict - what the recorder needs for `mpiq run --strict`. */
#ifndef MPIQ_CLI_STRICT_H
#define MPIQ_CLI_STRICT_H

#include <stdbool.h>

/* Sets MPIQ_STRICT for the job: "PID/FD/NAME" of a memory file of this process that its ranks on this host
   share (recorder/compare.c), or "1" if it cannot be made.  False: out of memory. */
bool strict_offer(void);
/* Whether a rank on this host has been stopped in a collective that does not match those of other members: it
   is time to look. */
bool strict_refused(void);

#endif
