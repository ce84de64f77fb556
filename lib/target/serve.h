/* SPDX-License-Identifier: BSD-3-Clause */
/* serve - the server's side of the wire over a pipe that the caller keeps (deadline, limit). */
#ifndef MPIQ_TARGET_SERVE_H
#define MPIQ_TARGET_SERVE_H

#include "target/pipe.h"
#include "target/target.h"

/* As mpiq_target_serve.  A line that `other` is given is valid until it returns. */
struct mpiq_error *mpiq_target_serve_pipe(struct mpiq_target *target, struct mpiq_pipe *pipe,
                                          bool (*other)(void *argument, const char *line), void *argument);

#endif
