/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mqs_extensions.h - the extension table: what a message-queue DLL offers beyond the MPI Forum's interface.
 *
 * A versioned table of functions behind one optional symbol; a debugger that does not know the symbol is not
 * affected.  A debugger that already has a mpi_interface.h can copy this header alone: it needs only the
 * Forum's types and values.
 */
#ifndef MQS_EXTENSIONS_H
#define MQS_EXTENSIONS_H

#include <stddef.h>
#include <stdint.h>

#include "mpi_interface.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MQS_EXTENSIONS_VERSION 4

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

/* The collective with that running number cannot end in this process before that member has entered it. */
typedef struct {
    int64_t number;
    int local; /* rank in the communicator */
} mqs_source;

/* A request of a persistent collective. */
typedef struct {
    int64_t number; /* running number of the call that created it */
    int64_t starts;
    mqs_taddr_t request;
    mqs_taddr_t caller; /* return address of the call that created it */
} mqs_persistent;

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
    mqs_kind_other,      /* generalized, file, window, communicator requests */
    mqs_kind_psend,      /* partitioned, MPI_Psend_init */
    mqs_kind_precv       /* partitioned, MPI_Precv_init */
};

enum {
    mqs_operation_persistent = 1,
    mqs_operation_internal = 2, /* made by a collective, not by the user */
    mqs_operation_eager = 4,    /* a send that needs only buffer space, or a message that arrived whole */
    mqs_operation_inactive = 8, /* persistent and not started */
    mqs_operation_freed = 16,   /* the user has freed the request */
    mqs_operation_out_of_order = 32, /* an unexpected message whose predecessor is still missing */
    mqs_operation_cancelled = 64,
    mqs_operation_unnamed = 128 /* `request` is not the library's own for this message, which is not known */
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

/* How far a partitioned operation has come.  Partitions are the sender's, from 0; until a receiver has heard
   from its sender they are its own. */
typedef struct {
    int64_t partitions;
    int64_t missing;   /* not marked ready (of a send), or not arrived (of a receive); -1: not known */
    char which[64];    /* those: "3", "0-2,5", "0,2,4,..." where they are too many; "" not known */
    mqs_taddr_t inner; /* a request of the library's own that has to complete first, from the queues; 0 */
    int moves;         /* 1: the library may send for it without another call by the program */
} mqs_partitions;

/* Name given to every operation that the program made with MPI_Op_create. */
#define MQS_USER_OP "user-defined"

/* One collective call: a recent one from the ring, or an outstanding one. */
typedef struct {
    int collective;
    int done;       /* 1: returned, or its request completed */
    int64_t number; /* running number; 0: the call is not ordered */
    int64_t count;
    mqs_taddr_t datatype;
    mqs_taddr_t op;
    char datatype_name[64];
    char op_name[64]; /* "MPI_SUM", MQS_USER_OP; "": none, or not known */
    int64_t bytes;    /* count times the datatype's size; -1: not known */
    int root;
    int tid;
    mqs_taddr_t caller;  /* return address of the MPI call */
    mqs_taddr_t request; /* 0: blocking */
    int64_t begin_ns;    /* since the epoch; 0: not known */
} mqs_collective_call;

enum mqs_call_list { mqs_calls_recent, mqs_calls_outstanding };

/* Why a thread waits; numbered as enum ompi_mqs_wait_kind, and this one: for nothing, in a collective that
   the recorder has not passed on to the library because other members' calls do not match it. */
#define MQS_WAIT_REFUSED 64
/* The thread is in no MPI call: it is held before the one named, by mpiq run --step. */
#define MQS_WAIT_STEPPED 65

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
    int root;  /* for a collective, a local rank; else mqs_past_none */
    int error; /* the library's error code that it returned; 0: none, or not known */
    /* MPI_Comm_create_group, MPI_Intercomm_create: the same for all who must give one tag; 0: not known */
    unsigned tag_group;
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
    char check[144];    /* "its size is 520 bytes in the process, but 528 in the built-in layout" */
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
    int strict;        /* standard sends are synchronous, blocking collectives wait for all members */
    int paused_at_end; /* the process waits in MPI_Finalize to be read: its facts are complete */
    int64_t lost;      /* calls not counted by any fact */
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
    char op_name[24]; /* for a collective; as mqs_collective_call's */
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
    /* the last calls of all threads, oldest first within a thread; only a thread's last can be open.  If the
       process runs while it is read, a few may be missing */
    int (*setup_history_iterator)(mqs_process *);
    int (*next_past_call)(mqs_process *, mqs_past_call *);
    int (*setup_window_iterator)(mqs_process *);
    int (*next_window)(mqs_process *, mqs_window *);
    /* For the window returned last: its locks, and the local ranks of its exposure group (from MPI_Win_post)
       or access group (from MPI_Win_start), -1 for a process that is not in the window.  count receives the
       total number, even if the caller's array has less room. */
    int (*get_window_locks)(mqs_process *, int room, mqs_window_lock *, int *count);
    int (*get_window_group)(mqs_process *, int exposure, int room, int *, int *count);
    /* How the job is checked, and the facts of a process that is paused in MPI_Finalize. */
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
    /* The members whose data the process's unfinished neighbourhood collectives need.  count receives the
       total number, which may be more than the caller's array has room for. */
    int (*get_sources)(mqs_process *, int room, mqs_source *, int *count); /* (communicator) */
    /* Requests of persistent collectives, started or not; count as in get_sources. */
    int (*get_persistent)(mqs_process *, int room, mqs_persistent *, int *count); /* (communicator) */
    /* Of the operation that get_operation_details describes; mqs_no_information: it has no partitions. */
    int (*get_partitions)(mqs_process *, mqs_partitions *);
} mqs_extensions;

/* Returns a static table, never NULL.  Optional: look it up with dlsym. */
extern const mqs_extensions *mqs_get_extensions(void);

#ifdef __cplusplus
}
#endif

#endif
