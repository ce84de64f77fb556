/* SPDX-License-Identifier: BSD-3-Clause */
/* wait - what each thread waits for: the call that it is in, and that call's operations. */
#ifndef MQS_RECORDER_WAIT_H
#define MQS_RECORDER_WAIT_H

#include "mqs_extensions.h"

/* Slots of mqs_extensions. */
int wait_setup_iterator(mqs_process *process);
int wait_next(mqs_process *process, mqs_wait *ret);
int wait_next_operation(mqs_process *process, mqs_pending_operation *ret);

#endif
