/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_data - what the page's script knows of the job, as JSON: its classes of ranks, whom each rank waits
 * for, the operations in the queues, the last calls.
 *
 * Its size is bounded whatever the job: exact rows, operations and calls only as far as MOST_ of page_data.c
 * goes; what is left out is counted.
 */
#ifndef MPIQ_REPORT_PAGE_DATA_H
#define MPIQ_REPORT_PAGE_DATA_H

#include "report/page.h"

/* Adds the JSON object, safe inside of a script element. */
void mpiq_put_page_data(struct mpiq_page *page);

#endif
