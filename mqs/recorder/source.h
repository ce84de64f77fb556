/* SPDX-License-Identifier: BSD-3-Clause */
/* source - what unfinished collectives wait for: the members whose data a neighbourhood collective needs, and
   how often each persistent collective was started. */
#ifndef MQS_RECORDER_SOURCE_H
#define MQS_RECORDER_SOURCE_H

#include "mqs_extensions.h"

/* Slot get_sources of mqs_extensions. */
int source_get(mqs_process *process, int room, mqs_source *ret, int *count);
/* Slot get_persistent. */
int source_get_persistent(mqs_process *process, int room, mqs_persistent *ret, int *count);

#endif
