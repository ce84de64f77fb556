/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window - the windows of one process, their epochs and locks.
 */
#ifndef MQS_RECORDER_WINDOW_H
#define MQS_RECORDER_WINDOW_H

#include "process.h"

/* The entries of mqs_extensions of these names. */
int window_setup_iterator(mqs_process *process);
int window_next(mqs_process *process, mqs_window *ret);
int window_get_locks(mqs_process *process, int room, mqs_window_lock *ret, int *count);
/* Between epochs: members of any group given to MPI_Win_post, or MPI_Win_start, so far. */
int window_get_group(mqs_process *process, int exposure, int room, int *ret, int *count);
int window_get_progress(mqs_process *process, mqs_window_progress *ret);

#endif
