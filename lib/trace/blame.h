/* SPDX-License-Identifier: BSD-3-Clause */
/* blame - which delays a wait is due to, and what it costs them. */
#ifndef MPIQ_TRACE_BLAME_H
#define MPIQ_TRACE_BLAME_H

#include "trace/lateness.h"

/* Counts a wait in a call, `ticks` long from its enter on, and finds who was late for it. */
void mpiq_late_add_wait(struct mpiq_late *late, const struct mpiq_trace_mpi_call *call, uint64_t ticks);
void mpiq_late_blame_deinit(struct mpiq_late *late);

#endif
