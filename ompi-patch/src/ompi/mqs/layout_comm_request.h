/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout_comm_request.h - the rows of a communicator under construction without blocking, and of its steps.
 *
 * Included by the one file that knows what a step is, behind its definition.
 */
#ifndef OMPI_MQS_LAYOUT_COMM_REQUEST_H
#define OMPI_MQS_LAYOUT_COMM_REQUEST_H

#include <stddef.h>

#include "ompi/mqs/layout.h"

#if OMPI_MQS

static const struct ompi_mqs_row ompi_mqs_rows_comm_request[] = {
    OMPI_MQS_SIZE(ompi_comm_request_t)
    OMPI_MQS_MEMBER(ompi_comm_request_t, schedule)
    OMPI_MQS_SIZE(ompi_comm_request_item_t)
    OMPI_MQS_MEMBER(ompi_comm_request_item_t, subreqs)
    OMPI_MQS_MEMBER(ompi_comm_request_item_t, subreq_count)
};

OMPI_MQS_TABLE(ompi_mqs_layout_comm_request, "libmpi: comm_request", ompi_mqs_rows_comm_request)

static void __attribute__((constructor)) ompi_mqs_layout_comm_request_loaded(void)
{
    ompi_mqs_layout_comm_request_add();
}

#endif /* OMPI_MQS */
#endif
