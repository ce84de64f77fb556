/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * explain - the part of the stuck nodes that explains the rest.
 *
 * For each node that is proven never to happen, as few children are chosen as prove it.  In the end these
 * choices lead to sets, whose ranks wait for each other and for nobody outside and none of which can be
 * dropped, and to dead ends, which wait for a rank that has gone.  Everything else waits for these.
 */
#ifndef MPIQ_EXPLAIN_H
#define MPIQ_EXPLAIN_H

#include "job/graph.h"

struct mpiq_closed_set {
    uint32_t first_thread; /* in threads below; ascending by process */
    uint32_t thread_count;
};

struct mpiq_explanation {
    uint32_t *threads; /* of all sets */
    uint32_t thread_count;
    struct mpiq_closed_set *closed_sets; /* by their first thread's process */
    uint32_t closed_set_count;
    uint32_t *closed_set_of; /* of each thread of the job; MPIQ_NONE: in none */
    uint32_t *root_of;       /* of each node where it is led to: equal for all that end in one closed set, or
                                at one process that is gone; MPIQ_NONE: it may happen */
    uint32_t root_count;
    uint32_t *chosen; /* of each node the child it is led to the end by; MPIQ_NONE: it may happen */
};

/* False without memory; deinit either way. */
bool mpiq_explain(const struct mpiq_wait_graph *graph, struct mpiq_explanation *ret);
/* Drops from each set the ranks that it does not need (explain_shrink.c; mpiq_explain calls it). */
bool mpiq_explanation_shrink(const struct mpiq_wait_graph *graph, struct mpiq_explanation *explanation);
void mpiq_explanation_deinit(struct mpiq_explanation *explanation);

/* The child that a node is led to the end by, on the way from a thread of that process: who waits for anybody
   of a group is led to somebody else before it is led to itself. */
uint32_t mpiq_chosen_child(const struct mpiq_wait_graph *graph, const struct mpiq_explanation *explanation,
                           uint32_t index, uint32_t process);

/* The next thread on the way from a thread to the end: one of the rank that `chosen` leads to; MPIQ_NONE
   where it ends.  *process: that rank's process, MPIQ_NONE if the end is none. */
uint32_t mpiq_next_thread(const struct mpiq_wait_graph *graph, const struct mpiq_explanation *explanation,
                          uint32_t thread, uint32_t *process);

#endif
