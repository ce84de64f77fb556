/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulator - ranks that run small random programs and exchange messages the way ob1 does: eager or after a
 * rendezvous, drained only by a rank inside MPI, with sequence numbers, unexpected messages and wildcards.
 *
 * A look reads a rank piece by piece while all ranks, that one too, go on between the pieces: nothing it says
 * is of one moment.
 */
#ifndef TEST_SIMULATOR_H
#define TEST_SIMULATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "state/rank_state.h"

enum { SIM_RANKS = 5, SIM_COMMS = 2, SIM_PROGRAM = 64, SIM_REQUESTS = 48, SIM_QUEUE = 96 };

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
    SIM_END
};

struct sim_step {
    enum sim_kind kind;
    int comm, peer, tag; /* peer ANY, tag ANY: -1; internal tags are below */
    bool large;
    bool internal;
    bool all;  /* SIM_WAIT: of all its requests; otherwise of one */
    int group; /* which requests belong together */
    int count; /* SIM_COMPUTE */
    const char *call;
};

struct sim_request {
    bool used;
    bool send, internal, eager;
    enum mpiq_operation_status status;
    int comm, peer, tag, group;
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

struct sim_rank {
    struct sim_step program[SIM_PROGRAM];
    int length;
    int at;
    int left;     /* of computing */
    bool waiting; /* in the wait of the step at `at` */
    uint64_t episode;
    uint64_t ended; /* waits that came to an end: how it advances */
    struct sim_request requests[SIM_REQUESTS];
    struct sim_message unexpected[SIM_QUEUE];
    int unexpected_count;
    uint64_t finished[SIM_QUEUE]; /* rendezvous that the receivers have served */
    int finished_count;
    uint64_t posted;                /* receives so far */
    int64_t entered;                /* collective calls so far */
    bool inside;                    /* a collective call */
    const char *calls[SIM_PROGRAM]; /* which, by their number */
    uint64_t cpu_ns;                /* of going round in waits: much where there is nothing to do */
};

struct simulator {
    int ranks;
    bool patched;
    uint64_t seed;
    uint64_t seed_of_job; /* the first one */
    struct sim_rank rank[SIM_RANKS];
    struct sim_channel channel[SIM_RANKS][SIM_RANKS][SIM_COMMS]; /* from, to */
};

/* Random programs: well-formed ones in which sends and receives belong together, with a few things gone
 * wrong. */
void sim_make(struct simulator *sim, uint64_t seed, bool patched);
/* One step of a random rank. */
void sim_step(struct simulator *sim);
/* One step of that rank; false: it could do nothing. */
bool sim_step_rank(struct simulator *sim, int rank);
/* Steps until nobody can do anything any more. */
void sim_settle(struct simulator *sim);
/* What a look sees of a rank; pause: how many steps of anybody pass, at most, between its pieces. */
struct mpiq_rank_state *sim_look(struct simulator *sim, int rank, int look, int pause);
bool sim_ended(const struct simulator *sim, int rank);
void sim_print(const struct simulator *sim);

#endif
