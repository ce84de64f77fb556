/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_state - all ranks of a job side by side, in both looks: plain data in compact columns.
 *
 * It is built from rank states, one after another, and then uses the job's terms: worlds and processes
 * instead of the library's names, one communicator for all its members instead of one handle per rank, each
 * group once.  It says what was read and what changed between the looks.  It leaves to lib/job: which
 * message goes to which receive, who waits for whom, and why.
 *
 * Indexes are 32 bits and MPIQ_NONE is "none".  A process is an index in `processes`: all ranks of world 0
 * in order, then those of world 1, and so on, read or not.  Arrays and everything they refer to belong to
 * the job state and are read-only after mpiq_job_state_finish; before that, only mpiq_job_state_add may be
 * called.
 *
 * A million ranks with ten operations each take about 1.2 GiB.
 */
#ifndef MPIQ_JOB_STATE_H
#define MPIQ_JOB_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "state/group_json.h"
#include "state/index.h"
#include "state/job_communicator.h"
#include "state/job_window.h"
#include "state/rank_set.h"
#include "state/rank_state.h"

/* One MPI_COMM_WORLD.  World 0 is the first one of those with ranks that were read, by namespace. */
struct mpiq_world {
    uint32_t job;     /* the library's number of it */
    uint32_t first;   /* process of its rank 0 */
    uint32_t size;    /* ranks; as the library says, or as many as were heard of */
    uint32_t present; /* of them with a rank state */
    uint32_t seen;    /* the highest rank of these, plus one */
    mpiq_string_id nspace;
};

/* What only few operations have: those from matched on, and partitioned ones. */
struct mpiq_job_operation_more {
    int64_t actual_bytes; /* -1 not known */
    uint32_t actual;      /* process; MPIQ_NONE */
    int32_t actual_local;
    int32_t actual_tag;
    /* Of a partitioned one. */
    int32_t partitions;
    int32_t missing;      /* of them, not ready or not arrived; -1 not known */
    mpiq_string_id which; /* those */
    uint64_t inner;       /* request that has to complete first; 0 */
};

/* As mpiq_operation, with processes and the job's communicators.  `peer` is MPIQ_NONE for any source and
   where it is not known (then any is false).  A job has tens of millions of them: 64 bytes each. */
struct mpiq_job_operation {
    uint64_t request;
    uint64_t buffer;
    int64_t bytes; /* -1 not known */
    uint32_t comm;
    uint32_t peer;
    int32_t peer_local; /* MPIQ_ANY */
    int32_t tag;
    mpiq_string_id datatype;
    uint32_t started;   /* in sites: where it was started; MPIQ_NONE */
    uint32_t more;      /* in operations_more; MPIQ_NONE: nothing.  See mpiq_job_more */
    int16_t collective; /* class of the collective it belongs to; -1 */
    uint8_t kind;       /* enum mpiq_operation_kind */
    uint8_t status : 4; /* enum mpiq_operation_status */
    uint8_t queue : 4;  /* enum mpiq_queue */
    bool any : 1;       /* any source */
    bool tag_any : 1;
    bool persistent : 1;
    bool inactive : 1;
    bool internal : 1;
    bool eager : 1;
    bool system_buffer : 1;
    bool freed : 1;
    bool out_of_order : 1;
    bool cancelled : 1;
    bool blocked : 1; /* of the queues: a thread's wait is for this one */
    bool moves : 1;   /* partitioned: the library may send for it by itself */
};

_Static_assert(sizeof(struct mpiq_job_operation) <= 64,
               "a job of a million ranks has eleven million of them");

/* A place in the source: frames that say the same exist once. */
struct mpiq_site {
    mpiq_string_id function;
    mpiq_string_id file;
    mpiq_string_id object;
    int32_t line; /* 0 not known */
    /* In sites, plus one: the nearest line of the user's own that led here, where this place has none (a
       library without -g, an installed package); 0: it has, or none is known. */
    uint32_t called_at;
};

/* One of the user's own lines on a stack, and the one that led to it: equal ways exist once. */
struct mpiq_path {
    uint32_t site;   /* in sites, which says no more than the line */
    uint32_t caller; /* in paths, plus one; 0: the outermost */
};

/* One wait of a thread.  Its operations are in `operations`, with queue MPIQ_QUEUE_WAIT. */
struct mpiq_job_wait {
    uint64_t episode;
    int64_t begin_ns; /* since the epoch; 0 not stamped */
    mpiq_string_id call;
    uint32_t comm;            /* in communicators; MPIQ_NONE: the operations say it */
    uint32_t collective_comm; /* the one the collective around it was called on; MPIQ_NONE */
    int32_t need;             /* how many of its operations suffice */
    uint32_t first_operation;
    uint32_t operation_count;
    uint32_t window;        /* in windows; MPIQ_NONE */
    uint32_t window_target; /* process whose lock or answer it waits for; MPIQ_NONE: all, or not known */
    int16_t collective;     /* class; -1 none */
    uint8_t kind;           /* enum mpiq_wait_kind */
    uint8_t lock_type;      /* enum mpiq_lock_type */
};

struct mpiq_job_thread {
    uint64_t cpu_ns;
    uint64_t cpu_between_ns; /* spent between the looks */
    uint64_t polled_ns; /* of that, after the first look had ended at all ranks and before the second began,
                           in the half in which it got less; all of it where that is not known */
    int32_t tid;
    mpiq_string_id call; /* the MPI function it is in: from the stack, else from the record; 0 none */
    uint32_t site;       /* in sites: who called MPI, or where the user's code is; MPIQ_NONE */
    uint32_t innermost;  /* in sites: the innermost frame; MPIQ_NONE */
    uint32_t path; /* in paths: the user's own lines that led to its MPI call, or where it is; MPIQ_NONE */
    uint32_t first_wait; /* in waits: outermost first; the last one holds the thread */
    uint32_t wait_count;
    mpiq_string_id blocks_in;    /* the C library's call outside MPI that it is in, by its public name:
                                    "pthread_join"; 0 none */
    mpiq_string_id library_call; /* the outermost call of a library of lib/names/library_calls: outside MPI
                                    any, in MPI_Init and MPI_Finalize the runtime's; 0 none */
    mpiq_string_id file;         /* that it sleeps on */
    int32_t lock_holder; /* pid on this host of who has the lock on it that the thread wants; 0 not known */
    int32_t partner;     /* pid on this host of the process that it waits for, see mpiq_thread; 0 none */
    mpiq_string_id partner_name; /* of that process; 0 not known */
    char partner_state;          /* likewise, as `state` */
    int32_t owner;       /* the thread of its own process that had the lock it slept for, in both looks; 0 */
    bool interpreter;    /* that is the lock of a Python interpreter, not a mutex */
    uint8_t system_call; /* enum mpiq_system_call that it sleeps in */
    uint8_t blocking;    /* enum mpiq_blocking of call */
    uint32_t first_probed; /* in operations, queue MPIQ_QUEUE_WAIT: what it has asked for by MPI_Iprobe and
                              MPI_Improbe, again and again, since it did anything else in MPI */
    uint32_t probed_count;
    uint32_t first_given; /* in given: what its MPI call was given, where no wait says it */
    uint32_t given_count;
    bool as_given;   /* nothing else that was read of the rank says it */
    bool probed_all; /* and it asked for nothing else */
    uint8_t sleep;   /* enum mpiq_sleep: in that sleep from the first look to the second; else unknown */
    char state;      /* R S D T t Z ? */
    mpiq_string_id stepped; /* the call before which mpiq run --step holds it, in any look; 0: it does not */
    bool has_wait_record;   /* the library keeps a record of it: no wait means that it does not wait */
    bool in_mpi;            /* by its stack or its record */
    bool called_back;       /* its MPI call is one that such code makes, inside of another one */
    bool calls_back;  /* the user's code runs inside of its MPI call: an operation, an attribute's deletion */
    bool takes_back;  /* the library could not do what its MPI call is for, and takes back what was done */
    bool turned;      /* its stack was another one in the first look */
    bool helper;      /* a thread of the MPI library's own: nothing but that library is on its stack, and
                         no MPI call */
    int8_t same_wait; /* enum mpiq_tristate: both looks saw it in one and the same wait.  By the
                        episode; without a record by its stack, its requests' numbers and the
                        channels (MPIQ_YES only if all of them agree) */
};

/* An argument of the MPI call that a thread is in, as its caller's code tells it (struct mpiq_given). */
struct mpiq_job_given {
    int64_t value;
    mpiq_string_id name; /* of a predefined handle; 0 another one, or a number */
    uint32_t member;     /* in members: of a communicator that the library's own list has; MPIQ_NONE */
    uint32_t request;    /* 0: of the call; n: of the one that made its n-th request */
    uint32_t site;       /* in sites: where MPIQ_GIVEN_MADE_BY is; MPIQ_NONE */
    uint8_t kind;        /* enum mpiq_given_kind */
    bool any;
    bool null;
};

/* One MPI call of a rank's past, as the recorder noted it. */
#define MPIQ_PAST_UNRECEIVED (UINT32_MAX - 1) /* in place of an index: nobody has received the message */

struct mpiq_job_past_call {
    int64_t begin_ns;    /* since the epoch; 0 not known */
    int64_t end_ns;      /* 0: still in it */
    int64_t bytes;       /* -1 not known */
    mpiq_string_id call; /* "MPI_Send" */
    uint32_t comm;       /* in communicators; MPIQ_NONE: none, or freed since */
    uint32_t peer;      /* process on the other side, or a collective's root; MPIQ_NONE: none, or not known */
    int32_t peer_local; /* -1: none, or not known */
    int32_t root;       /* of a collective; -1 */
    int32_t tag;        /* -1: none, or not known */
    uint32_t site;      /* in sites: who made it; MPIQ_NONE */
    int32_t tid;
    mpiq_string_id error; /* "MPI_ERR_TAG", "error 93": it returned that; 0: no error, or not known */
    uint32_t tag_group;   /* mqs_past_call's */
    uint32_t made; /* in past_calls: of one that completes requests and failed, which call made the request
                      that failed; MPIQ_NONE: none, or not known */
    bool any_source;
    bool any_tag;
    bool proc_null; /* its peer is MPI_PROC_NULL */
};

/* What changed in a rank between the looks. */
enum {
    MPIQ_CHANGED_WAITS = 1,    /* an episode, or a lock on a window */
    MPIQ_CHANGED_QUEUES = 2,   /* operations */
    MPIQ_CHANGED_CALLS = 4,    /* counts, rings, outstanding collectives */
    MPIQ_CHANGED_CHANNELS = 8, /* messages sent or taken in */
    MPIQ_CHANGED_STATE = 16,   /* phase, communicators */
    MPIQ_CHANGED_STACKS = 32,  /* another call or another place; no MPI progress by itself */
    MPIQ_CHANGED_REPEATS = 64  /* but all its last calls are one-sided ones that read, again and again */
};
#define MPIQ_CHANGED_PROGRESS                                                                \
    (MPIQ_CHANGED_WAITS | MPIQ_CHANGED_QUEUES | MPIQ_CHANGED_CALLS | MPIQ_CHANGED_CHANNELS | \
     MPIQ_CHANGED_STATE)

/* One rank that was read, as its last look saw it. */
struct mpiq_job_rank {
    uint64_t cpu_ns;
    uint64_t cpu_between_ns;          /* spent between the looks */
    uint64_t children_cpu_between_ns; /* by external programs that it runs */
    int64_t io_between;               /* bytes read and written between the looks; -1 not known */
    int64_t taken_ns;                 /* when it was read last, since the epoch */
    int64_t between_ns;               /* from the first time it was read to that; 0 not known */
    int64_t last_mpi_end_ns;          /* of a rank outside MPI, when its last call there ended; 0 not known */
    mpiq_string_id last_mpi_call;     /* that call; 0 not known */
    bool last_mpi_collective;         /* it is the last blocking collective: of other calls no end is kept */
    uint32_t process; /* MPIQ_NONE: no rank that anybody knows of: a broken file, another program */
    int32_t pid;
    mpiq_string_id host;
    mpiq_string_id executable;
    mpiq_string_id command; /* as of a rank state; 0 not known */
    mpiq_string_id library;
    mpiq_string_id library_file; /* 0 not known */
    mpiq_string_id pml;
    uint32_t first_thread;
    uint32_t thread_count;
    uint32_t first_member; /* in member_order: this rank's communicators, as the library lists them */
    uint32_t member_count;
    uint32_t first_operation; /* in operations: its queues */
    uint32_t operation_count;
    uint32_t first_call; /* in calls: init and finalize */
    uint32_t call_count;
    uint32_t first_problem;
    uint32_t problem_count;
    mpiq_string_id unread_because; /* 0: nobody knows */
    uint32_t first_fact;           /* in facts */
    uint32_t fact_count;
    int64_t lost_facts;  /* calls that no fact counts */
    uint32_t first_past; /* in past_calls: thread by thread, newest last */
    uint32_t past_count;
    uint64_t past_dropped; /* older calls that were left out for lack of room */
    uint32_t first_view;   /* of its windows; only while ranks are added */
    uint32_t view_count;
    uint8_t phase;   /* enum mpiq_phase */
    uint8_t source;  /* enum mpiq_source */
    uint8_t looks;   /* 1: first, 2: second, 3: both can be compared; of a core file one is all there is */
    uint8_t changed; /* MPIQ_CHANGED_, between the looks */
    int8_t thread_level; /* -1 not known */
    int8_t recording;    /* enum mpiq_tristate */
    int8_t queues;       /* enum mpiq_tristate */
    char process_state;  /* R S D T t Z X ? */
    bool unread;         /* one of the looks at it failed or was cut short: unread_because */
    bool final;          /* nothing of it moves any more: a core file, or a trace at one time */
    bool gone;
    struct mpiq_end end;
    bool traced;
    int32_t tracer;             /* as in the rank state, with */
    mpiq_string_id tracer_name; /* its name; 0 not known */
    bool frozen;
    mpiq_string_id freezer; /* likewise */
    bool strict;            /* blocking collectives wait for all members */
    bool library_queues;    /* as in the rank state */
    bool paused_at_end;     /* it waits to be read: its facts are complete */
};

/* As mpiq_fact. */
struct mpiq_job_fact {
    uint64_t comm;
    uint64_t count;
    uint64_t sum;
    uint64_t first;
    uint64_t signature;
    int64_t bytes;
    uint32_t rank; /* in ranks */
    uint32_t site; /* in sites; MPIQ_NONE */
    int32_t peer;  /* rank in the world of that rank, -1; of a collective the root, local */
    int32_t tag;
    int32_t comm_size;
    uint32_t comm_flags;
    uint32_t base;
    mpiq_string_id call;
    mpiq_string_id comm_name;
    mpiq_string_id base_name;
    mpiq_string_id op;
    int16_t collective;
    uint8_t kind;
};

struct mpiq_job_problem {
    uint32_t rank; /* in ranks */
    uint8_t code;  /* enum mpiq_error_code */
    mpiq_string_id what;
    mpiq_string_id text;
};

struct mpiq_job_state {
    struct mpiq_world *worlds;
    uint32_t world_count;
    uint32_t *processes; /* the rank (in ranks) of each process; MPIQ_NONE: not read */
    uint32_t process_count;
    struct mpiq_job_rank *ranks; /* in no order: go by processes */
    uint32_t rank_count;
    struct mpiq_job_thread *threads;
    uint32_t thread_count;
    struct mpiq_job_wait *waits;
    uint32_t wait_count;
    struct mpiq_job_given *given;
    uint32_t given_count;
    struct mpiq_job_operation *operations;
    uint32_t operation_count;
    struct mpiq_job_operation_more *operations_more;
    uint32_t operation_more_count;
    struct mpiq_job_group *groups;
    uint32_t group_count;
    struct mpiq_job_communicator *communicators; /* the user's by context, then internal ones: a report's
                                                    "comm" is the index here */
    uint32_t communicator_count;
    struct mpiq_job_member *members; /* by communicator: see first_member there */
    uint32_t member_count;
    uint32_t *member_order; /* the same by rank: indexes in members */
    struct mpiq_coll_count *counts;
    uint32_t count_count;
    struct mpiq_job_call *calls;
    uint32_t call_count;
    struct mpiq_job_persistent *persistent;
    uint32_t persistent_count;
    struct mpiq_call_source *call_sources;
    uint32_t call_source_count;
    struct mpiq_call_shape *shapes;
    uint32_t shape_count;
    struct mpiq_job_channel *channels;
    uint32_t channel_count;
    struct mpiq_job_window *windows; /* by communicator and id */
    uint32_t window_count;
    struct mpiq_job_window_view *window_views; /* by window and process */
    uint32_t window_view_count;
    struct mpiq_job_window_lock *window_locks;
    uint32_t window_lock_count;
    uint32_t *window_ranks; /* processes */
    uint32_t window_rank_count;
    struct mpiq_job_past_call *past_calls;
    uint32_t past_call_count;
    struct mpiq_site *sites;
    uint32_t site_count;
    struct mpiq_path *paths;
    uint32_t path_count;
    struct mpiq_job_fact *facts;
    uint32_t fact_count;
    struct mpiq_job_problem *problems;
    uint32_t problem_count;
    mpiq_string_id *hosts; /* each once, sorted by name */
    uint32_t host_count;
    const char **strings;
    uint32_t string_count;
    bool finished;
    bool two_looks;                   /* at least one rank was looked at twice */
    struct mpiq_job_builder *builder; /* private to lib/merge; NULL once finished */
};

/* More processes than these, in all worlds together, are not believed: a job of so many takes memory and time
   for each, read or not. */
#define MPIQ_JOB_MAX_PROCESSES MPIQ_GROUP_MAX

/* The text of a string; NULL for 0. */
static inline const char *mpiq_job_string(const struct mpiq_job_state *job, mpiq_string_id string)
{
    return string ? job->strings[string] : NULL;
}

/* World and rank of a process. */
struct mpiq_world_rank {
    uint32_t world;
    uint32_t rank;
};
struct mpiq_world_rank mpiq_job_world_rank(const struct mpiq_job_state *job, uint32_t process);
/* And back; MPIQ_NONE if there is no such rank. */
uint32_t mpiq_job_process(const struct mpiq_job_state *job, uint32_t world, uint32_t rank);

/* How many of the job's processes were read, those that have ended included: `ranks` has others too. */
uint32_t mpiq_job_ranks_read(const struct mpiq_job_state *job);

/* What a problem is about ("what") where a host, with all of its ranks, could not be read. */
#define MPIQ_PROBLEM_HOST "host"
/* Whether a row that is no process stands for a host of the job whose ranks are neither known nor read. */
bool mpiq_job_is_lost_host(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank);

/* Whether a rank's queues are requests that the recorder has seen (or a trace holds), and counts: which of
   them are complete, and what has arrived, is concluded from those of all ranks. */
static inline bool mpiq_job_is_counted(const struct mpiq_job_rank *rank)
{
    return rank->source == MPIQ_SOURCE_TRACE ||
           (rank->source == MPIQ_SOURCE_RECORDER && !rank->library_queues);
}

/* The rank state's row of a process; NULL if it was not read. */
static inline const struct mpiq_job_rank *mpiq_job_rank_of(const struct mpiq_job_state *job, uint32_t process)
{
    return process < job->process_count && job->processes[process] != MPIQ_NONE
               ? &job->ranks[job->processes[process]]
               : NULL;
}

/* Whether a debugger holds or traces a process. */
static inline bool mpiq_is_traced(const struct mpiq_job_state *job, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    return rank && rank->traced;
}

static inline bool mpiq_is_send(const struct mpiq_job_operation *op)
{
    return op->kind <= MPIQ_OPERATION_RSEND;
}

static inline bool mpiq_is_partitioned(const struct mpiq_job_operation *op)
{
    return op->kind == MPIQ_OPERATION_PSEND || op->kind == MPIQ_OPERATION_PRECV;
}

static inline bool mpiq_is_receive(const struct mpiq_job_operation *op)
{
    return op->kind == MPIQ_OPERATION_RECEIVE || op->kind == MPIQ_OPERATION_PROBE;
}

/* What an operation has from matched on, or as a partitioned one; never NULL. */
extern const struct mpiq_job_operation_more mpiq_job_no_more;
static inline const struct mpiq_job_operation_more *mpiq_job_more(const struct mpiq_job_state *job,
                                                                  const struct mpiq_job_operation *operation)
{
    return operation->more == MPIQ_NONE ? &mpiq_job_no_more : &job->operations_more[operation->more];
}

/* The name of a communicator as a report writes it, "MPI_COMM_WORLD" or "communicator 5" (its context)
   for one without a name; valid as long as job.  "" for MPIQ_NONE. */
const char *mpiq_job_communicator_name(const struct mpiq_job_state *job, uint32_t comm);

/* The context of a communicator in as few digits as tell it apart: "5", "7:2", of a hash its first eight. */
#define MPIQ_CONTEXT_ROOM 44
const char *mpiq_context_text(const struct mpiq_job_communicator *comm, char text[static MPIQ_CONTEXT_ROOM]);

/* The last part of a path. */
const char *mpiq_job_base_name(const char *path);

/* Adds the members of a communicator (of both groups) to *set; false without memory. */
bool mpiq_job_communicator_members(const struct mpiq_job_state *job, uint32_t comm,
                                   struct mpiq_rank_set *set);

/* The processes of one side of a communicator, as a member sees it, by local rank. */
struct mpiq_job_side {
    const uint32_t *processes; /* as long as job */
    uint32_t count;            /* 0: not known */
};
struct mpiq_job_side mpiq_job_side(const struct mpiq_job_state *job, const struct mpiq_job_member *member,
                                   bool remote);
static inline uint32_t mpiq_side_process(const struct mpiq_job_side *side, int32_t local_rank)
{
    return local_rank >= 0 && (uint32_t)local_rank < side->count ? side->processes[local_rank] : MPIQ_NONE;
}

/* The process with that local rank, as the member sees it: of the remote group for an intercommunicator if
   remote is true, of its own otherwise; MPIQ_NONE if there is none. */
uint32_t mpiq_job_local_process(const struct mpiq_job_state *job, const struct mpiq_job_member *member,
                                bool remote, int32_t local_rank);

/* What a process has at a window; NULL: it is no member, or was not read. */
const struct mpiq_job_window_view *mpiq_job_window_view_of(const struct mpiq_job_state *job, uint32_t process,
                                                           uint32_t window);

/* What a rank knows of a communicator; NULL: it is no member, or was not read. */
const struct mpiq_job_member *mpiq_job_member_of(const struct mpiq_job_state *job, uint32_t rank,
                                                 uint32_t comm);
/* The same of a process, which may be no rank that was read. */
const struct mpiq_job_member *mpiq_job_member_of_process(const struct mpiq_job_state *job, uint32_t process,
                                                         uint32_t comm);

#endif
