/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_up_mpi.h"

#define TABLE_SIZE 64
#define ALIGNMENT 64

static void put(struct made_up_mpi *mpi, mqs_taddr_t address, const char *structure, const char *member,
                uint64_t value)
{
    made_up_set(mpi->memory, address, structure, member, value);
}

static int offset(struct made_up_mpi *mpi, const char *structure, const char *member)
{
    return made_up_offset(mpi->memory, structure, member);
}

static void put_pointer(struct made_up_mpi *mpi, mqs_taddr_t address, uint64_t value)
{
    made_up_put(mpi->memory, address, made_up_size(mpi->memory, "pointer"), value);
}

/* One line a structure: name, then members as NAME:WHAT. */
static void declare(struct made_up *memory, const char *text)
{
    char *copy = strdup(text);
    char *rest = copy;
    char *word = strsep(&rest, " ");

    made_up_structure(memory, word);
    while ((word = strsep(&rest, " ")) != NULL) {
        char *what = strchr(word, ':');

        *what = '\0';
        made_up_member(memory, word, what + 1);
    }
    free(copy);
}

static void declare_all(struct made_up *memory, bool line5)
{
    static const char *const common[] = {
        "pointer p:p",
        "opal_object_t obj_class:p obj_reference_count:i",
        "opal_class_t cls_name:p",
        "opal_list_item_t super:=opal_object_t opal_list_next:p opal_list_prev:p item_free:i",
        "opal_list_t super:=opal_object_t opal_list_sentinel:=opal_list_item_t opal_list_length:z",
        "opal_free_list_item_t super:=opal_list_item_t registration:p ptr:p",
        "opal_free_list_t super:40 fl_max_to_alloc:z fl_num_allocated:z fl_num_per_alloc:z fl_frag_size:z "
        "fl_frag_alignment:z fl_frag_class:p fl_allocations:=opal_list_t",
        "opal_pointer_array_t super:=opal_object_t lowest_free:i number_free:i size:i max_size:i addr:p",
        "opal_process_name_t jobid:i vpid:i",
        "opal_proc_t super:=opal_list_item_t proc_name:=opal_process_name_t proc_arch:i",
        "ompi_group_sporadic_list_t rank_first:i length:i",
        "ompi_group_sporadic_data_t grp_sporadic_list:p grp_sporadic_list_len:i",
        "ompi_group_strided_data_t grp_strided_offset:i grp_strided_stride:i grp_strided_last_element:i",
        "ompi_group_bitmap_data_t grp_bitmap_array:p grp_bitmap_array_len:i",
        "ompi_group_t super:=opal_object_t grp_proc_count:i grp_my_rank:i grp_f_to_c_index:i "
        "grp_proc_pointers:p grp_flags:i grp_parent_group_ptr:p sparse_data:16",
        "ompi_status_public_t MPI_SOURCE:i MPI_TAG:i MPI_ERROR:i _cancelled:i _ucount:z",
        "ompi_request_t super:=opal_free_list_item_t req_type:i req_status:=ompi_status_public_t "
        "req_complete:p req_state:i req_persistent:b req_mpi_object:p",
        "mca_pml_base_request_t req_ompi:=ompi_request_t req_pml_complete:i req_free_called:i req_type:i "
        "req_comm:p req_datatype:p req_convertor:40 req_addr:p req_count:z req_peer:i req_tag:i req_proc:p "
        "req_sequence:l",
        "mca_pml_base_send_request_t req_base:=mca_pml_base_request_t req_addr:p req_bytes_packed:z "
        "req_send_mode:i",
        "mca_pml_base_recv_request_t req_base:=mca_pml_base_request_t req_bytes_packed:z",
        "mca_pml_ob1_send_request_t req_send:=mca_pml_base_send_request_t req_endpoint:p req_recv:l "
        "req_state:i",
        "opal_datatype_t super:=opal_object_t flags:h id:h size:z",
        "ompi_datatype_t super:=opal_datatype_t id:i name:64",
        "ompi_op_t super:=opal_object_t o_name:64",
        "mca_base_component_t mca_major_version:i mca_component_name:64",
        "ompi_wait_sync_t count:i status:i next:p",
        "mca_pml_ob1_comm_t super:=opal_object_t recv_sequence:i wild_receives:=opal_list_t procs:p "
        "num_procs:z",
        "mca_pml_ob1_comm_proc_t super:=opal_object_t ompi_proc:p expected_sequence:h comm_index:h "
        "send_sequence:i frags_cant_match:p specific_receives:=opal_list_t unexpected_frags:=opal_list_t",
        "mca_btl_base_segment_t seg_addr:l seg_len:l",
        "mca_pml_ob1_common_hdr_t hdr_type:b hdr_flags:b",
        "mca_pml_ob1_match_hdr_t hdr_common:=mca_pml_ob1_common_hdr_t hdr_ctx:h hdr_src:i hdr_tag:i "
        "hdr_seq:h",
        "mca_pml_ob1_rendezvous_hdr_t hdr_match:=mca_pml_ob1_match_hdr_t hdr_msg_length:l hdr_src_req:l",
        "mca_pml_ob1_recv_frag_t super:=opal_free_list_item_t hdr:=mca_pml_ob1_rendezvous_hdr_t "
        "num_segments:z "
        "range:p segments:=mca_btl_base_segment_t",
        "ompi_comm_request_t super:=ompi_request_t context:p schedule:=opal_list_t",
        "ompi_comm_request_item_t super:=opal_list_item_t callback:p subreqs:16 subreq_count:i",
        "ompi_coll_libnbc_component_t super:64 active_requests:=opal_list_t",
        "ompi_coll_libnbc_request_t super:=ompi_request_t comm:p tag:i req_count:i req_array:p",
    };

    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++) {
        declare(memory, common[i]);
    }
    if (line5) {
        declare(memory, "ompi_comm_extended_cid_t cid_base:l cid_sub:l");
        declare(memory,
                "ompi_communicator_t super:40 c_name:p c_contextid:=ompi_comm_extended_cid_t c_index:i "
                "c_my_rank:i c_flags:i c_nbc_tag:i c_f_to_c_index:i c_local_group:p c_remote_group:p "
                "c_local_comm:p c_pml_comm:p c_coll:p c_mqs:p");
        declare(memory, "ompi_part_persist_t super:64 progress_list:p part_comm:p part_comm_setup:p");
        declare(memory, "mca_part_persist_list_t super:=opal_list_item_t item:p");
        declare(memory,
                "mca_part_persist_request_t super:=ompi_request_t req_part_complete:i req_free_called:i "
                "req_type:i req_comm:p req_datatype:p req_addr:p req_parts:z req_count:z req_peer:i "
                "req_tag:i req_bytes:z real_parts:z persist_reqs:p setup_req:16 initialized:i first_send:i "
                "flag_post_setup_recv:i flags:p");
    } else {
        declare(memory,
                "ompi_communicator_t super:40 c_name:64 c_contextid:i c_my_rank:i c_flags:i "
                "c_local_group:p c_remote_group:p c_local_comm:p c_f_to_c_index:i c_pml_comm:p c_coll:p "
                "c_nbc_tag:i c_mqs:p");
    }
}

void made_up_mpi_empty_list(struct made_up_mpi *mpi, mqs_taddr_t list)
{
    mqs_taddr_t sentinel = list + (mqs_taddr_t)offset(mpi, "opal_list_t", "opal_list_sentinel");

    put(mpi, sentinel, "opal_list_item_t", "opal_list_next", sentinel);
    put(mpi, sentinel, "opal_list_item_t", "opal_list_prev", sentinel);
}

void made_up_mpi_append(struct made_up_mpi *mpi, mqs_taddr_t list, mqs_taddr_t item)
{
    int width = made_up_size(mpi->memory, "pointer");
    mqs_taddr_t sentinel = list + (mqs_taddr_t)offset(mpi, "opal_list_t", "opal_list_sentinel");
    mqs_taddr_t length = list + (mqs_taddr_t)offset(mpi, "opal_list_t", "opal_list_length");
    mqs_taddr_t prev = made_up_get(
        mpi->memory, sentinel + (mqs_taddr_t)offset(mpi, "opal_list_item_t", "opal_list_prev"), width);

    put(mpi, prev, "opal_list_item_t", "opal_list_next", item);
    put(mpi, item, "opal_list_item_t", "opal_list_prev", prev);
    put(mpi, item, "opal_list_item_t", "opal_list_next", sentinel);
    put(mpi, sentinel, "opal_list_item_t", "opal_list_prev", item);
    made_up_put(mpi->memory, length, width, made_up_get(mpi->memory, length, width) + 1);
}

static mqs_taddr_t round_up(mqs_taddr_t value)
{
    return (value + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* A free list with one chunk of `count` items; returns the first of them. */
static mqs_taddr_t make_free_list(struct made_up_mpi *mpi, mqs_taddr_t list, const char *item, int count)
{
    int head = made_up_size(mpi->memory, "opal_free_list_item_t");
    int size = made_up_size(mpi->memory, item);
    mqs_taddr_t stride = round_up((mqs_taddr_t)size);
    mqs_taddr_t chunk;

    made_up_mpi_empty_list(mpi, list + (mqs_taddr_t)offset(mpi, "opal_free_list_t", "fl_allocations"));
    put(mpi, list, "opal_free_list_t", "fl_num_per_alloc", 64);
    put(mpi, list, "opal_free_list_t", "fl_frag_size", (uint64_t)size);
    put(mpi, list, "opal_free_list_t", "fl_frag_alignment", ALIGNMENT);
    if (count == 0) {
        return 0;
    }
    put(mpi, list, "opal_free_list_t", "fl_num_allocated", (uint64_t)count);
    chunk = made_up_allocate(mpi->memory, (size_t)head + ALIGNMENT + (size_t)count * stride);
    made_up_mpi_append(mpi, list + (mqs_taddr_t)offset(mpi, "opal_free_list_t", "fl_allocations"), chunk);
    return round_up(chunk + (mqs_taddr_t)head);
}

mqs_taddr_t made_up_mpi_proc(struct made_up_mpi *mpi, uint32_t jobid, uint32_t vpid, bool sentinel)
{
    mqs_taddr_t proc;
    mqs_taddr_t name;

    if (sentinel) {
        if (made_up_size(mpi->memory, "pointer") == 4) {
            return (mqs_taddr_t)vpid << 1 | 1;
        }
        return (mqs_taddr_t)vpid << 32 | (mqs_taddr_t)(jobid >> 16) << 16 |
               (mqs_taddr_t)(jobid & 0x7fff) << 1 | 1;
    }
    proc = made_up_new(mpi->memory, "opal_proc_t");
    name = proc + (mqs_taddr_t)offset(mpi, "opal_proc_t", "proc_name");
    put(mpi, name, "opal_process_name_t", "jobid", jobid);
    put(mpi, name, "opal_process_name_t", "vpid", vpid);
    return proc;
}

mqs_taddr_t made_up_mpi_group(struct made_up_mpi *mpi, int count, const mqs_taddr_t *procs)
{
    int width = made_up_size(mpi->memory, "pointer");
    mqs_taddr_t group = made_up_new(mpi->memory, "ompi_group_t");
    mqs_taddr_t array = made_up_allocate(mpi->memory, (size_t)count * (size_t)width);

    for (int i = 0; i < count; i++) {
        put_pointer(mpi, array + (mqs_taddr_t)(i * width), procs[i]);
    }
    put(mpi, group, "ompi_group_t", "grp_proc_count", (uint64_t)count);
    put(mpi, group, "ompi_group_t", "grp_proc_pointers", array);
    put(mpi, group, "ompi_group_t", "grp_flags", 4);
    return group;
}

mqs_taddr_t made_up_mpi_communicator(struct made_up_mpi *mpi, int index, const char *name, mqs_taddr_t group,
                                     mqs_taddr_t remote, int rank)
{
    int width = made_up_size(mpi->memory, "pointer");
    mqs_taddr_t comm = made_up_new(mpi->memory, "ompi_communicator_t");
    mqs_taddr_t pml = made_up_new(mpi->memory, "mca_pml_ob1_comm_t");
    mqs_taddr_t peers = remote == 0 ? group : remote;
    int count =
        (int)made_up_get(mpi->memory, peers + (mqs_taddr_t)offset(mpi, "ompi_group_t", "grp_proc_count"), 4);

    if (mpi->line5) {
        mqs_taddr_t text = made_up_allocate(mpi->memory, strlen(name) + 1);
        mqs_taddr_t cid = comm + (mqs_taddr_t)offset(mpi, "ompi_communicator_t", "c_contextid");

        made_up_put_text(mpi->memory, text, name);
        put(mpi, comm, "ompi_communicator_t", "c_name", text);
        put(mpi, comm, "ompi_communicator_t", "c_index", (uint64_t)index);
        put(mpi, cid, "ompi_comm_extended_cid_t", "cid_sub", (uint64_t)index);
        put(mpi, comm, "ompi_communicator_t", "c_nbc_tag", (uint32_t)-33);
    } else {
        made_up_put_text(mpi->memory, comm + (mqs_taddr_t)offset(mpi, "ompi_communicator_t", "c_name"), name);
        put(mpi, comm, "ompi_communicator_t", "c_contextid", (uint64_t)index);
        put(mpi, comm, "ompi_communicator_t", "c_nbc_tag", (uint32_t)-27);
    }
    put(mpi, comm, "ompi_communicator_t", "c_my_rank", (uint32_t)rank);
    put(mpi, comm, "ompi_communicator_t", "c_flags",
        (uint64_t)((index < 2 ? 4 : 0) | (remote == 0 ? 0 : 1) | 0x1000 | (mpi->line5 ? 0x10000 : 0)));
    put(mpi, comm, "ompi_communicator_t", "c_local_group", group);
    put(mpi, comm, "ompi_communicator_t", "c_remote_group", peers);
    put(mpi, comm, "ompi_communicator_t", "c_pml_comm", pml);
    made_up_mpi_empty_list(mpi, pml + (mqs_taddr_t)offset(mpi, "mca_pml_ob1_comm_t", "wild_receives"));
    put(mpi, pml, "mca_pml_ob1_comm_t", "procs",
        made_up_allocate(mpi->memory, (size_t)count * (size_t)width));
    put(mpi, pml, "mca_pml_ob1_comm_t", "num_procs", (uint64_t)count);
    put_pointer(mpi, mpi->table_array + (mqs_taddr_t)(index * width), comm);
    return comm;
}

static uint64_t get(struct made_up_mpi *mpi, mqs_taddr_t address, const char *structure, const char *member)
{
    return made_up_get(mpi->memory, address + (mqs_taddr_t)offset(mpi, structure, member),
                       made_up_size(mpi->memory, "pointer"));
}

mqs_taddr_t made_up_mpi_peer(struct made_up_mpi *mpi, mqs_taddr_t comm, int rank)
{
    int width = made_up_size(mpi->memory, "pointer");
    mqs_taddr_t pml = get(mpi, comm, "ompi_communicator_t", "c_pml_comm");
    mqs_taddr_t slot = get(mpi, pml, "mca_pml_ob1_comm_t", "procs") + (mqs_taddr_t)(rank * width);
    mqs_taddr_t peer = made_up_get(mpi->memory, slot, width);

    if (peer == 0) {
        peer = made_up_new(mpi->memory, "mca_pml_ob1_comm_proc_t");
        made_up_mpi_empty_list(
            mpi, peer + (mqs_taddr_t)offset(mpi, "mca_pml_ob1_comm_proc_t", "specific_receives"));
        made_up_mpi_empty_list(
            mpi, peer + (mqs_taddr_t)offset(mpi, "mca_pml_ob1_comm_proc_t", "unexpected_frags"));
        put(mpi, peer, "mca_pml_ob1_comm_proc_t", "expected_sequence", 1);
        put_pointer(mpi, slot, peer);
    }
    return peer;
}

mqs_taddr_t made_up_mpi_fragment(struct made_up_mpi *mpi, int source, int tag, uint64_t length, int sequence)
{
    bool eager = length <= 4096;
    mqs_taddr_t fragment = made_up_new(mpi->memory, "mca_pml_ob1_recv_frag_t");
    mqs_taddr_t header = fragment + (mqs_taddr_t)offset(mpi, "mca_pml_ob1_recv_frag_t", "hdr");
    mqs_taddr_t segment = fragment + (mqs_taddr_t)offset(mpi, "mca_pml_ob1_recv_frag_t", "segments");
    mqs_taddr_t data = made_up_allocate(mpi->memory, 64);

    put(mpi, header, "mca_pml_ob1_common_hdr_t", "hdr_type", eager ? 65 : 66);
    put(mpi, header, "mca_pml_ob1_match_hdr_t", "hdr_src", (uint32_t)source);
    put(mpi, header, "mca_pml_ob1_match_hdr_t", "hdr_tag", (uint32_t)tag);
    put(mpi, header, "mca_pml_ob1_match_hdr_t", "hdr_seq", (uint16_t)sequence);
    put(mpi, segment, "mca_btl_base_segment_t", "seg_len", eager ? length + 14 : 64);
    put_pointer(mpi, segment, data);
    if (!eager) {
        put(mpi, header, "mca_pml_ob1_rendezvous_hdr_t", "hdr_msg_length", length);
    }
    put(mpi, fragment, "opal_list_item_t", "opal_list_next", fragment);
    put(mpi, fragment, "opal_list_item_t", "opal_list_prev", fragment);
    return fragment;
}

mqs_taddr_t made_up_mpi_message(struct made_up_mpi *mpi, mqs_taddr_t comm, int source, int tag,
                                uint64_t length, int sequence)
{
    mqs_taddr_t peer = made_up_mpi_peer(mpi, comm, source);
    mqs_taddr_t fragment = made_up_mpi_fragment(mpi, source, tag, length, sequence);

    made_up_mpi_append(mpi, peer + (mqs_taddr_t)offset(mpi, "mca_pml_ob1_comm_proc_t", "unexpected_frags"),
                       fragment);
    put(mpi, peer, "mca_pml_ob1_comm_proc_t", "expected_sequence", (uint16_t)(sequence + 1));
    return fragment;
}

mqs_taddr_t made_up_mpi_request(struct made_up_mpi *mpi, const struct made_up_request *r)
{
    const char *structure = r->send ? "mca_pml_ob1_send_request_t" : "mca_pml_base_recv_request_t";
    mqs_taddr_t *next = r->send ? &mpi->send_chunk : &mpi->receive_chunk;
    mqs_taddr_t address = *next;
    mqs_taddr_t status = address + (mqs_taddr_t)offset(mpi, "ompi_request_t", "req_status");
    int type = r->type != 0 ? r->type : r->send ? 1 : 2;

    *next += round_up((mqs_taddr_t)made_up_size(mpi->memory, structure));
    put(mpi, address, "ompi_request_t", "req_type", 0);
    put(mpi, address, "ompi_request_t", "req_state", r->state != 0 ? (uint64_t)r->state : 2);
    put(mpi, address, "ompi_request_t", "req_complete", r->complete);
    put(mpi, address, "ompi_request_t", "req_persistent", r->persistent);
    put(mpi, status, "ompi_status_public_t", "MPI_SOURCE",
        (uint32_t)(r->status_tag == 0 ? -1 : r->status_source));
    put(mpi, status, "ompi_status_public_t", "MPI_TAG", (uint32_t)(r->status_tag == 0 ? -1 : r->status_tag));
    put(mpi, status, "ompi_status_public_t", "_ucount", r->status_bytes);
    put(mpi, address, "mca_pml_base_request_t", "req_type", (uint64_t)type);
    put(mpi, address, "mca_pml_base_request_t", "req_pml_complete", r->delivered);
    put(mpi, address, "mca_pml_base_request_t", "req_comm", r->comm);
    put(mpi, address, "mca_pml_base_request_t", "req_datatype", mpi->integer);
    put(mpi, address, "mca_pml_base_request_t", "req_addr", 0xb0f0);
    put(mpi, address, "mca_pml_base_request_t", "req_count", r->count);
    put(mpi, address, "mca_pml_base_request_t", "req_peer", (uint32_t)r->peer);
    put(mpi, address, "mca_pml_base_request_t", "req_tag", (uint32_t)r->tag);
    put(mpi, address, "mca_pml_base_request_t", "req_sequence", r->sequence);
    if (r->send) {
        put(mpi, address, "mca_pml_base_send_request_t", "req_addr", r->mode == 2 ? 0xb0f2 : 0xb0f0);
        put(mpi, address, "mca_pml_base_send_request_t", "req_bytes_packed", r->count * 4);
        put(mpi, address, "mca_pml_base_send_request_t", "req_send_mode", (uint64_t)r->mode);
    } else {
        put(mpi, address, "mca_pml_base_recv_request_t", "req_bytes_packed", r->status_bytes);
    }
    return address;
}

mqs_taddr_t made_up_mpi_partitioned(struct made_up_mpi *mpi, const struct made_up_partitioned *p)
{
    static const char type[] = "mca_part_persist_request_t";
    int width = made_up_size(mpi->memory, "pointer");
    mqs_taddr_t address = made_up_new(mpi->memory, type);
    mqs_taddr_t item = made_up_new(mpi->memory, "mca_part_persist_list_t");
    mqs_taddr_t flags = made_up_allocate(mpi->memory, (size_t)p->parts * 4);
    mqs_taddr_t requests = made_up_allocate(mpi->memory, (size_t)(p->parts * width));

    for (int i = 0; i < p->parts; i++) {
        made_up_put(mpi->memory, flags + (mqs_taddr_t)i * 4, 4, (uint32_t)p->flags[i]);
        put_pointer(mpi, requests + (mqs_taddr_t)(i * width), p->inner[0]);
    }
    put(mpi, address, "ompi_request_t", "req_type", 8);
    put(mpi, address, "ompi_request_t", "req_state", 2);
    put(mpi, address, "ompi_request_t", "req_persistent", 1);
    put(mpi, address, "ompi_request_t", "req_complete", p->complete);
    put(mpi, address, type, "req_type", !p->send);
    put(mpi, address, type, "req_comm", p->comm);
    put(mpi, address, type, "req_datatype", mpi->integer);
    put(mpi, address, type, "req_addr", 0xb0f0);
    put(mpi, address, type, "req_parts", (uint64_t)p->parts);
    put(mpi, address, type, "real_parts", (uint64_t)p->parts);
    put(mpi, address, type, "req_count", 10);
    put(mpi, address, type, "req_bytes", (uint64_t)p->parts * 40);
    put(mpi, address, type, "req_peer", (uint32_t)p->peer);
    put(mpi, address, type, "req_tag", (uint32_t)p->tag);
    put(mpi, address, type, "persist_reqs", requests);
    put_pointer(mpi, address + (mqs_taddr_t)(offset(mpi, type, "setup_req") + width), p->inner[1]);
    put(mpi, address, type, "initialized", p->set_up);
    put(mpi, address, type, "first_send", !p->restarted);
    put(mpi, address, type, "flags", flags);
    put(mpi, item, "mca_part_persist_list_t", "item", address);
    made_up_mpi_append(mpi, mpi->partitioned, item);
    return address;
}

struct made_up_mpi *made_up_mpi_create(int pointer_size, bool big_endian, bool line5, int size, int rank,
                                       int requests)
{
    struct made_up_mpi *mpi = calloc(1, sizeof *mpi);
    struct made_up *memory = made_up_create(pointer_size, big_endian);
    mqs_taddr_t variable;
    mqs_taddr_t null_group;
    mqs_taddr_t null;

    mpi->memory = memory;
    mpi->line5 = line5;
    mpi->size = size;
    mpi->rank = rank;
    declare_all(memory, line5);

    mpi->table = made_up_new(memory, "opal_pointer_array_t");
    mpi->table_array = made_up_allocate(memory, (size_t)(TABLE_SIZE * pointer_size));
    put(mpi, mpi->table, "opal_pointer_array_t", "size", TABLE_SIZE);
    put(mpi, mpi->table, "opal_pointer_array_t", "addr", mpi->table_array);
    made_up_symbol(memory, "ompi_mpi_communicators", mpi->table);

    mpi->integer = made_up_new(memory, "ompi_datatype_t");
    put(mpi, mpi->integer, "opal_datatype_t", "size", 4);
    made_up_put_text(memory, mpi->integer + (mqs_taddr_t)offset(mpi, "ompi_datatype_t", "name"), "MPI_INT");

    mpi->sends = made_up_new(memory, "opal_free_list_t");
    mpi->receives = made_up_new(memory, "opal_free_list_t");
    mpi->send_chunk = make_free_list(mpi, mpi->sends, "mca_pml_ob1_send_request_t", requests);
    mpi->receive_chunk = make_free_list(mpi, mpi->receives, "mca_pml_base_recv_request_t", requests);
    made_up_symbol(memory, "mca_pml_base_send_requests", mpi->sends);
    made_up_symbol(memory, "mca_pml_base_recv_requests", mpi->receives);

    variable = made_up_new(memory, "mca_base_component_t");
    made_up_put_text(
        memory, variable + (mqs_taddr_t)offset(mpi, "mca_base_component_t", "mca_component_name"), "ob1");
    made_up_symbol(memory, "mca_pml_base_selected_component", variable);

    mpi->libnbc = made_up_new(memory, "ompi_coll_libnbc_component_t");
    made_up_mpi_empty_list(
        mpi, mpi->libnbc + (mqs_taddr_t)offset(mpi, "ompi_coll_libnbc_component_t", "active_requests"));
    made_up_symbol(memory, "mca_coll_libnbc_component", mpi->libnbc);

    if (line5) {
        mqs_taddr_t persist = made_up_new(memory, "ompi_part_persist_t");

        mpi->partitioned = made_up_new(memory, "opal_list_t");
        made_up_mpi_empty_list(mpi, mpi->partitioned);
        put(mpi, persist, "ompi_part_persist_t", "progress_list", mpi->partitioned);
        made_up_symbol(memory, "ompi_part_persist", persist);
    }

    mpi->procs = calloc((size_t)size, sizeof *mpi->procs);
    for (int i = 0; i < size; i++) {
        mpi->procs[i] = made_up_mpi_proc(mpi, MADE_UP_JOBID, (uint32_t)i, false);
    }
    variable = made_up_new(memory, "pointer");
    put_pointer(mpi, variable, mpi->procs[rank]);
    made_up_symbol(memory, "ompi_proc_local_proc", variable);

    mpi->world =
        made_up_mpi_communicator(mpi, 0, "MPI_COMM_WORLD", made_up_mpi_group(mpi, size, mpi->procs), 0, rank);
    mpi->self =
        made_up_mpi_communicator(mpi, 1, "MPI_COMM_SELF", made_up_mpi_group(mpi, 1, &mpi->procs[rank]), 0, 0);
    null_group = made_up_mpi_group(mpi, 0, NULL);
    null = made_up_mpi_communicator(mpi, 2, "MPI_COMM_NULL", null_group, 0, -2);
    put(mpi, null, "ompi_communicator_t", "c_flags", 4);
    return mpi;
}

void made_up_mpi_destroy(struct made_up_mpi *mpi)
{
    made_up_destroy(mpi->memory);
    free(mpi->procs);
    free(mpi);
}
