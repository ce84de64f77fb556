/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_interface.h - between a debugger and the message-queue DLL of an MPI library.
 *
 * The first part is the MPI Forum's message-queue interface as every debugger in the field uses it: names,
 * types, sizes and values are fixed by the existing binaries, and tests/mqs/test_abi.py compares them with
 * Open MPI's own header.  The second part is the collective extension.  The third is a table of further
 * functions behind one optional symbol; a debugger that does not know the symbol is not affected.
 *
 * The debugger calls the mqs_ functions declared here; the DLL calls back through the three tables it was
 * given.  The DLL's only global state is its pointer to the basic callbacks; everything else is attached to
 * the debugger's images and processes.  A DLL never prints, accesses the process only through
 * mqs_fetch_data_fp, and is called by one thread at a time.
 *
 * Sources: MPI Forum, "The MPI Message Queue Dumping Interface, version 1.0"; Open MPI
 * ompi/debuggers/msgq_interface.h (the two members bool_size and size_t_size); the "MPI collective
 * debugger extension proposal".
 */
#ifndef _MPI_INTERFACE_INCLUDED
#define _MPI_INTERFACE_INCLUDED

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Part 1: the Forum's interface ------------------------------------------------------------------- */

/* What mqs_version_compatibility() returns; a debugger refuses a DLL with another value. */
enum { MQS_INTERFACE_COMPATIBILITY = 2 };

/* The DLL's own records: opaque to the debugger, which stores the pointers. */
typedef struct _mqs_image_info mqs_image_info;
typedef struct _mqs_process_info mqs_process_info;

/* The debugger's own records: opaque to the DLL. */
typedef struct mqs_image_ mqs_image;     /* an executable and the libraries it loads */
typedef struct mqs_process_ mqs_process; /* one running (or dead) instance of an image */
typedef struct mqs_type_ mqs_type;

/* Wide enough for an address and for a word of any target the debugger handles. */
typedef unsigned long mqs_taddr_t;
typedef long mqs_tword_t;

/* Sizes of the target's basic types, in bytes. */
typedef struct {
    int short_size;
    int int_size;
    int long_size;
    int long_long_size;
    int pointer_size;
    int bool_size;
    int size_t_size;
} mqs_target_type_sizes;

/* Return codes of the functions on both sides.  Values from mqs_first_user_code upwards belong to the side
   that was called, and its error-string function explains them. */
enum { mqs_ok = 0, mqs_no_information, mqs_end_of_list, mqs_first_user_code = 100 };

typedef enum { mqs_lang_c = 'c', mqs_lang_cplus = 'C', mqs_lang_f77 = 'f', mqs_lang_f90 = 'F' } mqs_lang_code;

typedef enum { mqs_pending_sends, mqs_pending_receives, mqs_unexpected_messages } mqs_op_class;

/* In place of a rank in MPI_COMM_WORLD: a wildcard, or a process that is not in this world. */
enum { MQS_INVALID_PROCESS = -1 };

enum mqs_status { mqs_st_pending, mqs_st_matched, mqs_st_complete };

/* The codes that existing DLLs use above mqs_first_user_code.  A debugger shows them through
   mqs_dll_error_string and does not need to distinguish them. */
enum {
    err_silent_failure = mqs_first_user_code,

    err_no_current_communicator,
    err_bad_request,
    err_no_store,

    err_failed_qhdr,
    err_unexpected,
    err_posted,

    err_failed_queue,
    err_first,

    err_context_id,
    err_tag,
    err_tagmask,
    err_lsrc,
    err_srcmask,
    err_next,
    err_ptr,

    err_missing_type,
    err_missing_symbol,

    err_db_shandle,
    err_db_comm,
    err_db_target,
    err_db_tag,
    err_db_data,
    err_db_byte_length,
    err_db_next,

    err_failed_rhandle,
    err_is_complete,
    err_buf,
    err_len,
    err_s,

    err_failed_status,
    err_count,
    err_MPI_SOURCE,
    err_MPI_TAG,

    err_failed_commlist,
    err_sequence_number,
    err_comm_first,

    err_failed_communicator,
    err_lrank_to_grank,
    err_send_context,
    err_recv_context,
    err_comm_next,
    err_comm_name,

    err_all_communicators,
    err_mpid_sends,
    err_mpid_recvs,
    err_group_corrupt
};

typedef struct {
    mqs_taddr_t unique_id;  /* the same on all members */
    mqs_tword_t local_rank; /* of this process in the communicator */
    mqs_tword_t size;       /* of the local group */
    char name[64];          /* zero-terminated */
} mqs_communicator;

/* One message as seen by one side.  Lengths are in bytes; local ranks are ranks in the communicator. */
typedef struct {
    int status;                      /* enum mqs_status */
    mqs_tword_t desired_local_rank;  /* of the other side; -1 for any */
    mqs_tword_t desired_global_rank; /* the same in MPI_COMM_WORLD, or MQS_INVALID_PROCESS */
    int tag_wild;                    /* 1: any tag matches, and desired_tag is meaningless */
    mqs_tword_t desired_tag;
    mqs_tword_t desired_length;
    int system_buffer; /* 1: the library's buffer, not the user's */
    mqs_taddr_t buffer;

    /* Valid for sends, and once the status is matched or complete. */
    mqs_tword_t actual_local_rank;
    mqs_tword_t actual_global_rank;
    mqs_tword_t actual_tag;
    mqs_tword_t actual_length;

    char extra_text[5][64]; /* for people to read; each zero-terminated, "" if unused */
} mqs_pending_operation;

/* Types of all callbacks, and the basic ones, which need no image and no process.  All slots are filled. */
typedef void (*mqs_put_image_info_ft)(mqs_image *, mqs_image_info *);
typedef mqs_image_info *(*mqs_get_image_info_ft)(mqs_image *);
typedef mqs_image *(*mqs_get_image_ft)(mqs_process *);
typedef int (*mqs_get_global_rank_ft)(mqs_process *);
typedef int (*mqs_find_function_ft)(mqs_image *, char *, mqs_lang_code, mqs_taddr_t *);
typedef int (*mqs_find_symbol_ft)(mqs_image *, char *, mqs_taddr_t *);
typedef void (*mqs_put_process_info_ft)(mqs_process *, mqs_process_info *);
typedef mqs_process_info *(*mqs_get_process_info_ft)(mqs_process *);
typedef void *(*mqs_malloc_ft)(size_t);
typedef void (*mqs_free_ft)(void *);
typedef mqs_type *(*mqs_find_type_ft)(mqs_image *, char *, mqs_lang_code); /* NULL: no such type */
typedef int (*mqs_field_offset_ft)(mqs_type *, char *);                    /* bytes; -1: no such member */
typedef int (*mqs_sizeof_ft)(mqs_type *);
typedef void (*mqs_get_type_sizes_ft)(mqs_process *, mqs_target_type_sizes *);
typedef int (*mqs_fetch_data_ft)(mqs_process *, mqs_taddr_t, int, void *); /* mqs_ok: all bytes were read */
typedef void (*mqs_target_to_host_ft)(mqs_process *, const void *, void *, int); /* byte order of one item */
typedef void (*mqs_dprints_ft)(const char *);
typedef char *(*mqs_errorstring_ft)(int);

typedef struct mqs_basic_callbacks {
    mqs_malloc_ft mqs_malloc_fp;
    mqs_free_ft mqs_free_fp;
    mqs_dprints_ft mqs_dprints_fp;
    mqs_errorstring_ft mqs_errorstring_fp;
    mqs_put_image_info_ft mqs_put_image_info_fp;
    mqs_get_image_info_ft mqs_get_image_info_fp;
    mqs_put_process_info_ft mqs_put_process_info_fp;
    mqs_get_process_info_ft mqs_get_process_info_fp;
} mqs_basic_callbacks;

typedef struct mqs_image_callbacks {
    mqs_get_type_sizes_ft mqs_get_type_sizes_fp;
    mqs_find_function_ft mqs_find_function_fp;
    mqs_find_symbol_ft mqs_find_symbol_fp;
    mqs_find_type_ft mqs_find_type_fp;
    mqs_field_offset_ft mqs_field_offset_fp;
    mqs_sizeof_ft mqs_sizeof_fp;
} mqs_image_callbacks;

typedef struct mqs_process_callbacks {
    mqs_get_global_rank_ft mqs_get_global_rank_fp;
    mqs_get_image_ft mqs_get_image_fp;
    mqs_fetch_data_ft mqs_fetch_data_fp;
    mqs_target_to_host_ft mqs_target_to_host_fp;
} mqs_process_callbacks;

/* The DLL's functions.  Order of calls: setup_basic_callbacks once; setup_image and image_has_queues per
   image; setup_process and process_has_queues per process; then, for each look, update_communicator_list,
   the communicator iterator, and for a communicator the operation iterators. */

extern void mqs_setup_basic_callbacks(const mqs_basic_callbacks *); /* the table must outlive the DLL */
extern char *mqs_version_string(void);                              /* static */
extern int mqs_version_compatibility(void);                         /* MQS_INTERFACE_COMPATIBILITY */
extern int mqs_dll_taddr_width(void);                               /* sizeof (mqs_taddr_t) in the DLL */
extern char *mqs_dll_error_string(int);                             /* static, never NULL */

extern int mqs_setup_image(mqs_image *, const mqs_image_callbacks *);
/* The message is NULL, or text for the user with one %s for the image's name; valid until the image
   information (for mqs_process_has_queues: the process information) is destroyed. */
extern int mqs_image_has_queues(mqs_image *, char **);
extern void mqs_destroy_image_info(mqs_image_info *); /* NULL is fine */

extern int mqs_setup_process(mqs_process *, const mqs_process_callbacks *);
extern void mqs_destroy_process_info(mqs_process_info *); /* NULL is fine */
extern int mqs_process_has_queues(mqs_process *, char **);

extern int mqs_update_communicator_list(mqs_process *); /* once per look; drops everything read before */
extern int mqs_setup_communicator_iterator(mqs_process *);
extern int mqs_get_communicator(mqs_process *, mqs_communicator *);
extern int mqs_get_comm_group(mqs_process *, int *); /* mqs_communicator.size world ranks, caller's array */
extern int mqs_next_communicator(mqs_process *);     /* mqs_end_of_list after the last */

extern int mqs_setup_operation_iterator(mqs_process *, int); /* mqs_op_class, on the current communicator */
extern int mqs_next_operation(mqs_process *, mqs_pending_operation *);

/* ---- Part 2: the collective extension ---------------------------------------------------------------- */

/* Values 0 to 13 are the proposal's.  Later values are ours, numbered as OMPI_MQS_COLLECTIVES in
   ompi_mqs.h; mqs_extensions.coll_name returns their names. */
typedef enum {
    mqs_comm_barrier,
    mqs_comm_broadcast,
    mqs_comm_allgather,
    mqs_comm_allgatherv,
    mqs_comm_allreduce,
    mqs_comm_alltoall,
    mqs_comm_alltoallv,
    mqs_comm_reduce_scatter,
    mqs_comm_reduce,
    mqs_comm_gather,
    mqs_comm_gatherv,
    mqs_comm_scan,
    mqs_comm_scatter,
    mqs_comm_scatterv
} mqs_comm_class;

/*
 * How often this process has called one collective on the current communicator, and whether it is in one.
 *
 * class:  mqs_comm_class, or one of ours.
 * count:  receives the number of calls made so far by this process, including an active one.
 * active: receives 1 while such a call (a non-blocking one: its request) has not ended, else 0.
 * Returns mqs_ok, or mqs_no_information if the library does not keep the count or does not know the class;
 * then neither output is touched.
 */
extern int mqs_get_comm_coll_state(mqs_process *, int class_, int *count, int *active);

/* ---- Part 3: the extension table --------------------------------------------------------------------- */

#define MQS_EXTENSIONS_VERSION 2

/* A process's name as the library has it: two processes are the same if both halves are equal. */
typedef struct {
    uint32_t jobid;
    uint32_t vpid; /* rank in that job's MPI_COMM_WORLD */
} mqs_process_name;

/* Where offsets came from. */
enum mqs_layout_source {
    mqs_layout_none,
    mqs_layout_tables,
    mqs_layout_debug_info,
    mqs_layout_built_in,
    mqs_layout_recorder /* no layout: the preloaded recorder's records */
};

/* Phase of the process; on an unpatched library, unknown only if the library's own state does not show it. */
enum mqs_phase {
    mqs_phase_unknown,
    mqs_phase_loaded,
    mqs_phase_initializing,
    mqs_phase_running,
    mqs_phase_finalizing,
    mqs_phase_finalized
};

typedef struct {
    mqs_process_name name;
    int world_size;   /* 0: not known */
    int phase;        /* enum mqs_phase */
    int thread_level; /* 0 single … 3 multiple; -1: not known */
    int recording; /* 1: a patched library that keeps collective state; 0: patched but off; -1: unpatched */
    int layout_source; /* enum mqs_layout_source */
    int queues;        /* 1: queues can be read; 0: they cannot, with this PML */
    char nspace[256];  /* PMIx namespace, "" if not known */
    char library[64];  /* "Open MPI 4.1.4" */
    char pml[48];      /* "ob1" */
} mqs_process_identity;

/* Bits of mqs_communicator_details.flags. */
enum {
    mqs_comm_flag_inter = 1,
    mqs_comm_flag_internal =
        2,                   /* made by the library (an intercommunicator's local one, han's), not the user */
    mqs_comm_flag_freed = 4, /* freed by the user, still in use */
    mqs_comm_flag_self = 8,
    mqs_comm_flag_world = 16,
    mqs_comm_flag_topology = 32
};

typedef struct {
    mqs_taddr_t handle;  /* address of the library's object; waits refer to it */
    uint64_t context[2]; /* full context id, the same on all members; [0] is 0 if the id has one word */
    int flags;
    int remote_size;     /* 0 for an intracommunicator */
    uint64_t group_hash; /* of the local group's names; equal hashes: same members in the same order */
    uint64_t remote_hash;
    mqs_taddr_t parent;  /* of an internal one: handle of the user's communicator it serves; 0 if not known */
    int64_t ordered;     /* running number of the last ordered collective; -1: not kept */
    int64_t nonblocking; /* non-blocking collectives started, without hidden ones; -1: not known.
                            Without a patched library it comes from the tag counter and is too high by
                            the hidden ones that created communicators freed by now */
} mqs_communicator_details;

/* The call that made a communicator. */
typedef struct {
    int made_by;        /* class of that call; -1: not known */
    mqs_taddr_t caller; /* its return address, in the program; 0: not known */
} mqs_communicator_origin;

/* What kind of operation it is; its envelope is in mqs_pending_operation. */
enum mqs_operation_kind {
    mqs_kind_send,
    mqs_kind_bsend,
    mqs_kind_ssend,
    mqs_kind_rsend,
    mqs_kind_receive,
    mqs_kind_probe,
    mqs_kind_message,    /* an unexpected message, or one held by a matched probe */
    mqs_kind_collective, /* a non-blocking collective's request */
    mqs_kind_other       /* generalized, file, window, communicator requests */
};

enum {
    mqs_operation_persistent = 1,
    mqs_operation_internal = 2, /* made by a collective, not by the user */
    mqs_operation_eager = 4,    /* a send that needs only buffer space, or a message that arrived whole */
    mqs_operation_inactive = 8, /* persistent and not started */
    mqs_operation_freed = 16,   /* the user has freed the request */
    mqs_operation_out_of_order = 32, /* an unexpected message whose predecessor is still missing */
    mqs_operation_cancelled = 64
};

typedef struct {
    mqs_taddr_t request;  /* the library's request, which links queues and waits; 0 for unexpected messages */
    mqs_taddr_t comm;     /* handle of the communicator */
    mqs_taddr_t datatype; /* handle, 0 if none */
    int64_t count;        /* of elements; -1: not known */
    uint64_t sequence;    /* posting order on this communicator (sends: and to this peer) */
    int kind;             /* enum mqs_operation_kind */
    int flags;            /* mqs_operation_ bits */
    int collective;       /* class of the collective it belongs to; -1: none or not known */
    int peer_known;       /* 1: peer names the other side */
    mqs_process_name peer;
    char datatype_name[64];
    mqs_taddr_t caller; /* return address of the MPI call that started it; 0: not known */
} mqs_operation_details;

/* One collective call: a recent one from the ring, or an outstanding one. */
typedef struct {
    int collective;
    int done;       /* 1: returned, or its request completed */
    int64_t number; /* running number; 0: the call is not ordered */
    int64_t count;
    mqs_taddr_t datatype;
    mqs_taddr_t op;
    char datatype_name[64];
    char op_name[64]; /* "" if not a predefined one */
    int64_t bytes;    /* count times the datatype's size; -1: not known */
    int root;
    int tid;
    mqs_taddr_t caller;  /* return address of the MPI call */
    mqs_taddr_t request; /* 0: blocking */
    int64_t begin_ns;    /* since the epoch; 0: not known */
} mqs_collective_call;

enum mqs_call_list { mqs_calls_recent, mqs_calls_outstanding };

/* Why a thread waits; numbered as enum ompi_mqs_wait_kind. */
typedef struct {
    int tid;
    int level; /* 0: the outermost of this thread */
    int kind;
    int need;       /* how many of its operations must complete to end it */
    int operations; /* how many follow */
    int collective; /* class of the collective call around it; -1: none */
    uint64_t episode;
    int64_t begin_ns;            /* since the epoch; 0: not stamped yet */
    mqs_taddr_t comm;            /* handle of the communicator the wait names; 0: see the operations */
    mqs_taddr_t collective_comm; /* handle of the communicator the collective was called on */
    char call[48];               /* "MPI_Recv": the MPI call a user would name; "" if not known */
    mqs_taddr_t window;          /* the library's window of a one-sided call; 0: none or not known */
    int window_target;           /* local rank, in the window, of the target it waits for; -1: all */
    int lock_exclusive;          /* for MPI_Win_lock: 1 exclusive, 0 shared */
} mqs_wait;

/* Sequence numbers of one channel of the current communicator; they show whether a message is in transit. */
typedef struct {
    int peer_local;    /* local rank (of the remote group of an intercommunicator) */
    uint32_t sent;     /* next sequence number this process will send to that peer */
    uint32_t expected; /* next sequence number it expects from that peer */
} mqs_channel;

#define MQS_CHANNEL_TAGS 8
#define MQS_CHANNEL_CELLS 24

/* Messages of one tag, or the sums over messages of many tags (a "cell", see mpiq_record.h). */
typedef struct {
    uint64_t messages;
    uint64_t bytes;
    uint64_t tags;   /* for one tag: the tag; for a cell: sum of the tags */
    uint64_t hashes; /* for a cell: sum of the tags' hashes */
} mqs_tag_count;

/* Counts of one direction of a channel, for libraries whose own queues cannot be read (mpiq_record.h). */
typedef struct {
    int unclear;     /* 1: the counts may be off */
    int bytes_known; /* 0: the sums of bytes lack some messages */
    int tag_count;   /* tags counted one by one; entries of `tags` */
    int cell_count;  /* 0, or MQS_CHANNEL_CELLS: `cells` sums up all other tags */
    mqs_tag_count tags[MQS_CHANNEL_TAGS];
    mqs_tag_count cells[MQS_CHANNEL_CELLS];
} mqs_channel_counts;

/* In place of a local rank or a tag. */
enum { mqs_past_none = -1, mqs_past_any = -2, mqs_past_proc_null = -3 };

/* One past MPI call of a thread. */
typedef struct {
    char call[48];      /* "MPI_Send" */
    mqs_taddr_t comm;   /* handle of its communicator; 0: none, or it has been freed */
    mqs_taddr_t caller; /* return address */
    int64_t begin_ns;   /* since the epoch */
    int64_t end_ns;     /* 0: still in it */
    int64_t bytes;      /* -1: not known */
    int peer_local;     /* mqs_past_none: none, or not known.  For a completed receive: the sender */
    int tag;            /* mqs_past_none: none, or not known */
    int tid;
    int root; /* for a collective, a local rank; else mqs_past_none */
} mqs_past_call;

/* One window, as this process has synchronised it.  Values are those of the enums in ompi_mqs.h. */
typedef struct {
    mqs_taddr_t handle;  /* address of the library's object; waits refer to it */
    uint64_t id[2];      /* the same on all members and unique among live windows; 0, 0: not known */
    mqs_taddr_t comm;    /* handle of the communicator it was created on; 0: freed since, or not known */
    uint64_t group_hash; /* of that communicator's group */
    mqs_taddr_t caller;  /* return address of the call that created it; 0: not known */
    int local_rank;      /* of this process in the window */
    int exposure;        /* enum ompi_mqs_exposure: 0 none, 1 fence, 2 post */
    int access;          /* enum ompi_mqs_access: 0 none, 1 fence, 2 start, 3 lock, 4 lock_all */
    int made_by;         /* class of that call; -1: not known */
    char name[64];       /* "" if it has none */
} mqs_window;

typedef struct {
    int target; /* local rank; -1: all */
    int exclusive;
    int held; /* 0: requested.  "Held" means that MPI_Win_lock has returned; a library may let it
                 return before the target has granted the lock */
} mqs_window_lock;

/* A process's progress in the calls that all members of a window make. */
typedef struct {
    int64_t fences;   /* MPI_Win_fence begun so far */
    int freeing;      /* 1: MPI_Win_free has begun */
    int synchronises; /* 1: whichever of the two was begun last cannot return before all members have
                         begun theirs.  0: it may, or this is not known */
} mqs_window_progress;

/* Type of a datatype's elements, for debuggers that show contents. */
enum mqs_element_kind {
    mqs_element_bytes, /* of no known kind */
    mqs_element_character,
    mqs_element_signed,
    mqs_element_unsigned, /* MPI_BYTE too */
    mqs_element_floating,
    mqs_element_complex, /* two floating-point numbers of half the size */
    mqs_element_boolean,
    mqs_element_wide_character
};

typedef struct {
    int64_t size;   /* bytes of data in one element; -1: not known */
    int64_t lower;  /* lower bound: offset of its first byte from the buffer's address */
    int64_t extent; /* distance from one element to the next; lower + extent is the upper bound */
    int predefined;
    int committed;
    char name[64];  /* "" if it has none */
    char text[256]; /* how it was made, for people to read; "" if not known or predefined */
} mqs_datatype_details;

/* Elements of one kind, in type map order: `count` runs of `length` contiguous elements. */
typedef struct {
    int kind;             /* enum mqs_element_kind */
    int size;             /* bytes of one element */
    int64_t displacement; /* of the first element, in bytes from the buffer's address */
    int64_t length;
    int64_t count;
    int64_t stride; /* bytes from one run to the next */
} mqs_datatype_block;

typedef struct {
    int source;
    int tag;
    int error; /* -1: not known */
    int cancelled;
    int64_t bytes; /* received; -1: not known */
} mqs_status_details;

/* A check that a built-in layout failed.  That structure is not read. */
typedef struct {
    char structure[48]; /* "ompi_communicator_t" */
    char check[144];    /* "its class has 520 bytes, and 528 in Open MPI 4.1.4" */
} mqs_layout_failure;

/* Where the layout came from.  A built-in layout is that of a stock release, checked against the process. */
typedef struct {
    int source;                     /* enum mqs_layout_source */
    int failed;                     /* checks that failed */
    char release[32];               /* as the library reports it, "4.1.4"; "" if not known, or not asked */
    char variant[32];               /* of a built-in layout: its configuration; "" for the default */
    mqs_layout_failure failures[8]; /* the first ones */
} mqs_layout_details;

/* What mpiq run asked the recorder to do. */
typedef struct {
    int strict;   /* standard sends are synchronous, blocking collectives wait for all members */
    int held;     /* the process waits in MPI_Finalize to be read: its facts are complete */
    int64_t lost; /* calls not counted by any fact */
} mqs_checking;

/* Identical calls, or objects created and not freed; mpiq_record.h says what the members mean. */
typedef struct {
    int kind;           /* enum mpiq_record_fact_kind; 0: a communicator named by the facts */
    int function_class; /* class of a collective; -1 */
    char call[48];      /* "MPI_Send" */
    uint64_t comm_id;   /* the same on all members; 0: none, or not certain */
    char comm_name[64]; /* "" if it has none */
    int comm_size;      /* members; for an intercommunicator, of both groups */
    int comm_flags;     /* mqs_comm_flag_ bits */
    int peer; /* rank in MPI_COMM_WORLD of the other side, or -1; for a collective the root's local rank */
    int tag;
    int base_code; /* 0: no elements, 1: not known, else code of the elements' predefined type */
    char base_name[40];
    char op_name[24]; /* for a collective; "": none, or a user-defined one */
    int64_t bytes;    /* -1: not known */
    uint64_t count;
    uint64_t sum;
    uint64_t first;
    uint64_t signature;
    mqs_taddr_t caller;
} mqs_fact;

enum mqs_option {
    mqs_option_internal = 1 /* value 1: operation iterators also return internal traffic */
};

/*
 * The table.  A slot beyond `size` does not exist; an existing slot may be NULL if this DLL does not support
 * it.  All functions return int codes like the rest of the interface; the next_ functions return
 * mqs_end_of_list at the end.  A process has one iterator of each kind, and they are independent of each
 * other.  Those marked (communicator) run on the current communicator and end with mqs_next_communicator.
 */
typedef struct mqs_extensions {
    int version;                              /* MQS_EXTENSIONS_VERSION */
    int size;                                 /* bytes of this table in the DLL */
    const char *(*coll_name)(int collective); /* static; NULL past the last */
    int (*set_option)(mqs_process *, int option, int value);
    int (*get_identity)(mqs_process *, mqs_process_identity *);
    int (*get_communicator_details)(mqs_process *, mqs_communicator_details *); /* (communicator) */
    /* writes size or remote_size names, in rank order, to the caller's array */
    int (*get_members)(mqs_process *, int remote, mqs_process_name *); /* (communicator) */
    /* for the operation that mqs_next_operation or next_wait_operation returned last */
    int (*get_operation_details)(mqs_process *, mqs_operation_details *);
    int (*setup_call_iterator)(mqs_process *, int list);    /* (communicator) */
    int (*next_call)(mqs_process *, mqs_collective_call *); /* (communicator), newest first */
    int (*setup_channel_iterator)(mqs_process *);           /* (communicator) */
    int (*next_channel)(mqs_process *, mqs_channel *);      /* (communicator) */
    int (*setup_wait_iterator)(mqs_process *);
    int (*next_wait)(mqs_process *, mqs_wait *);
    int (*next_wait_operation)(mqs_process *, mqs_pending_operation *); /* for the wait returned last */
    /* calls without a communicator (init, finalize): like next_call, but on a separate list */
    int (*setup_process_call_iterator)(mqs_process *);
    int (*next_process_call)(mqs_process *, mqs_collective_call *);
    /* Handles as the program holds them.  The DLL cannot always detect an invalid handle. */
    int (*get_handle_name)(mqs_process *, mqs_taddr_t handle, char name[64]);       /* MPI_COMM_NULL, … */
    int (*get_request)(mqs_process *, mqs_taddr_t handle, mqs_pending_operation *); /* then its details */
    int (*get_group)(mqs_process *, mqs_taddr_t handle, int room, mqs_process_name *, int *size);
    int (*get_status)(mqs_process *, mqs_taddr_t address, mqs_status_details *);
    int (*setup_datatype_iterator)(mqs_process *, mqs_taddr_t handle, mqs_datatype_details *);
    int (*next_datatype_block)(mqs_process *, mqs_datatype_block *);
    int (*get_layout)(mqs_process *, mqs_layout_details *);
    /* for the channel that next_channel returned last: messages sent (received 0) or received (1) */
    int (*get_channel_counts)(mqs_process *, int received, mqs_channel_counts *); /* (communicator) */
    /* the last calls of all threads, oldest first within a thread */
    int (*setup_history_iterator)(mqs_process *);
    int (*next_past_call)(mqs_process *, mqs_past_call *);
    int (*setup_window_iterator)(mqs_process *);
    int (*next_window)(mqs_process *, mqs_window *);
    /* For the window returned last: its locks, and the local ranks of its exposure group (from MPI_Win_post)
       or access group (from MPI_Win_start), -1 for a process that is not in the window.  count receives the
       total number, even if the caller's array has less room. */
    int (*get_window_locks)(mqs_process *, int room, mqs_window_lock *, int *count);
    int (*get_window_group)(mqs_process *, int exposure, int room, int *, int *count);
    /* How the job is checked, and the facts of a process that is held in MPI_Finalize. */
    int (*get_checking)(mqs_process *, mqs_checking *);
    int (*setup_fact_iterator)(mqs_process *);
    int (*next_fact)(mqs_process *, mqs_fact *);
    /* When the last blocking collective call of the process ended, in ns since the epoch; 0: none has,
       according to the records of its live communicators.  mqs_no_information if this is not kept. */
    int (*get_last_end)(mqs_process *, int64_t *);
    /* For the window returned last. */
    int (*get_window_progress)(mqs_process *, mqs_window_progress *);
    /* How the communicator was created.  mqs_no_information: it is a predefined one, or this is not kept. */
    int (*get_communicator_origin)(mqs_process *, mqs_communicator_origin *); /* (communicator) */
} mqs_extensions;

/* Returns a static table, never NULL.  Optional: look it up with dlsym. */
extern const mqs_extensions *mqs_get_extensions(void);

#ifdef __cplusplus
}
#endif

#endif
