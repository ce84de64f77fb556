/* SPDX-License-Identifier: BSD-3-Clause */
/* source - whose data the neighbourhood collectives need that have not ended. */
#ifndef MQS_RECORDER_SOURCE_H
#define MQS_RECORDER_SOURCE_H

#include "mqs_extensions.h"

/* Slot get_sources of mqs_extensions. */
int source_get(mqs_process *process, int room, mqs_source *ret, int *count);

#endif
