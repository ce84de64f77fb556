/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout_libmpi.h - the rows of what every MPI process has: communicators, groups, processes, requests of
 * the common base, datatypes, and the containers they lie in.
 */
#ifndef OMPI_MQS_LAYOUT_LIBMPI_H
#define OMPI_MQS_LAYOUT_LIBMPI_H

#include <stddef.h>

#include "ompi/mqs/layout.h"

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/file/file.h"
#include "ompi/group/group.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/pml/base/pml_base_recvreq.h"
#include "ompi/mca/pml/base/pml_base_request.h"
#include "ompi/mca/pml/base/pml_base_sendreq.h"
#include "ompi/op/op.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "ompi/win/win.h"
#include "opal/class/opal_free_list.h"
#include "opal/class/opal_lifo.h"
#include "opal/class/opal_list.h"
#include "opal/class/opal_object.h"
#include "opal/class/opal_pointer_array.h"
#include "opal/mca/mca.h"
#include "opal/datatype/opal_datatype_internal.h"

static const struct ompi_mqs_row ompi_mqs_rows_libmpi[] = {
    OMPI_MQS_SIZE(ompi_communicator_t)
    OMPI_MQS_MEMBER(ompi_communicator_t, c_name)
    OMPI_MQS_MEMBER(ompi_communicator_t, c_contextid)
    OMPI_MQS_MEMBER(ompi_communicator_t, c_my_rank)
    OMPI_MQS_MEMBER(ompi_communicator_t, c_flags)
    OMPI_MQS_MEMBER(ompi_communicator_t, c_local_group)
    OMPI_MQS_MEMBER(ompi_communicator_t, c_remote_group)
    OMPI_MQS_MEMBER(ompi_communicator_t, c_local_comm)
    OMPI_MQS_MEMBER(ompi_communicator_t, c_topo)
    OMPI_MQS_MEMBER(ompi_communicator_t, c_f_to_c_index)
    OMPI_MQS_MEMBER(ompi_communicator_t, c_pml_comm)
    OMPI_MQS_MEMBER(ompi_communicator_t, c_coll)
    OMPI_MQS_MEMBER(ompi_communicator_t, c_nbc_tag)
/* series: calls */
    OMPI_MQS_MEMBER(ompi_communicator_t, c_mqs)
/* series: end */
#if OMPI_MAJOR_VERSION >= 5
    OMPI_MQS_MEMBER(ompi_communicator_t, c_index)
    OMPI_MQS_SIZE(ompi_comm_extended_cid_t)
    OMPI_MQS_MEMBER(ompi_comm_extended_cid_t, cid_base)
    OMPI_MQS_MEMBER(ompi_comm_extended_cid_t, cid_sub)
    OMPI_MQS_CONSTANT(OMPI_COMM_GLOBAL_INDEX)
#endif
    OMPI_MQS_SIZE(ompi_predefined_communicator_t)

    OMPI_MQS_SIZE(ompi_group_t)
    OMPI_MQS_MEMBER(ompi_group_t, grp_proc_count)
    OMPI_MQS_MEMBER(ompi_group_t, grp_my_rank)
    OMPI_MQS_MEMBER(ompi_group_t, grp_proc_pointers)
    OMPI_MQS_MEMBER(ompi_group_t, grp_flags)
    OMPI_MQS_MEMBER(ompi_group_t, grp_parent_group_ptr)
    OMPI_MQS_MEMBER(ompi_group_t, sparse_data)
    OMPI_MQS_SIZE(ompi_group_sporadic_data_t)
    OMPI_MQS_MEMBER(ompi_group_sporadic_data_t, grp_sporadic_list)
    OMPI_MQS_MEMBER(ompi_group_sporadic_data_t, grp_sporadic_list_len)
    OMPI_MQS_SIZE(ompi_group_sporadic_list_t)
    OMPI_MQS_MEMBER(ompi_group_sporadic_list_t, rank_first)
    OMPI_MQS_MEMBER(ompi_group_sporadic_list_t, length)
    OMPI_MQS_SIZE(ompi_group_strided_data_t)
    OMPI_MQS_MEMBER(ompi_group_strided_data_t, grp_strided_offset)
    OMPI_MQS_MEMBER(ompi_group_strided_data_t, grp_strided_stride)
    OMPI_MQS_MEMBER(ompi_group_strided_data_t, grp_strided_last_element)
    OMPI_MQS_SIZE(ompi_group_bitmap_data_t)
    OMPI_MQS_MEMBER(ompi_group_bitmap_data_t, grp_bitmap_array)
    OMPI_MQS_MEMBER(ompi_group_bitmap_data_t, grp_bitmap_array_len)

    OMPI_MQS_SIZE(ompi_proc_t)
    OMPI_MQS_MEMBER(ompi_proc_t, super)
    OMPI_MQS_SIZE(opal_proc_t)
    OMPI_MQS_MEMBER(opal_proc_t, proc_name)
    OMPI_MQS_TYPE_SIZE(opal_process_name_t, opal_process_name_t)
    OMPI_MQS_TYPE_MEMBER(opal_process_name_t, opal_process_name_t, jobid)
    OMPI_MQS_TYPE_MEMBER(opal_process_name_t, opal_process_name_t, vpid)

    OMPI_MQS_SIZE(opal_object_t)
    OMPI_MQS_MEMBER(opal_object_t, obj_class)
    OMPI_MQS_MEMBER(opal_object_t, obj_reference_count)
    OMPI_MQS_SIZE(opal_class_t)
    OMPI_MQS_MEMBER(opal_class_t, cls_name)
    OMPI_MQS_SIZE(opal_pointer_array_t)
    OMPI_MQS_MEMBER(opal_pointer_array_t, lowest_free)
    OMPI_MQS_MEMBER(opal_pointer_array_t, number_free)
    OMPI_MQS_MEMBER(opal_pointer_array_t, size)
    OMPI_MQS_MEMBER(opal_pointer_array_t, addr)
    OMPI_MQS_SIZE(opal_list_item_t)
    OMPI_MQS_MEMBER(opal_list_item_t, opal_list_next)
    OMPI_MQS_MEMBER(opal_list_item_t, opal_list_prev)
    OMPI_MQS_SIZE(opal_list_t)
    OMPI_MQS_MEMBER(opal_list_t, opal_list_sentinel)
    OMPI_MQS_MEMBER(opal_list_t, opal_list_length)
    OMPI_MQS_SIZE(opal_lifo_t)
    OMPI_MQS_MEMBER(opal_lifo_t, opal_lifo_head)
    OMPI_MQS_MEMBER(opal_lifo_t, opal_lifo_ghost)
    OMPI_MQS_SIZE(opal_free_list_t)
    OMPI_MQS_MEMBER(opal_free_list_t, super)
    OMPI_MQS_MEMBER(opal_free_list_t, fl_num_allocated)
    OMPI_MQS_MEMBER(opal_free_list_t, fl_num_per_alloc)
    OMPI_MQS_MEMBER(opal_free_list_t, fl_frag_size)
    OMPI_MQS_MEMBER(opal_free_list_t, fl_frag_alignment)
    OMPI_MQS_MEMBER(opal_free_list_t, fl_payload_buffer_size)
    OMPI_MQS_MEMBER(opal_free_list_t, fl_payload_buffer_alignment)
    OMPI_MQS_MEMBER(opal_free_list_t, fl_frag_class)
    OMPI_MQS_MEMBER(opal_free_list_t, fl_allocations)
    OMPI_MQS_SIZE(opal_free_list_item_t)
    OMPI_MQS_MEMBER(opal_free_list_item_t, super)

    OMPI_MQS_SIZE(ompi_request_t)
    OMPI_MQS_MEMBER(ompi_request_t, super)
    OMPI_MQS_MEMBER(ompi_request_t, req_type)
    OMPI_MQS_MEMBER(ompi_request_t, req_status)
    OMPI_MQS_MEMBER(ompi_request_t, req_complete)
    OMPI_MQS_MEMBER(ompi_request_t, req_state)
    OMPI_MQS_MEMBER(ompi_request_t, req_persistent)
    OMPI_MQS_MEMBER(ompi_request_t, req_f_to_c_index)
    OMPI_MQS_MEMBER(ompi_request_t, req_mpi_object)
    OMPI_MQS_SIZE(ompi_status_public_t)
    OMPI_MQS_MEMBER(ompi_status_public_t, MPI_SOURCE)
    OMPI_MQS_MEMBER(ompi_status_public_t, MPI_TAG)
    OMPI_MQS_MEMBER(ompi_status_public_t, MPI_ERROR)
    OMPI_MQS_MEMBER(ompi_status_public_t, _cancelled)
    OMPI_MQS_MEMBER(ompi_status_public_t, _ucount)
    OMPI_MQS_SIZE(ompi_wait_sync_t)
    OMPI_MQS_MEMBER(ompi_wait_sync_t, count)
    OMPI_MQS_MEMBER(ompi_wait_sync_t, status)
    OMPI_MQS_MEMBER(ompi_wait_sync_t, next)
    OMPI_MQS_MEMBER(ompi_wait_sync_t, prev)

    OMPI_MQS_SIZE(mca_pml_base_request_t)
    OMPI_MQS_MEMBER(mca_pml_base_request_t, req_ompi)
    OMPI_MQS_MEMBER(mca_pml_base_request_t, req_pml_complete)
    OMPI_MQS_MEMBER(mca_pml_base_request_t, req_free_called)
    OMPI_MQS_MEMBER(mca_pml_base_request_t, req_type)
    OMPI_MQS_MEMBER(mca_pml_base_request_t, req_comm)
    OMPI_MQS_MEMBER(mca_pml_base_request_t, req_datatype)
    OMPI_MQS_MEMBER(mca_pml_base_request_t, req_addr)
    OMPI_MQS_MEMBER(mca_pml_base_request_t, req_count)
    OMPI_MQS_MEMBER(mca_pml_base_request_t, req_peer)
    OMPI_MQS_MEMBER(mca_pml_base_request_t, req_tag)
    OMPI_MQS_MEMBER(mca_pml_base_request_t, req_proc)
    OMPI_MQS_MEMBER(mca_pml_base_request_t, req_sequence)
    OMPI_MQS_SIZE(mca_pml_base_send_request_t)
    OMPI_MQS_MEMBER(mca_pml_base_send_request_t, req_base)
    OMPI_MQS_MEMBER(mca_pml_base_send_request_t, req_addr)
    OMPI_MQS_MEMBER(mca_pml_base_send_request_t, req_bytes_packed)
    OMPI_MQS_MEMBER(mca_pml_base_send_request_t, req_send_mode)
    OMPI_MQS_SIZE(mca_pml_base_recv_request_t)
    OMPI_MQS_MEMBER(mca_pml_base_recv_request_t, req_base)
    OMPI_MQS_MEMBER(mca_pml_base_recv_request_t, req_bytes_packed)

    OMPI_MQS_SIZE(opal_datatype_t)
    OMPI_MQS_MEMBER(opal_datatype_t, flags)
    OMPI_MQS_MEMBER(opal_datatype_t, id)
    OMPI_MQS_MEMBER(opal_datatype_t, size)
    OMPI_MQS_MEMBER(opal_datatype_t, true_lb)
    OMPI_MQS_MEMBER(opal_datatype_t, true_ub)
    OMPI_MQS_MEMBER(opal_datatype_t, lb)
    OMPI_MQS_MEMBER(opal_datatype_t, ub)
    OMPI_MQS_MEMBER(opal_datatype_t, nbElems)
    OMPI_MQS_MEMBER(opal_datatype_t, name)
    OMPI_MQS_MEMBER(opal_datatype_t, desc)
    OMPI_MQS_MEMBER(opal_datatype_t, opt_desc)
    OMPI_MQS_SIZE(dt_type_desc_t)
    OMPI_MQS_MEMBER(dt_type_desc_t, length)
    OMPI_MQS_MEMBER(dt_type_desc_t, used)
    OMPI_MQS_MEMBER(dt_type_desc_t, desc)
    /* An entry of a description is one of three, told apart by the type in their common beginning. */
    OMPI_MQS_TYPE_SIZE(union dt_elem_desc, dt_elem_desc)
    OMPI_MQS_SIZE(ddt_elem_id_description)
    OMPI_MQS_MEMBER(ddt_elem_id_description, flags)
    OMPI_MQS_MEMBER(ddt_elem_id_description, type)
    OMPI_MQS_SIZE(ddt_elem_desc)
    OMPI_MQS_MEMBER(ddt_elem_desc, common)
    OMPI_MQS_MEMBER(ddt_elem_desc, count)
    OMPI_MQS_MEMBER(ddt_elem_desc, blocklen)
    OMPI_MQS_MEMBER(ddt_elem_desc, extent)
    OMPI_MQS_MEMBER(ddt_elem_desc, disp)
    OMPI_MQS_SIZE(ddt_loop_desc)
    OMPI_MQS_MEMBER(ddt_loop_desc, common)
    OMPI_MQS_MEMBER(ddt_loop_desc, items)
    OMPI_MQS_MEMBER(ddt_loop_desc, loops)
    OMPI_MQS_MEMBER(ddt_loop_desc, extent)
    OMPI_MQS_SIZE(ddt_endloop_desc)
    OMPI_MQS_MEMBER(ddt_endloop_desc, common)
    OMPI_MQS_MEMBER(ddt_endloop_desc, items)
    OMPI_MQS_MEMBER(ddt_endloop_desc, size)
    OMPI_MQS_MEMBER(ddt_endloop_desc, first_elem_disp)
    OMPI_MQS_SIZE(ompi_datatype_t)
    OMPI_MQS_MEMBER(ompi_datatype_t, super)
    OMPI_MQS_MEMBER(ompi_datatype_t, id)
    OMPI_MQS_MEMBER(ompi_datatype_t, d_f_to_c_index)
    OMPI_MQS_MEMBER(ompi_datatype_t, args)
    OMPI_MQS_MEMBER(ompi_datatype_t, name)
    OMPI_MQS_SIZE(ompi_predefined_datatype_t)
    OMPI_MQS_SIZE(ompi_op_t)
    OMPI_MQS_MEMBER(ompi_op_t, o_name)
    OMPI_MQS_MEMBER(ompi_op_t, o_flags)
    OMPI_MQS_MEMBER(ompi_op_t, o_f_to_c_index)

    OMPI_MQS_TYPE_SIZE(mca_base_component_t, mca_base_component_t)
    OMPI_MQS_TYPE_MEMBER(mca_base_component_t, mca_base_component_t, mca_component_name)
    OMPI_MQS_SIZE(mca_coll_base_comm_coll_t)
    OMPI_MQS_MEMBER(mca_coll_base_comm_coll_t, coll_allreduce_module)
    OMPI_MQS_MEMBER(mca_coll_base_comm_coll_t, coll_barrier_module)
    OMPI_MQS_MEMBER(mca_coll_base_comm_coll_t, coll_bcast_module)
    OMPI_MQS_MEMBER(mca_coll_base_comm_coll_t, coll_reduce_module)

    OMPI_MQS_SIZE(ompi_win_t)
    OMPI_MQS_MEMBER(ompi_win_t, w_name)
/* series: waits */
    OMPI_MQS_MEMBER(ompi_win_t, w_mqs)
/* series: end */
    OMPI_MQS_MEMBER(ompi_win_t, w_group)
    OMPI_MQS_MEMBER(ompi_win_t, w_flags)

    OMPI_MQS_CONSTANT(MPI_ANY_SOURCE)
    OMPI_MQS_CONSTANT(MPI_ANY_TAG)
    OMPI_MQS_CONSTANT(MPI_PROC_NULL)
    OMPI_MQS_CONSTANT(MPI_ROOT)
    OMPI_MQS_CONSTANT(MPI_UNDEFINED)
    OMPI_MQS_CONSTANT(OMPI_COMM_INTER)
    OMPI_MQS_CONSTANT(OMPI_COMM_NAMEISSET)
    OMPI_MQS_CONSTANT(OMPI_COMM_INTRINSIC)
    OMPI_MQS_CONSTANT(OMPI_COMM_DYNAMIC)
    OMPI_MQS_CONSTANT(OMPI_COMM_ISFREED)
    OMPI_MQS_CONSTANT(OMPI_COMM_INVALID)
    OMPI_MQS_CONSTANT(OMPI_COMM_CART)
    OMPI_MQS_CONSTANT(OMPI_COMM_GRAPH)
    OMPI_MQS_CONSTANT(OMPI_COMM_DIST_GRAPH)
    OMPI_MQS_CONSTANT(OMPI_COMM_PML_ADDED)
    OMPI_MQS_CONSTANT(OMPI_GROUP_ISFREED)
    OMPI_MQS_CONSTANT(OMPI_GROUP_INTRINSIC)
    OMPI_MQS_CONSTANT(OMPI_GROUP_DENSE)
    OMPI_MQS_CONSTANT(OMPI_GROUP_SPORADIC)
    OMPI_MQS_CONSTANT(OMPI_GROUP_STRIDED)
    OMPI_MQS_CONSTANT(OMPI_GROUP_BITMAP)
    OMPI_MQS_CONSTANT(OMPI_REQUEST_PML)
    OMPI_MQS_CONSTANT(OMPI_REQUEST_IO)
    OMPI_MQS_CONSTANT(OMPI_REQUEST_GEN)
    OMPI_MQS_CONSTANT(OMPI_REQUEST_WIN)
    OMPI_MQS_CONSTANT(OMPI_REQUEST_COLL)
    OMPI_MQS_CONSTANT(OMPI_REQUEST_NULL)
    OMPI_MQS_CONSTANT(OMPI_REQUEST_NOOP)
    OMPI_MQS_CONSTANT(OMPI_REQUEST_COMM)
    OMPI_MQS_CONSTANT(OMPI_REQUEST_INVALID)
    OMPI_MQS_CONSTANT(OMPI_REQUEST_INACTIVE)
    OMPI_MQS_CONSTANT(OMPI_REQUEST_ACTIVE)
    OMPI_MQS_CONSTANT(OMPI_REQUEST_CANCELLED)
    OMPI_MQS_CONSTANT(MCA_PML_REQUEST_NULL)
    OMPI_MQS_CONSTANT(MCA_PML_REQUEST_SEND)
    OMPI_MQS_CONSTANT(MCA_PML_REQUEST_RECV)
    OMPI_MQS_CONSTANT(MCA_PML_REQUEST_IPROBE)
    OMPI_MQS_CONSTANT(MCA_PML_REQUEST_PROBE)
    OMPI_MQS_CONSTANT(MCA_PML_REQUEST_IMPROBE)
    OMPI_MQS_CONSTANT(MCA_PML_REQUEST_MPROBE)
    OMPI_MQS_CONSTANT(MCA_PML_BASE_SEND_STANDARD)
    OMPI_MQS_CONSTANT(MCA_PML_BASE_SEND_BUFFERED)
    OMPI_MQS_CONSTANT(MCA_PML_BASE_SEND_SYNCHRONOUS)
    OMPI_MQS_CONSTANT(MCA_PML_BASE_SEND_READY)
    OMPI_MQS_CONSTANT(MCA_COLL_BASE_TAG_NONBLOCKING_BASE)
    OMPI_MQS_CONSTANT(OPAL_DATATYPE_FLAG_PREDEFINED)
    OMPI_MQS_CONSTANT(OPAL_DATATYPE_FLAG_COMMITTED)
    OMPI_MQS_CONSTANT(OPAL_DATATYPE_FLAG_DATA)
    OMPI_MQS_CONSTANT(OPAL_DATATYPE_LOOP)
    OMPI_MQS_CONSTANT(OPAL_DATATYPE_END_LOOP)
    OMPI_MQS_CONSTANT(OMPI_OP_FLAGS_INTRINSIC)
};

OMPI_MQS_TABLE(ompi_mqs_layout_libmpi_table, "libmpi", ompi_mqs_rows_libmpi)

static void ompi_mqs_layout_libmpi_add(void)
{
    ompi_mqs_layout_libmpi_table_add();
    ompi_mqs_symbol_set("ompi_mpi_communicators", &ompi_mpi_communicators);
    ompi_mqs_symbol_set("ompi_mpi_comm_world", &ompi_mpi_comm_world);
    ompi_mqs_symbol_set("ompi_mpi_comm_self", &ompi_mpi_comm_self);
    ompi_mqs_symbol_set("ompi_mpi_comm_null", &ompi_mpi_comm_null);
    ompi_mqs_symbol_set("ompi_comm_f_to_c_table", &ompi_comm_f_to_c_table);
    ompi_mqs_symbol_set("ompi_request_f_to_c_table", &ompi_request_f_to_c_table);
    ompi_mqs_symbol_set("ompi_request_null", &ompi_request_null);
    ompi_mqs_symbol_set("ompi_request_empty", &ompi_request_empty);
    ompi_mqs_symbol_set("opal_datatype_basicDatatypes", opal_datatype_basicDatatypes);
    ompi_mqs_symbol_set("mca_pml_base_send_requests", &mca_pml_base_send_requests);
    ompi_mqs_symbol_set("mca_pml_base_recv_requests", &mca_pml_base_recv_requests);
#if OMPI_MAJOR_VERSION >= 5
    ompi_mqs_symbol_set("opal_uses_threads", &opal_uses_threads);
    ompi_mqs_symbol_set("opal_threads_base_wait_sync_list", (void *) &opal_threads_base_wait_sync_list);
#else
    ompi_mqs_symbol_set("opal_uses_threads", &opal_uses_threads);
#endif
}

#endif
