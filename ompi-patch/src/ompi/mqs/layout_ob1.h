/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout_ob1.h - the rows of pml/ob1: its queues and what lies in them.
 *
 * ob1 is a loaded object of its own (4.1) or part of libmpi (5.0): the table comes and goes with whatever
 * holds it.  Included by one file of ob1, for its constructor.
 */
#ifndef OMPI_MQS_LAYOUT_OB1_H
#define OMPI_MQS_LAYOUT_OB1_H

#include <stddef.h>

#include "ompi/mqs/layout.h"

#if OMPI_MQS

#include "ompi/mca/bml/bml.h"
#include "ompi/mca/pml/ob1/pml_ob1.h"
#include "ompi/mca/pml/ob1/pml_ob1_comm.h"
#include "ompi/mca/pml/ob1/pml_ob1_hdr.h"
#include "ompi/mca/pml/ob1/pml_ob1_recvfrag.h"
#include "ompi/mca/pml/ob1/pml_ob1_recvreq.h"
#include "ompi/mca/pml/ob1/pml_ob1_sendreq.h"
#include "opal/mca/btl/btl.h"

static const struct ompi_mqs_row ompi_mqs_rows_ob1[] = {
    OMPI_MQS_TYPE_SIZE(mca_pml_ob1_t, mca_pml_ob1_t)
    OMPI_MQS_MEMBER(mca_pml_ob1_t, send_pending)
    OMPI_MQS_MEMBER(mca_pml_ob1_t, recv_pending)
    OMPI_MQS_MEMBER(mca_pml_ob1_t, pckt_pending)
    OMPI_MQS_MEMBER(mca_pml_ob1_t, rdma_pending)
    OMPI_MQS_MEMBER(mca_pml_ob1_t, non_existing_communicator_pending)
    OMPI_MQS_MEMBER(mca_pml_ob1_t, unexpected_limit)

    /* The source calls the structure mca_pml_comm_t, and its type also mca_pml_ob1_comm_t. */
    OMPI_MQS_TYPE_SIZE(mca_pml_ob1_comm_t, mca_pml_ob1_comm_t)
    OMPI_MQS_TYPE_MEMBER(mca_pml_ob1_comm_t, mca_pml_ob1_comm_t, recv_sequence)
    OMPI_MQS_TYPE_MEMBER(mca_pml_ob1_comm_t, mca_pml_ob1_comm_t, procs)
    OMPI_MQS_TYPE_MEMBER(mca_pml_ob1_comm_t, mca_pml_ob1_comm_t, num_procs)
    OMPI_MQS_SIZE(mca_pml_comm_t)
    OMPI_MQS_MEMBER(mca_pml_comm_t, recv_sequence)
    OMPI_MQS_MEMBER(mca_pml_comm_t, procs)
    OMPI_MQS_MEMBER(mca_pml_comm_t, num_procs)
    OMPI_MQS_SIZE(mca_pml_ob1_comm_proc_t)
    OMPI_MQS_MEMBER(mca_pml_ob1_comm_proc_t, ompi_proc)
    OMPI_MQS_MEMBER(mca_pml_ob1_comm_proc_t, expected_sequence)
    OMPI_MQS_MEMBER(mca_pml_ob1_comm_proc_t, send_sequence)
    OMPI_MQS_MEMBER(mca_pml_ob1_comm_proc_t, frags_cant_match)
#if OMPI_MAJOR_VERSION >= 5
    OMPI_MQS_MEMBER(mca_pml_ob1_comm_proc_t, comm_index)
#endif
#if OMPI_MAJOR_VERSION < 5 || !MCA_PML_OB1_CUSTOM_MATCH
    OMPI_MQS_TYPE_MEMBER(mca_pml_ob1_comm_t, mca_pml_ob1_comm_t, wild_receives)
    OMPI_MQS_MEMBER(mca_pml_comm_t, wild_receives)
    OMPI_MQS_MEMBER(mca_pml_ob1_comm_proc_t, specific_receives)
    OMPI_MQS_MEMBER(mca_pml_ob1_comm_proc_t, unexpected_frags)
#endif

    OMPI_MQS_SIZE(mca_pml_ob1_recv_frag_t)
    OMPI_MQS_MEMBER(mca_pml_ob1_recv_frag_t, super)
    OMPI_MQS_MEMBER(mca_pml_ob1_recv_frag_t, hdr)
    OMPI_MQS_MEMBER(mca_pml_ob1_recv_frag_t, num_segments)
    OMPI_MQS_MEMBER(mca_pml_ob1_recv_frag_t, range)
    OMPI_MQS_MEMBER(mca_pml_ob1_recv_frag_t, btl)
    OMPI_MQS_MEMBER(mca_pml_ob1_recv_frag_t, segments)
    OMPI_MQS_MEMBER(mca_pml_ob1_recv_frag_t, buffers)
    OMPI_MQS_MEMBER(mca_pml_ob1_recv_frag_t, addr)
    OMPI_MQS_SIZE(mca_pml_ob1_buffer_t)
    OMPI_MQS_MEMBER(mca_pml_ob1_buffer_t, len)
    OMPI_MQS_MEMBER(mca_pml_ob1_buffer_t, addr)
    OMPI_MQS_SIZE(mca_btl_base_segment_t)
    OMPI_MQS_MEMBER(mca_btl_base_segment_t, seg_addr)
    OMPI_MQS_MEMBER(mca_btl_base_segment_t, seg_len)

    OMPI_MQS_TYPE_SIZE(mca_pml_ob1_hdr_t, mca_pml_ob1_hdr_t)
    OMPI_MQS_TYPE_MEMBER(mca_pml_ob1_hdr_t, mca_pml_ob1_hdr_t, hdr_common)
    OMPI_MQS_TYPE_MEMBER(mca_pml_ob1_hdr_t, mca_pml_ob1_hdr_t, hdr_match)
    OMPI_MQS_TYPE_MEMBER(mca_pml_ob1_hdr_t, mca_pml_ob1_hdr_t, hdr_rndv)
    OMPI_MQS_TYPE_MEMBER(mca_pml_ob1_hdr_t, mca_pml_ob1_hdr_t, hdr_rget)
    OMPI_MQS_SIZE(mca_pml_ob1_common_hdr_t)
    OMPI_MQS_MEMBER(mca_pml_ob1_common_hdr_t, hdr_type)
    OMPI_MQS_MEMBER(mca_pml_ob1_common_hdr_t, hdr_flags)
    OMPI_MQS_SIZE(mca_pml_ob1_match_hdr_t)
    OMPI_MQS_MEMBER(mca_pml_ob1_match_hdr_t, hdr_common)
    OMPI_MQS_MEMBER(mca_pml_ob1_match_hdr_t, hdr_ctx)
    OMPI_MQS_MEMBER(mca_pml_ob1_match_hdr_t, hdr_src)
    OMPI_MQS_MEMBER(mca_pml_ob1_match_hdr_t, hdr_tag)
    OMPI_MQS_MEMBER(mca_pml_ob1_match_hdr_t, hdr_seq)
    OMPI_MQS_SIZE(mca_pml_ob1_rendezvous_hdr_t)
    OMPI_MQS_MEMBER(mca_pml_ob1_rendezvous_hdr_t, hdr_match)
    OMPI_MQS_MEMBER(mca_pml_ob1_rendezvous_hdr_t, hdr_msg_length)
    OMPI_MQS_MEMBER(mca_pml_ob1_rendezvous_hdr_t, hdr_src_req)
    OMPI_MQS_SIZE(mca_pml_ob1_rget_hdr_t)
    OMPI_MQS_MEMBER(mca_pml_ob1_rget_hdr_t, hdr_rndv)
    OMPI_MQS_CONSTANT(OMPI_PML_OB1_MATCH_HDR_LEN)
    OMPI_MQS_CONSTANT(MCA_PML_OB1_HDR_TYPE_MATCH)
    OMPI_MQS_CONSTANT(MCA_PML_OB1_HDR_TYPE_RNDV)
    OMPI_MQS_CONSTANT(MCA_PML_OB1_HDR_TYPE_RGET)
#if OMPI_MAJOR_VERSION >= 5
    OMPI_MQS_CONSTANT(MCA_PML_OB1_HDR_TYPE_CID)
    OMPI_MQS_SIZE(mca_pml_ob1_cid_hdr_t)
#endif

    OMPI_MQS_SIZE(mca_pml_ob1_send_request_t)
    OMPI_MQS_MEMBER(mca_pml_ob1_send_request_t, req_send)
    OMPI_MQS_MEMBER(mca_pml_ob1_send_request_t, req_endpoint)
    OMPI_MQS_MEMBER(mca_pml_ob1_send_request_t, req_recv)
    OMPI_MQS_MEMBER(mca_pml_ob1_send_request_t, req_state)
    OMPI_MQS_MEMBER(mca_pml_ob1_send_request_t, req_bytes_delivered)
    OMPI_MQS_MEMBER(mca_pml_ob1_send_request_t, req_pending)
    OMPI_MQS_SIZE(mca_pml_ob1_recv_request_t)
    OMPI_MQS_MEMBER(mca_pml_ob1_recv_request_t, req_recv)
    OMPI_MQS_MEMBER(mca_pml_ob1_recv_request_t, remote_req_send)
    OMPI_MQS_MEMBER(mca_pml_ob1_recv_request_t, req_bytes_received)
    OMPI_MQS_MEMBER(mca_pml_ob1_recv_request_t, req_bytes_expected)
    OMPI_MQS_MEMBER(mca_pml_ob1_recv_request_t, req_match_received)

    /* For the eager limit: a request's endpoint, its eager BTLs, the first one's module. */
    OMPI_MQS_SIZE(mca_bml_base_endpoint_t)
    OMPI_MQS_MEMBER(mca_bml_base_endpoint_t, btl_eager)
    OMPI_MQS_SIZE(mca_bml_base_btl_array_t)
    OMPI_MQS_MEMBER(mca_bml_base_btl_array_t, arr_size)
    OMPI_MQS_MEMBER(mca_bml_base_btl_array_t, bml_btls)
    OMPI_MQS_SIZE(mca_bml_base_btl_t)
    OMPI_MQS_MEMBER(mca_bml_base_btl_t, btl)
    OMPI_MQS_SIZE(mca_btl_base_module_t)
    OMPI_MQS_MEMBER(mca_btl_base_module_t, btl_eager_limit)
    OMPI_MQS_MEMBER(mca_btl_base_module_t, btl_rndv_eager_limit)
};

OMPI_MQS_TABLE(ompi_mqs_layout_ob1, "pml/ob1", ompi_mqs_rows_ob1)

static void __attribute__((constructor)) ompi_mqs_layout_ob1_loaded(void)
{
    ompi_mqs_layout_ob1_add();
    ompi_mqs_symbol_set("mca_pml_ob1", &mca_pml_ob1);
}

static void __attribute__((destructor)) ompi_mqs_layout_ob1_unloaded(void)
{
    ompi_mqs_symbol_set("mca_pml_ob1", NULL);
    ompi_mqs_table_remove(&ompi_mqs_layout_ob1);
}

#endif /* OMPI_MQS */
#endif
