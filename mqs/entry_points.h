/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * entry_points - what the two files of entry points share.
 */
#ifndef MQS_ENTRY_POINTS_H
#define MQS_ENTRY_POINTS_H

#include "mpi_interface.h"

/* Everything else stays inside. */
#if defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

/* What hangs on the process; NULL if nothing does. */
mqs_process_info *entry_process(mqs_process *process);

/* Ends the iterators that run on the current communicator. */
void entry_leave_communicator(mqs_process_info *info);

#endif
