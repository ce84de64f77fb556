/* SPDX-License-Identifier: BSD-3-Clause */
/* fact - the facts for the check at the end: get_checking, setup_fact_iterator and next_fact of the table.
 */
#ifndef MQS_RECORDER_FACT_H
#define MQS_RECORDER_FACT_H

#include "mqs_extensions.h"

int fact_get_checking(mqs_process *process, mqs_checking *ret);
int fact_setup_iterator(mqs_process *process);
int fact_next(mqs_process *process, mqs_fact *ret);

#endif
