/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout_part.h - the rows of part/persist: partitioned sends and receives, and the point-to-point requests
 * that each is made of.  See layout_ob1.h.
 */
#ifndef OMPI_MQS_LAYOUT_PART_H
#define OMPI_MQS_LAYOUT_PART_H

#include <stddef.h>

#include "ompi/mqs/layout.h"

#if OMPI_MQS

#include "ompi/mca/part/persist/part_persist.h"

static const struct ompi_mqs_row ompi_mqs_rows_part[] = {
    OMPI_MQS_SIZE(ompi_part_persist_t)
    OMPI_MQS_MEMBER(ompi_part_persist_t, progress_list)
    OMPI_MQS_MEMBER(ompi_part_persist_t, part_comm)
    OMPI_MQS_MEMBER(ompi_part_persist_t, part_comm_setup)
    OMPI_MQS_MEMBER(ompi_part_persist_t, init_comms)
    OMPI_MQS_SIZE(mca_part_persist_list_t)
    OMPI_MQS_MEMBER(mca_part_persist_list_t, item)
    OMPI_MQS_SIZE(mca_part_persist_request_t)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, req_part_complete)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, req_free_called)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, req_type)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, req_comm)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, req_datatype)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, req_addr)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, req_parts)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, req_count)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, req_peer)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, req_tag)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, req_bytes)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, real_parts)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, persist_reqs)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, setup_req)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, initialized)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, first_send)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, flag_post_setup_recv)
    OMPI_MQS_MEMBER(mca_part_persist_request_t, flags)
    OMPI_MQS_CONSTANT(MCA_PART_PERSIST_REQUEST_PSEND)
    OMPI_MQS_CONSTANT(MCA_PART_PERSIST_REQUEST_PRECV)
};

OMPI_MQS_TABLE(ompi_mqs_layout_part, "part/persist", ompi_mqs_rows_part)

static void __attribute__((constructor)) ompi_mqs_layout_part_loaded(void)
{
    ompi_mqs_layout_part_add();
    ompi_mqs_symbol_set("ompi_part_persist", &ompi_part_persist);
}

static void __attribute__((destructor)) ompi_mqs_layout_part_unloaded(void)
{
    ompi_mqs_symbol_set("ompi_part_persist", NULL);
    ompi_mqs_table_remove(&ompi_mqs_layout_part);
}

#endif /* OMPI_MQS */
#endif
