/* SPDX-License-Identifier: BSD-3-Clause */
/* serve - the server's side of the wire over a pipe that the caller keeps (deadline, limit). */
#ifndef MPIQ_SERVE_H
#define MPIQ_SERVE_H

#include "process/pipe.h"
#include "process/target.h"

/* As mpiq_target_serve.  direct: the pid whose memory the client may read itself, 0 none, -1 found out.  A
   line that `other` is given is valid until it returns. */
struct mpiq_error *mpiq_target_serve_pipe(struct mpiq_target *target, struct mpiq_pipe *pipe, pid_t direct,
                                          bool (*other)(void *argument, const char *line), void *argument);

/* What stands after "ok" in the reply to a request that has one and asks for no memory; NULL where the reply
   is an error.  The caller frees it. */
char *mpiq_target_reply(struct mpiq_target *target, pid_t direct, const char *request);

#endif
