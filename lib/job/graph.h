/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * graph - who waits for whom, as an AND/OR graph, and which part of it can never continue.
 *
 * A node may happen (a rank acts, a thread's wait ends, all members enter a call) once `need` of its
 * children may.  Nodes that may happen anyway are leaves; whatever they do not reach is proven never to
 * happen.  Collectives and wildcards are separate nodes, so the number of edges is linear in ranks and
 * requests.
 */
#ifndef MPIQ_GRAPH_H
#define MPIQ_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "job/matching.h"
#include "state/finding.h"
#include "base/hash_table.h"
#include "state/job_state.h"

/* The first nodes are constants: why something may happen, or never will.  After them come the processes'
   own nodes, in order. */
enum mpiq_constant {
    MPIQ_NODE_LIVE,    /* it may act */
    MPIQ_NODE_UNKNOWN, /* nobody can tell: it may act */
    MPIQ_NODE_ASLEEP,  /* it may act, but sleeps outside MPI */
    MPIQ_NODE_STOPPED, /* it may act once it is continued */
    MPIQ_NODE_POLLS,   /* it polls: it may give up and act */
    MPIQ_NODE_DEAD,    /* never: gone, finalized, spent on another call */
    MPIQ_NODE_CONSTANTS
};

enum mpiq_node_kind {
    MPIQ_KIND_CONSTANT,
    MPIQ_KIND_RANK,       /* subject: process.  Its user's code goes on */
    MPIQ_KIND_INTERNAL,   /* process.  Its user's code goes on, or a collective in its background */
    MPIQ_KIND_BACKGROUND, /* process.  Some traffic in its background completes: of
                             collectives, with extra 1 any */
    MPIQ_KIND_THREAD,     /* thread.  Its wait ends */
    MPIQ_KIND_POLLER,     /* thread.  It gets what it polls for, or gives up */
    MPIQ_KIND_GROUP,      /* group.  Any member acts */
    MPIQ_KIND_INTERNAL_GROUP,
    MPIQ_KIND_ENTERED, /* communicator.  All members (extra 1: of the remote group; 2: of the first)
                          come to a running number; of a collective with a count for each, one more
                          of those that its waiters may need */
    MPIQ_KIND_LOWER,   /* communicator.  All members below local rank `extra` come to it */
    MPIQ_KIND_STARTED, /* communicator.  All members start the persistent collective of that running number as
                          often as `extra` */
    MPIQ_KIND_STARTED_LOWER, /* communicator.  All members below local rank `extra` do; how often is in
                                `number` */
    MPIQ_KIND_STARTED_ANY,   /* communicator.  As STARTED, of a collective with a count for each: one of them
                                does */
    MPIQ_KIND_SOURCES, /* communicator.  All members whose data process `extra` needs in it come to it */
    MPIQ_KIND_LOCK,    /* window.  All who hold a lock at process `number` (-1: anywhere) that excludes one of
                          the type `extra` release it; with MPIQ_LOCK_OF_ANY any of them */
    MPIQ_KIND_TOGETHER,  /* window.  All members (extra 1: any of those that have not yet) come to the fence
                            of that number, or to MPIQ_FREED */
    MPIQ_KIND_FINALIZE,  /* world.  All come to MPI_Finalize */
    MPIQ_KIND_INITIALIZE /* world.  All come to MPI_Init */
};

/* Beside the type of a lock. */
#define MPIQ_LOCK_OF_ANY 0x100u
/* In place of a fence's number: MPI_Win_free. */
#define MPIQ_FREED INT64_MAX

struct mpiq_node {
    int64_t number; /* running number; 0 */
    uint32_t first_edge;
    uint32_t edge_count;
    uint32_t need; /* of its children */
    uint32_t subject;
    uint32_t extra;
    uint8_t kind;       /* enum mpiq_node_kind */
    bool may;           /* it may happen */
    bool may_unstopped; /* it may happen though all who are stopped stay so */
    bool may_known;     /* it may happen by what is known */
    bool may_poll;      /* it may happen though nobody gives up polling */
};

struct mpiq_edge {
    uint32_t child;     /* node */
    uint32_t operation; /* behind it; MPIQ_NONE */
};

struct mpiq_wait_graph {
    const struct mpiq_job_state *job;
    const struct mpiq_diagnosis *diagnosis;
    struct mpiq_matching matching;
    struct mpiq_node *nodes;
    uint32_t node_count;
    uint32_t node_capacity;
    struct mpiq_edge *edges;
    uint32_t edge_count;
    uint32_t edge_capacity;
    uint32_t *thread_nodes;        /* of each thread; MPIQ_NONE: it does not wait */
    uint32_t *poller_nodes;        /* of each thread; MPIQ_NONE: it does not poll */
    uint32_t *thread_ranks;        /* of each thread its rank, in ranks */
    bool *partitioned;             /* of each rank: it has partitioned requests; last: any has */
    uint32_t *parents;             /* nodes that have an edge to a node: parents[first_parent[node]] up to */
    uint32_t *first_parent;        /* first_parent[node + 1] */
    struct mpiq_hash_table others; /* all further nodes by kind, subject, number and extra */
    bool several;                  /* the wait that is being built is for several operations */
    struct mpiq_hash_table requests; /* of one rank with a large wait, by handle; scratch */
    bool failed;                     /* an allocation failed */
};

/* Builds and reduces it.  diagnosis: its `ranks` say what each rank does.  partner gets filled, as
   mpiq_diagnosis has it: one entry for each operation, all MPIQ_NONE; it has to outlive the graph.  NULL
   without memory. */
struct mpiq_wait_graph *mpiq_wait_graph_create(const struct mpiq_job_state *job,
                                               const struct mpiq_diagnosis *diagnosis, uint32_t *partner);
void mpiq_wait_graph_destroy(struct mpiq_wait_graph *graph);

static inline uint32_t mpiq_rank_node(uint32_t process)
{
    return MPIQ_NODE_CONSTANTS + process;
}

static inline uint32_t mpiq_thread_process(const struct mpiq_wait_graph *graph, uint32_t thread)
{
    return graph->job->ranks[graph->thread_ranks[thread]].process;
}

/* Whether a thread is proven never to go on. */
static inline bool mpiq_is_stuck(const struct mpiq_wait_graph *graph, uint32_t thread)
{
    return graph->thread_nodes[thread] != MPIQ_NONE && !graph->nodes[graph->thread_nodes[thread]].may;
}

/* Whether a process will never call MPI again, and has not since the first look: it has ended, or is in the
   last fence of MPI_Finalize. */
bool mpiq_never_acts(const struct mpiq_job_state *job, uint32_t process);
/* Whether its library does nothing any more either: in the last fence it still takes in what comes. */
bool mpiq_never_answers(const struct mpiq_job_state *job, uint32_t process);

/* The rest is private to graph*.c. */

/* graph_nodes.c: a node at the end; the node of that kind, made at its first use.  Both are built later. */
uint32_t mpiq_graph_append(struct mpiq_wait_graph *graph, struct mpiq_node node);
uint32_t mpiq_graph_node(struct mpiq_wait_graph *graph, enum mpiq_node_kind kind, uint32_t subject,
                         int64_t number, uint32_t extra);
/* Adds an edge to the node that is being built. */
void mpiq_graph_edge(struct mpiq_wait_graph *graph, uint32_t child, uint32_t operation);
/* What acts when a process's own traffic is waited for (internal: that of its collectives). */
uint32_t mpiq_actor(struct mpiq_wait_graph *graph, uint32_t process, bool internal);

/* Whether an operation is traffic of a collective (any: also of the user's) that no thread waits for by
   itself; whether a rank has some of its collectives. */
bool mpiq_is_background(const struct mpiq_job_operation *op, bool any);
bool mpiq_has_background(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank);
/* Whether collectives of the rank that it has started are not known to be complete. */
bool mpiq_has_outstanding(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank);

/* graph_wait.c: the edges of a thread's wait, and how many of them suffice. */
uint32_t mpiq_build_wait(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                         const struct mpiq_job_thread *thread);
/* The node that an operation of that rank waits for; MPIQ_NONE: it is done. */
uint32_t mpiq_operation_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                             uint32_t operation, bool detach);

/* graph_partitioned.c: likewise of a partitioned one that has not ended; *inner is the operation that it
   stands for, whose node it then is, or MPIQ_NONE. */
uint32_t mpiq_partitioned_node(const struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                               const struct mpiq_job_operation *op, uint32_t *inner);

/* graph_collective.c: the node of a call's own needs, where no traffic of it is seen; MPIQ_NODE_LIVE if
   nothing is known.  And the edges of all such nodes. */
uint32_t mpiq_collective_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank, uint32_t comm,
                              int collective, int64_t number, int32_t root);
/* graph_window.c: the edges of a one-sided wait, or of a LOCK node, and how many of them are needed. */
uint32_t mpiq_build_window(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                           const struct mpiq_job_thread *thread, const struct mpiq_job_wait *wait);
uint32_t mpiq_build_lock(struct mpiq_wait_graph *graph, const struct mpiq_node *node);
/* Whether a view holds a lock at the target (MPIQ_NONE: anywhere) that excludes the wanted type; *type: which
   one it holds. */
bool mpiq_holds_lock(const struct mpiq_job_state *job, const struct mpiq_job_window_view *view,
                     uint32_t target, uint8_t wanted, uint8_t *type);

/* Whether a process's access to another one's window is open, so that it has not completed that: its last
   one, or, where it never began one, the first.  In MPI_Win_complete it may have told the other one already.
 */
bool mpiq_access_is_open(const struct mpiq_job_state *job, uint32_t window, uint32_t origin, uint32_t target);
/* What a process has at a window; NULL: nobody knows. */
const struct mpiq_job_window_view *mpiq_known_view(const struct mpiq_job_state *job, uint32_t process,
                                                   uint32_t window);
/* The window of a wait in MPI_Win_fence or MPI_Win_free, where that process's own calls of these are counted;
   MPIQ_NONE for other waits.  And which of these calls it is. */
uint32_t mpiq_counted_window(const struct mpiq_job_state *job, uint32_t process,
                             const struct mpiq_job_wait *wait);
int64_t mpiq_window_number(const struct mpiq_job_window_view *view, const struct mpiq_job_wait *wait);
/* Whether a member has not come to that call, as far as its calls are counted. */
bool mpiq_is_behind(const struct mpiq_job_window_view *view, int64_t number);

/* graph_neighbour.c, graph_persistent.c: the same for neighbourhood collectives, and for persistent ones that
   the rank has started so often; and the edges of these nodes. */
uint32_t mpiq_neighbour_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank, uint32_t comm,
                             int64_t number);
uint32_t mpiq_persistent_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank, uint32_t comm,
                              int collective, int64_t number, int32_t root, int64_t starts);
uint32_t mpiq_build_sources(struct mpiq_wait_graph *graph, const struct mpiq_node *node);
uint32_t mpiq_build_started(struct mpiq_wait_graph *graph, const struct mpiq_node *node);
uint32_t mpiq_build_started_lower(struct mpiq_wait_graph *graph, const struct mpiq_node *node);
uint32_t mpiq_build_started_any(struct mpiq_wait_graph *graph, const struct mpiq_node *node);
void mpiq_build_collectives(struct mpiq_wait_graph *graph);
/* A message inside a collective that the library's queues do not show: the call cannot end before the
   members it needs have entered, nor the message before its sender has. */
uint32_t mpiq_unread_message_node(struct mpiq_wait_graph *graph, const struct mpiq_job_rank *rank,
                                  const struct mpiq_job_thread *thread, const struct mpiq_job_operation *op);
uint32_t mpiq_build_world(struct mpiq_wait_graph *graph, uint32_t world, bool finalize);

/* Whether a node's own end, MPIQ_NODE_DEAD, is chosen last of its children: calls that do not fit each other
   are the end once all members have come to them. */
bool mpiq_ends_last(const struct mpiq_wait_graph *graph, uint32_t index);

#endif
