/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiq_record.h - what the preloaded recorder keeps about a process's MPI calls, for readers outside the
 * process.
 *
 * The recorder (recorder/) writes these records into one mapping of the process, the arena (anonymous, or
 * under `mpiq run` of a memory file without a name); a message-queue DLL (mqs/recorder/) finds it from the
 * exported symbol mpiq_record_root and reads it in a live process or in a core file, without debug
 * information and without knowing the MPI library.
 *
 * What it leaves to others: how calls are intercepted (recorder/), what the records mean for a job (libmpiq).
 *
 * Rules of the layout:
 *  - members have fixed widths and are naturally aligned;
 *  - a reference is an offset in bytes from the start of the arena, 0 for none; each record is 8-aligned;
 *  - everything a reader needs lies in the first `arena_used` bytes, so it can copy them in one go and check
 *    each offset against that size;
 *  - new members are added at the end and raise version_minor; any other change raises version_major;
 *  - the `lost_` members count what was dropped for lack of room: a reader must not take a shortened list
 *    for a complete one.
 *
 * Peers, tags and roots are stored with the library's constants replaced by the MPIQ_RECORD_ values below.
 */
#ifndef MPIQ_RECORD_H
#define MPIQ_RECORD_H

#include <stdint.h>

#include "mpiq_record_step.h"
#include "ompi_mqs.h" /* the numbering of collectives and the hash of groups */

#define MPIQ_RECORD_MAGIC "MPIQ-REC" /* eight bytes, no terminator in the record */
#define MPIQ_RECORD_VERSION_MAJOR 5
#define MPIQ_RECORD_VERSION_MINOR 1
#define MPIQ_RECORD_BYTE_ORDER 0x01020304u

#define MPIQ_RECORD_ARENA (256u << 20) /* bytes of address space; memory is used as it is touched */
#define MPIQ_RECORD_RING 16            /* last ordered collectives of a communicator; a power of two */
#define MPIQ_RECORD_HISTORY 256        /* last calls of a thread; a power of two */
#define MPIQ_RECORD_MAX_THREADS 1024
#define MPIQ_RECORD_MAX_COMMS 16384
#define MPIQ_RECORD_MAX_CHUNKS 1024 /* of MPIQ_RECORD_CHUNK requests each */
#define MPIQ_RECORD_CHUNK 128
#define MPIQ_RECORD_MAX_TYPES 512
#define MPIQ_RECORD_MAX_OPS 32
#define MPIQ_RECORD_MAX_WINDOWS 4096
#define MPIQ_RECORD_MAX_WINDOW_PEERS (1u << 20)
#define MPIQ_RECORD_MAX_FACTS 16384 /* a power of two */
#define MPIQ_RECORD_SOURCES_REST 63 /* the bit for all sources from this one on */
#define MPIQ_RECORD_MAX_BASES 64
#define MPIQ_RECORD_MAX_LOADED 4096
#define MPIQ_RECORD_BUILD_ID 64
#define MPIQ_RECORD_REGISTERS 34
#define MPIQ_RECORD_STACK (1u << 16) /* bytes of stack that are kept of an end */

/* Under `mpiq run`, root and arena lie in a memory file that mpiq run has, too: from these offsets on.  What
   is before them is left to mpiq run. */
#define MPIQ_RECORD_FILE_ROOT (8u << 20)
#define MPIQ_RECORD_FILE_ARENA (9u << 20)

/* In place of a rank or a tag. */
#define MPIQ_RECORD_ANY (-1)
#define MPIQ_RECORD_PROC_NULL (-2)
#define MPIQ_RECORD_ROOT (-3)
#define MPIQ_RECORD_NO_PEER (-4)        /* the call has none */
#define MPIQ_RECORD_FOREIGN 0xffffffffu /* a member outside this process's MPI_COMM_WORLD */

enum mpiq_record_abi {
    MPIQ_RECORD_ABI_NONE,
    MPIQ_RECORD_ABI_OPEN_MPI,
    MPIQ_RECORD_ABI_MPICH,
    MPIQ_RECORD_ABI_STANDARD
};

/* What a call does.  The family of the call a thread is in determines what the thread waits for. */
enum mpiq_record_family {
    MPIQ_RECORD_OTHER, /* never waits for another rank */
    MPIQ_RECORD_SEND,
    MPIQ_RECORD_BSEND,
    MPIQ_RECORD_SSEND,
    MPIQ_RECORD_RSEND,
    MPIQ_RECORD_RECV,
    MPIQ_RECORD_SENDRECV,
    MPIQ_RECORD_PROBE,
    MPIQ_RECORD_MPROBE,
    MPIQ_RECORD_MRECV,
    MPIQ_RECORD_WAIT,
    MPIQ_RECORD_WAITALL,
    MPIQ_RECORD_WAITANY,
    MPIQ_RECORD_WAITSOME,
    MPIQ_RECORD_POLL, /* Test and Iprobe */
    MPIQ_RECORD_COLLECTIVE,
    MPIQ_RECORD_WINDOW,
    MPIQ_RECORD_DETACH,
    MPIQ_RECORD_INIT,
    MPIQ_RECORD_FINALIZE,
    MPIQ_RECORD_WIN_START,
    MPIQ_RECORD_WIN_COMPLETE,
    MPIQ_RECORD_WIN_WAIT,
    MPIQ_RECORD_WIN_LOCK,
    MPIQ_RECORD_WIN_UNLOCK,
    MPIQ_RECORD_WIN_FLUSH,
    MPIQ_RECORD_WIN_FENCE,
    MPIQ_RECORD_WIN_FREE,
    MPIQ_RECORD_FAMILY_COUNT
};

/* One wrapped function; an entry of the array `functions`. */
struct mpiq_record_function {
    char name[MPIQ_RECORD_CALL_NAME]; /* "MPI_Send" */
    uint8_t family;                   /* enum mpiq_record_family */
    uint8_t reserved[5];
    int16_t collective; /* its class, -1 */
};

/* One call in a thread's history.  The thread is in the newest call if its end is 0. */
struct mpiq_record_call {
    uint64_t begin;   /* cycles */
    uint64_t end;     /* cycles; 0: it has not returned */
    uint64_t caller;  /* return address */
    uint64_t comm_id; /* id[1] of its communicator, 0: none; stays valid after the communicator is freed */
    int64_t bytes;    /* -1: none or not known */
    uint32_t comm;    /* its communicator; 0: none.  May have been freed since */
    int32_t peer;     /* for a collective: its root; for a completed receive: the sender */
    int32_t tag;      /* MPIQ_RECORD_NO_PEER: the call has none */
    uint16_t function;
    uint16_t refused; /* 1: with MPIQ_RECORD_STRICT, a collective that is not like those of other members: it
                         is not passed on to the library, and does not end */
    int32_t error; /* the library's error code that it returned; 0: it did not fail, or was left otherwise */
    /* MPI_Comm_create_group: hash of the group's members; MPI_Intercomm_create on a leader: of the two
       leaders. All of them must give the same tag.  0: not known. */
    uint32_t tag_group;
};

/* Bits of mpiq_record_thread.window_wait: what is known about the one-sided call that the thread is in. */
#define MPIQ_RECORD_WINDOW_KNOWN 1u /* it is known whom the call may wait for; otherwise nothing is known */
#define MPIQ_RECORD_WINDOW_LOCK 2u  /* the call cannot return before the target has granted the lock */
#define MPIQ_RECORD_WINDOW_EXCLUSIVE 4u /* the lock is exclusive */

/* One thread that has called MPI. */
struct mpiq_record_thread {
    uint32_t next;
    uint32_t tid;   /* 0: it has ended */
    uint64_t calls; /* so far; call n is in history[(n - 1) % MPIQ_RECORD_HISTORY], and n is its episode */
    /* Arguments of the call it is in, as far as the call has them; written before the call's begin. */
    uint64_t requests; /* address of the program's array of requests, or of its one request */
    uint64_t request_count;
    uint64_t first_request; /* the handle, of MPI_Wait */
    uint64_t datatype;
    int64_t count;
    uint64_t buffer;
    uint64_t window;   /* handle */
    uint64_t number;   /* running number of the collective; 0: not ordered */
    uint64_t sequence; /* of the message on its channel, for a send */
    int64_t receive_bytes;
    int32_t receive_peer; /* for MPI_Sendrecv; the call's own peer and tag are those of its send */
    int32_t receive_tag;
    int32_t root;
    uint32_t window_wait; /* MPIQ_RECORD_WINDOW_ */
    struct mpiq_record_call history[MPIQ_RECORD_HISTORY];
};

/* Members in rank order as arithmetic runs: first, first + stride, … */
struct mpiq_record_run {
    uint32_t first; /* rank in MPI_COMM_WORLD, or MPIQ_RECORD_FOREIGN (stride 0) */
    uint32_t count;
    int32_t stride;
    uint32_t reserved;
};

struct mpiq_record_group {
    uint32_t next;
    uint32_t count; /* members */
    uint64_t hash;  /* of (job, rank) pairs, as in struct ompi_mqs_collectives */
    uint32_t run_count;
    uint32_t users; /* number of communicators that use it; 0: free */
    struct mpiq_record_run runs[];
};

/* What is known of one tag on one channel. */
struct mpiq_record_tag {
    int32_t tag;
    uint32_t used; /* 0: free */
    uint64_t sent; /* sends begun */
    uint64_t sent_bytes;
    uint64_t received; /* receives completed */
    uint64_t received_bytes;
};

#define MPIQ_RECORD_TAGS 3   /* tags counted one by one; further tags go into the sketches */
#define MPIQ_RECORD_CELLS 24 /* three tables of eight */

/*
 * Sums over the messages of all other tags.  Each message is added to one cell of each of the three tables.
 * All members are sums modulo 2^64, so the difference between the sender's and the receiver's sketch holds
 * exactly the messages sent and not received.  If these have few different tags it can be decoded: a cell
 * with tags = count * tag and hashes = count * hash(tag) holds only that tag.  (An invertible Bloom lookup
 * table.)
 */
struct mpiq_record_cell {
    uint64_t count;
    uint64_t tags;
    uint64_t hashes;
    uint64_t bytes;
};

static inline uint64_t mpiq_record_mix(uint64_t value)
{
    value = (value ^ value >> 33) * UINT64_C(0xff51afd7ed558ccd);
    value = (value ^ value >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return value ^ value >> 33;
}

static inline uint64_t mpiq_record_tag_hash(int32_t tag)
{
    return mpiq_record_mix((uint32_t)tag + UINT64_C(0x9e3779b97f4a7c15));
}

/* The cell of that hash in table 0, 1 or 2. */
static inline unsigned mpiq_record_cell_of(uint64_t hash, unsigned table)
{
    return table * 8 + (unsigned)(hash >> (8 + 16 * table) & 7);
}

/* One peer of one communicator with which messages were exchanged. */
struct mpiq_record_channel {
    uint32_t next;     /* of the communicator */
    int32_t peer;      /* local rank (of the remote group of an intercommunicator) */
    uint64_t sent;     /* sends begun */
    uint64_t received; /* receives completed */
    uint32_t unclear;  /* receives that may or may not have taken a message, and sends that may have been
                          cancelled: the counts are off by at most this number */
    uint32_t bytes_unclear;
    uint32_t sent_sketch; /* MPIQ_RECORD_CELLS cells; 0: none yet */
    uint32_t received_sketch;
    struct mpiq_record_tag tags[MPIQ_RECORD_TAGS];
};

/* Bits of mpiq_record_collective.flags and of mpiq_record_comm.flags. */
#define MPIQ_RECORD_COMM_INTER 1u
#define MPIQ_RECORD_COMM_SELF 2u
#define MPIQ_RECORD_COMM_WORLD 4u
#define MPIQ_RECORD_COMM_TOPOLOGY 8u
#define MPIQ_RECORD_COMM_FREED 16u
#define MPIQ_RECORD_COMM_UNCLEAR 32u   /* its id may differ from that on other members */
#define MPIQ_RECORD_COMM_UNCOUNTED 64u /* a collective failed, or was not seen: the numbers may be wrong */
/* There may be sends under way that no request tells of. */
#define MPIQ_RECORD_COMM_LOOSE 128u
/* The program has freed it, and messages may still be under way; the handle is not the program's. */
#define MPIQ_RECORD_COMM_LINGERS 256u
/* Private to the recorder: some creation on a communicator that this one goes back to may not have been
   counted, so members may give its id to another one. */
#define MPIQ_RECORD_COMM_DOUBTED 512u

/* One collective call, as the caller made it. */
struct mpiq_record_collective {
    int16_t collective; /* class */
    uint16_t function;
    int32_t root;    /* MPIQ_RECORD_NO_PEER: none */
    uint64_t number; /* running number; 0: not ordered */
    int64_t count;   /* -1: none */
    uint64_t datatype;
    uint64_t op;
    int64_t bytes; /* -1: not known */
    uint64_t caller;
    uint64_t begin;
    uint32_t tid;
    uint32_t done; /* 1: a blocking call has returned */
    /* Of a neighbourhood collective: bit i is set if the i-th source of the communicator has data for this
       call; bit MPIQ_RECORD_SOURCES_REST stands for all sources from that one on. */
    uint64_t sources;
};

/* Sources of a communicator's neighbourhood collectives, in the order of the receive buffers: local ranks, or
   MPIQ_RECORD_PROC_NULL. */
struct mpiq_record_sources {
    uint32_t next_free; /* private to the recorder */
    uint32_t count;
    int32_t ranks[];
};

struct mpiq_record_comm {
    uint32_t next;
    uint32_t flags;
    uint64_t handle;
    uint64_t id[2]; /* the same on all members */
    uint32_t parent;
    uint32_t group;
    uint32_t remote_group; /* 0: an intracommunicator */
    int32_t local_rank;
    uint64_t creations;   /* communicators created on it by ordered calls so far */
    uint64_t ordered;     /* ordered collectives so far */
    uint64_t nonblocking; /* non-blocking and persistent collectives, ordered or not */
    uint32_t channels;    /* first struct mpiq_record_channel */
    uint32_t channel_count;
    uint32_t unclear; /* receives whose source never became known */
    uint32_t lost;    /* messages not counted for lack of room */
    uint64_t caller;  /* return address of the call that created it; 0: it is predefined */
    int32_t made_by;  /* class of that call; -1: no class */
    uint32_t sources; /* struct mpiq_record_sources; 0: no neighbourhood collective was called on it */
    char name[64];
    struct mpiq_record_collective ring[MPIQ_RECORD_RING]; /* number n in ring[(n - 1) % MPIQ_RECORD_RING] */
    struct ompi_mqs_count counts[OMPI_MQS_COLLECTIVE_COUNT];
};

enum mpiq_record_request_kind {
    MPIQ_RECORD_REQUEST_SEND,
    MPIQ_RECORD_REQUEST_BSEND,
    MPIQ_RECORD_REQUEST_SSEND,
    MPIQ_RECORD_REQUEST_RSEND,
    MPIQ_RECORD_REQUEST_RECEIVE,
    MPIQ_RECORD_REQUEST_COLLECTIVE,
    MPIQ_RECORD_REQUEST_OTHER
};

enum mpiq_record_request_state {
    MPIQ_RECORD_REQUEST_FREE,
    MPIQ_RECORD_REQUEST_ACTIVE,
    MPIQ_RECORD_REQUEST_INACTIVE /* persistent and not started */
};

#define MPIQ_RECORD_REQUEST_PERSISTENT 1u
#define MPIQ_RECORD_REQUEST_CANCEL 2u  /* MPI_Cancel was called on it */
#define MPIQ_RECORD_REQUEST_MATCHED 4u /* made from a matched message, which is already counted */
#define MPIQ_RECORD_REQUEST_PARTITIONED 8u
#define MPIQ_RECORD_REQUEST_EXCHANGE 16u /* a half of MPI_Isendrecv or MPI_Isendrecv_replace */

struct mpiq_record_request {
    uint32_t next_free; /* private to the recorder */
    uint8_t state;      /* enum mpiq_record_request_state; written last */
    uint8_t kind;       /* enum mpiq_record_request_kind */
    uint16_t function;  /* the call that made it */
    uint64_t handle;    /* 0: the send half of an exchange, known by its receive half */
    uint64_t sequence;  /* posting order in this process; for a send, on its channel */
    uint32_t comm;
    uint32_t flags;
    int32_t peer;
    int32_t tag;
    uint64_t buffer;
    int64_t bytes;
    uint32_t duplicates; /* number of further requests with the same handle */
    uint32_t tid;
    struct mpiq_record_collective call; /* arguments, of any call; class -1 if not a collective */
    uint64_t starts;                    /* of a persistent collective */
    uint64_t made;       /* of a persistent request: return address of the call that created it */
    uint32_t send_half;  /* of the receive half of an exchange: the record of its send; 0: none */
    int32_t partitions;  /* as the program gave it; 0: the request is not partitioned */
    uint64_t ready_bits; /* partitioned send: bit i is set if partition i was marked ready since its start */
    uint32_t ready;      /* partitions marked ready since the start; one marked twice counts twice */
    uint32_t reserved;
};

struct mpiq_record_chunk {
    uint32_t next;
    uint32_t count;
    struct mpiq_record_request requests[MPIQ_RECORD_CHUNK];
};

struct mpiq_record_type {
    uint64_t handle; /* 0: free */
    int64_t size;
    char name[48];
};

struct mpiq_record_op {
    uint64_t handle;
    char name[24];
};

/* Bits of mpiq_record_window_peer.flags. */
#define MPIQ_RECORD_PEER_ACCESSED 1u      /* it was accessed (put, get) under the lock */
#define MPIQ_RECORD_PEER_GRANTED 2u       /* operations on it have completed, so the lock is held */
#define MPIQ_RECORD_PEER_FLUSHING 4u      /* private to the recorder */
#define MPIQ_RECORD_PEER_STARTED 8u       /* in the group of the open access epoch */
#define MPIQ_RECORD_PEER_POSTED 16u       /* in the group of the open exposure epoch */
#define MPIQ_RECORD_PEER_EVER_STARTED 32u /* in any group given to MPI_Win_start so far */
#define MPIQ_RECORD_PEER_EVER_POSTED 64u  /* in any group given to MPI_Win_post so far */

/* State of a process towards one other member of a window. */
struct mpiq_record_window_peer {
    int32_t peer;   /* local rank */
    uint16_t flags; /* MPIQ_RECORD_PEER_ */
    uint8_t lock;   /* enum ompi_mqs_lock_type: requested by MPI_Win_lock, and not unlocked */
    uint8_t used;   /* 0: free */
};

/* A hash table keyed by peer, replaced by a larger one when full. */
struct mpiq_record_window_peers {
    uint32_t room; /* a power of two */
    uint32_t count;
    struct mpiq_record_window_peer list[];
};

/* Bits of mpiq_record_window.flags. */
#define MPIQ_RECORD_WINDOW_SHARED 1u   /* its memory can be accessed by loads and stores */
#define MPIQ_RECORD_WINDOW_UNCLEAR 2u  /* something could not be recorded, so nothing is known about it */
#define MPIQ_RECORD_WINDOW_LOCK_ALL 4u /* between MPI_Win_lock_all and MPI_Win_unlock_all */
#define MPIQ_RECORD_WINDOW_NO_CHECK 8u /* the access epoch was started with MPI_MODE_NOCHECK */
#define MPIQ_RECORD_WINDOW_MEMORY 16u  /* others can access some of this process's memory */
#define MPIQ_RECORD_WINDOW_EXPOSED 32u /* after its last fence, others may change that memory */
#define MPIQ_RECORD_WINDOW_CLOSED 64u  /* its last fence had MPI_MODE_NOSUCCEED */
/* The MPI_Win_fence or MPI_Win_free begun last cannot return before all members have begun theirs. */
#define MPIQ_RECORD_WINDOW_SYNCHRONISES 128u
#define MPIQ_RECORD_WINDOW_NO_LOCKS 256u   /* the program may have given the hint "no_locks" */
#define MPIQ_RECORD_WINDOW_ATTRIBUTES 512u /* its attributes may have callbacks of the program */

struct mpiq_record_window {
    uint32_t next;
    uint32_t comm;   /* it was created on; 0: freed since */
    uint64_t handle; /* 0: freed */
    uint64_t id[2];
    char name[64];
    uint64_t caller; /* return address of the call that created it */
    uint64_t group_hash;
    int32_t local_rank;
    uint32_t flags;    /* MPIQ_RECORD_WINDOW_ */
    uint32_t exposure; /* enum ompi_mqs_exposure; without fences, which are counted */
    uint32_t access;   /* enum ompi_mqs_access, likewise */
    uint32_t peers;    /* struct mpiq_record_window_peers; 0: none so far */
    int32_t made_by;   /* class of the call that created it */
    uint64_t fences;   /* begun so far, except those that failed */
    uint32_t freeing;  /* 1: MPI_Win_free has begun */
    uint32_t reserved;
};

/* Bits of mpiq_record_root.flags. */
#define MPIQ_RECORD_STRICT 1u        /* standard sends are synchronous, blocking collectives wait for all */
#define MPIQ_RECORD_CHECK 2u         /* facts are kept for the check at the end */
#define MPIQ_RECORD_PAUSED_AT_END 4u /* the process waits in MPI_Finalize to be read: facts are complete */

enum mpiq_record_fact_kind {
    MPIQ_RECORD_FACT_FREE,
    MPIQ_RECORD_FACT_SENT,
    MPIQ_RECORD_FACT_RECEIVED,
    MPIQ_RECORD_FACT_COLLECTIVE,
    MPIQ_RECORD_FACT_OBJECT
};

/* Kinds of objects that have to be freed; the base of an OBJECT fact. */
enum mpiq_record_object {
    MPIQ_RECORD_OBJECT_COMMUNICATOR,
    MPIQ_RECORD_OBJECT_DATATYPE,
    MPIQ_RECORD_OBJECT_GROUP,
    MPIQ_RECORD_OBJECT_WINDOW,
    MPIQ_RECORD_OBJECT_FILE,
    MPIQ_RECORD_OBJECT_OP,
    MPIQ_RECORD_OBJECT_REQUEST,    /* active; a receive's with peer and tag */
    MPIQ_RECORD_OBJECT_PERSISTENT, /* a persistent request that is not active */
    MPIQ_RECORD_OBJECT_COUNT
};

/*
 * A count of identical calls: the same function, called at the same place with the same arguments.  Facts are
 * kept only for the check at the end, in a table of MPIQ_RECORD_MAX_FACTS.
 *
 *                 SENT, RECEIVED            COLLECTIVE                         OBJECT
 *  count          messages                  calls                              references alive
 *  sum            elements of the base      of mpiq_record_mix(running number) -
 *  first          -                         lowest running number              handle
 *  signature      -                         of the elements, 0: none known     -
 *  peer           local rank                root                               -
 *  base           of the elements           of the first element               enum mpiq_record_object
 */
struct mpiq_record_fact {
    uint64_t key; /* hash of what identical calls have in common; 0: free */
    uint64_t caller;
    uint64_t count;
    uint64_t sum;
    uint64_t first;
    uint64_t signature;
    int64_t bytes; /* of all messages; of each collective call; -1: not known, or not the same on all ranks */
    uint32_t comm;
    int32_t peer;
    int32_t tag;
    uint16_t function;
    uint8_t kind; /* enum mpiq_record_fact_kind */
    uint8_t base; /* index in `bases`; 0: no elements, or not known */
    int16_t collective;
    uint16_t op; /* predefined operation: its index in `ops`, from 1; 0: none; 0xffff: user-defined */
    uint32_t reserved;
};

/* A predefined datatype, as an element of messages. */
struct mpiq_record_base {
    uint32_t code; /* the same for types that match: a letter for its kind, times 256, plus its size */
    uint32_t reserved;
    char name[40]; /* of the first type with that code: "MPI_INT" */
};
#define MPIQ_RECORD_BASE_NONE 0 /* a message without elements */
#define MPIQ_RECORD_BASE_ANY 1  /* MPI_PACKED, or not known */

/* One loaded object: what resolves addresses once the process is gone. */
struct mpiq_record_loaded {
    uint64_t start; /* address of its first byte, and of the one behind its last */
    uint64_t end;
    uint32_t path; /* offset of a string; 0: not known */
    uint32_t build_id_size;
    uint8_t build_id[MPIQ_RECORD_BUILD_ID];
};

/* What the process itself knew of its end. */
enum mpiq_record_end_kind {
    MPIQ_RECORD_END_NONE,
    MPIQ_RECORD_END_BUSY, /* private to the recorder: it is being written */
    MPIQ_RECORD_END_ABORT,
    MPIQ_RECORD_END_EXIT,
    MPIQ_RECORD_END_ERROR, /* the MPI library ends it, or calls an error handler that may not return */
    MPIQ_RECORD_END_SIGNAL /* one that ends a process; the program may have survived it */
};

struct mpiq_record_end {
    uint32_t kind; /* enum mpiq_record_end_kind; written last */
    int32_t code;  /* as given to MPI_Abort or exit; the library's error code; the signal */
    uint64_t cycles;
    uint32_t tid;
    uint32_t stack_size;
    uint64_t stack_address;
    uint32_t stack; /* offset of a copy of the stack from there on; 0: none */
    uint32_t register_count;
    uint64_t registers[MPIQ_RECORD_REGISTERS]; /* as in a core file */
};

struct mpiq_record_moment {
    uint64_t cycles;
    uint64_t ns; /* CLOCK_REALTIME */
};

/* The one exported symbol: mpiq_record_root.  Its magic is set when MPI is initialised. */
struct mpiq_record_root {
    char magic[8];
    uint32_t byte_order;
    uint16_t version_major;
    uint16_t version_minor;
    uint32_t size;
    uint32_t pointer_size;
    uint32_t phase; /* enum ompi_mqs_phase */
    uint32_t abi;   /* enum mpiq_record_abi */
    uint32_t handle_size;
    int32_t thread_level; /* 0 single … 3 multiple */
    int32_t world_rank;   /* -1: not known yet */
    int32_t world_size;
    uint32_t jobid; /* the job in the (job, rank) names of groups */
    uint32_t pid;
    uint64_t arena; /* address */
    uint64_t arena_used;
    uint32_t functions; /* array of struct mpiq_record_function */
    uint32_t function_count;
    uint32_t threads; /* first struct mpiq_record_thread */
    uint32_t comms;   /* first struct mpiq_record_comm; freed ones are removed */
    uint32_t groups;
    uint32_t chunks; /* first struct mpiq_record_chunk */
    uint32_t windows;
    uint32_t types;   /* array of MPIQ_RECORD_MAX_TYPES */
    uint32_t ops;     /* array of MPIQ_RECORD_MAX_OPS */
    uint32_t process; /* struct mpiq_record_comm of the calls without a communicator */
    uint64_t lost_comms;
    uint64_t lost_requests;
    uint64_t lost_threads;
    uint64_t unknown_requests; /* waited for, but their creation was not seen */
    uint64_t request_null; /* handles of no request: MPI_REQUEST_NULL, and Open MPI's empty one (0: none) */
    uint64_t request_empty;
    struct mpiq_record_moment first;
    struct mpiq_record_moment last;
    char nspace[256];
    char library[64];
    uint32_t flags;      /* MPIQ_RECORD_STRICT and so on */
    uint32_t facts;      /* array of MPIQ_RECORD_MAX_FACTS; 0: not kept */
    uint32_t bases;      /* array of MPIQ_RECORD_MAX_BASES */
    uint32_t freed;      /* with MPIQ_RECORD_CHECK: first freed struct mpiq_record_comm */
    uint64_t lost_facts; /* calls not counted by any fact */
    uint64_t lost_ready; /* calls to MPI_Pready, MPI_Pready_range and MPI_Pready_list on unknown requests */
    uint64_t address;    /* of this structure */
    uint64_t arena_size; /* bytes of address space */
    uint32_t loaded;     /* array of struct mpiq_record_loaded, the program first */
    uint32_t loaded_count;
    uint32_t parent;      /* pid of the process that started this one */
    int32_t started_rank; /* as the launcher says; -1: it does not */
    struct mpiq_record_end end;
    uint32_t step; /* struct mpiq_record_step; 0: without mpiq run --step */
    uint32_t reserved;
};

#endif
