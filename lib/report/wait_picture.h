/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_picture - who waits for whom, as a graph small enough to look at.
 *
 * The ranks of a circle of waits stand each on its own, as do suspects and the two ends of a message that
 * went astray.  All others are grouped by what they do and where.  Every wait is an edge, also of ranks
 * inside a collective or MPI_Finalize.  Circles come from the findings; of a proven cause without one, the
 * shortest circle of the ranks' own waits that leads through it.
 */
#ifndef MPIQ_REPORT_WAIT_PICTURE_H
#define MPIQ_REPORT_WAIT_PICTURE_H

#include "report/page.h"

#define MPIQ_PICTURE_MOST_CIRCLE 48
#define MPIQ_PICTURE_MOST_NODES 80
/* As the end of an edge: all ranks of the circle. */
#define MPIQ_PICTURE_ALL_OF_CIRCLE (UINT32_MAX - 1)

struct mpiq_picture_node {
    struct mpiq_rank_set ranks;
    const struct mpiq_rank_diagnosis *example; /* NULL: ranks that do different things */
    bool suspect;
    bool circle;
};

enum mpiq_picture_line {
    MPIQ_LINE_WAIT,
    MPIQ_LINE_CIRCLE, /* a wait that is part of a circle */
    MPIQ_LINE_STRAY   /* a message that lies where nobody takes it */
};

struct mpiq_picture_edge {
    uint32_t from;
    uint32_t to;
    enum mpiq_picture_line line;
    char *label;   /* "tag 7", "MPI_Bcast"; "" */
    uint32_t comm; /* MPIQ_NONE: none, or not the same for all */
    bool more;     /* there are other reasons besides the label's */
};

struct mpiq_wait_picture {
    struct mpiq_picture_node *nodes; /* those of circles first, each followed by one that it waits for */
    size_t node_count;
    size_t circle_count; /* nodes of circles */
    uint64_t left_out;   /* ranks of circles that are too long to be drawn: with the groups */
    struct mpiq_picture_edge *edges;
    size_t edge_count;
};

/* False on allocation failure; deinit in any case. */
bool mpiq_wait_picture_collect(const struct mpiq_page *page, struct mpiq_wait_picture *ret);
void mpiq_wait_picture_deinit(struct mpiq_wait_picture *picture);

#endif
