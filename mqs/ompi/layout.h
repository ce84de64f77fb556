/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout - where the members of the library's structures lie, from one of two providers.
 *
 * A patched library keeps tables of (structure, member, offset, size) in its memory; an unpatched one that
 * was built with -g answers the same questions through the debugger's type callbacks.  Both fill the same
 * slots, checked once when they are filled: a member lies inside its structure and has the width that its
 * readers expect, so that nobody after this needs to check again.
 *
 * It leaves to others: reading the structures (fetch), what they mean.
 */
#ifndef MQS_OMPI_LAYOUT_H
#define MQS_OMPI_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "mqs_extensions.h"

/* No structure that is read whole is larger. */
#define LAYOUT_MAX_STRUCT 4096

/* Width of a member: ANY is not read as a number (arrays, structures, or told apart by its size). */
enum layout_kind {
    KIND_ANY,
    KIND_BYTE,
    KIND_HALF,
    KIND_WORD,   /* 4 bytes: int, enum, uint32_t */
    KIND_DOUBLE, /* 8 bytes */
    KIND_POINTER,
    KIND_SIZE /* size_t */
};

/* What cannot be read without the row. */
enum layout_group {
    GROUP_COMMUNICATORS,
    GROUP_REQUESTS,
    GROUP_OB1, /* unexpected messages, probes, channels */
    GROUP_LIBNBC,
    GROUP_DATATYPES,    /* what datatypes consist of, and how they were made: debug information is asked */
    GROUP_CONSTRUCTORS, /* when somebody wants to know */
    GROUP_OPTIONAL      /* each reader asks layout_has */
};

/* X(slot, structure, member, kind, group); an empty member is the structure's size.  Rows of a structure
   stand together, its size first. */
#define LAYOUT_ROWS(X)                                                                         \
    X(COMM, "ompi_communicator_t", "", ANY, COMMUNICATORS)                                     \
    X(COMM_NAME, "ompi_communicator_t", "c_name", ANY, COMMUNICATORS)                          \
    X(COMM_CONTEXT, "ompi_communicator_t", "c_contextid", ANY, COMMUNICATORS)                  \
    X(COMM_INDEX, "ompi_communicator_t", "c_index", WORD, OPTIONAL)                            \
    X(COMM_MY_RANK, "ompi_communicator_t", "c_my_rank", WORD, COMMUNICATORS)                   \
    X(COMM_FLAGS, "ompi_communicator_t", "c_flags", WORD, COMMUNICATORS)                       \
    X(COMM_LOCAL_GROUP, "ompi_communicator_t", "c_local_group", POINTER, COMMUNICATORS)        \
    X(COMM_REMOTE_GROUP, "ompi_communicator_t", "c_remote_group", POINTER, COMMUNICATORS)      \
    X(COMM_LOCAL_COMM, "ompi_communicator_t", "c_local_comm", POINTER, OPTIONAL)               \
    X(COMM_PML_COMM, "ompi_communicator_t", "c_pml_comm", POINTER, OB1)                        \
    X(COMM_NBC_TAG, "ompi_communicator_t", "c_nbc_tag", WORD, OPTIONAL)                        \
    X(COMM_COLL, "ompi_communicator_t", "c_coll", POINTER, OPTIONAL)                           \
    X(COMM_BSEND, "ompi_communicator_t", "bsend_buffer", POINTER, OPTIONAL)                    \
    X(COMM_MQS, "ompi_communicator_t", "c_mqs", POINTER, OPTIONAL)                             \
    X(CID, "ompi_comm_extended_cid_t", "", ANY, OPTIONAL)                                      \
    X(CID_BASE, "ompi_comm_extended_cid_t", "cid_base", DOUBLE, OPTIONAL)                      \
    X(CID_SUB, "ompi_comm_extended_cid_t", "cid_sub", DOUBLE, OPTIONAL)                        \
    X(GROUP, "ompi_group_t", "", ANY, COMMUNICATORS)                                           \
    X(GROUP_COUNT, "ompi_group_t", "grp_proc_count", WORD, COMMUNICATORS)                      \
    X(GROUP_PROCS, "ompi_group_t", "grp_proc_pointers", POINTER, COMMUNICATORS)                \
    X(GROUP_FLAGS, "ompi_group_t", "grp_flags", WORD, COMMUNICATORS)                           \
    X(GROUP_PARENT, "ompi_group_t", "grp_parent_group_ptr", POINTER, OPTIONAL)                 \
    X(GROUP_SPARSE, "ompi_group_t", "sparse_data", ANY, OPTIONAL)                              \
    X(SPORADIC, "ompi_group_sporadic_data_t", "", ANY, OPTIONAL)                               \
    X(SPORADIC_LIST, "ompi_group_sporadic_data_t", "grp_sporadic_list", POINTER, OPTIONAL)     \
    X(SPORADIC_LENGTH, "ompi_group_sporadic_data_t", "grp_sporadic_list_len", WORD, OPTIONAL)  \
    X(RANGE, "ompi_group_sporadic_list_t", "", ANY, OPTIONAL)                                  \
    X(RANGE_FIRST, "ompi_group_sporadic_list_t", "rank_first", WORD, OPTIONAL)                 \
    X(RANGE_LENGTH, "ompi_group_sporadic_list_t", "length", WORD, OPTIONAL)                    \
    X(STRIDED, "ompi_group_strided_data_t", "", ANY, OPTIONAL)                                 \
    X(STRIDED_OFFSET, "ompi_group_strided_data_t", "grp_strided_offset", WORD, OPTIONAL)       \
    X(STRIDED_STRIDE, "ompi_group_strided_data_t", "grp_strided_stride", WORD, OPTIONAL)       \
    X(BITMAP, "ompi_group_bitmap_data_t", "", ANY, OPTIONAL)                                   \
    X(BITMAP_ARRAY, "ompi_group_bitmap_data_t", "grp_bitmap_array", POINTER, OPTIONAL)         \
    X(BITMAP_LENGTH, "ompi_group_bitmap_data_t", "grp_bitmap_array_len", WORD, OPTIONAL)       \
    X(WIN_NAME, "ompi_win_t", "w_name", ANY, OPTIONAL)                                         \
    X(PROC, "opal_proc_t", "", ANY, COMMUNICATORS)                                             \
    X(PROC_NAME, "opal_proc_t", "proc_name", ANY, COMMUNICATORS)                               \
    X(NAME, "opal_process_name_t", "", ANY, COMMUNICATORS)                                     \
    X(NAME_JOBID, "opal_process_name_t", "jobid", WORD, COMMUNICATORS)                         \
    X(NAME_VPID, "opal_process_name_t", "vpid", WORD, COMMUNICATORS)                           \
    X(ARRAY, "opal_pointer_array_t", "", ANY, COMMUNICATORS)                                   \
    X(ARRAY_SIZE, "opal_pointer_array_t", "size", WORD, COMMUNICATORS)                         \
    X(ARRAY_ADDRESS, "opal_pointer_array_t", "addr", POINTER, COMMUNICATORS)                   \
    X(OBJECT, "opal_object_t", "", ANY, OPTIONAL)                                              \
    X(OBJECT_CLASS, "opal_object_t", "obj_class", POINTER, OPTIONAL)                           \
    X(OBJECT_REFERENCES, "opal_object_t", "obj_reference_count", WORD, OPTIONAL)               \
    X(CLASS, "opal_class_t", "", ANY, OPTIONAL)                                                \
    X(CLASS_NAME, "opal_class_t", "cls_name", POINTER, OPTIONAL)                               \
    X(LIST, "opal_list_t", "", ANY, REQUESTS)                                                  \
    X(LIST_SENTINEL, "opal_list_t", "opal_list_sentinel", ANY, REQUESTS)                       \
    X(LIST_LENGTH, "opal_list_t", "opal_list_length", SIZE, REQUESTS)                          \
    X(ITEM, "opal_list_item_t", "", ANY, REQUESTS)                                             \
    X(ITEM_NEXT, "opal_list_item_t", "opal_list_next", POINTER, REQUESTS)                      \
    X(ITEM_PREVIOUS, "opal_list_item_t", "opal_list_prev", POINTER, OPTIONAL)                  \
    X(FREE_LIST, "opal_free_list_t", "", ANY, REQUESTS)                                        \
    X(FREE_LIST_ALLOCATED, "opal_free_list_t", "fl_num_allocated", SIZE, REQUESTS)             \
    X(FREE_LIST_PER_ALLOC, "opal_free_list_t", "fl_num_per_alloc", SIZE, REQUESTS)             \
    X(FREE_LIST_FRAG_SIZE, "opal_free_list_t", "fl_frag_size", SIZE, REQUESTS)                 \
    X(FREE_LIST_ALIGNMENT, "opal_free_list_t", "fl_frag_alignment", SIZE, REQUESTS)            \
    X(FREE_LIST_CHUNKS, "opal_free_list_t", "fl_allocations", ANY, REQUESTS)                   \
    X(FREE_LIST_CLASS, "opal_free_list_t", "fl_frag_class", POINTER, OPTIONAL)                 \
    X(FREE_ITEM, "opal_free_list_item_t", "", ANY, REQUESTS)                                   \
    X(REQUEST, "ompi_request_t", "", ANY, REQUESTS)                                            \
    X(REQUEST_TYPE, "ompi_request_t", "req_type", WORD, REQUESTS)                              \
    X(REQUEST_STATUS, "ompi_request_t", "req_status", ANY, REQUESTS)                           \
    X(REQUEST_COMPLETE, "ompi_request_t", "req_complete", POINTER, REQUESTS)                   \
    X(REQUEST_STATE, "ompi_request_t", "req_state", WORD, REQUESTS)                            \
    X(REQUEST_PERSISTENT, "ompi_request_t", "req_persistent", BYTE, REQUESTS)                  \
    X(STATUS, "ompi_status_public_t", "", ANY, REQUESTS)                                       \
    X(STATUS_SOURCE, "ompi_status_public_t", "MPI_SOURCE", WORD, REQUESTS)                     \
    X(STATUS_TAG, "ompi_status_public_t", "MPI_TAG", WORD, REQUESTS)                           \
    X(STATUS_CANCELLED, "ompi_status_public_t", "_cancelled", WORD, OPTIONAL)                  \
    X(STATUS_BYTES, "ompi_status_public_t", "_ucount", SIZE, REQUESTS)                         \
    X(STATUS_ERROR, "ompi_status_public_t", "MPI_ERROR", WORD, OPTIONAL)                       \
    X(PML, "mca_pml_base_request_t", "", ANY, REQUESTS)                                        \
    X(PML_COMPLETE, "mca_pml_base_request_t", "req_pml_complete", WORD, OPTIONAL)              \
    X(PML_FREED, "mca_pml_base_request_t", "req_free_called", WORD, REQUESTS)                  \
    X(PML_TYPE, "mca_pml_base_request_t", "req_type", WORD, REQUESTS)                          \
    X(PML_COMM, "mca_pml_base_request_t", "req_comm", POINTER, REQUESTS)                       \
    X(PML_DATATYPE, "mca_pml_base_request_t", "req_datatype", POINTER, REQUESTS)               \
    X(PML_ADDRESS, "mca_pml_base_request_t", "req_addr", POINTER, REQUESTS)                    \
    X(PML_COUNT, "mca_pml_base_request_t", "req_count", SIZE, REQUESTS)                        \
    X(PML_PEER, "mca_pml_base_request_t", "req_peer", WORD, REQUESTS)                          \
    X(PML_TAG, "mca_pml_base_request_t", "req_tag", WORD, REQUESTS)                            \
    X(PML_SEQUENCE, "mca_pml_base_request_t", "req_sequence", DOUBLE, REQUESTS)                \
    X(SEND, "mca_pml_base_send_request_t", "", ANY, REQUESTS)                                  \
    X(SEND_ADDRESS, "mca_pml_base_send_request_t", "req_addr", POINTER, REQUESTS)              \
    X(SEND_BYTES, "mca_pml_base_send_request_t", "req_bytes_packed", SIZE, REQUESTS)           \
    X(SEND_MODE, "mca_pml_base_send_request_t", "req_send_mode", WORD, REQUESTS)               \
    X(RECV, "mca_pml_base_recv_request_t", "", ANY, REQUESTS)                                  \
    X(RECV_BYTES, "mca_pml_base_recv_request_t", "req_bytes_packed", SIZE, REQUESTS)           \
    X(OPAL_TYPE, "opal_datatype_t", "", ANY, OPTIONAL)                                         \
    X(OPAL_TYPE_SIZE, "opal_datatype_t", "size", SIZE, OPTIONAL)                               \
    X(OPAL_TYPE_FLAGS, "opal_datatype_t", "flags", HALF, OPTIONAL)                             \
    X(OPAL_TYPE_LOWER, "opal_datatype_t", "lb", SIZE, OPTIONAL)                                \
    X(OPAL_TYPE_UPPER, "opal_datatype_t", "ub", SIZE, OPTIONAL)                                \
    X(OPAL_TYPE_NAME, "opal_datatype_t", "name", ANY, OPTIONAL)                                \
    X(OPAL_TYPE_DESCRIPTION, "opal_datatype_t", "desc", ANY, OPTIONAL)                         \
    X(TYPE, "ompi_datatype_t", "", ANY, OPTIONAL)                                              \
    X(TYPE_NAME, "ompi_datatype_t", "name", ANY, OPTIONAL)                                     \
    X(TYPE_ARGUMENTS, "ompi_datatype_t", "args", POINTER, OPTIONAL)                            \
    X(DESCRIPTION, "dt_type_desc_t", "", ANY, DATATYPES)                                       \
    X(DESCRIPTION_USED, "dt_type_desc_t", "used", SIZE, DATATYPES)                             \
    X(DESCRIPTION_ENTRIES, "dt_type_desc_t", "desc", POINTER, DATATYPES)                       \
    X(ENTRY, "ddt_elem_id_description", "", ANY, DATATYPES)                                    \
    X(ENTRY_TYPE, "ddt_elem_id_description", "type", HALF, DATATYPES)                          \
    X(ELEMENT, "ddt_elem_desc", "", ANY, DATATYPES)                                            \
    X(ELEMENT_COUNT, "ddt_elem_desc", "count", WORD, DATATYPES)                                \
    X(ELEMENT_LENGTH, "ddt_elem_desc", "blocklen", SIZE, DATATYPES)                            \
    X(ELEMENT_STRIDE, "ddt_elem_desc", "extent", SIZE, DATATYPES)                              \
    X(ELEMENT_DISPLACEMENT, "ddt_elem_desc", "disp", SIZE, DATATYPES)                          \
    X(LOOP, "ddt_loop_desc", "", ANY, DATATYPES)                                               \
    X(LOOP_COUNT, "ddt_loop_desc", "loops", WORD, DATATYPES)                                   \
    X(LOOP_EXTENT, "ddt_loop_desc", "extent", SIZE, DATATYPES)                                 \
    X(ARGUMENTS, "ompi_datatype_args_t", "", ANY, CONSTRUCTORS)                                \
    X(ARGUMENTS_COMBINER, "ompi_datatype_args_t", "create_type", WORD, OPTIONAL)               \
    X(ARGUMENTS_INTEGER_COUNT, "ompi_datatype_args_t", "ci", WORD, OPTIONAL)                   \
    X(ARGUMENTS_ADDRESS_COUNT, "ompi_datatype_args_t", "ca", WORD, OPTIONAL)                   \
    X(ARGUMENTS_DATATYPE_COUNT, "ompi_datatype_args_t", "cd", WORD, OPTIONAL)                  \
    X(ARGUMENTS_INTEGERS, "ompi_datatype_args_t", "i", POINTER, OPTIONAL)                      \
    X(ARGUMENTS_ADDRESSES, "ompi_datatype_args_t", "a", POINTER, OPTIONAL)                     \
    X(ARGUMENTS_DATATYPES, "ompi_datatype_args_t", "d", POINTER, OPTIONAL)                     \
    X(OP, "ompi_op_t", "", ANY, OPTIONAL)                                                      \
    X(OP_NAME, "ompi_op_t", "o_name", ANY, OPTIONAL)                                           \
    X(COMPONENT, "mca_base_component_t", "", ANY, OPTIONAL)                                    \
    X(COMPONENT_NAME, "mca_base_component_t", "mca_component_name", ANY, OPTIONAL)             \
    X(SYNC, "ompi_wait_sync_t", "", ANY, OPTIONAL)                                             \
    X(SYNC_COUNT, "ompi_wait_sync_t", "count", WORD, OPTIONAL)                                 \
    X(OB1_COMM, "mca_pml_ob1_comm_t", "", ANY, OB1)                                            \
    X(OB1_COMM_WILD, "mca_pml_ob1_comm_t", "wild_receives", ANY, OB1)                          \
    X(OB1_COMM_PROCS, "mca_pml_ob1_comm_t", "procs", POINTER, OB1)                             \
    X(OB1_COMM_COUNT, "mca_pml_ob1_comm_t", "num_procs", SIZE, OB1)                            \
    X(OB1_PROC, "mca_pml_ob1_comm_proc_t", "", ANY, OB1)                                       \
    X(OB1_PROC_EXPECTED, "mca_pml_ob1_comm_proc_t", "expected_sequence", HALF, OB1)            \
    X(OB1_PROC_SENT, "mca_pml_ob1_comm_proc_t", "send_sequence", WORD, OB1)                    \
    X(OB1_PROC_EARLY, "mca_pml_ob1_comm_proc_t", "frags_cant_match", POINTER, OB1)             \
    X(OB1_PROC_POSTED, "mca_pml_ob1_comm_proc_t", "specific_receives", ANY, OB1)               \
    X(OB1_PROC_UNEXPECTED, "mca_pml_ob1_comm_proc_t", "unexpected_frags", ANY, OB1)            \
    X(FRAG, "mca_pml_ob1_recv_frag_t", "", ANY, OB1)                                           \
    X(FRAG_HEADER, "mca_pml_ob1_recv_frag_t", "hdr", ANY, OB1)                                 \
    X(FRAG_RANGE, "mca_pml_ob1_recv_frag_t", "range", POINTER, OB1)                            \
    X(FRAG_SEGMENTS, "mca_pml_ob1_recv_frag_t", "segments", ANY, OB1)                          \
    X(SEGMENT, "mca_btl_base_segment_t", "", ANY, OB1)                                         \
    X(SEGMENT_ADDRESS, "mca_btl_base_segment_t", "seg_addr", POINTER, OB1)                     \
    X(SEGMENT_LENGTH, "mca_btl_base_segment_t", "seg_len", DOUBLE, OB1)                        \
    X(OB1_HEADER, "mca_pml_ob1_hdr_t", "", ANY, OPTIONAL)                                      \
    X(HEADER_COMMON, "mca_pml_ob1_common_hdr_t", "", ANY, OB1)                                 \
    X(HEADER_TYPE, "mca_pml_ob1_common_hdr_t", "hdr_type", BYTE, OB1)                          \
    X(HEADER, "mca_pml_ob1_match_hdr_t", "", ANY, OB1)                                         \
    X(HEADER_SOURCE, "mca_pml_ob1_match_hdr_t", "hdr_src", WORD, OB1)                          \
    X(HEADER_TAG, "mca_pml_ob1_match_hdr_t", "hdr_tag", WORD, OB1)                             \
    X(HEADER_SEQUENCE, "mca_pml_ob1_match_hdr_t", "hdr_seq", HALF, OB1)                        \
    X(HEADER_PADDING, "mca_pml_ob1_match_hdr_t", "hdr_padding", ANY, OPTIONAL)                 \
    X(RENDEZVOUS, "mca_pml_ob1_rendezvous_hdr_t", "", ANY, OB1)                                \
    X(RENDEZVOUS_LENGTH, "mca_pml_ob1_rendezvous_hdr_t", "hdr_msg_length", DOUBLE, OB1)        \
    X(OB1_SEND, "mca_pml_ob1_send_request_t", "", ANY, OPTIONAL)                               \
    X(OB1_SEND_ENDPOINT, "mca_pml_ob1_send_request_t", "req_endpoint", POINTER, OPTIONAL)      \
    X(OB1_SEND_RECEIVER, "mca_pml_ob1_send_request_t", "req_recv", POINTER, OPTIONAL)          \
    X(LIBNBC, "ompi_coll_libnbc_component_t", "", ANY, LIBNBC)                                 \
    X(LIBNBC_ACTIVE, "ompi_coll_libnbc_component_t", "active_requests", ANY, LIBNBC)           \
    X(NBC, "ompi_coll_libnbc_request_t", "", ANY, LIBNBC)                                      \
    X(NBC_COMM, "ompi_coll_libnbc_request_t", "comm", POINTER, LIBNBC)                         \
    X(NBC_TAG, "ompi_coll_libnbc_request_t", "tag", WORD, LIBNBC)                              \
    X(NBC_COUNT, "ompi_coll_libnbc_request_t", "req_count", WORD, LIBNBC)                      \
    X(NBC_ARRAY, "ompi_coll_libnbc_request_t", "req_array", POINTER, LIBNBC)                   \
    X(COMM_REQUEST, "ompi_comm_request_t", "", ANY, OPTIONAL)                                  \
    X(COMM_REQUEST_SCHEDULE, "ompi_comm_request_t", "schedule", ANY, OPTIONAL)                 \
    X(COMM_STEP, "ompi_comm_request_item_t", "", ANY, OPTIONAL)                                \
    X(COMM_STEP_REQUESTS, "ompi_comm_request_item_t", "subreqs", ANY, OPTIONAL)                \
    X(COMM_STEP_COUNT, "ompi_comm_request_item_t", "subreq_count", WORD, OPTIONAL)             \
    X(PART, "ompi_part_persist_t", "", ANY, OPTIONAL)                                          \
    X(PART_LIST, "ompi_part_persist_t", "progress_list", POINTER, OPTIONAL)                    \
    X(PART_COMM, "ompi_part_persist_t", "part_comm", POINTER, OPTIONAL)                        \
    X(PART_SETTING, "ompi_part_persist_t", "part_comm_setup", POINTER, OPTIONAL)               \
    X(PART_ITEM, "mca_part_persist_list_t", "", ANY, OPTIONAL)                                 \
    X(PART_ITEM_REQUEST, "mca_part_persist_list_t", "item", POINTER, OPTIONAL)                 \
    X(PARTITIONED, "mca_part_persist_request_t", "", ANY, OPTIONAL)                            \
    X(PARTITIONED_FREED, "mca_part_persist_request_t", "req_free_called", WORD, OPTIONAL)      \
    X(PARTITIONED_TYPE, "mca_part_persist_request_t", "req_type", WORD, OPTIONAL)              \
    X(PARTITIONED_COMM, "mca_part_persist_request_t", "req_comm", POINTER, OPTIONAL)           \
    X(PARTITIONED_DATATYPE, "mca_part_persist_request_t", "req_datatype", POINTER, OPTIONAL)   \
    X(PARTITIONED_ADDRESS, "mca_part_persist_request_t", "req_addr", POINTER, OPTIONAL)        \
    X(PARTITIONED_PARTS, "mca_part_persist_request_t", "req_parts", SIZE, OPTIONAL)            \
    X(PARTITIONED_COUNT, "mca_part_persist_request_t", "req_count", SIZE, OPTIONAL)            \
    X(PARTITIONED_PEER, "mca_part_persist_request_t", "req_peer", WORD, OPTIONAL)              \
    X(PARTITIONED_TAG, "mca_part_persist_request_t", "req_tag", WORD, OPTIONAL)                \
    X(PARTITIONED_BYTES, "mca_part_persist_request_t", "req_bytes", SIZE, OPTIONAL)            \
    X(PARTITIONED_REAL_PARTS, "mca_part_persist_request_t", "real_parts", SIZE, OPTIONAL)      \
    X(PARTITIONED_REQUESTS, "mca_part_persist_request_t", "persist_reqs", POINTER, OPTIONAL)   \
    X(PARTITIONED_SETUP, "mca_part_persist_request_t", "setup_req", ANY, OPTIONAL)             \
    X(PARTITIONED_READY, "mca_part_persist_request_t", "initialized", WORD, OPTIONAL)          \
    X(PARTITIONED_FIRST, "mca_part_persist_request_t", "first_send", WORD, OPTIONAL)           \
    X(PARTITIONED_POST, "mca_part_persist_request_t", "flag_post_setup_recv", WORD, OPTIONAL)  \
    X(PARTITIONED_FLAGS, "mca_part_persist_request_t", "flags", POINTER, OPTIONAL)             \
    X(ENDPOINT, "mca_bml_base_endpoint_t", "", ANY, OPTIONAL)                                  \
    X(ENDPOINT_EAGER, "mca_bml_base_endpoint_t", "btl_eager", ANY, OPTIONAL)                   \
    X(BTLS, "mca_bml_base_btl_array_t", "", ANY, OPTIONAL)                                     \
    X(BTLS_ARRAY, "mca_bml_base_btl_array_t", "bml_btls", POINTER, OPTIONAL)                   \
    X(BTLS_COUNT, "mca_bml_base_btl_array_t", "arr_size", SIZE, OPTIONAL)                      \
    X(BML_BTL, "mca_bml_base_btl_t", "", ANY, OPTIONAL)                                        \
    X(BML_BTL_BTL, "mca_bml_base_btl_t", "btl", POINTER, OPTIONAL)                             \
    X(BTL, "mca_btl_base_module_t", "", ANY, OPTIONAL)                                         \
    X(BTL_EAGER_LIMIT, "mca_btl_base_module_t", "btl_eager_limit", SIZE, OPTIONAL)             \
    X(COLL, "mca_coll_base_comm_coll_t", "", ANY, OPTIONAL)                                    \
    X(COLL_ALLREDUCE, "mca_coll_base_comm_coll_t", "coll_allreduce_module", POINTER, OPTIONAL) \
    X(COLL_BARRIER, "mca_coll_base_comm_coll_t", "coll_barrier_module", POINTER, OPTIONAL)     \
    X(COLL_BCAST, "mca_coll_base_comm_coll_t", "coll_bcast_module", POINTER, OPTIONAL)         \
    X(COLL_REDUCE, "mca_coll_base_comm_coll_t", "coll_reduce_module", POINTER, OPTIONAL)       \
    X(HAN, "mca_coll_han_module_t", "", ANY, OPTIONAL)                                         \
    X(HAN_SUB, "mca_coll_han_module_t", "sub_comm", ANY, OPTIONAL)                             \
    X(HAN_LOW, "mca_coll_han_module_t", "cached_low_comms", POINTER, OPTIONAL)                 \
    X(HAN_UP, "mca_coll_han_module_t", "cached_up_comms", POINTER, OPTIONAL)

enum layout_slot {
#define LAYOUT_ENUM(slot, structure, member, kind, group) AT_##slot,
    LAYOUT_ROWS(LAYOUT_ENUM)
#undef LAYOUT_ENUM
        AT_END
};

struct layout {
    enum mqs_layout_source source;
    mqs_target_type_sizes sizes;
    int32_t offset[AT_END]; /* of the member; of a size row 0; -1: not there */
    int32_t size[AT_END];   /* bytes, where known; 0: not known (members, from debug information) */
    int32_t nbc_base;       /* the process's first tag of non-blocking collectives; 0: not read */
};

/* Empty; sizes are the target's. */
void layout_init(struct layout *layout, const mqs_target_type_sizes *sizes);

/* Asks the debugger's type callbacks for every structure that has nothing yet, all but those of datatypes
   or those alone: structures of components that were not loaded the last time are found now. */
void layout_add_debug_info(struct layout *layout, mqs_image *image, const mqs_image_callbacks *callbacks);
void layout_add_datatypes(struct layout *layout, mqs_image *image, const mqs_image_callbacks *callbacks);

/* Takes one row of a table; rows that nobody here reads are ignored, as are those that fail the checks. */
void layout_add_row(struct layout *layout, const char *structure, const char *member, uint32_t offset,
                    uint32_t size);

/* Takes one row as it is. */
void layout_set(struct layout *layout, enum layout_slot slot, int32_t offset, int32_t size);

/* Leaves out a structure, by its size row, and its members. */
void layout_drop(struct layout *layout, enum layout_slot structure);

/* Leaves out all. */
void layout_clear(struct layout *layout);

/* Whether a slot is a structure's size. */
bool layout_is_size(enum layout_slot slot);

/* "ompi_communicator_t", of any of its slots. */
const char *layout_structure(enum layout_slot slot);

/* To call when a provider is through: drops members that do not lie inside their structure. */
void layout_check(struct layout *layout);

bool layout_has(const struct layout *layout, enum layout_slot slot);
bool layout_has_group(const struct layout *layout, enum layout_group group);

/* A sentence that names the first row missing of a group; static; NULL if none is. */
const char *layout_missing(const struct layout *layout, enum layout_group group);

/* Bytes of a member as its kind says; of ANY what the provider said. */
int layout_width(const struct layout *layout, enum layout_slot slot);

#endif
