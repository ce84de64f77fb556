/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorder - what the files of the preload library share.
 *
 * Each wrapped MPI function arrives as thirteen machine words (functions.h says what they are), is
 * recorded as mpiq_record.h describes, and is passed on to the library's own definition.  No mpi.h is used:
 * abi.c knows the few constants, the handle sizes and the status layout of each ABI.
 *
 * Cost: a call that creates no object takes no lock, makes no system call and allocates nothing.  Objects are
 * allocated in the arena under one spin lock.  With MPI_THREAD_MULTIPLE, counters are incremented atomically.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpiq_record.h"

typedef uintptr_t word;
typedef word mpi_function(word, word, word, word, word, word, word, word, word, word, word, word, word);

enum { WORDS = 13 };

static inline word go(mpi_function *next, const word *a)
{
    return next(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12]);
}

/* What to do about a function: see call_begin.c and call_end.c. */
/* clang-format off */
#define RECORDER_ACTIONS(X) \
    X(PLAIN) X(POLL) X(SEND) X(BSEND) X(SSEND) X(RSEND) X(ISEND) X(IBSEND) X(ISSEND) X(IRSEND) \
    X(SEND_INIT) X(BSEND_INIT) X(SSEND_INIT) X(RSEND_INIT) X(RECV) X(IRECV) X(RECV_INIT) \
    X(PSEND_INIT) X(PRECV_INIT) X(SENDRECV) X(SENDRECV_REPLACE) X(ISENDRECV) X(ISENDRECV_REPLACE) \
    X(PROBE) X(IPROBE) X(MPROBE) X(IMPROBE) X(MRECV) X(IMRECV) X(START) X(STARTALL) X(WAIT) \
    X(WAITALL) X(WAITANY) X(WAITSOME) X(TEST) X(TESTALL) X(TESTANY) X(TESTSOME) X(REQUEST_FREE) \
    X(CANCEL) X(GREQUEST) X(DETACH) X(COLLECTIVE) X(ICOLLECTIVE) X(PCOLLECTIVE) X(CREATE) X(IDUP) \
    X(CREATE_GROUP) X(CREATE_ALONE) X(CREATE_WORLD) X(INTERCOMM_CREATE) X(COMM_FREE) X(GET_PARENT) \
    X(COMM_NAME) X(WIN_CREATE) X(WIN_FREE) X(WIN_SYNC) X(WIN_NAME) X(RMA) X(FILE) X(IFILE) \
    X(REQUEST_OTHER) X(INIT) X(FINALIZE) X(TYPE_FREE) X(TYPE_NEW) X(GROUP_NEW) X(GROUP_FREE) \
    X(OP_NEW) X(OP_FREE) X(FILE_OPEN) X(FILE_CLOSE) X(WIN_START) X(WIN_POST) X(WIN_COMPLETE) \
    X(WIN_WAIT) X(WIN_TEST) X(WIN_LOCK) X(WIN_UNLOCK) X(WIN_LOCK_ALL) X(WIN_UNLOCK_ALL) X(WIN_FLUSH) \
    X(WIN_FLUSH_ALL) X(WIN_FENCE) X(WIN_INFO) X(WIN_ATTRIBUTE) X(PREADY) X(PREADY_RANGE) \
    X(PREADY_LIST) X(ABORT)
/* clang-format on */

enum action {
#define RECORDER_ENUM(id) ACTION_##id,
    RECORDER_ACTIONS(RECORDER_ENUM)
#undef RECORDER_ENUM
        ACTION_COUNT
};

/* One wrapped function.  at[ROLE(c)] is the argument with the role c, -1: it has none. */
#define ROLE(character) ((character)&63)
struct function {
    const char *name; /* "MPI_Send" */
    const char *roles;
    uint8_t action; /* enum action */
    bool large;     /* counts are 64 bits wide */
    int16_t collective;
    int8_t at[64];
};

extern struct function recorder_functions[];
extern const unsigned recorder_function_count;

extern struct mpiq_record_root mpiq_record_root;
/* No page of a supported processor is larger. */
#if defined __x86_64__ || defined __i386__
#define RECORDER_PAGE 4096
#else
#define RECORDER_PAGE 65536
#endif
_Static_assert(sizeof(struct mpiq_record_root) <= RECORDER_PAGE, "the root has pages of its own");

/* ---- abi.c: one MPI library's constants --------------------------------------------------------------- */

struct abi {
    enum mpiq_record_abi kind;
    uint32_t handle_size; /* 4 or 8 */
    int32_t any_source, any_tag, proc_null, root;
    int32_t no_check, no_precede, no_put, no_succeed; /* MPI_MODE_ */
    int32_t lock_exclusive;                           /* MPI_LOCK_EXCLUSIVE */
    uint64_t comm_world, comm_self, comm_null, request_null, request_empty, message_no_proc, win_null;
    uint64_t packed; /* the datatype */
    uint64_t byte;
    uint64_t group_empty;
    uint64_t type_null, info_null;
    word status_ignore, in_place;
    uint32_t status_size, source_at, tag_at;
    int32_t cart, graph, dist_graph; /* results of MPI_Topo_test */
    int32_t truncate, in_status, pending; /* MPI_ERR_TRUNCATE and so on */
};
extern struct abi recorder_abi;

/* Detects the ABI from the shared object that defines this function; false: unknown. */
bool abi_detect(const void *function);
/* Bytes received, from a status; -1: not known. */
int64_t abi_status_bytes(const unsigned char *status);

static inline uint64_t handle_of(word argument)
{
    return recorder_abi.handle_size == 4 ? (uint32_t)argument : argument;
}

static inline uint64_t handle_at(const void *address, size_t index)
{
    return recorder_abi.handle_size == 4 ? ((const uint32_t *)address)[index]
                                         : ((const uint64_t *)address)[index];
}

static inline int32_t peer_of(int32_t peer)
{
    return peer >= 0                         ? peer
           : peer == recorder_abi.any_source ? MPIQ_RECORD_ANY
           : peer == recorder_abi.proc_null  ? MPIQ_RECORD_PROC_NULL
           : peer == recorder_abi.root       ? MPIQ_RECORD_ROOT
                                             : MPIQ_RECORD_NO_PEER;
}

static inline int32_t tag_of(int32_t tag)
{
    return tag == recorder_abi.any_tag ? MPIQ_RECORD_ANY : tag;
}

/* ---- job.c: which job it is --------------------------------------------------------------------- */

/* The number that Open MPI and mpiq (lib/rank/identity.c) derive from a namespace. */
uint32_t job_of(const char *nspace);

/* ---- next.c: the library's own functions --------------------------------------------------------------- */

/* Whether a call comes from the MPI library itself: the object of the next definition, or one with the name
   of a part of it. */
bool is_of_library(word caller, mpi_function *next);
/* The next definition of a name after ours; NULL: there is none. */
mpi_function *next_definition(const char *name);
/* Calls the library's PMPI_NAME for the recorder itself; an error code if there is none. */
#define ASK(name, ...) ask_library("PMPI_" #name, (const word[WORDS]){__VA_ARGS__})
int ask_library(const char *name, const word *arguments);

/* ---- arena.c: memory, and counters ------------------------------------------------------------------- */

/* Maps the arena; false: out of memory. */
bool arena_init(void);
/* Zeroed, 8-aligned; NULL if the arena is full.  Never freed: users keep free lists.  Takes the lock. */
void *arena_allocate(size_t size);
extern unsigned char *recorder_arena;
/* 0 for NULL. */
static inline uint32_t arena_offset(const void *record)
{
    return record ? (uint32_t)((const unsigned char *)record - recorder_arena) : 0;
}
/* NULL for 0. */
static inline void *arena_at(uint32_t offset)
{
    return offset ? recorder_arena + offset : NULL;
}
/* The only lock, taken while an object is created or freed.  Does not nest. */
void arena_lock(void);
void arena_unlock(void);
/* Does not wait: for a signal handler. */
bool arena_try_lock(void);
/* The same, for callers that hold the lock. */
void *arena_allocate_locked(size_t size);

extern bool recorder_multiple; /* MPI_THREAD_MULTIPLE: several threads may record at once */

/* Adds to a counter and returns what it was. */
static inline uint64_t counter_add(uint64_t *counter, uint64_t value)
{
    if (recorder_multiple)
        return __atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
    uint64_t before = __atomic_load_n(counter, __ATOMIC_RELAXED);
    __atomic_store_n(counter, before + value, __ATOMIC_RELAXED);
    return before;
}

static inline uint32_t counter_add32(uint32_t *counter, uint32_t value)
{
    if (recorder_multiple)
        return __atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
    uint32_t before = __atomic_load_n(counter, __ATOMIC_RELAXED);
    __atomic_store_n(counter, before + value, __ATOMIC_RELAXED);
    return before;
}

/* ---- remains.c: records that outlive the process ------------------------------------------------------- */

/* Maps an arena of that size, and the root's pages, from a memory file that mpiq run gets as well.  NULL:
   there is no mpiq run, or it cannot be reached. */
void *remains_map(size_t size);
void remains_begin(void);   /* MPI is about to be initialised */
void remains_objects(void); /* notes the objects that are loaded by now, unless they are noted */
void remains_forked(void);  /* in a forked child: it gets memory of its own */
/* The program calls MPI_Abort. */
void remains_abort(int code);
/* MPI is initialised: signals that end the process are noted. */
void remains_watch_signals(void);
/* Whether this process shares its records with an mpiq run that lives. */
bool remains_run_lives(void);

/* ---- clock.c ----------------------------------------------------------------------------------------- */

static inline uint64_t clock_cycles(void)
{
#if defined __x86_64__ || defined __i386__
    return __builtin_ia32_rdtsc();
#elif defined __aarch64__
    uint64_t cycles;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(cycles));
    return cycles;
#else
    uint64_t clock_ns(void);
    return clock_ns();
#endif
}
/* Notes the moment on both clocks. */
void clock_note(struct mpiq_record_moment *moment);

/* ---- one call ---------------------------------------------------------------------------------------- */

/* The object that a call frees, for the check at the end. */
struct freeing {
    int object; /* -1: nothing */
    uint64_t handle;
};

struct call {
    const struct function *function;
    word *arguments;
    struct self *self;
    struct mpiq_record_thread *thread;
    struct mpiq_record_call *entry;
    struct mpiq_record_comm *comm;
    struct mpiq_record_window *window;
    word caller;
    size_t request_count;
    uint64_t handle;             /* of what the call frees */
    const unsigned char *status; /* of a receive: the program's or ours; an array for Waitall and similar */
    struct mpiq_record_collective *collective;
    struct freeing freeing;
    struct call *outer;  /* the MPI_Finalize that the call is made in */
    word fortran_caller; /* of MPI_Finalize, during such a call */
    word frame;          /* an address in the frame of dispatch */
    uint64_t serial;     /* no other call of the thread has it; 0: the call has ended */
    word result;
    bool left; /* not returned from: an exception or a jump leaves it */
};

/* The result of a call that was left: an error code in all ABIs. */
#define RECORDER_FAILED 16

/* ---- thread.c ---------------------------------------------------------------------------------------- */

/* What this thread needs while it is in a call. */
struct self {
    uint32_t depth;        /* 1: in an MPI call that is being recorded */
    word fortran_caller;   /* the program's call site while the library's Fortran layer runs, or 0 */
    struct call *call;     /* while the library is in it; NULL: no call, or the recorder is at work */
    struct call *finalize; /* MPI_Finalize, while it runs the program's callbacks */
    word frame;            /* of the call, also while the recorder is at work */
    uint64_t serial;       /* of the last call */
    struct call
        calls[2]; /* the call, and one that is made in MPI_Finalize: not on the stack, which may be gone */
    struct mpiq_record_thread *record;
    uint64_t comm_handle; /* looked up last */
    struct mpiq_record_comm *comm;
    uint64_t comm_generation;
    struct mpiq_record_request **requests; /* room for request_room */
    size_t request_room;
    struct mpiq_record_hold *hold; /* of mpiq run --step; NULL: none yet */
    word holding;                  /* the frame that the thread is held in; 0: it is not */
    uint64_t hold_key;             /* of the call that it was held before last */
    bool hold_skips;               /* calls equal to that one are not held */
    unsigned char *statuses;       /* room for status_room statuses */
    size_t status_room;
    uint64_t status[8];
};
extern __thread struct self recorder_self __attribute__((tls_model("initial-exec")));

/* The compiler must not move what the recorder does past this: a signal handler may look. */
static inline void self_set_call(struct self *self, struct call *call)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->call = call;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

bool thread_init(void); /* once */
/* Makes the calling thread's record; NULL: no room. */
struct mpiq_record_thread *thread_begin(struct self *self);
/* The calling thread's record, made on its first call; NULL: no room. */
static inline struct mpiq_record_thread *thread_record(struct self *self)
{
    return __builtin_expect(self->record != NULL, 1) ? self->record : thread_begin(self);
}
/* Makes room for count requests; false: out of memory. */
bool thread_room(struct self *self, size_t count);
/* Makes room for count statuses. */
bool thread_status_room(struct self *self, size_t count);

#define HAS(call, role) ((call)->function->at[ROLE(role)] >= 0)
#define ARGUMENT(call, role) ((call)->arguments[(call)->function->at[ROLE(role)]])

static inline int64_t count_of(const struct call *call, word argument)
{
    return call->function->large ? (int64_t)argument : (int32_t)argument;
}

/* ---- type.c ------------------------------------------------------------------------------------------ */

int64_t type_size(uint64_t handle); /* bytes; -1: not known, or MPI_DATATYPE_NULL */
void type_forget(uint64_t handle);
void type_init(void);
/* Of a type whose size was asked for; "": not known. */
void type_name(uint64_t handle, char *name, size_t size);

static inline int64_t bytes_of(int64_t count, uint64_t type)
{
    int64_t size = count < 0 ? -1 : type_size(type);
    return size < 0 ? -1 : count * size;
}

/* ---- communicator.c ---------------------------------------------------------------------------------- */

bool comm_init(void);                                                   /* MPI_COMM_WORLD and MPI_COMM_SELF */
struct mpiq_record_comm *comm_find(struct self *self, uint64_t handle); /* NULL: not known */
/* Of a member of its remote group, if it has one; MPIQ_RECORD_NO_PEER: not known, or of another world. */
int32_t comm_world_rank(const struct mpiq_record_comm *comm, int32_t local);
/* What struct mpiq_record_call has as tag_group, of a call that is beginning. */
uint32_t comm_tag_group(const struct call *call);
/* After a creation that all members of call->comm made in the same order; handle may be the null handle. */
void comm_created(const struct call *call, uint64_t handle, bool same_group);
/* After a creation that is identified by seed, which all members know. */
void comm_created_apart(const struct call *call, uint64_t handle, uint64_t seed, bool unclear);
void comm_name(struct mpiq_record_comm *comm, const char *name);
void comm_removed(struct mpiq_record_comm *comm);
/* The end of a send on it will not be seen: it is buffered, or its request is freed. */
void comm_is_loose(struct mpiq_record_comm *comm);

/* ---- window.c ---------------------------------------------------------------------------------------- */

void window_created(const struct call *call, uint64_t handle);
/* Skips windows in MPI_Win_free: another window may have their handle. */
struct mpiq_record_window *window_find(uint64_t handle);
/* window_removed: MPI_Win_free ended.  window_freeing: it begins (begun) or failed.  window may be NULL. */
void window_removed(struct mpiq_record_window *window);
void window_freeing(struct mpiq_record_window *window, bool begun);
void window_name(struct mpiq_record_window *window, const char *name);
/* A communicator is freed; windows made on it live on.  The caller holds the lock. */
void window_forget_comm(uint32_t comm);
/* Before and after MPI_Win_fence on call->window, which may be NULL. */
void window_fence_begins(struct call *call);
void window_fence_ended(const struct call *call, int result);
/* Before and after a call that synchronises call->window, or accesses it: epochs and locks. */
void window_before(struct call *call);
void window_after(struct call *call, int result);

/* ---- file.c ------------------------------------------------------------------------------------------ */

void file_opened(word handle, const struct mpiq_record_comm *comm);
/* NULL: not known. */
struct mpiq_record_comm *file_comm(word handle);
/* MPI_File_close has begun: once it ends, another file may get that handle. */
void file_closing(word handle);
/* A communicator is freed.  The caller holds the lock. */
void file_forget_comm(uint32_t comm);

/* ---- channel.c --------------------------------------------------------------------------------------- */

/* A send begins; returns its number on the channel, from 1. */
uint64_t channel_send(struct mpiq_record_comm *comm, int32_t peer, int32_t tag, int64_t bytes);
/* A send that was counted has not gone out. */
void channel_send_undone(struct mpiq_record_comm *comm, int32_t peer, int32_t tag, int64_t bytes);
/* A receive has taken a message. */
void channel_receive(struct mpiq_record_comm *comm, int32_t peer, int32_t tag, int64_t bytes);
/* Unknown whether a message was received, or a send cancelled; peer may be MPIQ_RECORD_ANY. */
void channel_unclear(struct mpiq_record_comm *comm, int32_t peer);
/* Frees a communicator's channels.  The caller holds the lock. */
void channel_free_all(struct mpiq_record_comm *comm);

/* ---- request.c --------------------------------------------------------------------------------------- */

/* A record for a new request, not yet published; NULL: no room, and it was counted as lost. */
struct mpiq_record_request *request_new(void);
/* Publishes it under its handle. */
void request_publish(struct mpiq_record_request *request, uint64_t handle,
                     enum mpiq_record_request_state state);
/* Publishes the send half of an exchange, which has no handle and ends with the receive half. */
void request_publish_half(struct mpiq_record_request *request);
struct mpiq_record_request *request_find(uint64_t handle); /* NULL: none, the null request */
/* A request has ended: removes it. */
void request_drop(struct mpiq_record_request *request);
/* With several threads: removes the request with that handle from the index while its thread waits for it or
   tests it.  Returns the record, to end or to attach again; NULL: there is nothing to note (*known: it was
   one of several sends that share a handle). */
struct mpiq_record_request *request_detach(uint64_t handle, bool *known);
void request_attach(struct mpiq_record_request *request);
/* Requests on a freed communicator lose it, since its record may be reused. */
void request_forget_comm(uint32_t comm);
/* Whether a message's request of the communicator is active. */
bool request_is_active_on(uint32_t comm);
bool request_init(void);

/* ---- partition.c ------------------------------------------------------------------------------------- */

extern bool recorder_partitioned; /* a partitioned request was made */
/* A partitioned send is started: no partition is ready yet. */
void partition_begin(struct mpiq_record_request *request);
/* MPI_Pready, MPI_Pready_range or MPI_Pready_list is called. */
void partition_ready(const struct function *function, const word *arguments);

/* ---- collective.c ------------------------------------------------------------------------------------ */

/* Notes a call in the ring and the counts; the caller keeps *note for a request. */
void collective_begin(struct call *call, bool start, struct mpiq_record_collective *note);
/* A call of that class has ended. */
void collective_end(struct mpiq_record_comm *comm, int collective);
/* Collectives on the communicator are not counted right any more. */
void collective_doubt(struct mpiq_record_comm *comm);
/* A collective call returned an error: whether it took place is not known. */
void collective_failed(const struct call *call, int result);

/* ---- neighbour.c ------------------------------------------------------------------------------------- */

/* The member `sources` for a neighbourhood collective; 0 also if unknown. */
uint64_t neighbour_sources(const struct call *call);
/* Frees a freed communicator's list.  The caller holds the lock. */
void neighbour_free(struct mpiq_record_comm *comm);

/* ---- signature.c: the predefined types in data -------------------------------------------------------- */

enum { MOST_PARTS = 4 };
struct part {
    unsigned base; /* in the records' bases */
    uint64_t count;
};
struct signature {
    bool known; /* false: MPI_PACKED, or too many types */
    unsigned part_count;
    struct part parts[MOST_PARTS];
};

bool signature_init(void);
void signature_begin(void); /* once the library is initialised */
/* The signature of `count` elements of a datatype or, if bytes is not negative, of that many bytes of it. */
void signature_of_data(uint64_t datatype, int64_t count, int64_t bytes, struct signature *ret);
/* For a request: records the contents of its datatype while the library can still be asked, because the
   program may free the type before the request completes. */
void signature_note(const struct mpiq_record_request *request, uint64_t datatype);
/* The same as signature_of_data, for the datatype recorded for the request. */
void signature_of_request(const struct mpiq_record_request *request, int64_t count, int64_t bytes,
                          struct signature *ret);
uint64_t signature_hash(const struct signature *signature);
void signature_forget(uint64_t datatype);
/* Asks the library. */
int64_t type_size_now(uint64_t datatype);
/* Of a predefined type's elements, by its name "MPI_INT": the letter in mpiq_record_base.code; 0: another. */
char signature_kind(const char *name);

/* ---- fact.c ------------------------------------------------------------------------------------------- */

extern bool recorder_check; /* mpiq run --check; without it, these functions do nothing */

struct message {
    struct mpiq_record_comm *comm;
    int32_t peer;
    int32_t tag;
    uint64_t datatype;
    const struct mpiq_record_request *request; /* whose datatype was noted; NULL: datatype is alive */
    int64_t count;
    int64_t bytes; /* of a received message; -1: given by count */
    unsigned function;
    word caller;
};

bool fact_init(void);
/* A predefined operation's index in the records' list of them, from 1; 0: no handle, UINT16_MAX: another. And
   its handle by its name; 0: there is none. */
uint16_t fact_op(uint64_t handle);
uint64_t fact_op_handle(const char *name);
void fact_message(bool sent, const struct message *message);
void fact_collective(const struct mpiq_record_comm *comm, const struct mpiq_record_collective *note);
void fact_object(enum mpiq_record_object object, uint64_t handle, unsigned function, word caller,
                 struct mpiq_record_comm *comm);
void fact_requests(void); /* requests left at the end */
void fact_object_freed(enum mpiq_record_object object, uint64_t handle);

/* ---- check.c ------------------------------------------------------------------------------------------ */

extern bool recorder_ending; /* in MPI_Finalize: objects freed inside it count as freed */

bool check_wanted(void); /* MPIQ_CHECK is set */
void check_begin(void);  /* at the end of MPI_Init */
void check_end(void);    /* at the beginning of MPI_Finalize */
void check_wait(void);   /* until mpiq run has read this process; once */

/* The object that a call frees, before and after the call. */
void check_freeing(const struct function *function, const word *arguments, struct freeing *ret);
void check_freed(const struct freeing *freeing, int result);
/* Notes the object a call made, which has to be freed. */
void check_object(const struct call *call);

/* ---- compare.c: members' calls, with --strict ---------------------------------------------------------- */

void compare_begin(void); /* at the end of MPI_Init */
/* Whether the call is like those of the members that have made theirs, as far as that is known.  Does not
 * wait.
 */
bool compare_is_like_others(const struct call *call);
/* Waits for all members of call->comm; false: their calls are not alike. */
bool compare_all(const struct call *call);
/* Stays in the call, and drives MPI's progress, unless it turns out that there is nothing to compare. */
void compare_refuse(const struct call *call);
/* Collectives on the communicator are not counted right by this rank. */
void compare_doubt(const struct mpiq_record_comm *comm);

/* ---- strict.c ---------------------------------------------------------------------------------------- */

extern bool recorder_strict; /* mpiq run --strict */

/* Makes the call: standard sends synchronously, blocking collectives after a barrier of all members. */
word strict_go(const struct call *call, mpi_function *next);

/* ---- step.c: mpiq run --step -------------------------------------------------------------------------- */

extern bool recorder_step; /* threads are held before their calls */

bool step_wanted(void); /* MPIQ_STEP is set */
void step_begin(void);  /* at the end of MPI_Init */
/* The thread is about to make a call: holds it, if that is wanted. */
void step_before(struct self *self, unsigned function, word *arguments, word caller);
/* A jump leaves the place where the thread is held. */
void step_left(struct self *self);
void step_thread_ended(struct self *self);

/* ---- message.c, completion.c, lifetime.c, dispatch.c -------------------------------------------------- */

typedef void before_function(struct call *call);
typedef void after_function(struct call *call, int result);
extern before_function before_send, before_receive, before_sendrecv, before_envelope, before_probe;
extern before_function before_mreceive, before_start, before_startall;
extern after_function after_receive, after_sendrecv, after_isend, after_ireceive, after_isendrecv;
extern after_function after_init_request, after_mprobe, after_imreceive, after_startall, after_other_request;
extern before_function before_wait, before_waits;
extern after_function after_wait, after_waitall, after_waitany, after_waitsome, after_request_free;
extern after_function after_cancel, after_send, after_start;
void after_left_wait(struct call *call); /* nothing is known of its outcome */
/* Around an MPI_Request_free that is made inside another MPI call. */
struct mpiq_record_request *request_freeing(uint64_t handle);
void request_freed(struct mpiq_record_request *request, int result);
/* Whether a call sends or receives, at once or by requests that it makes or starts. */
static inline bool message_is_moved(unsigned action)
{
    return (action >= ACTION_SEND && action <= ACTION_ISENDRECV_REPLACE) || action == ACTION_START ||
           action == ACTION_STARTALL;
}
/* A message that is sent or received inside another call is not counted, unless it is that call's own: a tool
   passes it on. */
void message_hidden(const struct function *function, const word *arguments, const struct call *outside);
/* A receive from one rank, or of any, has failed: whether a message was taken is not known, but one that was too
   long has been, and is lost. */
void message_failed(struct mpiq_record_comm *comm, int32_t peer, int32_t tag, int32_t error);
/* A receive request has taken a message; status NULL: not known which. */
void message_received(const struct mpiq_record_request *request, const unsigned char *status);

/* ---- call_begin.c, call_end.c: one call ---------------------------------------------------------------- */

void call_begins(struct call *call);
void call_ended(struct call *call, int result);
/* The class of an error code of the library's; 0: none, or not known. */
int error_class(int32_t error);
/* Whether the library returned that it refuses a buffer, count, datatype, tag, communicator or rank: it looks at
   these before it does anything. */
bool call_refused(int result);
/* An exception or a jump has left the call: nothing is known of its outcome. */
void call_left(struct call *call);
/* Whether the call begins or ends a window's epoch or lock, or completes operations under one. */
static inline bool call_is_of_epoch(unsigned action)
{
    return action >= ACTION_WIN_START && action <= ACTION_WIN_FLUSH_ALL;
}

/* MPI_Finalize begins.  Until its callbacks (attributes of MPI_COMM_SELF) have returned, the rank may do
   anything, so the phase changes after them if recorder_sees_end. */
void lifetime_finalizing(void);
extern bool recorder_sees_end;
/* Makes MPI_Init or a similar call, recorded or not. */
word lifetime_init(const struct function *function, unsigned index, mpi_function *next, word *arguments,
                   word caller);
extern bool recorder_active; /* between MPI_Init's begin and the end of MPI_Finalize */
word dispatch(unsigned index, mpi_function *next, word *arguments, word caller);
/* Ends a call that is being left without a return: its outcome is unknown. */
void dispatch_leave(struct call *call);
/* The thread's call was left unseen: from now on nothing is said of what the process waits for. */
void dispatch_lost(void);
/* A call inside another MPI call, such as in an attribute's delete function, that frees an object, marks
   partitions ready, or communicates.  It is in no history, but the object's record is removed. */
word dispatch_inside(unsigned index, mpi_function *next, const word *arguments, word caller);
/* Records a call that the program makes inside MPI_Finalize, in a delete function of an attribute of
   MPI_COMM_SELF.  In the history, MPI_Finalize ends where the call begins and begins again where it ends. */
word dispatch_in_finalize(unsigned index, mpi_function *next, word *arguments, word caller);

#endif
