/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_state - what one look saw of one process: plain data, complete in itself.
 *
 * lib/rank writes it, a snapshot holds it, lib/job reads it.  It contains what the library's memory says, in
 * the library's terms (local ranks, handles, names of processes); nothing is matched or concluded yet.  It
 * holds envelopes, never payload.
 *
 * The state owns everything in it, and mpiq_rank_state_destroy frees it.
 */
#ifndef MPIQ_RANK_STATE_H
#define MPIQ_RANK_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "names/objects.h"
#include "state/calls.h"
#include "state/communicator.h"
#include "state/fact.h"
#include "state/operation.h"
#include "state/place.h"
#include "state/window.h"

enum mpiq_tristate { MPIQ_UNKNOWN = -1, MPIQ_NO = 0, MPIQ_YES = 1 };

/* Numbered as enum ompi_mqs_wait_kind (include/ompi_mqs.h); REFUSED: a collective that --strict does not pass
   on, because it does not match those of other members. */
#define MPIQ_WAIT_KINDS(X)          \
    X(NONE, "none")                 \
    X(REQUEST, "request")           \
    X(ALL, "all")                   \
    X(ANY, "any")                   \
    X(SOME, "some")                 \
    X(SEND, "send")                 \
    X(RECEIVE, "receive")           \
    X(PROBE, "probe")               \
    X(MPROBE, "mprobe")             \
    X(MRECV, "mrecv")               \
    X(BSEND_DETACH, "bsend-detach") \
    X(RMA, "rma")                   \
    X(SHARED, "shared")             \
    X(INIT, "init")                 \
    X(FINALIZE, "finalize")         \
    X(CONNECT, "connect")           \
    X(FENCE, "fence")               \
    X(START, "start")               \
    X(COMPLETE, "complete")         \
    X(WAIT, "wait")                 \
    X(LOCK, "lock")                 \
    X(UNLOCK, "unlock")             \
    X(FLUSH, "flush")               \
    X(WIN_FREE, "win-free")         \
    X(REFUSED, "refused")

enum mpiq_wait_kind {
#define MPIQ_ENUM(id, word) MPIQ_WAIT_##id,
    MPIQ_WAIT_KINDS(MPIQ_ENUM)
#undef MPIQ_ENUM
};

/* One wait of a thread; they nest, level 0 outermost, and only the innermost holds the thread. */
struct mpiq_wait {
    int32_t level;
    uint8_t kind;            /* enum mpiq_wait_kind */
    int16_t collective;      /* class of the collective call around it; -1 none */
    int32_t need;            /* how many of its operations suffice */
    uint64_t episode;        /* differs for every wait of this thread */
    int64_t begin_ns;        /* since the epoch; 0: not stamped */
    int32_t comm;            /* index in communicators of the wait; -1: the operations say it */
    int32_t collective_comm; /* index of the one the collective was called on; -1 */
    char call[48];           /* "MPI_Recv"; "" not known */
    int32_t window;          /* index in windows; -1: not of one, or not known */
    int32_t window_target;   /* local rank in the window whose lock or answer it waits for; -1: all */
    uint8_t lock_type;       /* enum mpiq_lock_type, of kind lock */
    struct mpiq_operation *operations; /* queue MPIQ_QUEUE_WAIT */
    size_t operation_count;
};

struct mpiq_rank_state;

struct mpiq_frame {
    uint64_t pc;
    const char *function; /* interned; NULL not known */
    const char *file;
    const char *object;
    int32_t line;
    bool inlined;
    uint8_t owner; /* enum mpiq_object_owner: whose the object is; UNKNOWN in a state of before it was kept */
};

/* Whose the object of a frame is; UNKNOWN if it has none. */
enum mpiq_object_owner mpiq_frame_owner(const struct mpiq_rank_state *state, const struct mpiq_frame *frame);

/* In which system call a thread sleeps, by the kernel's own record (/proc/PID/task/TID/syscall). */
#define MPIQ_SLEEPS(X)                                                                               \
    X(UNKNOWN, "unknown")                                                                            \
    X(PRIVATE_FUTEX, "private-futex") /* without a timeout: its own process alone wakes it */        \
    X(TIMED_FUTEX, "timed-futex")                                                                    \
    X(OTHER, "other")                                                                                \
    X(SIGNAL_FUTEX, "signal-futex") /* private; a signal handler may post it if it is a semaphore */ \
    X(LOCK, "lock")                 /* on a file: the process lock_holder alone can release it */

enum mpiq_sleep {
#define MPIQ_ENUM(id, word) MPIQ_SLEEP_##id,
    MPIQ_SLEEPS(MPIQ_ENUM)
#undef MPIQ_ENUM
};

/* What an MPI call was given, or the call that made a request that it waits for, by the names that the
   standard gives parameters.  X(identifier, word) */
#define MPIQ_GIVEN_KINDS(X)                                                             \
    X(COUNT, "count")                                                                   \
    X(SENDCOUNT, "sendcount")                                                           \
    X(RECVCOUNT, "recvcount")                                                           \
    X(DATATYPE, "datatype")                                                             \
    X(SENDTYPE, "sendtype")                                                             \
    X(RECVTYPE, "recvtype")                                                             \
    X(DEST, "dest")                                                                     \
    X(SOURCE, "source")                                                                 \
    X(TAG, "tag")                                                                       \
    X(SENDTAG, "sendtag")                                                               \
    X(RECVTAG, "recvtag")                                                               \
    X(ROOT, "root")                                                                     \
    X(OP, "op")                                                                         \
    X(COMM, "comm")                                                                     \
    X(RANK, "rank")         /* of a window */                                           \
    X(REQUEST, "request")   /* name: the call that made it; NULL: it is not known */    \
    X(REQUESTS, "requests") /* value: how many it waits for, if more than are listed */ \
    X(MADE_BY, "made_by")   /* name, place: a call that may have made requests; NULL: something else may */

enum mpiq_given_kind {
#define MPIQ_ENUM(id, word) MPIQ_GIVEN_##id,
    MPIQ_GIVEN_KINDS(MPIQ_ENUM)
#undef MPIQ_ENUM
        MPIQ_GIVEN_COUNT_OF_KINDS
};

/* An argument of the MPI call that a thread is in, as its caller's code tells it: a hint, never a proof. */
struct mpiq_given {
    uint8_t kind;        /* enum mpiq_given_kind */
    bool any;            /* MPI_ANY_SOURCE, MPI_ANY_TAG */
    bool null;           /* MPI_PROC_NULL */
    uint32_t of_request; /* 0: an argument of the call; n: of what made its n-th request */
    int64_t value;       /* a number; a handle's bits */
    const char *name; /* of a predefined handle: "MPI_COMM_WORLD"; interned; NULL: another one, or a number */
    uint64_t caller;  /* MADE_BY: return address of that call; 0 */
    struct mpiq_place place; /* what `caller` resolves to */
};

struct mpiq_thread {
    int32_t tid;
    char state;              /* R S D T t Z ? */
    uint8_t sleep;           /* enum mpiq_sleep */
    int32_t system_call;     /* its number on the rank's architecture; -1: in none, or not known */
    char stepped[48];        /* mpiq run --step holds it before that call, outside MPI; "" */
    uint64_t stepped_number; /* which of its holds that is */
    bool has_wait_record; /* a patched library's record of this thread exists: no waits means not waiting */
    const char *file;     /* that it sleeps on: reads, opens, or wants a lock of; interned, NULL not known */
    int32_t lock_holder;  /* pid of the process on the same host that has that lock; 0 not known */
    int32_t partner; /* pid of the child whose end it awaits, or of the parent or child at the other end of
                        the pipe that it reads or writes; 0 none, or not known */
    const char *partner_name; /* of that process, by the kernel; interned; NULL */
    char partner_state;       /* likewise, as `state` */
    int32_t owner; /* the thread of its own process that has the lock it sleeps for: a mutex's, or with
                      `interpreter` the lock of a Python interpreter; 0 not known */
    bool interpreter;
    uint64_t futex; /* address of the word that it sleeps on; 0 not known.  Not in a file */
    uint64_t cpu_ns;
    int64_t polled_ns; /* of the second look: processor time between the end of the first look at all ranks
                          and the beginning of the second, of the half in which it got less; -1 not known */
    struct mpiq_wait *waits; /* outermost first */
    size_t wait_count;
    struct mpiq_frame *frames; /* innermost first; NULL: not read */
    size_t frame_count;
    bool truncated;           /* frames are missing at the outer end */
    int32_t mpi_frame;        /* index of the frame of the MPI function the user called (its outermost:
                                 PMPI_ and MPI_ spellings); -1: this thread is not in MPI */
    int32_t user_frame;       /* index of the frame that called it, or the innermost one of the user's; -1 */
    char mpi_call[48];        /* "MPI_Bcast": from the stack; "" */
    struct mpiq_given *given; /* what that call was given, as far as it is known */
    size_t given_count;
};

/* One MPI call of a thread's past. */
struct mpiq_past_call {
    const char *call;   /* "MPI_Send"; interned */
    int64_t begin_ns;   /* since the epoch */
    int64_t end_ns;     /* 0: still in it */
    int32_t comm;       /* index in communicators; -1: none, or not known */
    int32_t peer_local; /* -1: none, or not known.  Of a receive that has ended: who sent the message */
    int32_t tag;        /* -1: none, or not known */
    int32_t root;       /* of a collective, local rank; -1 */
    bool any_source;
    bool any_tag;
    bool proc_null; /* the peer is MPI_PROC_NULL */
    int64_t bytes;  /* -1 not known */
    int32_t tid;
    int32_t error;      /* the library's error code that it returned; 0: none, or not known */
    uint32_t tag_group; /* mqs_past_call's */
    uint64_t caller;
    struct mpiq_place place; /* what `caller` resolves to */
};

/* So many past calls of one process are kept at most, and so many of all processes of a job together. */
#define MPIQ_HISTORY_OF_RANK 4096
#define MPIQ_HISTORY_OF_JOB (UINT32_C(1) << 20)

/* How many each rank of a job of that size may have: one at least. */
static inline size_t mpiq_history_share(int64_t world_size)
{
    int64_t share = world_size > 0 ? (int64_t)MPIQ_HISTORY_OF_JOB / world_size : MPIQ_HISTORY_OF_RANK;
    return share > MPIQ_HISTORY_OF_RANK ? MPIQ_HISTORY_OF_RANK : share < 1 ? 1 : (size_t)share;
}

/* A state in JSON may come to so many bytes of memory, and have so many threads: several of those who decide
   look at all threads for each of them. */
#define MPIQ_STATE_BYTES_MOST (UINT64_C(256) << 20)
#define MPIQ_THREADS_MOST (1 << 14)

/* What could not be read, in a sentence, and where. */
struct mpiq_problem {
    uint8_t code;     /* enum mpiq_error_code */
    const char *what; /* "queues", "collectives", "stack", "memory", … */
    const char *text;
};

#define MPIQ_PHASES(X)              \
    X(UNKNOWN, "unknown")           \
    X(LOADED, "loaded")             \
    X(INITIALIZING, "initializing") \
    X(RUNNING, "running")           \
    X(FINALIZING, "finalizing")     \
    X(FINALIZED, "finalized")

enum mpiq_phase {
#define MPIQ_ENUM(id, word) MPIQ_PHASE_##id,
    MPIQ_PHASES(MPIQ_ENUM)
#undef MPIQ_ENUM
};

/* How the state was read: the level of what is known (the design's table). */
#define MPIQ_SOURCES(X)                                       \
    X(NONE, "none")                                           \
    X(PATCHED, "patched")                                     \
    X(RECORDER, "recorder")                                   \
    X(DEBUG_INFO, "debug info")                               \
    X(LAYOUTS, "layouts")                                     \
    X(TRACE, "trace")                                         \
    X(CALLS, "calls") /* stacks, and what calls were given */ \
    X(STACKS, "stacks")

enum mpiq_source {
#define MPIQ_ENUM(id, word) MPIQ_SOURCE_##id,
    MPIQ_SOURCES(MPIQ_ENUM)
#undef MPIQ_ENUM
};

/* Whether nothing of the MPI library itself could be read. */
static inline bool mpiq_source_is_outside(enum mpiq_source source)
{
    return source == MPIQ_SOURCE_NONE || source == MPIQ_SOURCE_CALLS || source == MPIQ_SOURCE_STACKS;
}

/* How a process ended, of which nothing but its records is left. */
#define MPIQ_ENDS(X)                                                        \
    X(NONE, "none")                                                         \
    X(UNKNOWN, "unknown")                                                   \
    X(LIVES, "lives") /* others of its job have ended */                    \
    X(ABORT, "abort") /* it called MPI_Abort */                             \
    X(EXIT, "exit")                                                         \
    X(ERROR, "error") /* the MPI library ended it, in a call that failed */ \
    X(SIGNAL, "signal")

enum mpiq_end_kind {
#define MPIQ_ENUM(id, word) MPIQ_END_##id,
    MPIQ_ENDS(MPIQ_ENUM)
#undef MPIQ_ENUM
};

struct mpiq_end {
    uint8_t kind;   /* enum mpiq_end_kind */
    int32_t code;   /* given to MPI_Abort; exit status; the library's error code; the signal */
    int64_t at_ns;  /* since the epoch; 0 not known */
    uint32_t order; /* in which the processes of the job ended, from 1; 0 not known */
};

struct mpiq_rank_state {
    struct mpiq_name name;
    int32_t world_size; /* 0 not known */
    int32_t pid;
    char host[65];
    char architecture[16];  /* of the process: "x86-64", as lib/names/system_calls has them; "" not known */
    char executable[256];   /* base name and as much of the path as fits */
    char command[512];      /* the words it was started with, a blank between them; "" not known */
    char library[64];       /* "Open MPI 4.1.4" */
    char library_file[256]; /* its file, as the system calls it; "" not known */
    char pml[48];
    char nspace[256];
    uint8_t phase;       /* enum mpiq_phase */
    uint8_t source;      /* enum mpiq_source */
    int8_t thread_level; /* 0-3; -1 not known */
    int8_t recording;    /* enum mpiq_tristate: collective state is kept */
    int8_t queues;       /* MPIQ_YES: message queues were read; MPIQ_NO: this PML's cannot be;
                            MPIQ_UNKNOWN: could not be read (see problems) */
    bool final;          /* nothing of it moves any more: a core file, or a trace at one time */
    bool gone;           /* the process has ended, or is a zombie */
    struct mpiq_end end; /* NONE: there is, or was when it was read, a process */
    bool traced;         /* another program traces it: a debugger, strace */
    int32_t tracer;      /* pid of that program on its host; 0 not known */
    char tracer_name[17];
    bool frozen;        /* the freezer of a control group holds it */
    char freezer[512];  /* the file that thaws it (process/freezer.h); "" not known */
    char process_state; /* R S D T t Z X ? */
    uint64_t cpu_ns;
    uint64_t children_cpu_ns; /* processor time of the programs that it has started, ended ones included */
    int64_t io_bytes;         /* read and written so far; -1 not known */
    int64_t taken_ns;         /* when it was read, since the epoch; 0 not known (a core file) */
    char last_mpi_call[48];   /* of a rank outside MPI, the call it was in last; "" not known */
    int64_t last_mpi_end_ns;  /* when that one ended, since the epoch; 0 not known */
    bool last_mpi_collective; /* of other calls no end is kept: it may have been in MPI since */

    struct mpiq_communicator *communicators;
    size_t communicator_count;
    struct mpiq_operation *operations; /* of all queues; per queue and communicator in order */
    size_t operation_count;
    struct mpiq_thread *threads;
    size_t thread_count;
    struct mpiq_call *process_calls; /* init, finalize */
    size_t process_call_count;
    struct mpiq_window *windows;
    size_t window_count;
    struct mpiq_past_call *history; /* newest last, thread by thread */
    size_t history_count;
    struct mpiq_fact *facts;
    size_t fact_count;
    int64_t lost_facts;       /* calls that no fact counts */
    bool strict;              /* blocking collectives wait for all members */
    bool library_queues;      /* of the recorder's: queues and channels are the MPI library's own, read beside
                                 it; else they are the recorder's requests and counts */
    bool paused_at_end;       /* it waits in MPI_Finalize to be read: the facts are complete */
    uint64_t history_dropped; /* older calls that are not here for lack of room */
    struct mpiq_problem *problems;
    size_t problem_count;

    uint64_t weight; /* bytes that it takes, if it was read from JSON: for a budget of all (budget.h) */
    void *strings;   /* owner of the interned strings; private to rank_state.c */
};

/* An empty one, all fields not known.  NULL without memory. */
struct mpiq_rank_state *mpiq_rank_state_create(void);
/* NULL is fine. */
void mpiq_rank_state_destroy(struct mpiq_rank_state *state);

/* A copy of string that lives as long as state; equal strings are one pointer.  NULL gives NULL. */
const char *mpiq_rank_state_intern(struct mpiq_rank_state *state, const char *string);

/* Each appends a zeroed element (indexes and enums that have a "not known" are set to it) and returns it,
   valid until the next append to the same array; NULL without memory. */
struct mpiq_communicator *mpiq_rank_state_add_communicator(struct mpiq_rank_state *state);
struct mpiq_operation *mpiq_rank_state_add_operation(struct mpiq_rank_state *state);
struct mpiq_thread *mpiq_rank_state_add_thread(struct mpiq_rank_state *state);
struct mpiq_wait *mpiq_thread_add_wait(struct mpiq_thread *thread);
struct mpiq_operation *mpiq_wait_add_operation(struct mpiq_wait *wait);
struct mpiq_frame *mpiq_thread_add_frame(struct mpiq_thread *thread);
struct mpiq_given *mpiq_thread_add_given(struct mpiq_thread *thread);
struct mpiq_coll_count *mpiq_communicator_add_count(struct mpiq_communicator *comm);
struct mpiq_call *mpiq_communicator_add_call(struct mpiq_communicator *comm);
struct mpiq_call *mpiq_communicator_add_outstanding(struct mpiq_communicator *comm);
struct mpiq_call_source *mpiq_communicator_add_source(struct mpiq_communicator *comm);
struct mpiq_persistent *mpiq_communicator_add_persistent(struct mpiq_communicator *comm);
struct mpiq_channel *mpiq_communicator_add_channel(struct mpiq_communicator *comm);
struct mpiq_tag_count *mpiq_channel_add_tag(struct mpiq_channel *channel);
struct mpiq_call *mpiq_rank_state_add_process_call(struct mpiq_rank_state *state);
struct mpiq_window *mpiq_rank_state_add_window(struct mpiq_rank_state *state);
struct mpiq_window_lock *mpiq_window_add_lock(struct mpiq_window *window);
/* To the group of MPI_Win_start and to that of MPI_Win_post; false without memory. */
bool mpiq_window_add_access(struct mpiq_window *window, int32_t local_rank);
bool mpiq_window_add_exposure(struct mpiq_window *window, int32_t local_rank);
struct mpiq_past_call *mpiq_rank_state_add_past_call(struct mpiq_rank_state *state);
/* Keeps the newest `most` past calls of all threads together. */
void mpiq_rank_state_trim_history(struct mpiq_rank_state *state, size_t most);

struct mpiq_fact *mpiq_rank_state_add_fact(struct mpiq_rank_state *state);

/* Notes what could not be read; takes ownership of error, NULL is fine and does nothing.  Without memory the
   last problem says that there was none. */
void mpiq_rank_state_problem(struct mpiq_rank_state *state, const char *what, struct mpiq_error *error);

/* Why what a living rank does is not known from this state, as reading it failed or was cut short: one of its
   problems.  NULL: it was read as far as its library allows.  A thread in uninterruptible sleep, or a library
   that nobody can read, is no failure. */
const struct mpiq_problem *mpiq_rank_state_unread(const struct mpiq_rank_state *state);

/* How many local ranks the other side of an operation may have: of the remote group of an
   intercommunicator, else of the local one; 0 not known.  A state from JSON has no peer_local,
   actual_local, channel, local_rank or index out of its range; a writer keeps to that. */
uint32_t mpiq_communicator_peers(const struct mpiq_communicator *comm);

/* JSON, as it stands in a snapshot and on the helper's wire: one value, no line break in it.  What is not
   known is left out.  The caller frees the text; the parser takes untrusted text of that length. */
struct mpiq_error *mpiq_rank_state_to_json(const struct mpiq_rank_state *state, char **ret);
struct mpiq_error *mpiq_rank_state_from_json(const char *text, size_t length, struct mpiq_rank_state **ret);

#endif
