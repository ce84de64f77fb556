/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulator - ranks that run small random programs and exchange messages the way ob1 does: eager or after a
 * rendezvous, drained only by a rank inside MPI, with sequence numbers, unexpected messages and wildcards.
 * Some have a second thread, which calls MPI too, and windows.  These are of two sorts: in memory that all
 * reach, where a lock, a post and a completion are there at once; or by messages, where MPI_Win_lock and
 * MPI_Win_start return before the other side has answered.
 *
 * A look reads a rank piece by piece while all ranks, that one too, go on between the pieces: nothing it says
 * is of one moment.
 */
#ifndef TEST_SIMULATOR_H
#define TEST_SIMULATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "state/rank_state.h"

enum { SIM_RANKS = 5, SIM_THREADS = 2, SIM_COMMS = 2, SIM_PROGRAM = 96, SIM_REQUESTS = 48, SIM_QUEUE = 96 };

enum sim_kind {
    SIM_SEND,
    SIM_RECEIVE,
    SIM_WAIT,
    SIM_PROBE,
    SIM_TEST,
    SIM_ENTER,
    SIM_LEAVE,
    SIM_SHARED,
    SIM_COMPUTE,
    SIM_NOTE,     /* the record of a window is changed */
    SIM_LOCK,     /* ends once the lock is granted, or asked for */
    SIM_UNLOCK,   /* ends once it is given back */
    SIM_POST,     /* tells them */
    SIM_START,    /* ends once they have posted, or at once */
    SIM_COMPLETE, /* ends once they know */
    SIM_EXPOSED,  /* MPI_Win_wait: ends once they have completed */
    SIM_JOIN,     /* of the first thread: outside MPI, until the second one has ended */
    SIM_END
};

/* What SIM_NOTE says of the window. */
enum sim_note {
    SIM_NOTE_WANTED,
    SIM_NOTE_HELD,
    SIM_NOTE_FREE,
    SIM_NOTE_STARTING,
    SIM_NOTE_STARTED,
    SIM_NOTE_COMPLETED,
    SIM_NOTE_POSTED,
    SIM_NOTE_WAITED
};

struct sim_step {
    enum sim_kind kind;
    int comm, peer, tag; /* peer ANY, tag ANY: -1; internal tags are below */
    bool large;
    bool internal;
    bool all;      /* SIM_WAIT: of all its requests; otherwise of one */
    int group;     /* which requests belong together */
    int count;     /* SIM_COMPUTE */
    unsigned mask; /* of an epoch: its group, one bit each */
    uint8_t type;  /* of a lock: enum mpiq_lock_type */
    enum sim_note note;
    const char *call;
};

struct sim_request {
    bool used;
    bool send, internal, eager;
    enum mpiq_operation_status status;
    int comm, peer, tag, group;
    int thread;
    uint64_t id;
    uint64_t sequence;
};

struct sim_message {
    int from, comm, tag;
    bool eager;
    uint64_t request; /* the sender's, of a rendezvous */
};

struct sim_channel {
    struct sim_message queue[SIM_QUEUE]; /* what has gone out and is not drained */
    int count;
    uint64_t outbox[SIM_QUEUE]; /* the sender's requests that found no room, in order */
    int outbox_count;
    uint32_t sent;
    uint32_t expected;
};

struct sim_thread {
    struct sim_step program[SIM_PROGRAM];
    int length;
    int at;
    int left;     /* of computing */
    bool waiting; /* in the wait of the step at `at` */
    uint64_t episode;
    uint64_t ended;  /* waits that came to an end: how it advances */
    uint64_t cpu_ns; /* of going round in waits: much where there is nothing to do */
    uint64_t began;  /* the wait; by the job's clock */
    uint64_t stamp;  /* the library's time of that, which it takes once it has gone round; 0: not yet */
    bool asked;      /* SIM_LOCK, SIM_UNLOCK, SIM_COMPLETE: the other side has been told */
};

/* The window as it is at one rank: who may lock it, and who has posted to or completed at this rank. */
struct sim_window {
    uint8_t granted[SIM_RANKS]; /* at this rank, to each: enum mpiq_lock_type */
    uint8_t queue[SIM_RANKS];   /* who asks, in order; each with a type */
    uint8_t queue_type[SIM_RANKS];
    int queue_count;
    bool has[SIM_RANKS];          /* by messages: this rank knows that it has the lock there */
    bool freed[SIM_RANKS];        /* that it has not any more */
    int posts[SIM_RANKS];         /* from each, and not used up */
    int completions[SIM_RANKS];   /* likewise */
    int data[SIM_RANKS];          /* to each, and not taken in */
    uint8_t lock_type[SIM_RANKS]; /* the record */
    bool lock_held[SIM_RANKS];
    uint8_t access, exposure;
    unsigned access_group, exposure_group;
};

struct sim_rank {
    struct sim_thread thread[SIM_THREADS];
    int threads;
    struct sim_window window;
    struct sim_request requests[SIM_REQUESTS];
    struct sim_message unexpected[SIM_QUEUE];
    int unexpected_count;
    uint64_t finished[SIM_QUEUE]; /* rendezvous that the receivers have served */
    int finished_count;
    uint64_t posted;                /* receives so far */
    int64_t entered;                /* collective calls so far */
    bool inside;                    /* a collective call */
    uint64_t returned;              /* from collective calls */
    uint64_t entered_at;            /* when, by the job's clock */
    const char *calls[SIM_PROGRAM]; /* which, by their number */
};

/* From one rank to another, of the window; taken in in order by one who is in MPI. */
struct sim_word {
    enum {
        SIM_WORD_ASK,
        SIM_WORD_GRANT,
        SIM_WORD_FREE,
        SIM_WORD_FREED,
        SIM_WORD_POST,
        SIM_WORD_COMPLETE,
        SIM_WORD_DATA
    } kind;
    uint8_t type;
};

struct sim_words {
    struct sim_word queue[SIM_QUEUE];
    int count;
};

struct simulator {
    int ranks;
    bool patched;
    bool unread; /* the library keeps its messages where nobody can read them */
    bool windows;
    bool by_messages; /* the windows */
    uint64_t clock;   /* steps so far */
    uint64_t told;    /* words said of windows so far */
    uint64_t seed;
    uint64_t seed_of_job; /* the first one */
    struct sim_rank rank[SIM_RANKS];
    struct sim_channel channel[SIM_RANKS][SIM_RANKS][SIM_COMMS]; /* from, to */
    struct sim_words words[SIM_RANKS][SIM_RANKS];
};

/* Random programs: well-formed ones in which sends and receives belong together, with a few things gone
 * wrong. */
void sim_make(struct simulator *sim, uint64_t seed, bool patched);
/* One step of a random thread. */
void sim_step(struct simulator *sim);
/* One step of each thread of that rank; false: they could do nothing. */
bool sim_step_rank(struct simulator *sim, int rank);
/* Steps until nobody can do anything any more. */
void sim_settle(struct simulator *sim);
/* What a look sees of a rank; pause: how many steps of anybody pass, at most, between its pieces. */
struct mpiq_rank_state *sim_look(struct simulator *sim, int rank, int look, int pause);
/* Whether its program has come to MPI_Finalize, or the second thread's to its end. */
bool sim_ended(const struct simulator *sim, int rank);
bool sim_thread_ended(const struct simulator *sim, int rank, int thread);
/* Whether a step is a call on a window. */
bool sim_is_window(const struct sim_step *step);
void sim_print(const struct simulator *sim);

#endif
