/* SPDX-License-Identifier: BSD-3-Clause */
/* wire - a target at the other end of a pipe that the caller owns and may use between requests (the helper
   does). */
#ifndef MPIQ_WIRE_H
#define MPIQ_WIRE_H

#include "process/pipe.h"
#include "process/target.h"

/* As mpiq_target_wire_create; pipe must outlive the target.  known, a JSON object or NULL, has requests that
   need not be made, with what their replies say after "ok". */
struct mpiq_error *mpiq_target_wire_pipe_create(struct mpiq_pipe *pipe, const char *known,
                                                struct mpiq_target **ret);

/* The pid whose memory the wire's server lets its client read itself; 0 if it does not, or target is no wire.
 */
pid_t mpiq_target_wire_direct(struct mpiq_target *target);

#endif
