/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stack_tree - the stacks of many threads as one tree: what they share from their outermost frames on is
 * there once, with the ranks that are in it.
 *
 * Frames that lead to every main and to every thread's function are left out.  Where CPython's frames are
 * known they stand for those of its interpreter: outside of the binding that the innermost of them calls.
 *
 * It is plain data and owns everything in it.  It leaves to others: which look's states are put in, and how a
 * tree is shown.
 */
#ifndef MPIQ_STACK_TREE_H
#define MPIQ_STACK_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "state/rank_set.h"
#include "state/rank_state.h"

/* Frames of one stack; of a longer one the innermost are kept. */
#define MPIQ_STACK_FRAMES_MOST 256

/* One frame at one place below one parent.  Without function, file and object: frames that are missing. */
struct mpiq_stack_node {
    const char *function; /* NULL not known, as are the others */
    const char *file;
    const char *object;
    int32_t line;
    uint32_t first_child; /* fewest ranks first; 0: none */
    uint32_t next;        /* the parent's next child; 0: none */
    uint32_t parent;
    uint32_t threads;
    struct mpiq_rank_set ranks;
    struct mpiq_rank_set here; /* those whose innermost frame this is */
    uint8_t owner;             /* enum mpiq_object_owner */
    bool inside;               /* of a library, in an MPI call */
    bool leads_out;            /* and the user's code has been called from in there */
};

struct mpiq_stack_tree {
    struct mpiq_stack_node *nodes; /* 0: the root, which is no frame */
    uint32_t node_count;
    struct mpiq_stack_building *building; /* private; NULL once finished */
    void *strings;                        /* owner of the strings; private */
};

/* An empty one, to which states may be added; NULL without memory. */
struct mpiq_stack_tree *mpiq_stack_tree_create(void);
/* NULL is fine. */
void mpiq_stack_tree_destroy(struct mpiq_stack_tree *tree);

/* Adds the stacks that a state has: of all its threads, or of those that are in MPI, else of the first. False
   without memory. */
bool mpiq_stack_tree_add(struct mpiq_stack_tree *tree, uint32_t world, uint32_t rank,
                         const struct mpiq_rank_state *state, bool all_threads);
/* Nothing is added any more: puts the ranks and the order of branches in.  False without memory. */
bool mpiq_stack_tree_finish(struct mpiq_stack_tree *tree);

#endif
