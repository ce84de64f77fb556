/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay - goes through the events of a trace once and keeps what is open: calls, messages, collectives.
 *
 * Messages are matched first in, first out by (communicator, sender, receiver, tag).  A receive counts in the
 * order in which it was posted, but what it has received is known only when it completes: completed ones wait
 * until those posted before them have completed or were cancelled.  Non-blocking collectives likewise.
 *
 * Who wants more than the state at the end (late.h) is told of each event by callbacks.
 */
#ifndef MPIQ_TRACE_REPLAY_H
#define MPIQ_TRACE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/path.h"
#include "trace/stream.h"

/* One MPI call: from the enter of the outermost MPI region to its leave. */
struct mpiq_trace_mpi_call {
    uint64_t enter;
    uint64_t leave;   /* valid once left */
    uint64_t journal; /* of late: where it stands there */
    uint32_t location;
    uint32_t rank;
    uint32_t path;
    uint32_t refs;
    uint32_t
        open;     /* what must be known before its waiting is: its leave, the partners of what it completes */
    uint8_t call; /* enum mpiq_trace_call */
    int16_t collective;
    bool left;
    bool received; /* a receive completed in it */
    bool sent;
    bool completed;   /* any request did */
    bool called_back; /* the program's own code ran inside of it */
    struct mpiq_trace_candidate {
        uint64_t until;      /* when what it waited for was there: the enter of the late call; 0: nothing */
        uint64_t since;      /* when it and the late one last synchronised, as it saw it */
        uint64_t late_since; /* the same, as the late one saw it */
        uint64_t instance;   /* of the message or collective, by a number of its own */
        uint32_t location;   /* of the late one */
        uint8_t kind;        /* enum mpiq_late_kind */
        bool wrong_order;
    } candidate;
};

struct mpiq_trace_send {
    struct mpiq_trace_send *next;      /* in the channel */
    struct mpiq_trace_send *next_open; /* of the rank's, that have not completed */
    struct mpiq_trace_mpi_call *posted;
    struct mpiq_trace_mpi_call *completed; /* NULL: not yet */
    uint64_t time;
    uint64_t request; /* 0: blocking */
    uint64_t bytes;
    uint64_t receiver_enter; /* of the call that posted the receive, once matched */
    uint64_t since;          /* of late: when the two ranks last synchronised before */
    uint32_t receiver_location;
    uint32_t receiver;
    uint32_t channel_comm, tag;
    uint8_t call; /* enum mpiq_trace_call */
    bool blocking;
    bool matched;
    bool cancelled;
    bool listed; /* among the open ones */
};

enum mpiq_trace_status { MPIQ_TRACE_PENDING, MPIQ_TRACE_DONE, MPIQ_TRACE_CANCELLED };

struct mpiq_trace_receive {
    struct mpiq_trace_receive *next;      /* in posting order, then in the channel */
    struct mpiq_trace_receive *next_open; /* of those that have not completed */
    struct mpiq_trace_receive *previous_open;
    struct mpiq_trace_mpi_call *posted;
    struct mpiq_trace_mpi_call *completed;
    uint64_t time; /* of completion */
    uint64_t request;
    uint64_t bytes;
    uint32_t comm, sender, tag; /* sender: world rank; valid once done */
    uint32_t extra;             /* what our attributes say of one that is pending; 0 none */
    uint8_t status;
    bool waited; /* the call that the rank is in at the end waits for it: MpiRequestTest says so */
};

/* What was sent and not received, or the other way round, on one envelope. */
struct mpiq_trace_channel {
    struct mpiq_trace_channel *next; /* in the table */
    struct mpiq_trace_send *sends, *last_send;
    struct mpiq_trace_receive *receives, *last_receive;
    uint64_t sent, received;
    uint32_t comm, from, to, tag;
    uint32_t dropped; /* sends cancelled after they were matched: the next ones take their place */
};

struct mpiq_trace_collective {
    struct mpiq_trace_collective *next; /* in the order of starting */
    struct mpiq_trace_mpi_call *posted;
    struct mpiq_trace_mpi_call *completed;
    uint64_t request; /* 0: blocking */
    uint64_t time;    /* of completion */
    uint64_t bytes;
    uint32_t comm, root;
    uint32_t window; /* of a fence and the like; MPIQ_TRACE_NONE */
    uint32_t extra;
    int16_t collective; /* class; -1 not known */
    uint8_t operation;  /* OTF2_CollectiveOp */
    uint8_t status;
    bool waited;
};

/* One member's part in a collective. */
struct mpiq_trace_part {
    struct mpiq_trace_mpi_call *posted, *completed;
    uint32_t rank;
    uint32_t local;
    uint32_t root; /* as that member names it */
    int16_t collective;
    bool remote; /* in the other group of an intercommunicator */
};

/* One collective of a communicator: the parts that have ended so far. */
struct mpiq_trace_instance {
    struct mpiq_trace_instance *next;
    uint64_t number; /* on its communicator, or window */
    uint32_t list;   /* in the replay's instances */
    struct mpiq_trace_part *parts;
    uint32_t count, room;
    uint32_t comm;
    int16_t collective;
    uint32_t root;
    bool mixed; /* not all called the same */
};

/* The last calls of a member on a communicator. */
enum { MPIQ_TRACE_RING = 4 };
struct mpiq_trace_ring_call {
    uint64_t number, enter;
    uint32_t path, root;
    int16_t collective;
};

struct mpiq_trace_class_count {
    uint32_t count;
    int16_t collective;
};

/* What a rank has to do with a communicator. */
struct mpiq_trace_member {
    uint64_t number; /* ordered collectives ended so far */
    uint32_t comm;
    uint32_t local;
    bool remote;
    bool created, destroyed;
    struct mpiq_trace_ring_call ring[MPIQ_TRACE_RING];
    struct mpiq_trace_class_count *counts;
    uint32_t count_count, count_room;
};

struct mpiq_trace_rank {
    struct mpiq_trace_send *open_sends;
    struct mpiq_trace_receive *receives, *last_receive; /* from the first that is pending on, posting order */
    struct mpiq_trace_receive *open_receives, *last_open_receive;
    struct mpiq_trace_collective *collectives, *last_collective;
    struct mpiq_trace_member *members;
    uint32_t member_count, member_room;
    uint64_t last_mpi_leave;
    uint32_t last_mpi_path;
    const char *program;
    bool initialized, finalizing, finalized, ended;
    bool threads;       /* MPI_Init_thread */
    uint64_t *fences;   /* by window, ended so far; NULL: none yet */
    uint64_t neighbors; /* neighbourhood collectives ended so far */
    uint64_t frees;     /* MPI_Request_free of which no record says what it ended */
    bool unrecorded;    /* it received messages of which there is no record */
};

/* A thread's stack. */
struct mpiq_trace_frame {
    uint32_t path;
    uint32_t region;
};

struct mpiq_trace_thread {
    struct mpiq_trace_frame *frames;
    uint32_t depth, room;
    uint32_t mpi_depth; /* depth of the MPI call's frame, plus one; 0: in none */
    uint64_t last;      /* time of its last event */
    struct mpiq_trace_mpi_call *call;
    struct mpiq_trace_mpi_call *cut;          /* left by exit(), not by MPI */
    struct mpiq_trace_collective *collective; /* the blocking one that it is in */
    bool events;
};

struct mpiq_trace_replay;

/* Called where not NULL. */
struct mpiq_trace_listener {
    /* A stretch of time that a thread spent in the frame on top, from its last event to this one. */
    void (*time)(void *data, uint32_t location, uint32_t path, uint64_t from, uint64_t to);
    void (*left)(void *data, struct mpiq_trace_mpi_call *call);
    void (*matched)(void *data, struct mpiq_trace_send *send, struct mpiq_trace_receive *receive);
    /* A matched send has completed. */
    void (*completed)(void *data, struct mpiq_trace_send *send);
    void (*collective)(void *data, struct mpiq_trace_instance *instance);
    /* All is known of it that its waiting depends on. */
    void (*final)(void *data, struct mpiq_trace_mpi_call *call);
};

struct mpiq_trace_replay {
    struct mpiq_trace_stream *stream;
    const struct mpiq_trace_definitions *definitions;
    const struct mpiq_trace_listener *listener; /* NULL: none */
    void *data;
    struct mpiq_trace_paths paths;
    struct mpiq_trace_rank *ranks;
    struct mpiq_trace_thread *threads; /* by location */
    struct mpiq_trace_channel **channels;
    uint32_t channel_count, channel_room; /* a power of two */
    struct mpiq_trace_instance *
        *instances; /* by communicator, by window, and of neighbours: those that not all have ended */
    struct mpiq_trace_instance **bad; /* by communicator: of which not all called the same; the first ones */
    bool graphs;                      /* a communicator was made whose neighbours are not known */
    uint64_t start, now;              /* ticks */
    uint64_t events;
    uint64_t messages;        /* matched */
    uint64_t unordered_times; /* of them, received before they were sent */
    uint64_t undefined;       /* events that name what is not defined */
    uint64_t unnested;        /* leaves that do not fit */
    bool failed;              /* no memory */
    bool at_end;              /* all events were read */
};

/* Prepares; stream stays the caller's and outlives it. */
struct mpiq_error *mpiq_trace_replay_init(struct mpiq_trace_replay *replay, struct mpiq_trace_stream *stream,
                                          const struct mpiq_trace_listener *listener, void *data);
/* Goes on until after `until` ticks since the start (UINT64_MAX: to the end).  Error: no memory. */
struct mpiq_error *mpiq_trace_replay_run(struct mpiq_trace_replay *replay, uint64_t until);
void mpiq_trace_replay_deinit(struct mpiq_trace_replay *replay);

/* ---- between the files of this folder ---------------------------------------------------------------------
 */

struct mpiq_trace_mpi_call *mpiq_trace_call_ref(struct mpiq_trace_mpi_call *call);
/* NULL is fine. */
void mpiq_trace_call_unref(struct mpiq_trace_mpi_call *call);
/* One thing less is open. */
void mpiq_trace_call_close(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call);
struct mpiq_trace_member *mpiq_trace_member_of(struct mpiq_trace_replay *replay, uint32_t rank,
                                               uint32_t comm);

/* messages.c */
void mpiq_trace_on_send(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                        const struct mpiq_trace_event *event);
void mpiq_trace_on_send_complete(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                                 const struct mpiq_trace_event *event);
void mpiq_trace_on_receive_request(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                                   const struct mpiq_trace_event *event);
void mpiq_trace_on_receive(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                           const struct mpiq_trace_event *event);
void mpiq_trace_on_cancelled(struct mpiq_trace_replay *replay, const struct mpiq_trace_event *event,
                             uint32_t rank);
/* Receives that are never going to complete hold nothing back any more. */
void mpiq_trace_release_receives(struct mpiq_trace_replay *replay);
/* The newest send of an envelope that was not received; NULL: none. */
const struct mpiq_trace_send *mpiq_trace_last_send(const struct mpiq_trace_replay *replay, uint32_t comm,
                                                   uint32_t from, uint32_t to, uint32_t tag);
/* Sends that nobody received, and collectives that not all ended: their calls wait for them no longer. */
void mpiq_trace_give_up(struct mpiq_trace_replay *replay);
void mpiq_trace_messages_deinit(struct mpiq_trace_replay *replay);
bool mpiq_trace_messages_init(struct mpiq_trace_replay *replay);

/* collectives.c */
/* Lists of instances: of each communicator, of each window, and of the neighbours. */
uint32_t mpiq_trace_list_count(const struct mpiq_trace_definitions *definitions);
void mpiq_trace_on_collective_begin(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                                    const struct mpiq_trace_event *event);
void mpiq_trace_on_collective_end(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                                  const struct mpiq_trace_event *event);
/* A blocking neighbourhood collective has ended, of which there is no record but its call. */
void mpiq_trace_on_neighbors_end(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call);
void mpiq_trace_on_collective_cancelled(struct mpiq_trace_replay *replay, uint32_t rank, uint64_t request);
void mpiq_trace_release_collectives(struct mpiq_trace_replay *replay);
void mpiq_trace_collectives_deinit(struct mpiq_trace_replay *replay);

#endif
