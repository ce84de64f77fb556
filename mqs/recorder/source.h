/* SPDX-License-Identifier: BSD-3-Clause */
/* source - on whose calls those that have not ended depend: whose data neighbourhood collectives need, and
   how often persistent collectives were started. */
#ifndef MQS_RECORDER_SOURCE_H
#define MQS_RECORDER_SOURCE_H

#include "mqs_extensions.h"

/* Slot get_sources of mqs_extensions. */
int source_get(mqs_process *process, int room, mqs_source *ret, int *count);
/* Slot get_persistent. */
int source_get_persistent(mqs_process *process, int room, mqs_persistent *ret, int *count);

#endif
