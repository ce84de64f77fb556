/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * finding - the diagnosis of a job: a verdict, findings, what each rank does, and why it waits.
 *
 * Plain data that lib/job fills, lib/words puts into sentences (the fields said to be its own) and lib/report
 * renders without deciding anything.  It refers to the job
 * state (communicators, operations, sites) by index.  Kinds and words are fixed by the design.  The
 * diagnosis owns everything in it, and mpiq_diagnosis_destroy frees it.
 */
#ifndef MPIQ_FINDING_H
#define MPIQ_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/job_state.h"
#include "state/rank_set.h"

/* X(identifier, word in text and JSON, exit code) */
#define MPIQ_VERDICTS(X)       \
    X(DEADLOCK, "deadlock", 1) \
    X(STALLED, "stalled", 4)   \
    X(RUNNING, "running", 0)   \
    X(FINISHED, "finished", 0) \
    X(UNKNOWN, "unknown", 3)

enum mpiq_verdict {
#define MPIQ_ENUM(id, word, code) MPIQ_VERDICT_##id,
    MPIQ_VERDICTS(MPIQ_ENUM)
#undef MPIQ_ENUM
};

/* X(identifier, word).  Which fields of a finding are set beside ranks, text, sites, since:
   COLLECTIVE_INCOMPLETE           comm, collective, number, missing, suspects
   COLLECTIVE_LEFT                 comm, collective, number, others (who have left it)
   COLLECTIVE_MISMATCH             comm, number, calls, suspects; at a job's end sides, fact
   COLLECTIVE_ARGUMENT_MISMATCH    comm, collective, number, field, values, suspects
   WAIT_CYCLE                      steps
   RECEIVE_UNMATCHED, SEND_UNMATCHED   comm, operation, near_misses
   TRUNCATION                      comm, operation (the receive), other (the message), bytes
   COLLECTIVE_OVERLAP              comm, calls
   WINDOW_WAIT                     window, comm, wait, missing, suspects, lock_type, peer_finalizes
   FILE_LOCK                       file (0: a mutex, or not known), missing (who has it), suspects
   POLLING_UNMATCHED               comm, operation, near_misses, peer_polls
   STACKS_DIFFER                   calls, smallest group first
   REQUEST_LEAK                    count, comm, operation; at a job's end fact instead
   UNEXPECTED_BACKLOG              count
   MESSAGE_LOST                    comm, fact, from, to, count, lost
   TYPE_MISMATCH                   comm, fact, received_fact, from, to; of a collective as COLLECTIVE_MISMATCH
   NOT_FREED                       fact, count
   RANK_GONE                       ending, of one rank
   RANK_STOPPED, RANK_ELSEWHERE    waiters, thread */
#define MPIQ_FINDING_KINDS(X)                                       \
    X(COLLECTIVE_INCOMPLETE, "collective_incomplete")               \
    X(COLLECTIVE_LEFT, "collective_left")                           \
    X(COLLECTIVE_MISMATCH, "collective_mismatch")                   \
    X(COLLECTIVE_ARGUMENT_MISMATCH, "collective_argument_mismatch") \
    X(WAIT_CYCLE, "wait_cycle")                                     \
    X(RECEIVE_UNMATCHED, "receive_unmatched")                       \
    X(SEND_UNMATCHED, "send_unmatched")                             \
    X(TRUNCATION, "truncation")                                     \
    X(RANK_GONE, "rank_gone")                                       \
    X(RANK_STOPPED, "rank_stopped")                                 \
    X(RANK_ELSEWHERE, "rank_elsewhere")                             \
    X(REQUEST_LEAK, "request_leak")                                 \
    X(UNEXPECTED_BACKLOG, "unexpected_backlog")                     \
    X(COLLECTIVE_OVERLAP, "collective_overlap")                     \
    X(WINDOW_WAIT, "window_wait")                                   \
    X(FILE_LOCK, "file_lock")                                       \
    X(POLLING_UNMATCHED, "polling_unmatched")                       \
    X(STACKS_DIFFER, "stacks_differ")                               \
    X(MESSAGE_LOST, "message_lost")                                 \
    X(TYPE_MISMATCH, "type_mismatch")                               \
    X(NOT_FREED, "not_freed")

enum mpiq_finding_kind {
#define MPIQ_ENUM(id, word) MPIQ_FINDING_##id,
    MPIQ_FINDING_KINDS(MPIQ_ENUM)
#undef MPIQ_ENUM
};

/* X(identifier, word, letter): what a rank does, as text and in one character of a grid of ranks. */
#define MPIQ_RANK_ACTIVITIES(X)                                                                           \
    X(UNREADABLE, "unreadable", '?')                                                                      \
    X(BLOCKED, "blocked", 'b')                                                                            \
    X(POLLING, "polling", 'p')                                                                            \
    X(COMPUTING, "computing", '.')                                                                        \
    X(CALLING, "calling", 'l') /* outside MPI, in a library's call that waits for a GPU or the runtime */ \
    X(ASLEEP, "asleep", 'z')                                                                              \
    X(HELD, "held", 'h') /* before a call, by mpiq run --step */                                          \
    X(STOPPED, "stopped", 't')                                                                            \
    X(FROZEN, "frozen", 'f') /* stopped by a control group's freezer */                                   \
    X(GONE, "gone", 'x')

enum mpiq_rank_activity {
#define MPIQ_ENUM(id, word, letter) MPIQ_ACTIVITY_##id,
    MPIQ_RANK_ACTIVITIES(MPIQ_ENUM)
#undef MPIQ_ENUM
};

/* Whether it does nothing until somebody lets it go on. */
static inline bool mpiq_is_stopped(enum mpiq_rank_activity activity)
{
    return activity == MPIQ_ACTIVITY_STOPPED || activity == MPIQ_ACTIVITY_FROZEN;
}

/* X(identifier, word): what a rank may wait for. */
#define MPIQ_WAIT_PARTS(X)      \
    X(RECEIVE, "receive")       \
    X(SEND, "send")             \
    X(PROBE, "probe")           \
    X(COLLECTIVE, "collective") \
    X(WINDOW, "window")         \
    X(LAUNCHER, "launcher")     \
    X(LOCK, "lock")             \
    X(REQUEST, "request")

enum mpiq_wait_part_kind {
#define MPIQ_ENUM(id, word) MPIQ_PART_##id,
    MPIQ_WAIT_PARTS(MPIQ_ENUM)
#undef MPIQ_ENUM
};

/* Ranks as a borrowed array of ranges, ascending: what a rank set holds. */
struct mpiq_ranks {
    const struct mpiq_rank_range *ranges;
    uint32_t count; /* of ranges */
    uint64_t size;  /* of ranks */
};

/* The same as a set, only to be read. */
static inline struct mpiq_rank_set mpiq_borrowed_set(const struct mpiq_ranks *ranks)
{
    return (struct mpiq_rank_set){
        .ranges = (struct mpiq_rank_range *)ranks->ranges, .count = ranks->count, .size = ranks->size};
}

/* One thing that a rank, or each rank of a class, waits for. */
struct mpiq_wait_part {
    enum mpiq_wait_part_kind kind;
    bool any; /* RECEIVE, PROBE: from any source */
    bool tag_any;
    bool answers;  /* WINDOW: nobody is known to hold a lock there: `ranks` have to answer */
    bool internal; /* traffic of a collective's own */
    bool relative; /* of a class of ranks: the peer of rank r is rank r + offset; `peer` is the first one's */
    bool wraps;    /* relative: modulo the size of the communicator */
    int32_t offset;
    uint32_t peer; /* process; MPIQ_NONE: any, none, not known, or differs from rank to rank */
    int32_t tag;
    int64_t bytes;           /* -1 not known */
    uint32_t comm;           /* in communicators; MPIQ_NONE */
    uint32_t window;         /* in windows; MPIQ_NONE */
    const char *collective;  /* COLLECTIVE: "MPI_Bcast"; NULL */
    int64_t number;          /* COLLECTIVE: its running number; 0 */
    uint64_t request;        /* 0: none */
    uint32_t operation;      /* in operations: the one that says it; MPIQ_NONE */
    uint32_t started;        /* in sites: where the request or collective was started; MPIQ_NONE */
    struct mpiq_ranks ranks; /* who could end this part: the peer, the members that have not come */
    const char *file;        /* LOCK: the file that `peer` has locked, "shared.log"; NULL not known */
    const struct mpiq_given_wait *given; /* told by the caller's code alone, a hint: more about it; NULL */
};

/* What the caller's code says of a call, beside what stands in the part. */
struct mpiq_given_wait {
    bool tag_unknown;
    bool peer_unknown;
    bool other_comm;  /* a communicator other than MPI_COMM_WORLD, which is not known by name */
    int32_t local;    /* the peer's or the root's rank in that communicator; -1 */
    int64_t count;    /* -1 not known */
    const char *type; /* "MPI_INT"; NULL */
    const char *op;   /* "MPI_SUM"; NULL */
    const char *comm; /* "MPI_COMM_WORLD"; NULL */

    /* REQUEST: of so many that the call was given, and a call that may have made some of them: each part has
       another one; NULL: something else may have, or nothing is known of it. */
    uint32_t requests;
    const char *made_by; /* "MPI_Irecv" */
};

/* What a rank waits for.  Lives in the diagnosis's arena; alike ranks may share one. */
struct mpiq_waits_for {
    bool all;     /* all parts are needed; otherwise any one suffices */
    bool guessed; /* without a record of the wait: one of the parts, it is not known which */
    const struct mpiq_wait_part *parts;
    uint32_t part_count;
    uint32_t more;           /* parts beyond those listed */
    uint32_t done;           /* requests of the same wait that are complete */
    struct mpiq_ranks ranks; /* who could end it, all parts together */
};

/* What the peers of a class of ranks have in common. */
struct mpiq_relation {
    uint64_t count; /* ranks */
    int64_t offset; /* peer - rank, in the communicator */
    int64_t size;   /* of the communicator */
    uint32_t peer;  /* process: the first one's */
    bool same_peer;
    bool relative; /* all at that offset */
    bool wraps;    /* all at that offset modulo the size */
};

/* Since when ranks are outside MPI: the call that they were in last. */
struct mpiq_last_call {
    bool known;
    bool collective;  /* it is the last collective call: the ends of others are not kept */
    const char *call; /* "MPI_Barrier"; NULL: not the same for all */
    double ago;       /* seconds since it ended, of the one that is outside longest */
};

/* How a rank of a job that has ended did.  Lives in the diagnosis's arena. */
struct mpiq_ending {
    struct mpiq_end end;
    bool fine;               /* it ended as it should */
    bool may_be_ended;       /* whoever ends ranks that are left may have ended it so */
    const char *signal;      /* "SIGSEGV"; NULL */
    const char *error_class; /* of an error that the MPI library ended it for: "MPI_ERR_TRUNCATE"; NULL */
};

/* What else there is to say of the ranks of a line of evidence. */
enum mpiq_remark {
    MPIQ_REMARK_NONE,
    MPIQ_REMARK_UNRECEIVED,   /* what lies there: the finding's first near miss */
    MPIQ_REMARK_RECEIVED,     /* where the message before was taken: the finding's received_before */
    MPIQ_REMARK_FAILED,       /* a call of theirs that returned an error: `failed` */
    MPIQ_REMARK_INSIDE,       /* their code runs inside another MPI call: `inside` */
    MPIQ_REMARK_SCRIPT_ENDED, /* an interpreter brings the rank to its end */
    MPIQ_REMARK_THREAD,       /* another thread of the rank than the one in MPI, and who has its lock */
    MPIQ_REMARK_HOST,         /* of a job on several hosts, they are all those on one */
    MPIQ_REMARK_END           /* of a job that has ended: how this rank did */
};

/* One line of evidence: these ranks are in that call at that place, since then, for that. */
struct mpiq_evidence {
    struct mpiq_rank_set ranks;
    enum mpiq_rank_activity activity;
    const char *call; /* "MPI_Waitall"; of a thread outside MPI "pthread_mutex_lock"; NULL: not known */
    uint32_t site;    /* in sites: where they wait, or are; MPIQ_NONE */
    uint32_t started; /* in sites: where what they wait for was started, if elsewhere; MPIQ_NONE */
    double since;     /* seconds; -1 not known */
    const struct mpiq_waits_for *wait; /* NULL: for nothing, or not known */
    struct mpiq_last_call last;        /* of ranks outside MPI */
    enum mpiq_remark remark;
    const struct mpiq_ending *ending; /* END: how they ended; NULL: just with the first one */
    uint32_t failed;                  /* FAILED: in past_calls; MPIQ_NONE */
    uint32_t inside;                  /* INSIDE: the first one's, in past_calls; MPIQ_NONE */
    uint32_t last_site;               /* END: in sites, where they called MPI last; MPIQ_NONE */
    uint32_t owner;                   /* THREAD: in threads, who has the lock that it waits for; MPIQ_NONE */
    bool finalizes;                   /* they are in MPI_Finalize */
    const char *note; /* the remark, in lib/words' words: "an unreceived message from rank 0 has tag 41 (4
                         bytes)"; NULL */
    /* The first of them, and what its peers have in common. */
    uint32_t process;
    uint32_t thread;
    uint32_t operation;
    int64_t number;
    int collective; /* the non-blocking one that holds them; -1: none, or not known */
    bool aside;     /* of a message: not those that the finding is about */
    struct mpiq_relation relation;
};

/* JSON's sites[]: these ranks are in that call at that place. */
struct mpiq_finding_site {
    struct mpiq_rank_set ranks;
    const char *call; /* "MPI_Bcast"; NULL: not in MPI, or not known */
    const char *file; /* as the debug information says; NULL not known */
    const char *function;
    int32_t line;       /* 0 not known */
    uint32_t called_at; /* as of struct mpiq_site */
};

/* JSON's calls[]: these ranks spent the running number on that collective. */
struct mpiq_finding_call {
    const char *collective;
    struct mpiq_rank_set ranks;
    uint32_t made; /* in sites: where they called it, if they are elsewhere by now; MPIQ_NONE */
    /* Of a hint: whom they wait for, by what they were given, and in which of the calls those are; none and
       MPIQ_NONE: not known of each of them, or not all in one call. */
    struct mpiq_rank_set awaited;
    uint32_t awaited_in;
};

/* JSON's values[]: these ranks gave that value. */
struct mpiq_finding_value {
    const char *name; /* "MPI_SUM"; NULL: it is a number */
    int64_t number;   /* 0 (a rank), 400 (bytes) */
    const char *type; /* of a count, "MPI_INT"; NULL */
    struct mpiq_rank_set ranks;
    uint32_t made;     /* as of a call */
    const char *value; /* lib/words: either of them, "0", "MPI_SUM", "400" */
};

/* Of a job at its end: ranks that made the same call, and where. */
struct mpiq_finding_side {
    struct mpiq_ranks ranks;
    const char *collective;
    uint64_t times;   /* how often, where no running number is known */
    uint32_t site;    /* in sites: where the first of them called it; MPIQ_NONE */
    uint32_t or_site; /* another place that comes into question for that rank; MPIQ_NONE */
    const char *name; /* what they gave, if the finding is about an argument: as of a value */
    int64_t number;
};

/* JSON's steps[]: rank waits for waits_for. */
struct mpiq_step {
    uint32_t process; /* who waits */
    struct mpiq_rank_set waits_for;
    const char *call;                  /* "MPI_Recv"; of a rank that waits for a file's lock "fcntl"; NULL */
    const struct mpiq_waits_for *wait; /* what for; NULL: not known */
    uint32_t site;                     /* in the job's sites; MPIQ_NONE */
    double since;                      /* seconds; -1 not known */
    const char *why;                   /* lib/words: "MPI_Recv for tag 7 from rank 2" */
};

/* A message (or a receive) that would have done but for one thing. */
#define MPIQ_MISS_TAG 1u
#define MPIQ_MISS_SOURCE 2u
#define MPIQ_MISS_COMMUNICATOR 4u
#define MPIQ_MISS_DESTINATION 8u /* it went to another rank */

/* No more near misses of one finding than these: there may be more. */
enum { MPIQ_MOST_NEAR_MISSES = 8 };

struct mpiq_near_miss {
    uint32_t differs;   /* one of MPIQ_MISS_; the word is mpiq_miss_word's */
    uint32_t process;   /* whose operation it is: for an unexpected message its sender */
    uint32_t holder;    /* the process in whose queues it lies */
    uint32_t operation; /* in the job's operations: peer, tag, comm, bytes */
};

struct mpiq_finding {
    enum mpiq_finding_kind kind;
    bool proven;                   /* the ranks can never go on; otherwise it is what was seen */
    uint8_t weight;                /* the order of findings: private to lib/job */
    uint32_t root;                 /* where those it is about are led to in the end: private to lib/job */
    uint32_t own_root;             /* where the first of them is led to by itself: private to lib/job */
    uint64_t circles;              /* of that kind, of a WAIT_CYCLE */
    uint64_t alike_misses;         /* ranks with a near miss like the first one */
    struct mpiq_relation relation; /* of those who wait and their peers */
    uint8_t through;               /* collectives on a circle: 0, 1, 2 for more */
    bool astray;                   /* their message lies where it is not wanted: private to lib/job */
    bool swapped;                  /* two tags, each in the other one's place */
    bool parted;                   /* the missing took another path: private to lib/job */
    bool outside;                  /* those in the call wait for others' bug: private to lib/job */
    bool piled;                    /* one in the call may have forgotten a message: private to lib/job */
    bool requests;                 /* they wait for a request of the call */
    bool may_have_left;            /* those not in may have been in it, or are about to come */
    bool roots_may_differ;         /* and the call has a root */
    bool elsewhere;                /* those not in are in other calls, uncounted, or may be no members */
    uint32_t communicators;        /* further ones with the same bug */
    uint32_t comm;                 /* in communicators; MPIQ_NONE: not of one */
    const char *collective;        /* "MPI_Bcast"; NULL */
    int64_t number;                /* running number of the call; 0: not known, or none */
    struct mpiq_rank_set ranks;    /* those it is about: who is in, who waits, who is gone */
    struct mpiq_rank_set missing;  /* who is not in */
    struct mpiq_rank_set others;   /* of messages and windows: the ranks on the other side; who left */
    struct mpiq_rank_set suspects; /* whose code to look at first; empty: the evidence does not say */
    double since;                  /* seconds that the longest of them has waited; -1 not known */
    struct mpiq_finding_site *sites;
    size_t site_count;
    struct mpiq_finding_call *calls;
    size_t call_count;
    const char *field; /* "root", "op", "bytes", "count"; NULL */
    struct mpiq_finding_value *values;
    size_t value_count;
    struct mpiq_step *steps;
    size_t step_count;
    struct mpiq_near_miss *near_misses;
    size_t near_miss_count;
    uint32_t operation; /* in operations; MPIQ_NONE */
    uint32_t other;     /* in operations; MPIQ_NONE */
    uint32_t made;  /* in sites: where the request was created that the missing did not start; MPIQ_NONE */
    bool restarted; /* and they have started it before */
    uint32_t never_started;  /* in operations: the inactive persistent request that would answer; MPIQ_NONE */
    uint32_t window;         /* in windows; MPIQ_NONE */
    uint32_t consequence_of; /* index of the finding it follows from; MPIQ_NONE: it is a cause */
    struct mpiq_evidence *evidence; /* one for each class of ranks, the waiting ones first */
    size_t evidence_count;
    struct mpiq_rank_set unlisted;    /* ranks of further classes */
    const struct mpiq_ending *ending; /* of a RANK_GONE whose end is known; NULL */
    struct mpiq_rank_set beyond;      /* of a consequence: its ranks that the cause does not name */
    uint32_t failed; /* in past_calls: the call that they wait for, which returned an error; MPIQ_NONE */
    uint32_t received_before; /* in past_calls: the receive that took the message before; MPIQ_NONE */
    const struct mpiq_waits_for *peer_polls; /* POLLING_UNMATCHED: what the one peer of all polls for itself
                                                (no parts: not known); NULL: it does not */
    bool peer_finalizes; /* of messages: the peer of all is in MPI_Finalize; of a WINDOW_WAIT: the missing
                            are there, and have not freed the window */
    uint32_t wait;       /* WINDOW_WAIT: in waits, the first one's; MPIQ_NONE */
    uint8_t lock_type;   /* WINDOW_WAIT for a lock: enum mpiq_lock_type, what the missing hold */
    int64_t bytes;       /* TRUNCATION: of the message */
    mpiq_string_id file; /* FILE_LOCK: which; 0 a mutex, or not known */
    uint32_t thread;     /* RANK_ELSEWHERE: a thread beside the one in MPI, in threads; MPIQ_NONE */
    uint64_t waiters;    /* ranks that wait for these, of RANK_GONE, RANK_STOPPED, RANK_ELSEWHERE */
    uint64_t count; /* requests of a REQUEST_LEAK, the most messages of an UNEXPECTED_BACKLOG, objects of a
                       NOT_FREED, messages with the tag of a MESSAGE_LOST that were sent */
    uint64_t lost;  /* of those the last ones, which were not received */
    uint32_t from;  /* MESSAGE_LOST, TYPE_MISMATCH of a message: process */
    uint32_t to;
    uint32_t fact;          /* in facts: what a job at its end has counted that shows it; MPIQ_NONE */
    uint32_t received_fact; /* TYPE_MISMATCH of a message: what was received instead; MPIQ_NONE */
    const struct mpiq_finding_side *sides; /* of calls at the end that disagree; in the arena */
    size_t side_count;
    const char *text; /* lib/words: a plain sentence (a few clauses), without a full stop at the end */
};

/* What one process does, as a report shows it.  Its queues are in the job state. */
struct mpiq_rank_diagnosis {
    enum mpiq_rank_activity activity;
    bool stuck;               /* proven never to go on */
    bool cause;               /* part of the explanation: named in a finding as waiting or missing */
    uint32_t thread;          /* the thread that says it, in threads; MPIQ_NONE */
    const char *call;         /* "MPI_Bcast"; NULL: not in MPI, or not known */
    const char *before;       /* "MPI_Send": the call before which mpiq run --step holds it; NULL */
    const char *library_call; /* "cudaStreamSynchronize", "PMIx_Fence"; NULL: in none, or not known */
    double since;             /* seconds in this wait; -1 not known */
    uint32_t site;            /* in sites; MPIQ_NONE */
    uint32_t comm;            /* of the call; MPIQ_NONE */
    int64_t number;           /* of the collective call; 0 */
    uint8_t blocking;         /* enum mpiq_blocking of call */
    bool collective;          /* it is a call of all members, MPI_Init and MPI_Finalize among them */
    bool naps;                /* asleep, but not all the time between the looks */
    bool asleep_on_file;   /* in a system call about its thread's file or partner: a read, a lock, a wait */
    bool asleep_for_child; /* of those, until a child process ends */
    bool asleep_to_write;  /* of those, to write */
    bool asleep_for_mutex; /* of those, on a futex, which a mutex's word may be */
    bool asleep_for_lock;  /* in one that waits for a lock on that file */
    const char *signal;    /* that ended it; NULL: none, or not known */
    bool beside_runs;      /* one of its threads outside MPI that may yet bring it on runs */
    uint64_t beside_ns;    /* processor time that those threads have used so far */
    const struct mpiq_waits_for *waits_for; /* NULL: for nothing, or not known */
    struct mpiq_last_call last;             /* of a rank outside MPI */
};

/* Something the answer rests on, or that could not be read. */
enum mpiq_note_kind {
    MPIQ_NOTE_UNREAD,      /* assumptions: not read */
    MPIQ_NOTE_ONE_LOOK,    /* looked at only once */
    MPIQ_NOTE_IDLE,        /* have threads that are taken to wait for others of the rank */
    MPIQ_NOTE_STRICT,      /* run with --strict */
    MPIQ_NOTE_CORES,       /* core files */
    MPIQ_NOTE_ANY_MESSAGE, /* of a trace that does not say what a receive was for */
    MPIQ_NOTE_NO_RECORD,   /* their library keeps no record of waits */
    MPIQ_NOTE_PROBLEM,     /* what could not be read: `problem` */
    MPIQ_NOTE_STRANGER,    /* `rank` is no rank of the job */
    MPIQ_NOTE_FACTS_LOST,  /* of a check: more calls than can be kept */
    MPIQ_NOTE_NOT_CHECKED  /* did not reach its end */
};

struct mpiq_note {
    enum mpiq_note_kind kind;
    struct mpiq_rank_set ranks; /* empty: about the whole job */
    uint32_t problem;           /* PROBLEM, in problems */
    uint32_t rank;              /* STRANGER, in ranks */
    const char *text;           /* lib/words: a sentence, ranks not repeated in it */
};

/* Why the verdict is what it is.  In parentheses what else is set. */
enum mpiq_reason {
    MPIQ_REASON_NOT_PROVEN,     /* no rank is proven to be stuck */
    MPIQ_REASON_PROGRESS,       /* the job makes progress */
    MPIQ_REASON_STUCK,          /* ranks can never continue */
    MPIQ_REASON_FINDING,        /* what a finding says (said_by) */
    MPIQ_REASON_ENDED,          /* the job ended as a finding says (said_by) */
    MPIQ_REASON_ENDED_WELL,     /* by an error, but none of its ranks did */
    MPIQ_REASON_CHECKED,        /* it ended, and was checked */
    MPIQ_REASON_TRACED,         /* the same of a trace */
    MPIQ_REASON_LEFT,           /* no rank is in MPI any more */
    MPIQ_REASON_NOTHING_READ,   /* no rank */
    MPIQ_REASON_NOTHING_KNOWN,  /* what the ranks do could not be read */
    MPIQ_REASON_UNREAD,         /* some could not be read (ranks, detail: why; NULL) */
    MPIQ_REASON_HOST_UNREAD,    /* a host could not */
    MPIQ_REASON_BLIND,          /* their messages could not */
    MPIQ_REASON_STACKS,         /* nothing but stacks was read (detail: the library; NULL) */
    MPIQ_REASON_ARGUMENTS,      /* nothing but stacks and arguments (detail) */
    MPIQ_REASON_ONE_LOOK,       /* they wait, and were looked at once */
    MPIQ_REASON_RELEASE_UNREAD, /* what could release some was not read (ranks) */
    MPIQ_REASON_RANKS_UNREAD,   /* some may be released by ranks that were not read */
    MPIQ_REASON_WAITS_UNREAD,   /* not all that ranks wait for was read */
    MPIQ_REASON_DEBUGGER,       /* a debugger holds some (ranks; some_ended) */
    MPIQ_REASON_ALL_DEBUGGER,   /* or all (some_ended) */
    MPIQ_REASON_STEPPED,        /* mpiq run --step holds some (ranks; some_ended) */
    MPIQ_REASON_ALL_STEPPED,    /* or all (some_ended) */
    MPIQ_REASON_STOPPED,        /* all are stopped (some_ended) */
    MPIQ_REASON_ASLEEP,         /* all are asleep (some_ended) */
    MPIQ_REASON_ASLEEP_STOPPED, /* all are asleep or stopped (some_ended) */
    MPIQ_REASON_WAIT_STOPPED,   /* all that wait, wait for ranks that are stopped */
    MPIQ_REASON_STILL,          /* nothing has moved for long (still) */
    MPIQ_REASON_NONE_MOVED,     /* no rank moved between the looks */
    MPIQ_REASON_ALL_WAIT,       /* and all wait in MPI */
    MPIQ_REASON_POLLS,          /* and some poll (ranks) for what is not known */
    MPIQ_REASON_REPEATS,        /* and some (ranks) make the same one-sided calls again and again */
    MPIQ_REASON_POLLS_IN_VAIN   /* and some poll (ranks) for what nobody will bring, unless they give up */
};

struct mpiq_because {
    enum mpiq_reason reason;
    struct mpiq_rank_set ranks;
    const char *detail; /* as long as the job */
    double still;       /* seconds */
    uint8_t frozen;   /* enum mpiq_tristate: of STOPPED, ASLEEP_STOPPED, WAIT_STOPPED, all who are stopped are
                         frozen; UNKNOWN: some are */
    bool some_ended;  /* ranks that have ended are not meant */
    uint32_t said_by; /* in findings; MPIQ_NONE */
};

/* Ranks that wait where their release of the MPI library is known to hang (names/known_hangs.h). */
struct mpiq_hang_match {
    struct mpiq_rank_set ranks;
    const char *library;   /* "Open MPI 4.0.1" */
    const char *call;      /* "MPI_Finalize" */
    const char *where;     /* " over UCX"; "" */
    const char *fixed_in;  /* "4.0.0" */
    const char *reference; /* where that is written */
    const char *text;      /* lib/words: a clause, ranks not repeated in it */
};

struct mpiq_diagnosis {
    bool ended;     /* the job has, by an error: ranks are as they were then */
    bool by_stacks; /* unknown because nothing but stacks, and what calls were given, was read */
    enum mpiq_verdict verdict;
    struct mpiq_because because;
    const char *text;              /* lib/words: the verdict in one sentence: "64 ranks can never go on" */
    struct mpiq_finding *findings; /* most important first */
    size_t finding_count;
    struct mpiq_rank_diagnosis *ranks; /* one for each process of the job */
    uint32_t rank_count;
    struct mpiq_rank_set stuck;    /* proven never to go on */
    struct mpiq_note *assumptions; /* "not read: they are assumed able to act at any moment" */
    size_t assumption_count;
    struct mpiq_note *notes; /* what could not be read, alike ones on one line */
    size_t note_count;
    struct mpiq_hang_match *known_hangs;
    size_t known_hang_count;
    uint32_t *partner;        /* for each operation of the job the one it matches on the other side (a
                                 pending send its unexpected message or its receive); MPIQ_NONE */
    struct mpiq_arena *arena; /* owner of strings and arrays */
};

/* The answer to `mpiq why RANK`: from one rank to the cause. */
struct mpiq_chain {
    struct mpiq_step *steps; /* the first one's process is the rank asked for */
    size_t step_count;
    bool cycle;        /* the last step waits for a process that an earlier step has */
    size_t cycle_step; /* that step, if cycle */
    uint32_t finding;  /* the finding at its end; MPIQ_NONE: none */
    uint32_t end;      /* the process that it ends at */
    const char *text;  /* lib/words: how it ends, "rank 5 is asleep in read() at io.c:12" */
    struct mpiq_arena *arena;
};

/* NULL is fine for these. */
void mpiq_diagnosis_destroy(struct mpiq_diagnosis *diagnosis);
void mpiq_chain_destroy(struct mpiq_chain *chain);

/* Takes one more rank's last call into what is said of several; nothing where that one's is not known. */
void mpiq_last_call_add(struct mpiq_last_call *all, const struct mpiq_last_call *one);

/* Words; static. */
const char *mpiq_verdict_word(enum mpiq_verdict verdict);
int mpiq_verdict_exit(enum mpiq_verdict verdict);
const char *mpiq_finding_word(enum mpiq_finding_kind kind);
const char *mpiq_wait_part_word(enum mpiq_wait_part_kind kind);
const char *mpiq_rank_activity_word(enum mpiq_rank_activity activity);
char mpiq_rank_activity_letter(enum mpiq_rank_activity activity);
const char *mpiq_miss_word(uint32_t differs); /* "tag", "source", "communicator", "destination" */

/* Building, for lib/job.  An empty diagnosis; each of the others adds a zeroed element with its indexes
   "none", valid until the next one of its kind.  All NULL without memory. */
struct mpiq_diagnosis *mpiq_diagnosis_create(uint32_t process_count, uint32_t operation_count);
struct mpiq_finding *mpiq_diagnosis_add_finding(struct mpiq_diagnosis *diagnosis,
                                                enum mpiq_finding_kind kind);
/* Takes the last finding back. */
void mpiq_diagnosis_drop_finding(struct mpiq_diagnosis *diagnosis);
struct mpiq_finding_site *mpiq_finding_add_site(struct mpiq_finding *finding);
struct mpiq_finding_call *mpiq_finding_add_call(struct mpiq_finding *finding);
struct mpiq_finding_value *mpiq_finding_add_value(struct mpiq_finding *finding);
struct mpiq_step *mpiq_finding_add_step(struct mpiq_finding *finding);
struct mpiq_near_miss *mpiq_finding_add_near_miss(struct mpiq_finding *finding);
struct mpiq_evidence *mpiq_finding_add_evidence(struct mpiq_finding *finding);
struct mpiq_note *mpiq_diagnosis_add_assumption(struct mpiq_diagnosis *diagnosis, enum mpiq_note_kind kind);
struct mpiq_note *mpiq_diagnosis_add_note(struct mpiq_diagnosis *diagnosis, enum mpiq_note_kind kind);
struct mpiq_hang_match *mpiq_diagnosis_add_known_hang(struct mpiq_diagnosis *diagnosis);
struct mpiq_chain *mpiq_chain_create(void);
struct mpiq_step *mpiq_chain_add_step(struct mpiq_chain *chain);

#endif
