/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran - the functions of functions.h by their Fortran names: all that are recorded without --check. */
#ifndef RECORDER_FORTRAN_H
#define RECORDER_FORTRAN_H

/* clang-format off */
#define RECORDER_FORTRAN(X) \
    X(send) X(isend) X(send_init) X(bsend) X(ibsend) X(bsend_init) X(ssend) X(issend)            \
    X(ssend_init) X(rsend) X(irsend) X(rsend_init) X(recv) X(irecv) X(recv_init) X(psend_init)   \
    X(precv_init) X(pready) X(pready_range) X(pready_list) X(parrived) X(sendrecv)               \
    X(sendrecv_replace) X(isendrecv) X(isendrecv_replace) X(probe) X(iprobe) X(mprobe)           \
    X(improbe) X(mrecv) X(imrecv) X(start) X(startall) X(wait) X(waitall) X(waitany) X(waitsome) \
    X(test) X(testall) X(testany) X(testsome) X(request_free) X(cancel) X(request_get_status)    \
    X(grequest_start) X(buffer_detach) X(barrier) X(ibarrier) X(barrier_init) X(bcast) X(ibcast) \
    X(bcast_init) X(allgather) X(iallgather) X(allgather_init) X(allgatherv) X(iallgatherv)      \
    X(allgatherv_init) X(allreduce) X(iallreduce) X(allreduce_init) X(alltoall) X(ialltoall)     \
    X(alltoall_init) X(alltoallv) X(ialltoallv) X(alltoallv_init) X(alltoallw) X(ialltoallw)     \
    X(alltoallw_init) X(reduce_scatter) X(ireduce_scatter) X(reduce_scatter_init)                \
    X(reduce_scatter_block) X(ireduce_scatter_block) X(reduce_scatter_block_init) X(reduce)      \
    X(ireduce) X(reduce_init) X(gather) X(igather) X(gather_init) X(gatherv) X(igatherv)         \
    X(gatherv_init) X(scan) X(iscan) X(scan_init) X(exscan) X(iexscan) X(exscan_init) X(scatter) \
    X(iscatter) X(scatter_init) X(scatterv) X(iscatterv) X(scatterv_init) X(neighbor_allgather)  \
    X(ineighbor_allgather) X(neighbor_allgather_init) X(neighbor_allgatherv)                     \
    X(ineighbor_allgatherv) X(neighbor_allgatherv_init) X(neighbor_alltoall)                     \
    X(ineighbor_alltoall) X(neighbor_alltoall_init) X(neighbor_alltoallv) X(ineighbor_alltoallv) \
    X(neighbor_alltoallv_init) X(neighbor_alltoallw) X(ineighbor_alltoallw)                      \
    X(neighbor_alltoallw_init) X(comm_dup) X(comm_dup_with_info) X(comm_idup)                    \
    X(comm_idup_with_info) X(comm_create) X(comm_create_group) X(comm_split) X(comm_split_type)  \
    X(comm_free) X(comm_disconnect) X(comm_set_info) X(intercomm_create) X(intercomm_merge)      \
    X(comm_create_from_group) X(intercomm_create_from_groups) X(cart_create) X(cart_sub)         \
    X(graph_create) X(dist_graph_create) X(dist_graph_create_adjacent) X(comm_spawn)             \
    X(comm_spawn_multiple) X(comm_accept) X(comm_connect) X(comm_join) X(comm_get_parent)        \
    X(comm_set_name) X(win_create) X(win_allocate) X(win_allocate_shared) X(win_create_dynamic)  \
    X(win_free) X(win_fence) X(win_set_info) X(win_start) X(win_post) X(win_complete)            \
    X(win_wait) X(win_lock) X(win_unlock) X(win_lock_all) X(win_unlock_all) X(win_flush)         \
    X(win_flush_local) X(win_flush_all) X(win_flush_local_all) X(win_test) X(win_set_name)       \
    X(put) X(get) X(accumulate) X(get_accumulate) X(rput) X(rget) X(raccumulate)                 \
    X(rget_accumulate) X(fetch_and_op) X(compare_and_swap) X(file_open) X(file_close)            \
    X(file_set_size) X(file_preallocate) X(file_set_info) X(file_set_view) X(file_set_atomicity) \
    X(file_sync) X(file_seek_shared) X(file_read_all) X(file_read_all_begin)                     \
    X(file_read_all_end) X(file_read_at_all) X(file_read_at_all_begin) X(file_read_at_all_end)   \
    X(file_read_ordered) X(file_read_ordered_begin) X(file_read_ordered_end) X(file_write_all)   \
    X(file_write_all_begin) X(file_write_all_end) X(file_write_at_all)                           \
    X(file_write_at_all_begin) X(file_write_at_all_end) X(file_write_ordered)                    \
    X(file_write_ordered_begin) X(file_write_ordered_end) X(file_iread_all) X(file_iread_at_all) \
    X(file_iwrite_all) X(file_iwrite_at_all) X(file_iread) X(file_iwrite) X(file_iread_at)       \
    X(file_iwrite_at) X(file_iread_shared) X(file_iwrite_shared) X(file_read) X(file_write)      \
    X(file_read_at) X(file_write_at) X(file_read_shared) X(file_write_shared) X(init)            \
    X(init_thread) X(finalize) X(abort) X(type_free) X(type_set_name)
/* clang-format on */

#endif
