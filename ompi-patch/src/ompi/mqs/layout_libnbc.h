/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout_libnbc.h - the rows of coll/libnbc: non-blocking collectives under way, and the point-to-point
 * requests that each is waiting for now.  See layout_ob1.h.
 */
#ifndef OMPI_MQS_LAYOUT_LIBNBC_H
#define OMPI_MQS_LAYOUT_LIBNBC_H

#include <stddef.h>

#include "ompi/mqs/layout.h"

#if OMPI_MQS

#include "ompi/mca/coll/libnbc/coll_libnbc.h"

static const struct ompi_mqs_row ompi_mqs_rows_libnbc[] = {
    OMPI_MQS_SIZE(ompi_coll_libnbc_component_t)
    OMPI_MQS_MEMBER(ompi_coll_libnbc_component_t, requests)
    OMPI_MQS_MEMBER(ompi_coll_libnbc_component_t, active_requests)
    OMPI_MQS_SIZE(ompi_coll_libnbc_request_t)
    OMPI_MQS_MEMBER(ompi_coll_libnbc_request_t, super)
    OMPI_MQS_MEMBER(ompi_coll_libnbc_request_t, comm)
    OMPI_MQS_MEMBER(ompi_coll_libnbc_request_t, nbc_complete)
    OMPI_MQS_MEMBER(ompi_coll_libnbc_request_t, tag)
    OMPI_MQS_MEMBER(ompi_coll_libnbc_request_t, req_count)
    OMPI_MQS_MEMBER(ompi_coll_libnbc_request_t, req_array)
};

OMPI_MQS_TABLE(ompi_mqs_layout_libnbc, "coll/libnbc", ompi_mqs_rows_libnbc)

static void __attribute__((constructor)) ompi_mqs_layout_libnbc_loaded(void)
{
    ompi_mqs_layout_libnbc_add();
    ompi_mqs_symbol_set("mca_coll_libnbc_component", &mca_coll_libnbc_component);
}

static void __attribute__((destructor)) ompi_mqs_layout_libnbc_unloaded(void)
{
    ompi_mqs_symbol_set("mca_coll_libnbc_component", NULL);
    ompi_mqs_table_remove(&ompi_mqs_layout_libnbc);
}

#endif /* OMPI_MQS */
#endif
