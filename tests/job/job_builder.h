/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_builder - job states written as a few lines: ranks of one MPI_COMM_WORLD, what each is doing, and what
 * lies in its queues.
 *
 * All ranks begin as if computing in step() at solver.c:20, patched library, two looks.  What a line says
 * holds for both looks unless `look` is set: then for that look alone.
 */
#ifndef TEST_JOB_BUILDER_H
#define TEST_JOB_BUILDER_H

#include "job/diagnose.h"
#include "state/finding.h"
#include "state/job_state.h"

enum { ANY = -1, MOST_COMMS = 8, WORLD = 0, SELF = 1 };

struct job_builder {
    int ranks;
    int worlds;                         /* ranks of world w are w * (ranks / worlds) and up */
    struct mpiq_rank_state **states[2]; /* of each look */
    bool *unread;                       /* of each rank */
    bool alike;                         /* both looks are one state of each rank: a job of very many */
    int look;                           /* 0: both; 1, 2: the next lines are for that one alone */
    bool one_look;
    uint32_t episode;
    uint64_t request;
    double waited; /* seconds of waits begun now */
    struct mpiq_diagnose_options options;
};

void job_init(struct job_builder *job, int ranks);
/* How many ranks a job of very many has: 10^5, or MPIQ_JOB_TEST_RANKS. */
int job_many(void);
#define MANY job_many()
/* A job of any size: both looks see the same, and members of its world are known by their first rank's state
   alone. */
void job_init_many(struct job_builder *job, int ranks);
/* As job_init_many for MANY ranks, else as job_init. */
void job_init_sized(struct job_builder *job, int ranks);
void job_init_worlds(struct job_builder *job, int ranks, int worlds);
void job_deinit(struct job_builder *job);

/* A communicator of those ranks with that context; returns its index, the same on all of them.  Ranks that
   are no members have it too, as one of their own with another context. */
int job_comm(struct job_builder *job, const char *name, int context, const int *members, int count);
int job_intercomm(struct job_builder *job, const char *name, int context, const int *group, int count,
                  const int *remote, int remote_count);

/* Where a rank is: both for code outside MPI and for the caller of MPI. */
void job_at(struct job_builder *job, int rank, const char *function, const char *file, int line);
/* A rank outside MPI: 'R' computes, 'S' sleeps, 'T' is stopped, 'Z' has ended. */
/* Who called that function, and who called that one. */
void job_called_by(struct job_builder *job, int rank, const char *function, const char *file, int line);
void job_state(struct job_builder *job, int rank, char state);
void job_phase(struct job_builder *job, int rank, enum mpiq_phase phase);
/* In that MPI function, by its stack. */
void job_call(struct job_builder *job, int rank, const char *call);
void job_polls(struct job_builder *job, int rank);
/* The library keeps no record (an unpatched one): of all ranks, before anything else is said. */
void job_unpatched(struct job_builder *job);
/* All ranks ran under the recorder. */
void job_recorded(struct job_builder *job);

/* What a rank waits for.  Each begins a new wait, the same in both looks; operations follow. */
void job_wait(struct job_builder *job, int rank, const char *call, enum mpiq_wait_kind kind);
/* A second thread of the rank. */
void job_thread(struct job_builder *job, int rank, int level);
/* The rank's last thread sleeps in that system call, and in that function of the C library (NULL: not known).
 */
void job_sleeps(struct job_builder *job, int rank, enum mpiq_sleep sleep, const char *function);
/* Another operation of the rank's wait, in its queues too.  peer is a local rank. */
uint64_t job_wait_receive(struct job_builder *job, int rank, int comm, int peer, int tag);
uint64_t job_wait_send(struct job_builder *job, int rank, int comm, int peer, int tag, int bytes);
void job_wait_internal(struct job_builder *job, int rank, int comm, int peer, int tag);
/* Both at once. */
void job_recv(struct job_builder *job, int rank, int comm, int peer, int tag);
void job_send(struct job_builder *job, int rank, int comm, int peer, int tag, int bytes);
void job_probe(struct job_builder *job, int rank, int comm, int peer, int tag);
/* In a collective, its `number`th there, waiting for an internal message from that local rank (ANY: for none
   that is seen). */
void job_collective(struct job_builder *job, int rank, int comm, const char *call, int number, int from);
/* Arguments of the rank's newest call there. */
void job_arguments(struct job_builder *job, int rank, int comm, int root, const char *op, int bytes);
/* A call that returned. */
void job_called(struct job_builder *job, int rank, int comm, const char *call, int number);
/* The rank waits for a non-blocking or persistent collective of MPI_COMM_WORLD that it has started, its
 * `number`th. */
void job_wait_started(struct job_builder *job, int rank, const char *call, int number, int root);
/* The rank's neighbourhood collective of that number needs the data of local rank `source`. */
void job_source(struct job_builder *job, int rank, int comm, int number, int source);
void job_finalize(struct job_builder *job, int rank);
/* One more of the calls that the recorder saw of the rank's first thread; of MPI_COMM_WORLD. */
void job_past(struct job_builder *job, int rank, const char *call, const struct mpiq_past_call *arguments);

/* A window on a communicator, of all its members; returns its index. */
int job_window(struct job_builder *job, const char *name, int comm);
/* A lock that a rank holds at a target there, or asks for. */
void job_lock(struct job_builder *job, int rank, int window, int target, enum mpiq_lock_type type, bool held);
/* MPI_Win_post or MPI_Win_start to one local rank more. */
void job_post(struct job_builder *job, int rank, int window, int origin);
void job_start(struct job_builder *job, int rank, int window, int target);
/* The rank waits there; target: a local rank, or ANY. */
void job_wait_window(struct job_builder *job, int rank, const char *call, enum mpiq_wait_kind kind,
                     int window, int target, enum mpiq_lock_type type);

/* In the queues, with nobody waiting. */
struct mpiq_operation *job_operation(struct job_builder *job, int rank, int comm,
                                     enum mpiq_operation_kind kind, int peer, int tag, int bytes);
/* An eager message that lies unexpected. */
void job_unexpected(struct job_builder *job, int rank, int comm, int from, int tag, int bytes);
/* A sent so many messages to B, and B took in so many. */
void job_channel(struct job_builder *job, int from, int to, int comm, int sent, int taken);

/* Ends both looks and diagnoses; the caller destroys both. */
struct mpiq_diagnosis *job_diagnose(struct job_builder *job, struct mpiq_job_state **ret);
/* Asserts that each finding has a sentence; job_diagnose does. */
void job_check_texts(const struct mpiq_diagnosis *diagnosis);
/* The diagnosis as lines: the verdict, each finding's kind, ranks, missing, suspects and text. */
char *job_answer(struct job_builder *job);
/* Asserts that the answer is that, shows both where it is not, and deinits job. */
void job_expect(struct job_builder *job, const char *wanted);
/* Whether the verdict is deadlock; the job is gone then, too. */
bool job_is_deadlock(struct job_builder *job);

/* Asserts that the job is a deadlock of that many causes, and that no text or list in it is long; deinits
   job. How it should be however many ranks there are. */
void job_check_size(struct job_builder *job, size_t causes, size_t most_findings);

#endif
