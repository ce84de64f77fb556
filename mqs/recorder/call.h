/* SPDX-License-Identifier: BSD-3-Clause */
/* call - collective calls of a communicator and of the process, and the history of the threads. */
#ifndef MQS_RECORDER_CALL_H
#define MQS_RECORDER_CALL_H

#include "mqs_extensions.h"

/* Slots of mqs_extensions. */
int call_setup_iterator(mqs_process *process, int list);
int call_next(mqs_process *process, mqs_collective_call *ret);
int call_setup_process_iterator(mqs_process *process);
int call_next_of_process(mqs_process *process, mqs_collective_call *ret);
int call_setup_history(mqs_process *process);
int call_next_past(mqs_process *process, mqs_past_call *ret);

#endif
