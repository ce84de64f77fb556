/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ompi_mqs.h - what a patched Open MPI remembers about itself, for whoever looks at it from outside.
 *
 * The library writes these records in its own memory; a debugger's message-queue DLL finds them from one
 * exported symbol, ompi_mqs_root, and reads them without the library's help: in a live process, in a core
 * file, with or without debug information.  Nothing here calls, locks or allocates.
 *
 * What it leaves to others: how the records are written (ompi-patch/src/), what they mean for a job
 * (libmpiq).
 *
 * Rules of the layout, so that a reader of another word size needs at most to swap bytes:
 *  - members have fixed widths and are naturally aligned, with every gap spelled out as a member;
 *  - an address is an ompi_mqs_addr_t (64 bits) whatever the pointer size of the library;
 *  - a record that may grow says its own size; growth is at the end and raises version_minor;
 *    anything else raises version_major, and a reader refuses a major version it does not know;
 *  - a reader treats all of it as untrusted: lists are bounded by the OMPI_MQS_MAX_ constants.
 *
 * Sources: MPI 3.1 and 4.0 (names and kinds of the calls); "MPI collective debugger extension proposal"
 * (the first fourteen classes, the count and the active flag).
 */
#ifndef OMPI_MQS_H
#define OMPI_MQS_H

#include <stdint.h>

#define OMPI_MQS_MAGIC "OMPI-MQS" /* eight bytes, no terminator in the record */
#define OMPI_MQS_VERSION_MAJOR 2
#define OMPI_MQS_VERSION_MINOR 1
#define OMPI_MQS_BYTE_ORDER 0x01020304u /* as the library wrote it */

#define OMPI_MQS_RING 16            /* last calls kept a communicator; a power of two */
#define OMPI_MQS_WAIT_DEPTH 8       /* waits nested in one thread that are kept */
#define OMPI_MQS_OUTER_DEPTH 4      /* MPI calls of one thread that are in a user's callback and are kept */
#define OMPI_MQS_HOT 22             /* classes whose counts lie in the communicator's record: values 0-21 */
#define OMPI_MQS_NAME 48            /* bytes of a name in a layout row, terminator included */
#define OMPI_MQS_NSPACE 256         /* bytes of a PMIx namespace, terminator included */

/* Bounds a reader may rely on: a longer list is a corrupt one. */
#define OMPI_MQS_MAX_TABLES 64
#define OMPI_MQS_MAX_ROWS 1024
#define OMPI_MQS_MAX_THREADS 65536
#define OMPI_MQS_MAX_OUTSTANDING (1u << 20)
#define OMPI_MQS_MAX_COUNT_BLOCKS 64
#define OMPI_MQS_MAX_WINDOWS (1u << 20)
#define OMPI_MQS_MAX_LOCKS (1u << 20)

typedef uint64_t ompi_mqs_addr_t;

/*
 * Every collective call of the standard: X(value, identifier, name, kind, order).
 *
 * value  0-13 are the proposal's and never move; later ones are only ever appended.
 * kind   B blocking, N non-blocking (active until its request completes), P persistent (counted at each
 *        start, active between start and completion).
 * order  O: all members make these calls in the same order, so they share the communicator's running
 *        number; U: not all members need make it, or it has no communicator of its own to be ordered on.
 */
#define OMPI_MQS_COLLECTIVES(X)                                                                         \
    X(0, barrier, "MPI_Barrier", B, O)                                                                  \
    X(1, bcast, "MPI_Bcast", B, O)                                                                      \
    X(2, allgather, "MPI_Allgather", B, O)                                                              \
    X(3, allgatherv, "MPI_Allgatherv", B, O)                                                            \
    X(4, allreduce, "MPI_Allreduce", B, O)                                                              \
    X(5, alltoall, "MPI_Alltoall", B, O)                                                                \
    X(6, alltoallv, "MPI_Alltoallv", B, O)                                                              \
    X(7, reduce_scatter, "MPI_Reduce_scatter", B, O)                                                    \
    X(8, reduce, "MPI_Reduce", B, O)                                                                    \
    X(9, gather, "MPI_Gather", B, O)                                                                    \
    X(10, gatherv, "MPI_Gatherv", B, O)                                                                 \
    X(11, scan, "MPI_Scan", B, O)                                                                       \
    X(12, scatter, "MPI_Scatter", B, O)                                                                 \
    X(13, scatterv, "MPI_Scatterv", B, O)                                                               \
    X(14, alltoallw, "MPI_Alltoallw", B, O)                                                             \
    X(15, exscan, "MPI_Exscan", B, O)                                                                   \
    X(16, reduce_scatter_block, "MPI_Reduce_scatter_block", B, O)                                       \
    X(17, neighbor_allgather, "MPI_Neighbor_allgather", B, O)                                           \
    X(18, neighbor_allgatherv, "MPI_Neighbor_allgatherv", B, O)                                         \
    X(19, neighbor_alltoall, "MPI_Neighbor_alltoall", B, O)                                             \
    X(20, neighbor_alltoallv, "MPI_Neighbor_alltoallv", B, O)                                           \
    X(21, neighbor_alltoallw, "MPI_Neighbor_alltoallw", B, O)                                           \
    X(22, ibarrier, "MPI_Ibarrier", N, O)                                                               \
    X(23, ibcast, "MPI_Ibcast", N, O)                                                                   \
    X(24, iallgather, "MPI_Iallgather", N, O)                                                           \
    X(25, iallgatherv, "MPI_Iallgatherv", N, O)                                                         \
    X(26, iallreduce, "MPI_Iallreduce", N, O)                                                           \
    X(27, ialltoall, "MPI_Ialltoall", N, O)                                                             \
    X(28, ialltoallv, "MPI_Ialltoallv", N, O)                                                           \
    X(29, ialltoallw, "MPI_Ialltoallw", N, O)                                                           \
    X(30, ireduce_scatter, "MPI_Ireduce_scatter", N, O)                                                 \
    X(31, ireduce_scatter_block, "MPI_Ireduce_scatter_block", N, O)                                     \
    X(32, ireduce, "MPI_Ireduce", N, O)                                                                 \
    X(33, igather, "MPI_Igather", N, O)                                                                 \
    X(34, igatherv, "MPI_Igatherv", N, O)                                                               \
    X(35, iscan, "MPI_Iscan", N, O)                                                                     \
    X(36, iexscan, "MPI_Iexscan", N, O)                                                                 \
    X(37, iscatter, "MPI_Iscatter", N, O)                                                               \
    X(38, iscatterv, "MPI_Iscatterv", N, O)                                                             \
    X(39, ineighbor_allgather, "MPI_Ineighbor_allgather", N, O)                                         \
    X(40, ineighbor_allgatherv, "MPI_Ineighbor_allgatherv", N, O)                                       \
    X(41, ineighbor_alltoall, "MPI_Ineighbor_alltoall", N, O)                                           \
    X(42, ineighbor_alltoallv, "MPI_Ineighbor_alltoallv", N, O)                                         \
    X(43, ineighbor_alltoallw, "MPI_Ineighbor_alltoallw", N, O)                                         \
    X(44, barrier_init, "MPI_Barrier_init", P, O)                                                       \
    X(45, bcast_init, "MPI_Bcast_init", P, O)                                                           \
    X(46, allgather_init, "MPI_Allgather_init", P, O)                                                   \
    X(47, allgatherv_init, "MPI_Allgatherv_init", P, O)                                                 \
    X(48, allreduce_init, "MPI_Allreduce_init", P, O)                                                   \
    X(49, alltoall_init, "MPI_Alltoall_init", P, O)                                                     \
    X(50, alltoallv_init, "MPI_Alltoallv_init", P, O)                                                   \
    X(51, alltoallw_init, "MPI_Alltoallw_init", P, O)                                                   \
    X(52, reduce_scatter_init, "MPI_Reduce_scatter_init", P, O)                                         \
    X(53, reduce_scatter_block_init, "MPI_Reduce_scatter_block_init", P, O)                             \
    X(54, reduce_init, "MPI_Reduce_init", P, O)                                                         \
    X(55, gather_init, "MPI_Gather_init", P, O)                                                         \
    X(56, gatherv_init, "MPI_Gatherv_init", P, O)                                                       \
    X(57, scan_init, "MPI_Scan_init", P, O)                                                             \
    X(58, exscan_init, "MPI_Exscan_init", P, O)                                                         \
    X(59, scatter_init, "MPI_Scatter_init", P, O)                                                       \
    X(60, scatterv_init, "MPI_Scatterv_init", P, O)                                                     \
    X(61, neighbor_allgather_init, "MPI_Neighbor_allgather_init", P, O)                                 \
    X(62, neighbor_allgatherv_init, "MPI_Neighbor_allgatherv_init", P, O)                               \
    X(63, neighbor_alltoall_init, "MPI_Neighbor_alltoall_init", P, O)                                   \
    X(64, neighbor_alltoallv_init, "MPI_Neighbor_alltoallv_init", P, O)                                 \
    X(65, neighbor_alltoallw_init, "MPI_Neighbor_alltoallw_init", P, O)                                 \
    X(66, comm_dup, "MPI_Comm_dup", B, O)                                                               \
    X(67, comm_dup_with_info, "MPI_Comm_dup_with_info", B, O)                                           \
    X(68, comm_idup, "MPI_Comm_idup", N, O)                                                             \
    X(69, comm_idup_with_info, "MPI_Comm_idup_with_info", N, O)                                         \
    X(70, comm_create, "MPI_Comm_create", B, O)                                                         \
    X(71, comm_create_group, "MPI_Comm_create_group", B, U)                                             \
    X(72, comm_split, "MPI_Comm_split", B, O)                                                           \
    X(73, comm_split_type, "MPI_Comm_split_type", B, O)                                                 \
    X(74, comm_free, "MPI_Comm_free", B, O)                                                             \
    X(75, comm_disconnect, "MPI_Comm_disconnect", B, O)                                                 \
    X(76, comm_set_info, "MPI_Comm_set_info", B, O)                                                     \
    X(77, intercomm_create, "MPI_Intercomm_create", B, O)                                               \
    X(78, intercomm_merge, "MPI_Intercomm_merge", B, O)                                                 \
    X(79, comm_create_from_group, "MPI_Comm_create_from_group", B, U)                                   \
    X(80, intercomm_create_from_groups, "MPI_Intercomm_create_from_groups", B, U)                       \
    X(81, cart_create, "MPI_Cart_create", B, O)                                                         \
    X(82, cart_sub, "MPI_Cart_sub", B, O)                                                               \
    X(83, graph_create, "MPI_Graph_create", B, O)                                                       \
    X(84, dist_graph_create, "MPI_Dist_graph_create", B, O)                                             \
    X(85, dist_graph_create_adjacent, "MPI_Dist_graph_create_adjacent", B, O)                           \
    X(86, comm_spawn, "MPI_Comm_spawn", B, O)                                                           \
    X(87, comm_spawn_multiple, "MPI_Comm_spawn_multiple", B, O)                                         \
    X(88, comm_accept, "MPI_Comm_accept", B, O)                                                         \
    X(89, comm_connect, "MPI_Comm_connect", B, O)                                                       \
    X(90, comm_join, "MPI_Comm_join", B, U)                                                             \
    X(91, win_create, "MPI_Win_create", B, O)                                                           \
    X(92, win_allocate, "MPI_Win_allocate", B, O)                                                       \
    X(93, win_allocate_shared, "MPI_Win_allocate_shared", B, O)                                         \
    X(94, win_create_dynamic, "MPI_Win_create_dynamic", B, O)                                           \
    X(95, win_free, "MPI_Win_free", B, U)                                                               \
    X(96, win_fence, "MPI_Win_fence", B, U)                                                             \
    X(97, win_set_info, "MPI_Win_set_info", B, U)                                                       \
    X(98, file_open, "MPI_File_open", B, O)                                                             \
    X(99, file_close, "MPI_File_close", B, U)                                                           \
    X(100, file_set_size, "MPI_File_set_size", B, U)                                                    \
    X(101, file_preallocate, "MPI_File_preallocate", B, U)                                              \
    X(102, file_set_info, "MPI_File_set_info", B, U)                                                    \
    X(103, file_set_view, "MPI_File_set_view", B, U)                                                    \
    X(104, file_set_atomicity, "MPI_File_set_atomicity", B, U)                                          \
    X(105, file_sync, "MPI_File_sync", B, U)                                                            \
    X(106, file_seek_shared, "MPI_File_seek_shared", B, U)                                              \
    X(107, file_read_all, "MPI_File_read_all", B, U)                                                    \
    X(108, file_read_at_all, "MPI_File_read_at_all", B, U)                                              \
    X(109, file_read_ordered, "MPI_File_read_ordered", B, U)                                            \
    X(110, file_write_all, "MPI_File_write_all", B, U)                                                  \
    X(111, file_write_at_all, "MPI_File_write_at_all", B, U)                                            \
    X(112, file_write_ordered, "MPI_File_write_ordered", B, U)                                          \
    X(113, file_read_all_begin, "MPI_File_read_all_begin", B, U)                                        \
    X(114, file_read_all_end, "MPI_File_read_all_end", B, U)                                            \
    X(115, file_read_at_all_begin, "MPI_File_read_at_all_begin", B, U)                                  \
    X(116, file_read_at_all_end, "MPI_File_read_at_all_end", B, U)                                      \
    X(117, file_read_ordered_begin, "MPI_File_read_ordered_begin", B, U)                                \
    X(118, file_read_ordered_end, "MPI_File_read_ordered_end", B, U)                                    \
    X(119, file_write_all_begin, "MPI_File_write_all_begin", B, U)                                      \
    X(120, file_write_all_end, "MPI_File_write_all_end", B, U)                                          \
    X(121, file_write_at_all_begin, "MPI_File_write_at_all_begin", B, U)                                \
    X(122, file_write_at_all_end, "MPI_File_write_at_all_end", B, U)                                    \
    X(123, file_write_ordered_begin, "MPI_File_write_ordered_begin", B, U)                              \
    X(124, file_write_ordered_end, "MPI_File_write_ordered_end", B, U)                                  \
    X(125, file_iread_all, "MPI_File_iread_all", N, U)                                                  \
    X(126, file_iread_at_all, "MPI_File_iread_at_all", N, U)                                            \
    X(127, file_iwrite_all, "MPI_File_iwrite_all", N, U)                                                \
    X(128, file_iwrite_at_all, "MPI_File_iwrite_at_all", N, U)                                          \
    X(129, init, "MPI_Init", B, U)                                                                      \
    X(130, init_thread, "MPI_Init_thread", B, U)                                                        \
    X(131, finalize, "MPI_Finalize", B, U)                                                              \
    X(132, comm_agree, "MPIX_Comm_agree", B, O)                                                         \
    X(133, comm_iagree, "MPIX_Comm_iagree", N, O)                                                       \
    X(134, comm_shrink, "MPIX_Comm_shrink", B, O)                                                       \
    X(135, comm_ishrink, "MPIX_Comm_ishrink", N, O)                                                     \
    X(136, session_init, "MPI_Session_init", B, U)                                                      \
    X(137, session_finalize, "MPI_Session_finalize", B, U)

enum ompi_mqs_collective {
#define OMPI_MQS_ENUM(value, id, name, kind, order) OMPI_MQS_##id = (value),
    OMPI_MQS_COLLECTIVES(OMPI_MQS_ENUM)
#undef OMPI_MQS_ENUM
        OMPI_MQS_COLLECTIVE_COUNT
};

/* Of ompi_mqs_thread.collective: not said there. */
#define OMPI_MQS_COLLECTIVE_NEWEST 0xffffffffu

/* Bits of ompi_mqs_call.flags. */
#define OMPI_MQS_CALL_ORDERED 1u  /* it took a running number */
#define OMPI_MQS_CALL_REQUEST 4u  /* non-blocking or persistent: it lives on in a request */
#define OMPI_MQS_CALL_START 8u    /* a start of a persistent one (those take no number; its _init call did) */
#define OMPI_MQS_CALL_NO_COUNT 16u/* it has no count and no datatype */
#define OMPI_MQS_CALL_NO_OP 32u
#define OMPI_MQS_CALL_NO_ROOT 64u

/*
 * One collective call, as the caller made it.  What a call does not have is 0, a root it does not have -1;
 * where a flag says that it does not have it, the member is not written and may hold anything.
 *
 * Whether a call of a ring has ended is not written into it (the record must cost the caller nothing).
 * A blocking one is under way while its class has an active call and it is the newest of its class in the
 * ring; a non-blocking one while an entry of the outstanding list has its number.
 */
struct ompi_mqs_call {
    uint16_t collective;        /* enum ompi_mqs_collective */
    uint16_t flags;             /* OMPI_MQS_CALL_ bits */
    int32_t root;               /* as given: MPI_ROOT and MPI_PROC_NULL are the library's negative values */
    uint64_t number;            /* running number on this communicator, from 1; 0 if not ordered.  In a
                                   communicator's ring it is not written but follows from the slot
                                   (ompi_mqs_ring_number).  In the ring of ompi_mqs_root.process: the
                                   communicator (an address) of the call, window or file; 0 if not known */
    int64_t count;              /* of elements, as given: the side that is significant at this caller */
    ompi_mqs_addr_t datatype;   /* handle, that is the address of the library's object; of the same side */
    ompi_mqs_addr_t op;         /* handle */
    ompi_mqs_addr_t caller;     /* return address of the MPI call */
    uint64_t begin_cycles;      /* the processor's cycle counter at entry; 0 where there is none */
    uint32_t tid;               /* kernel thread id of the caller; 0 if not known (never known for blocking
                                   ones: the thread records tell) */
    uint32_t reserved;
};

/* A non-blocking or started persistent collective whose request has not completed. */
struct ompi_mqs_outstanding {
    ompi_mqs_addr_t next;       /* next one of this communicator; 0 ends the list */
    ompi_mqs_addr_t request;    /* the library's request object */
    struct ompi_mqs_call call;
};

struct ompi_mqs_count {
    uint32_t calls;             /* so far; wraps */
    uint32_t ended;             /* of those, in whatever order; wraps */
};

/* How many calls of the class are active: at most 1 of a blocking one on one communicator. */
static inline uint32_t ompi_mqs_active(struct ompi_mqs_count count)
{
    return count.calls - count.ended;
}

/* Counts of one class that a communicator's record does not hold itself.  collective 0: an unused entry. */
struct ompi_mqs_class_count {
    uint32_t collective;
    struct ompi_mqs_count count;
};

#define OMPI_MQS_COUNT_BLOCK 10

struct ompi_mqs_count_block {
    ompi_mqs_addr_t next;       /* 0 ends the list */
    struct ompi_mqs_class_count of[OMPI_MQS_COUNT_BLOCK];
};

/*
 * What one communicator remembers; its address is in the member c_mqs of the library's communicator.
 *
 * All calls in a communicator's ring are ordered ones: the n-th of them has the running number n and lies in
 * ring[(n - 1) % OMPI_MQS_RING].  Calls that are not ordered lie in the ring of ompi_mqs_root.process
 * (without a number), but count on the communicator they were made on.
 *
 * The library never unmaps a record.  That of a communicator that is gone may serve another one.
 */
struct ompi_mqs_collectives {
    uint32_t size;              /* bytes of this record */
    uint32_t classes;           /* entries of counts; later classes have theirs in more_counts */
    ompi_mqs_addr_t comm;       /* the library's communicator; 0 in ompi_mqs_root.process, and once it is gone */
    uint64_t group_hash;        /* of the local group's members, see ompi_mqs_hash_*; 0: not computed */
    uint64_t remote_hash;       /* of the remote group's, 0 for an intracommunicator */
    uint64_t position;          /* calls put into the ring so far, times OMPI_MQS_POSITION: its low byte says
                                   where in the ring, in units of 4 bytes, the next one goes */
    ompi_mqs_addr_t outstanding;/* first struct ompi_mqs_outstanding, newest first */
    ompi_mqs_addr_t ring;       /* OMPI_MQS_RING struct ompi_mqs_call; 0: no call was put into it yet */
    uint64_t no_ring;           /* the library's own: not 0 until there is a ring */
    ompi_mqs_addr_t more_counts;/* first struct ompi_mqs_count_block; 0: none */
    struct ompi_mqs_count counts[OMPI_MQS_HOT];
    uint64_t end_cycles;        /* the processor's cycle counter when the last blocking call here ended; 0: none
                                   has, or there is no counter.  Since 2.1 */
};

#define OMPI_MQS_POSITION (sizeof(struct ompi_mqs_call) / 4) /* 16 calls of 16 are the 256 of a byte */

/* Calls put into a ring so far. */
static inline uint64_t ompi_mqs_ring_calls(uint64_t position)
{
    return position / OMPI_MQS_POSITION;
}

/* The running number of the call in ring[slot] of a communicator, 0 if none has been put there yet. */
static inline uint64_t ompi_mqs_ring_number(uint64_t position, uint32_t slot)
{
    uint64_t calls = ompi_mqs_ring_calls(position);
    uint64_t back = (calls - 1 - slot) % OMPI_MQS_RING; /* how many calls ago, the last one being 0 */

    return calls <= back ? 0 : calls - back;
}

/* FNV-1a over the members' (jobid, vpid) pairs in rank order, each as eight little-endian bytes
   jobid then vpid; a result of 0 is stored as 1. */
#define OMPI_MQS_HASH_START UINT64_C(0xcbf29ce484222325)
#define OMPI_MQS_HASH_PRIME UINT64_C(0x100000001b3)

/* Why a thread waits inside the library. */
enum ompi_mqs_wait_kind {
    OMPI_MQS_WAIT_NONE = 0,
    OMPI_MQS_WAIT_REQUEST = 1,      /* one request: MPI_Wait, or a blocking call's own */
    OMPI_MQS_WAIT_ALL = 2,          /* MPI_Waitall, or a collective's requests */
    OMPI_MQS_WAIT_ANY = 3,
    OMPI_MQS_WAIT_SOME = 4,
    OMPI_MQS_WAIT_SEND = 5,         /* MPI_Send and its modes: comm, peer, tag given */
    OMPI_MQS_WAIT_RECEIVE = 6,      /* MPI_Recv */
    OMPI_MQS_WAIT_PROBE = 7,        /* MPI_Probe */
    OMPI_MQS_WAIT_MPROBE = 8,       /* MPI_Mprobe */
    OMPI_MQS_WAIT_MRECV = 9,        /* MPI_Mrecv */
    OMPI_MQS_WAIT_BSEND_DETACH = 10,/* MPI_Buffer_detach: buffered sends still on their way */
    OMPI_MQS_WAIT_RMA = 11,         /* a window, in a call that has no kind of its own */
    OMPI_MQS_WAIT_SHARED = 12,      /* a shared-memory collective's flag */
    OMPI_MQS_WAIT_INIT = 13,        /* MPI_Init: the launcher's fence */
    OMPI_MQS_WAIT_FINALIZE = 14,    /* MPI_Finalize: the launcher's fence */
    OMPI_MQS_WAIT_CONNECT = 15,     /* MPI_Comm_accept, connect, spawn, process groups: the launcher */
    OMPI_MQS_WAIT_WIN_FENCE = 16,   /* one-sided calls, by name; flush: all four of them */
    OMPI_MQS_WAIT_WIN_START = 17,
    OMPI_MQS_WAIT_WIN_COMPLETE = 18,
    OMPI_MQS_WAIT_WIN_WAIT = 19,
    OMPI_MQS_WAIT_WIN_LOCK = 20,
    OMPI_MQS_WAIT_WIN_UNLOCK = 21,
    OMPI_MQS_WAIT_WIN_FLUSH = 22,
    OMPI_MQS_WAIT_WIN_FREE = 23
};

/* One wait of one thread.  peer and tag are as the caller gave them: a local rank, or the library's
   negative values; they hold for kinds SEND to MRECV.  For the one-sided kinds peer is the target's local
   rank (-1: every target) and tag the enum ompi_mqs_lock_type that is waited for. */
struct ompi_mqs_wait {
    uint32_t kind;              /* enum ompi_mqs_wait_kind */
    uint32_t need;              /* how many more requests must complete before the wait ends: 1, or for ALL
                                   those that were active and incomplete when it began */
    uint64_t episode;           /* differs from that of every other wait of this thread */
    ompi_mqs_addr_t requests;   /* array of request addresses (each pointer_size wide), or, if count is 0,
                                   the one request itself, or 0 */
    uint64_t count;             /* of the array */
    ompi_mqs_addr_t comm;       /* the library's communicator; 0 if the requests say it */
    int32_t peer;
    int32_t tag;
    uint64_t begin_ns;          /* CLOCK_REALTIME once the wait has polled long enough to be stamped; else 0 */
    ompi_mqs_addr_t object;     /* struct ompi_mqs_window, or the library's own window where it has none */
};

/* An MPI call that a thread is in while it executes a callback of the user's (attributes, error handlers). */
struct ompi_mqs_outer {
    ompi_mqs_addr_t collectives;/* as in the thread's word "inside"; 0: not a collective call */
    ompi_mqs_addr_t comm;
    uint32_t collective;
    uint32_t depth;             /* waits below this level belong to the call and are not waits now */
};

/* One thread that has been inside the library.  Never freed while the process lives: a thread that ends
   leaves a record with tid 0, which a later thread may take. */
struct ompi_mqs_thread {
    ompi_mqs_addr_t next;       /* 0 ends the list */
    uint32_t size;              /* bytes of this record */
    uint32_t tid;               /* kernel thread id, 0: free */
    uint32_t depth;             /* waits nested now; of more than OMPI_MQS_WAIT_DEPTH the first are kept */
    uint32_t collective;        /* of the outermost collective call, valid while the thread is inside one;
                                   OMPI_MQS_COLLECTIVE_NEWEST: the newest in that record's ring that is not
                                   OMPI_MQS_CALL_REQUEST */
    ompi_mqs_addr_t inside;     /* address of 8 bytes: where that call is recorded (struct ompi_mqs_collectives,
                                   which names its communicator), an ompi_mqs_addr_t; 0 there outside
                                   collective calls.  A non-blocking call counts there only until it returns.
                                   They lie in the thread's own storage, and go with it */
    uint64_t episodes;          /* waits begun by this thread so far */
    ompi_mqs_addr_t comm;       /* communicator of a call that is recorded in ompi_mqs_root.process; 0: none */
    uint32_t outer_depth;       /* entries of outer */
    uint32_t reserved;
    struct ompi_mqs_wait stack[OMPI_MQS_WAIT_DEPTH]; /* outermost first */
    struct ompi_mqs_outer outer[OMPI_MQS_OUTER_DEPTH]; /* outermost first: the thread is in a callback of the
                                   last one, and what is said above is of the callback */
};

enum ompi_mqs_lock_type { OMPI_MQS_LOCK_NONE = 0, OMPI_MQS_LOCK_EXCLUSIVE = 1, OMPI_MQS_LOCK_SHARED = 2 };

/* A lock that this process has asked for.  "Held" says that the call that asks has returned: a component may
   let it return before the target has granted the lock, and wait in the next flush or unlock. */
struct ompi_mqs_lock {
    int32_t target;             /* local rank; -1: all (MPI_Win_lock_all) */
    uint16_t type;              /* enum ompi_mqs_lock_type; 0: an unused entry */
    uint16_t held;              /* 0: wanted, the call has not returned */
};

#define OMPI_MQS_LOCKS 4        /* locks of a window that lie in its record */

enum ompi_mqs_exposure { OMPI_MQS_EXPOSURE_NONE = 0, OMPI_MQS_EXPOSURE_FENCE = 1, OMPI_MQS_EXPOSURE_POST = 2 };
enum ompi_mqs_access {
    OMPI_MQS_ACCESS_NONE = 0,
    OMPI_MQS_ACCESS_FENCE = 1,
    OMPI_MQS_ACCESS_START = 2,
    OMPI_MQS_ACCESS_LOCK = 3,
    OMPI_MQS_ACCESS_LOCK_ALL = 4
};

/* One window, as far as this process has synchronised it.  Its address is in the member w_mqs of the
   library's window.  Never unmapped; that of a freed window may serve another one. */
struct ompi_mqs_window {
    ompi_mqs_addr_t next;       /* 0 ends the list */
    uint32_t size;              /* bytes of this record */
    int32_t local_rank;         /* this process's in the window's group */
    ompi_mqs_addr_t window;     /* the library's window; 0: a free record */
    ompi_mqs_addr_t comm;       /* communicator it was made on; 0 once that is gone */
    ompi_mqs_addr_t group;      /* the library's group of the members */
    uint64_t id[2];             /* the same on all members, and no other living window's: context id of the
                                   communicator that the window has for itself; 0, 0: it has none */
    uint64_t group_hash;
    ompi_mqs_addr_t made_caller;/* return address of the MPI call that made it; 0: not known */
    uint32_t made_by;           /* enum ompi_mqs_collective; 0: not known */
    uint32_t exposure;          /* enum ompi_mqs_exposure */
    uint32_t access;            /* enum ompi_mqs_access */
    uint32_t lock_count;        /* entries of the array at locks, unused ones included */
    ompi_mqs_addr_t exposure_group; /* the library's group of MPI_Win_post; 0: none */
    ompi_mqs_addr_t access_group;   /* of MPI_Win_start */
    ompi_mqs_addr_t locks;      /* array of struct ompi_mqs_lock */
    struct ompi_mqs_lock first_locks[OMPI_MQS_LOCKS]; /* where that lies while it is short */
};

/* Where a member of a structure lies: offsetof and sizeof, taken by the library's compiler.  A row with an
   empty member gives the size of the structure; one with an empty structure gives a constant's value
   in offset. */
struct ompi_mqs_row {
    char structure[OMPI_MQS_NAME];
    char member[OMPI_MQS_NAME];
    uint32_t offset;
    uint32_t size;
};

/* The rows of one loaded object (libmpi, or a component that is an object of its own). */
struct ompi_mqs_table {
    ompi_mqs_addr_t next;       /* 0 ends the list */
    char object[OMPI_MQS_NAME]; /* "libmpi", "pml/ob1", … */
    uint32_t size;              /* bytes of this record */
    uint32_t row_size;          /* bytes of a row */
    uint64_t row_count;
    ompi_mqs_addr_t rows;
};

/* Addresses of the library's variables that a stripped library would not tell: X-named, 0 if absent. */
struct ompi_mqs_symbol {
    char name[OMPI_MQS_NAME];
    ompi_mqs_addr_t address;
};

enum ompi_mqs_phase {
    OMPI_MQS_PHASE_LOADED = 0,      /* before MPI_Init */
    OMPI_MQS_PHASE_INITIALIZING = 1,
    OMPI_MQS_PHASE_RUNNING = 2,
    OMPI_MQS_PHASE_FINALIZING = 3,
    OMPI_MQS_PHASE_FINALIZED = 4
};

/* A moment on two clocks: how cycles are turned into time. */
struct ompi_mqs_moment {
    uint64_t cycles;
    uint64_t ns;                /* CLOCK_REALTIME */
};

/* The one exported symbol: ompi_mqs_root. */
struct ompi_mqs_root {
    char magic[8];
    uint32_t byte_order;
    uint16_t version_major;
    uint16_t version_minor;
    uint32_t size;              /* bytes of this record */
    uint32_t pointer_size;      /* of the library: 4 or 8 */
    uint32_t recording;         /* 0: switched off by the MCA parameter */
    uint32_t phase;             /* enum ompi_mqs_phase */
    ompi_mqs_addr_t tables;     /* first struct ompi_mqs_table */
    ompi_mqs_addr_t threads;    /* first struct ompi_mqs_thread */
    ompi_mqs_addr_t process;    /* struct ompi_mqs_collectives of the calls that have no communicator:
                                   init, finalize, session constructors */
    ompi_mqs_addr_t symbols;    /* array of struct ompi_mqs_symbol */
    uint32_t symbol_count;
    uint32_t jobid;             /* the first half of this process's name in groups */
    uint32_t vpid;              /* the second: rank in the namespace */
    uint32_t world_size;        /* 0 until known */
    uint32_t thread_level;      /* MPI_THREAD_ provided: 0 single … 3 multiple */
    uint32_t pid;
    char nspace[OMPI_MQS_NSPACE];
    char release[OMPI_MQS_NAME];/* "4.1.4" */
    char pml[OMPI_MQS_NAME];    /* "ob1"; "" until selected */
    struct ompi_mqs_moment first;   /* at initialisation */
    struct ompi_mqs_moment last;    /* at the last stamped wait */
    ompi_mqs_addr_t windows;    /* first struct ompi_mqs_window */
};

#endif
