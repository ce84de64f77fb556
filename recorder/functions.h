/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * functions - every MPI function that the recorder wraps, and what each of its arguments is.
 *
 * X(name without MPI_, what to do with it, roles of its arguments in order, class of collective or none)
 * L(...) the same, and there is a large-count variant with _c whose counts are 64 bits wide.
 *
 * Roles:
 *   b buffer          n count             t datatype         p peer              g tag      c communicator
 *   B receive buffer  u receive count     T its datatype     P source            G its tag, or a file (out)
 *   V receive counts  D their datatypes (of neighbourhood collectives, as u and T there)
 *   R request (out)   r request (in, out) A requests         k how many          s status   S statuses
 *   h request (in)
 *   x index (out)     X indices (out)     o how many (out)   f flag (out)        m message (in, out)
 *   C communicator (out)  d communicator (in, out)   w window  W window (out)  v window (in, out)
 *   Y datatype, group or operation (out)   l length of a window's memory   i info   F file
 *   O operation       z root              * other, looked at by the function's own code     - not looked at
 *
 * Functions that only ask or compute (MPI_Comm_rank, MPI_Get_count, MPI_Type_commit, ...) are not wrapped.
 * Those that make and free datatypes, groups and operations are recorded with --check only.  MPI_Wtime and
 * MPI_Wtick return a double and MPI_Pcontrol is variadic, so they cannot be wrapped.
 */
#ifndef RECORDER_FUNCTIONS_H
#define RECORDER_FUNCTIONS_H

#define RECORDER_FUNCTIONS(X, L)                                                            \
    L(Send, SEND, "bntpgc", none)                                                           \
    L(Isend, ISEND, "bntpgcR", none)                                                        \
    L(Send_init, SEND_INIT, "bntpgcR", none)                                                \
    L(Bsend, BSEND, "bntpgc", none)                                                         \
    L(Ibsend, IBSEND, "bntpgcR", none)                                                      \
    L(Bsend_init, BSEND_INIT, "bntpgcR", none)                                              \
    L(Ssend, SSEND, "bntpgc", none)                                                         \
    L(Issend, ISSEND, "bntpgcR", none)                                                      \
    L(Ssend_init, SSEND_INIT, "bntpgcR", none)                                              \
    L(Rsend, RSEND, "bntpgc", none)                                                         \
    L(Irsend, IRSEND, "bntpgcR", none)                                                      \
    L(Rsend_init, RSEND_INIT, "bntpgcR", none)                                              \
    L(Recv, RECV, "bntpgcs", none)                                                          \
    L(Irecv, IRECV, "bntpgcR", none)                                                        \
    L(Recv_init, RECV_INIT, "bntpgcR", none)                                                \
    X(Psend_init, PSEND_INIT, "b-ntpgc-R", none)                                            \
    X(Precv_init, PRECV_INIT, "b-ntpgc-R", none)                                            \
    X(Pready, PREADY, "-h", none)                                                           \
    X(Pready_range, PREADY_RANGE, "--h", none)                                              \
    X(Pready_list, PREADY_LIST, "--h", none)                                                \
    X(Parrived, POLL, "-", none)                                                            \
    L(Sendrecv, SENDRECV, "bntpgBuTPGcs", none)                                             \
    L(Sendrecv_replace, SENDRECV_REPLACE, "bntpgPGcs", none)                                \
    L(Isendrecv, ISENDRECV, "bntpgBuTPGcR", none)                                           \
    L(Isendrecv_replace, ISENDRECV_REPLACE, "bntpgPGcR", none)                              \
    X(Probe, PROBE, "pgcs", none)                                                           \
    X(Iprobe, IPROBE, "pgcfs", none)                                                        \
    X(Mprobe, MPROBE, "pgcms", none)                                                        \
    X(Improbe, IMPROBE, "pgcfms", none)                                                     \
    L(Mrecv, MRECV, "bntms", none)                                                          \
    L(Imrecv, IMRECV, "bntmR", none)                                                        \
    X(Start, START, "r", none)                                                              \
    X(Startall, STARTALL, "kA", none)                                                       \
    X(Wait, WAIT, "rs", none)                                                               \
    X(Waitall, WAITALL, "kAS", none)                                                        \
    X(Waitany, WAITANY, "kAxs", none)                                                       \
    X(Waitsome, WAITSOME, "kAoXS", none)                                                    \
    X(Test, TEST, "rfs", none)                                                              \
    X(Testall, TESTALL, "kAfS", none)                                                       \
    X(Testany, TESTANY, "kAxfs", none)                                                      \
    X(Testsome, TESTSOME, "kAoXS", none)                                                    \
    X(Request_free, REQUEST_FREE, "r", none)                                                \
    X(Cancel, CANCEL, "r", none)                                                            \
    X(Request_get_status, POLL, "-", none)                                                  \
    X(Grequest_start, GREQUEST, "----R", none)                                              \
    L(Buffer_detach, DETACH, "--", none)                                                    \
    X(Barrier, COLLECTIVE, "c", barrier)                                                    \
    X(Ibarrier, ICOLLECTIVE, "cR", ibarrier)                                                \
    X(Barrier_init, PCOLLECTIVE, "c-R", barrier_init)                                       \
    L(Bcast, COLLECTIVE, "bntzc", bcast)                                                    \
    L(Ibcast, ICOLLECTIVE, "bntzcR", ibcast)                                                \
    L(Bcast_init, PCOLLECTIVE, "bntzc-R", bcast_init)                                       \
    L(Allgather, COLLECTIVE, "bnt---c", allgather)                                          \
    L(Iallgather, ICOLLECTIVE, "bnt---cR", iallgather)                                      \
    L(Allgather_init, PCOLLECTIVE, "bnt---c-R", allgather_init)                             \
    L(Allgatherv, COLLECTIVE, "bnt----c", allgatherv)                                       \
    L(Iallgatherv, ICOLLECTIVE, "bnt----cR", iallgatherv)                                   \
    L(Allgatherv_init, PCOLLECTIVE, "bnt----c-R", allgatherv_init)                          \
    L(Allreduce, COLLECTIVE, "b-ntOc", allreduce)                                           \
    L(Iallreduce, ICOLLECTIVE, "b-ntOcR", iallreduce)                                       \
    L(Allreduce_init, PCOLLECTIVE, "b-ntOc-R", allreduce_init)                              \
    L(Alltoall, COLLECTIVE, "bnt---c", alltoall)                                            \
    L(Ialltoall, ICOLLECTIVE, "bnt---cR", ialltoall)                                        \
    L(Alltoall_init, PCOLLECTIVE, "bnt---c-R", alltoall_init)                               \
    L(Alltoallv, COLLECTIVE, "b-------c", alltoallv)                                        \
    L(Ialltoallv, ICOLLECTIVE, "b-------cR", ialltoallv)                                    \
    L(Alltoallv_init, PCOLLECTIVE, "b-------c-R", alltoallv_init)                           \
    L(Alltoallw, COLLECTIVE, "b-------c", alltoallw)                                        \
    L(Ialltoallw, ICOLLECTIVE, "b-------cR", ialltoallw)                                    \
    L(Alltoallw_init, PCOLLECTIVE, "b-------c-R", alltoallw_init)                           \
    L(Reduce_scatter, COLLECTIVE, "b--tOc", reduce_scatter)                                 \
    L(Ireduce_scatter, ICOLLECTIVE, "b--tOcR", ireduce_scatter)                             \
    L(Reduce_scatter_init, PCOLLECTIVE, "b--tOc-R", reduce_scatter_init)                    \
    L(Reduce_scatter_block, COLLECTIVE, "b-ntOc", reduce_scatter_block)                     \
    L(Ireduce_scatter_block, ICOLLECTIVE, "b-ntOcR", ireduce_scatter_block)                 \
    L(Reduce_scatter_block_init, PCOLLECTIVE, "b-ntOc-R", reduce_scatter_block_init)        \
    L(Reduce, COLLECTIVE, "b-ntOzc", reduce)                                                \
    L(Ireduce, ICOLLECTIVE, "b-ntOzcR", ireduce)                                            \
    L(Reduce_init, PCOLLECTIVE, "b-ntOzc-R", reduce_init)                                   \
    L(Gather, COLLECTIVE, "bnt---zc", gather)                                               \
    L(Igather, ICOLLECTIVE, "bnt---zcR", igather)                                           \
    L(Gather_init, PCOLLECTIVE, "bnt---zc-R", gather_init)                                  \
    L(Gatherv, COLLECTIVE, "bnt----zc", gatherv)                                            \
    L(Igatherv, ICOLLECTIVE, "bnt----zcR", igatherv)                                        \
    L(Gatherv_init, PCOLLECTIVE, "bnt----zc-R", gatherv_init)                               \
    L(Scan, COLLECTIVE, "b-ntOc", scan)                                                     \
    L(Iscan, ICOLLECTIVE, "b-ntOcR", iscan)                                                 \
    L(Scan_init, PCOLLECTIVE, "b-ntOc-R", scan_init)                                        \
    L(Exscan, COLLECTIVE, "b-ntOc", exscan)                                                 \
    L(Iexscan, ICOLLECTIVE, "b-ntOcR", iexscan)                                             \
    L(Exscan_init, PCOLLECTIVE, "b-ntOc-R", exscan_init)                                    \
    L(Scatter, COLLECTIVE, "---bntzc", scatter)                                             \
    L(Iscatter, ICOLLECTIVE, "---bntzcR", iscatter)                                         \
    L(Scatter_init, PCOLLECTIVE, "---bntzc-R", scatter_init)                                \
    L(Scatterv, COLLECTIVE, "----bntzc", scatterv)                                          \
    L(Iscatterv, ICOLLECTIVE, "----bntzcR", iscatterv)                                      \
    L(Scatterv_init, PCOLLECTIVE, "----bntzc-R", scatterv_init)                             \
    L(Neighbor_allgather, COLLECTIVE, "bnt-uTc", neighbor_allgather)                        \
    L(Ineighbor_allgather, ICOLLECTIVE, "bnt-uTcR", ineighbor_allgather)                    \
    L(Neighbor_allgather_init, PCOLLECTIVE, "bnt-uTc-R", neighbor_allgather_init)           \
    L(Neighbor_allgatherv, COLLECTIVE, "bnt-V-Tc", neighbor_allgatherv)                     \
    L(Ineighbor_allgatherv, ICOLLECTIVE, "bnt-V-TcR", ineighbor_allgatherv)                 \
    L(Neighbor_allgatherv_init, PCOLLECTIVE, "bnt-V-Tc-R", neighbor_allgatherv_init)        \
    L(Neighbor_alltoall, COLLECTIVE, "bnt-uTc", neighbor_alltoall)                          \
    L(Ineighbor_alltoall, ICOLLECTIVE, "bnt-uTcR", ineighbor_alltoall)                      \
    L(Neighbor_alltoall_init, PCOLLECTIVE, "bnt-uTc-R", neighbor_alltoall_init)             \
    L(Neighbor_alltoallv, COLLECTIVE, "b----V-Tc", neighbor_alltoallv)                      \
    L(Ineighbor_alltoallv, ICOLLECTIVE, "b----V-TcR", ineighbor_alltoallv)                  \
    L(Neighbor_alltoallv_init, PCOLLECTIVE, "b----V-Tc-R", neighbor_alltoallv_init)         \
    L(Neighbor_alltoallw, COLLECTIVE, "b----V-Dc", neighbor_alltoallw)                      \
    L(Ineighbor_alltoallw, ICOLLECTIVE, "b----V-DcR", ineighbor_alltoallw)                  \
    L(Neighbor_alltoallw_init, PCOLLECTIVE, "b----V-Dc-R", neighbor_alltoallw_init)         \
    X(Comm_dup, CREATE, "cC", comm_dup)                                                     \
    X(Comm_dup_with_info, CREATE, "c-C", comm_dup_with_info)                                \
    X(Comm_idup, IDUP, "cCR", comm_idup)                                                    \
    X(Comm_idup_with_info, IDUP, "c-CR", comm_idup_with_info)                               \
    X(Comm_create, CREATE, "c-C", comm_create)                                              \
    X(Comm_create_group, CREATE_GROUP, "c*gC", comm_create_group)                           \
    X(Comm_split, CREATE, "c--C", comm_split)                                               \
    X(Comm_split_type, CREATE, "c---C", comm_split_type)                                    \
    X(Comm_free, COMM_FREE, "d", comm_free)                                                 \
    X(Comm_disconnect, COMM_FREE, "d", comm_disconnect)                                     \
    X(Comm_set_info, COLLECTIVE, "c-", comm_set_info)                                       \
    X(Intercomm_create, INTERCOMM_CREATE, "c***gC", intercomm_create)                       \
    X(Intercomm_merge, CREATE, "c-C", intercomm_merge)                                      \
    X(Comm_create_from_group, CREATE_ALONE, "----C", comm_create_from_group)                \
    X(Intercomm_create_from_groups, CREATE_ALONE, "-------C", intercomm_create_from_groups) \
    X(Cart_create, CREATE, "c----C", cart_create)                                           \
    X(Cart_sub, CREATE, "c-C", cart_sub)                                                    \
    X(Graph_create, CREATE, "c----C", graph_create)                                         \
    X(Dist_graph_create, CREATE, "c-------C", dist_graph_create)                            \
    X(Dist_graph_create_adjacent, CREATE, "c--------C", dist_graph_create_adjacent)         \
    X(Comm_spawn, CREATE_WORLD, "----zcC-", comm_spawn)                                     \
    X(Comm_spawn_multiple, CREATE_WORLD, "-----zcC-", comm_spawn_multiple)                  \
    X(Comm_accept, CREATE_WORLD, "--zcC", comm_accept)                                      \
    X(Comm_connect, CREATE_WORLD, "--zcC", comm_connect)                                    \
    X(Comm_join, CREATE_ALONE, "-C", comm_join)                                             \
    X(Comm_get_parent, GET_PARENT, "C", none)                                               \
    X(Comm_set_name, COMM_NAME, "c*", none)                                                 \
    L(Win_create, WIN_CREATE, "-l-icW", win_create)                                         \
    L(Win_allocate, WIN_CREATE, "l-ic-W", win_allocate)                                     \
    L(Win_allocate_shared, WIN_CREATE, "l-ic-W", win_allocate_shared)                       \
    X(Win_create_dynamic, WIN_CREATE, "icW", win_create_dynamic)                            \
    X(Win_free, WIN_FREE, "v", win_free)                                                    \
    X(Win_fence, WIN_FENCE, "*w", win_fence)                                                \
    X(Win_set_info, WIN_INFO, "w*", win_set_info)                                           \
    X(Win_set_attr, WIN_ATTRIBUTE, "w--", none)                                             \
    X(Win_start, WIN_START, "--w", none)                                                    \
    X(Win_post, WIN_POST, "--w", none)                                                      \
    X(Win_complete, WIN_COMPLETE, "w", none)                                                \
    X(Win_wait, WIN_WAIT, "w", none)                                                        \
    X(Win_lock, WIN_LOCK, "-p-w", none)                                                     \
    X(Win_unlock, WIN_UNLOCK, "pw", none)                                                   \
    X(Win_lock_all, WIN_LOCK_ALL, "-w", none)                                               \
    X(Win_unlock_all, WIN_UNLOCK_ALL, "w", none)                                            \
    X(Win_flush, WIN_FLUSH, "pw", none)                                                     \
    X(Win_flush_local, WIN_SYNC, "pw", none)                                                \
    X(Win_flush_all, WIN_FLUSH_ALL, "w", none)                                              \
    X(Win_flush_local_all, WIN_SYNC, "w", none)                                             \
    X(Win_test, WIN_TEST, "w-", none)                                                       \
    X(Win_set_name, WIN_NAME, "w*", none)                                                   \
    L(Put, RMA, "bntp---w", none)                                                           \
    L(Get, RMA, "bntp---w", none)                                                           \
    L(Accumulate, RMA, "bntp----w", none)                                                   \
    L(Get_accumulate, RMA, "---bntp----w", none)                                            \
    L(Rput, RMA, "bntp---wR", none)                                                         \
    L(Rget, RMA, "bntp---wR", none)                                                         \
    L(Raccumulate, RMA, "bntp----wR", none)                                                 \
    L(Rget_accumulate, RMA, "---bntp----wR", none)                                          \
    X(Fetch_and_op, RMA, "b-tp--w", none)                                                   \
    X(Compare_and_swap, RMA, "b--tp-w", none)                                               \
    X(File_open, FILE_OPEN, "c---G", file_open)                                             \
    X(File_close, FILE_CLOSE, "F", file_close)                                              \
    X(File_set_size, FILE, "F", file_set_size)                                              \
    X(File_preallocate, FILE, "F", file_preallocate)                                        \
    X(File_set_info, FILE, "F", file_set_info)                                              \
    X(File_set_view, FILE, "F", file_set_view)                                              \
    X(File_set_atomicity, FILE, "F", file_set_atomicity)                                    \
    X(File_sync, FILE, "F", file_sync)                                                      \
    X(File_seek_shared, FILE, "F", file_seek_shared)                                        \
    L(File_read_all, FILE, "F", file_read_all)                                              \
    L(File_read_all_begin, FILE, "F", file_read_all_begin)                                  \
    X(File_read_all_end, FILE, "F", file_read_all_end)                                      \
    L(File_read_at_all, FILE, "F", file_read_at_all)                                        \
    L(File_read_at_all_begin, FILE, "F", file_read_at_all_begin)                            \
    X(File_read_at_all_end, FILE, "F", file_read_at_all_end)                                \
    L(File_read_ordered, FILE, "F", file_read_ordered)                                      \
    L(File_read_ordered_begin, FILE, "F", file_read_ordered_begin)                          \
    X(File_read_ordered_end, FILE, "F", file_read_ordered_end)                              \
    L(File_write_all, FILE, "F", file_write_all)                                            \
    L(File_write_all_begin, FILE, "F", file_write_all_begin)                                \
    X(File_write_all_end, FILE, "F", file_write_all_end)                                    \
    L(File_write_at_all, FILE, "F", file_write_at_all)                                      \
    L(File_write_at_all_begin, FILE, "F", file_write_at_all_begin)                          \
    X(File_write_at_all_end, FILE, "F", file_write_at_all_end)                              \
    L(File_write_ordered, FILE, "F", file_write_ordered)                                    \
    L(File_write_ordered_begin, FILE, "F", file_write_ordered_begin)                        \
    X(File_write_ordered_end, FILE, "F", file_write_ordered_end)                            \
    L(File_iread_all, IFILE, "F---R", file_iread_all)                                       \
    L(File_iread_at_all, IFILE, "F----R", file_iread_at_all)                                \
    L(File_iwrite_all, IFILE, "F---R", file_iwrite_all)                                     \
    L(File_iwrite_at_all, IFILE, "F----R", file_iwrite_at_all)                              \
    L(File_iread, REQUEST_OTHER, "----R", none)                                             \
    L(File_iwrite, REQUEST_OTHER, "----R", none)                                            \
    L(File_iread_at, REQUEST_OTHER, "-----R", none)                                         \
    L(File_iwrite_at, REQUEST_OTHER, "-----R", none)                                        \
    L(File_iread_shared, REQUEST_OTHER, "----R", none)                                      \
    L(File_iwrite_shared, REQUEST_OTHER, "----R", none)                                     \
    L(File_read, PLAIN, "-", none)                                                          \
    L(File_write, PLAIN, "-", none)                                                         \
    L(File_read_at, PLAIN, "-", none)                                                       \
    L(File_write_at, PLAIN, "-", none)                                                      \
    L(File_read_shared, PLAIN, "-", none)                                                   \
    L(File_write_shared, PLAIN, "-", none)                                                  \
    X(Init, INIT, "--", init)                                                               \
    X(Init_thread, INIT, "----", init_thread)                                               \
    X(Finalize, FINALIZE, "", finalize)                                                     \
    X(Abort, ABORT, "--", none)                                                             \
    X(Type_free, TYPE_FREE, "*", none)                                                      \
    X(Type_set_name, TYPE_FREE, "t-", none)                                                 \
    L(Type_contiguous, TYPE_NEW, "--Y", none)                                               \
    L(Type_vector, TYPE_NEW, "----Y", none)                                                 \
    L(Type_create_hvector, TYPE_NEW, "----Y", none)                                         \
    L(Type_indexed, TYPE_NEW, "----Y", none)                                                \
    L(Type_create_hindexed, TYPE_NEW, "----Y", none)                                        \
    L(Type_create_indexed_block, TYPE_NEW, "----Y", none)                                   \
    L(Type_create_hindexed_block, TYPE_NEW, "----Y", none)                                  \
    L(Type_create_struct, TYPE_NEW, "----Y", none)                                          \
    L(Type_create_subarray, TYPE_NEW, "------Y", none)                                      \
    L(Type_create_darray, TYPE_NEW, "---------Y", none)                                     \
    L(Type_create_resized, TYPE_NEW, "---Y", none)                                          \
    X(Type_dup, TYPE_NEW, "-Y", none)                                                       \
    X(Comm_group, GROUP_NEW, "cY", none)                                                    \
    X(Comm_remote_group, GROUP_NEW, "cY", none)                                             \
    X(Group_union, GROUP_NEW, "--Y", none)                                                  \
    X(Group_intersection, GROUP_NEW, "--Y", none)                                           \
    X(Group_difference, GROUP_NEW, "--Y", none)                                             \
    X(Group_incl, GROUP_NEW, "---Y", none)                                                  \
    X(Group_excl, GROUP_NEW, "---Y", none)                                                  \
    X(Group_range_incl, GROUP_NEW, "---Y", none)                                            \
    X(Group_range_excl, GROUP_NEW, "---Y", none)                                            \
    X(Win_get_group, GROUP_NEW, "-Y", none)                                                 \
    X(File_get_group, GROUP_NEW, "-Y", none)                                                \
    X(Group_free, GROUP_FREE, "-", none)                                                    \
    L(Op_create, OP_NEW, "--Y", none)                                                       \
    X(Op_free, OP_FREE, "-", none)

/* Functions that Open MPI 4.1 has as MPIX_, otherwise unchanged. */
#define RECORDER_EARLY_FUNCTIONS(X)                                                                       \
    X(Barrier_init)                                                                                       \
    X(Bcast_init)                                                                                         \
    X(Allgather_init)                                                                                     \
    X(Allgatherv_init) X(Allreduce_init) X(Alltoall_init) X(Alltoallv_init) X(Alltoallw_init)             \
        X(Reduce_scatter_init) X(Reduce_scatter_block_init) X(Reduce_init) X(Gather_init) X(Gatherv_init) \
            X(Scan_init) X(Exscan_init) X(Scatter_init) X(Scatterv_init) X(Neighbor_allgather_init)       \
                X(Neighbor_allgatherv_init) X(Neighbor_alltoall_init) X(Neighbor_alltoallv_init)          \
                    X(Neighbor_alltoallw_init)

#endif
